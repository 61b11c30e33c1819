/* holder_tree.c: see holder_tree.h.
 *
 * Every prefix of a path is interned; its string id is the node's index. So the table of strings is
 * the map from path to node. Blocks are first summed by the timeline's owner string, so each
 * distinct path is cut only once. */
#include "holder_tree.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "holder_fold.h"
#include "liveness.h"
#include "text.h"
#include "timeline.h"

enum { NO_NODE = 0 }; /* node 0 is the root: the empty path */

struct node {
    uint32_t parent, first_child, next_sibling;
    struct holder_sum all, own;
};

struct builder {
    struct holder_tree *tree;
    ARRAY(struct node) nodes;
    struct text path;  /* scratch: the prefix under way */
    struct text plain; /* likewise, nothing folded */
    struct holder_fold fold;
    const struct holder_tree_options *options;
};

static void add_sum(struct holder_sum *to, const struct holder_sum *from) {
    to->bytes += from->bytes;
    to->requested_bytes += from->requested_bytes;
    to->blocks += from->blocks;
}

/* The node of the prefix in b->path, made below `parent` when new. */
static bool find_node(struct builder *b, uint32_t parent, uint32_t *node) {
    uint32_t id;
    if (b->path.failed || !strtab_add(&b->tree->strings, text_get(&b->path), b->path.length, &id))
        return false;
    if (id == b->nodes.count) {
        struct node fresh = {.parent = parent, .next_sibling = b->nodes.at[parent].first_child};
        if (!array_push(&b->nodes, fresh))
            return false;
        b->nodes.at[parent].first_child = id;
    }
    *node = id;
    return true;
}

static void add_part(struct builder *b, const char *part, size_t length) {
    const char *label = NULL;
    if (b->options->fold_indices) {
        if (b->plain.length > 0)
            text_add(&b->plain, ".");
        text_add_bytes(&b->plain, part, length);
        label = holder_fold_label(&b->fold, text_get(&b->plain), b->plain.length);
    }
    if (b->path.length > 0)
        text_add(&b->path, ".");
    if (label)
        text_add(&b->path, label);
    else
        text_add_bytes(&b->path, part, length);
}

/* Adds a sum to the path's node and to all above it. Empty parts ("a..b") are skipped. */
static bool add_path(struct builder *b, const char *path, const struct holder_sum *sum) {
    uint32_t node = 0;
    b->path.length = b->plain.length = 0;
    for (uint32_t depth = 0; *path && depth < HOLDER_DEPTH_LIMIT;) {
        size_t n = strcspn(path, ".");
        if (n > 0) {
            add_part(b, path, n);
            if (!find_node(b, node, &node))
                return false;
            add_sum(&b->nodes.at[node].all, sum);
            depth++;
        }
        path += n + (path[n] == '.');
    }
    add_sum(&b->nodes.at[node].own, sum);
    return true;
}

static void add_blocks(const struct timeline *tl, uint8_t device, uint32_t event,
                       struct holder_sum *by_owner, struct holder_tree *out) {
    size_t owners = strtab_count(&tl->strings);
    for (size_t i = 0; i < tl->blocks.count; i++) {
        const struct timeline_block *b = &tl->blocks.at[i];
        if (b->device != device || !block_is_live(b, event))
            continue;
        holder_sum_add(&by_owner[b->owner < owners ? b->owner : 0], b);
        holder_sum_add(&out->total, b);
    }
}

static bool build_nodes(const struct timeline *tl, uint8_t device, uint32_t event,
                        struct builder *b) {
    size_t owners = strtab_count(&tl->strings);
    struct holder_sum *by_owner = xcalloc(owners + 1, sizeof *by_owner);
    if (!by_owner)
        return false;
    struct node root = {0};
    bool ok = array_push(&b->nodes, root);
    add_blocks(tl, device, event, by_owner, b->tree);
    for (uint32_t i = 0; ok && i < owners; i++)
        if (by_owner[i].blocks > 0)
            ok = add_path(b, timeline_text(tl, i), &by_owner[i]);
    xfree(by_owner);
    return ok;
}

/* Siblings are gathered as rows, sorted, cut, and only then followed downwards. */
struct sibling {
    enum holder_row_kind kind;
    uint32_t node;
    const char *path;
    struct holder_sum sum;
};

static int compare_siblings(const void *left, const void *right) {
    const struct sibling *a = left, *b = right;
    if (a->sum.bytes != b->sum.bytes)
        return a->sum.bytes > b->sum.bytes ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return strcmp(a->path, b->path);
}

static bool gather(const struct builder *b, uint32_t node, struct sibling **out, size_t *count) {
    ARRAY(struct sibling) list = {0};
    const struct node *parent = &b->nodes.at[node];
    bool ok = true;
    for (uint32_t i = parent->first_child; ok && i != NO_NODE; i = b->nodes.at[i].next_sibling) {
        struct sibling s = {HOLDER_PATH, i, strtab_text(&b->tree->strings, i), b->nodes.at[i].all};
        ok = array_push(&list, s);
    }
    if (ok && parent->own.blocks > 0 && (list.count > 0 || node == 0)) {
        struct sibling s = {node == 0 ? HOLDER_UNKNOWN : HOLDER_ITSELF, node,
                            strtab_text(&b->tree->strings, node), parent->own};
        ok = array_push(&list, s);
    }
    if (!ok) {
        array_fini(&list);
        return false;
    }
    if (list.count > 1)
        qsort(list.at, list.count, sizeof *list.at, compare_siblings);
    *out = list.at;
    *count = list.count;
    return true;
}

static bool emit_row(struct builder *b, enum holder_row_kind kind, uint32_t depth, uint32_t node,
                     const struct holder_sum *sum) {
    struct holder_row row = {.kind = kind, .depth = depth, .path = node, .sum = *sum};
    return array_push(&b->tree->rows, row);
}

static bool emit_others(struct builder *b, const struct sibling *list, size_t from, size_t count,
                        uint32_t node, uint32_t depth) {
    struct holder_sum others = {0};
    for (size_t i = from; i < count; i++)
        add_sum(&others, &list[i].sum);
    return emit_row(b, HOLDER_OTHERS, depth, node, &others);
}

/* Depth is bounded by HOLDER_DEPTH_LIMIT, so the recursion is. */
static bool emit_below(struct builder *b, uint32_t node, uint32_t depth) {
    if (b->options->depth > 0 && depth >= b->options->depth)
        return true;
    struct sibling *list = NULL;
    size_t count = 0;
    if (!gather(b, node, &list, &count))
        return false;
    size_t shown =
        b->options->top > 0 && count > (size_t)b->options->top + 1 ? b->options->top : count;
    bool ok = true;
    for (size_t i = 0; ok && i < shown; i++) {
        ok = emit_row(b, list[i].kind, depth, list[i].node, &list[i].sum);
        if (ok && list[i].kind == HOLDER_PATH)
            ok = emit_below(b, list[i].node, depth + 1);
    }
    if (ok && shown < count)
        ok = emit_others(b, list, shown, count, node, depth);
    xfree(list);
    return ok;
}

bool holder_tree_find(const struct timeline *tl, uint8_t device, uint32_t event,
                      const struct holder_tree_options *options, struct holder_tree *out,
                      struct error *err) {
    memset(out, 0, sizeof *out);
    if (!strtab_init(&out->strings))
        return error_host_memory(err);
    struct builder b = {.tree = out, .options = options};
    bool ok = (!options->fold_indices || holder_fold_init(&b.fold, tl, device)) &&
              build_nodes(tl, device, event, &b) && emit_below(&b, 0, 0) && !b.plain.failed;
    array_fini(&b.nodes);
    text_fini(&b.path);
    text_fini(&b.plain);
    holder_fold_fini(&b.fold);
    if (ok)
        return true;
    holder_tree_fini(out);
    return error_host_memory(err);
}

void holder_tree_fini(struct holder_tree *tree) {
    array_fini(&tree->rows);
    strtab_fini(&tree->strings);
}

const char *holder_tree_path(const struct holder_tree *tree, const struct holder_row *row) {
    return strtab_text(&tree->strings, row->path);
}

/* icicle.c: see icicle.h. */
#include "icicle.h"

#include <string.h>

#include "file.h"
#include "frames.h"
#include "sort.h"
#include "text.h"
#include "timeline.h"
#include "track.h"

enum { DEPTH_MAX = 200 };

struct reading {
    struct icicle *out;
    enum icicle_kind kind;
    const struct timeline *tl;
    bool is_now;
    struct text text; /* of one frame */
};

static void count(struct icicle_node *node, const struct timeline_block *b, bool is_now) {
    *(is_now ? &node->bytes : &node->then) += b->block_bytes;
    node->count += is_now;
    node->by_category[b->category < CATEGORY_COUNT ? b->category : CATEGORY_UNKNOWN] +=
        b->block_bytes;
}

/* Goes one step down and counts the block there. Too deep: stays. */
static bool descend(const struct reading *r, const char *name, size_t length,
                    const struct timeline_block *b, uint32_t *node) {
    struct icicle *ic = r->out;
    uint32_t string, index, depth = ic->nodes.at[*node].depth + 1;
    if (depth > DEPTH_MAX)
        return true;
    if (!strtab_add(&ic->names, name, length, &string) ||
        !key_index_add(&ic->children, (uint64_t)*node << 32 | string, &index))
        return false;
    if (index + 1 == ic->nodes.count) {
        struct icicle_node fresh = {.parent = *node,
                                    .child = ICICLE_NONE,
                                    .next = ICICLE_NONE,
                                    .name = string,
                                    .depth = depth};
        if (!array_push(&ic->nodes, fresh))
            return false;
    }
    *node = index + 1;
    count(array_at(&ic->nodes, *node), b, r->is_now);
    return true;
}

/* The parts of the owner's path, then the tensor or the op. */
static bool add_path(const struct reading *r, const struct timeline_block *b) {
    const char *path = timeline_text(r->tl, b->owner), *op = timeline_text(r->tl, b->op);
    const char *leaf = timeline_text(r->tl, b->name);
    uint32_t node = 0;
    while (*path) {
        size_t length = strcspn(path, ".");
        if (length > 0 && !descend(r, path, length, b, &node))
            return false;
        path += length + (path[length] == '.');
    }
    leaf = *leaf ? leaf : op;
    return *leaf == '\0' || descend(r, leaf, strlen(leaf), b, &node);
}

static bool add_stack(struct reading *r, const struct timeline_block *b) {
    uint32_t node = 0, frames = frames_useful_count(r->tl, b->stack);
    for (uint32_t i = frames; i-- > 0;) {
        const struct timeline_frame *frame = frames_useful(r->tl, b->stack, i);
        const char *file = timeline_text(r->tl, frame->file);
        r->text.length = 0;
        text_format(&r->text, "%s %s:%u", timeline_text(r->tl, frame->function), file_base(file),
                    frame->line);
        if (r->text.failed || !descend(r, text_get(&r->text), r->text.length, b, &node))
            return false;
    }
    return true;
}

static bool add_side(struct reading *r, const struct difference_side *side, struct live_set *set) {
    struct icicle *ic = r->out;
    if (!live_at(&side->track->live, side->moment, set))
        return false;
    r->tl = side->track->tl;
    for (size_t i = 0; i < set->ids.count; i++) {
        const struct timeline_block *b = &r->tl->blocks.at[set->ids.at[i]];
        count(&ic->nodes.at[0], b, r->is_now);
        if (!(r->kind == ICICLE_STACK ? add_stack(r, b) : add_path(r, b)))
            return false;
    }
    return true;
}

/* Layers by their numbers, other names by their letters. */
static int by_name(const char *a, const char *b) {
    size_t p = strspn(a, "0123456789"), q = strspn(b, "0123456789");
    if (p > 0 && q > 0 && a[p] == '\0' && b[q] == '\0' && p != q)
        return p < q ? -1 : 1;
    return strcmp(a, b);
}

/* Siblings stand together, the larger first. */
static int by_parent_and_size(const void *x, const void *y, const void *user) {
    const struct icicle *ic = user;
    const struct icicle_node *a = &ic->nodes.at[*(const uint32_t *)x],
                             *b = &ic->nodes.at[*(const uint32_t *)y];
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->then != b->then)
        return a->then > b->then ? -1 : 1;
    return by_name(strtab_text(&ic->names, a->name), strtab_text(&ic->names, b->name));
}

static uint32_t node_after(const struct icicle *ic, uint32_t node) {
    if (ic->nodes.at[node].child != ICICLE_NONE)
        return ic->nodes.at[node].child;
    while (node != ICICLE_NONE && ic->nodes.at[node].next == ICICLE_NONE)
        node = ic->nodes.at[node].parent;
    return node == ICICLE_NONE ? ICICLE_NONE : ic->nodes.at[node].next;
}

static bool link_nodes(struct icicle *ic) {
    array_clear(&ic->order);
    for (uint32_t i = 1; i < ic->nodes.count; i++)
        if (!array_push(&ic->order, i))
            return false;
    sort_items(ic->order.at, ic->order.count, sizeof *ic->order.at, by_parent_and_size, ic);
    for (size_t i = ic->order.count; i-- > 0;) {
        struct icicle_node *node = array_at(&ic->nodes, ic->order.at[i]);
        struct icicle_node *parent = array_at(&ic->nodes, node->parent);
        node->next = parent->child;
        parent->child = ic->order.at[i];
    }
    array_clear(&ic->order);
    for (uint32_t i = 0; i != ICICLE_NONE; i = node_after(ic, i))
        if (!array_push(&ic->order, i))
            return false;
    return true;
}

static bool start(struct icicle *ic) {
    struct icicle_node root = {.parent = ICICLE_NONE, .child = ICICLE_NONE, .next = ICICLE_NONE};
    array_clear(&ic->nodes);
    array_clear(&ic->order);
    key_index_clear(&ic->children);
    if (!ic->has_names)
        ic->has_names = strtab_init(&ic->names);
    return ic->has_names && array_push(&ic->nodes, root);
}

bool icicle_read(struct icicle *ic, enum icicle_kind kind, const struct difference_side *now,
                 const struct difference_side *then) {
    struct reading r = {.out = ic, .kind = kind, .is_now = true};
    struct live_set set = {0};
    bool read = start(ic) && add_side(&r, now, &set);
    r.is_now = false;
    read = read && (!then || add_side(&r, then, &set)) && link_nodes(ic);
    if (!read) {
        array_clear(&ic->nodes);
        array_clear(&ic->order);
    }
    array_fini(&set.ids);
    text_fini(&r.text);
    return read;
}

void icicle_fini(struct icicle *ic) {
    if (ic->has_names)
        strtab_fini(&ic->names);
    ic->has_names = false;
    array_fini(&ic->nodes);
    array_fini(&ic->order);
    key_index_fini(&ic->children);
}

const char *icicle_name(const struct icicle *ic, uint32_t node) {
    return strtab_text(&ic->names, array_at(&ic->nodes, node)->name);
}

enum category icicle_category(const struct icicle_node *node) {
    enum category best = CATEGORY_UNKNOWN;
    for (unsigned i = 0; i < CATEGORY_COUNT; i++)
        if (node->by_category[i] > node->by_category[best])
            best = (enum category)i;
    return best;
}

uint32_t icicle_find(const struct icicle *ic, const uint32_t *path, size_t count) {
    uint32_t node = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t child = ic->nodes.at[node].child;
        while (child != ICICLE_NONE && ic->nodes.at[child].name != path[i])
            child = ic->nodes.at[child].next;
        if (child == ICICLE_NONE)
            return node;
        node = child;
    }
    return node;
}

/* holder_fold.c: see holder_fold.h. */
#include "holder_fold.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "holder_tree.h"
#include "text.h"
#include "timeline.h"

enum { NUMBERS_SHOWN = 3, NUMBER_DIGITS_MAX = 9 };

static bool is_number(const char *s) {
    size_t digits = strspn(s, "0123456789");
    return digits > 0 && digits <= NUMBER_DIGITS_MAX && s[digits] == '\0';
}

static uint64_t mix(uint64_t hash) {
    hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* --- the tree of all modules --- */

static bool find_node(struct holder_fold *f, const struct text *path, const char *part,
                      size_t length, uint32_t *node) {
    uint32_t id, name;
    if (path->failed || !strtab_add(&f->paths, text_get(path), path->length, &id) ||
        !strtab_add(&f->strings, part, length, &name))
        return false;
    if (id == f->nodes.count) {
        struct fold_node fresh = {
            .parent = *node, .next_sibling = f->nodes.at[*node].first_child, .name = name};
        if (!array_push(&f->nodes, fresh))
            return false;
        f->nodes.at[*node].first_child = id;
    }
    *node = id;
    return true;
}

static bool add_path(struct holder_fold *f, const char *path, uint64_t bytes, struct text *prefix) {
    uint32_t node = 0;
    prefix->length = 0;
    for (uint32_t depth = 0; *path && depth < HOLDER_DEPTH_LIMIT;) {
        size_t n = strcspn(path, ".");
        if (n > 0) {
            if (prefix->length > 0)
                text_add(prefix, ".");
            text_add_bytes(prefix, path, n);
            if (!find_node(f, prefix, path, n, &node))
                return false;
            depth++;
        }
        path += n + (path[n] == '.');
    }
    f->nodes.at[node].parameter_bytes += bytes;
    return true;
}

static bool add_paths(struct holder_fold *f, const struct timeline *tl, uint8_t device) {
    size_t owners = strtab_count(&tl->strings);
    uint64_t *bytes = xcalloc(owners + 1, sizeof *bytes);
    bool *is_owner = xcalloc(owners + 1, sizeof *is_owner);
    struct text prefix = {0};
    bool ok = bytes && is_owner;
    for (size_t i = 0; ok && i < tl->blocks.count; i++) {
        const struct timeline_block *b = &tl->blocks.at[i];
        if (b->device != device || b->owner >= owners)
            continue;
        is_owner[b->owner] = true;
        if (b->category == CATEGORY_PARAMETER)
            bytes[b->owner] += b->requested_bytes;
    }
    for (uint32_t i = 0; ok && i < owners; i++)
        if (is_owner[i])
            ok = add_path(f, timeline_text(tl, i), bytes[i], &prefix);
    text_fini(&prefix);
    xfree(bytes);
    xfree(is_owner);
    return ok;
}

/* Children have higher indexes than their parents. Nodes without parameters do not count: how far
 * a run came decides which of them are there. */
static void find_shapes(struct holder_fold *f) {
    for (size_t i = f->nodes.count; i-- > 1;) {
        struct fold_node *n = &f->nodes.at[i];
        if (n->parameter_bytes > 0)
            n->shape += mix(n->parameter_bytes);
        if (n->shape > 0)
            f->nodes.at[n->parent].shape +=
                mix(n->shape ^ mix(f->strings.entries.at[n->name].hash)) | 1;
    }
}

/* --- equal siblings --- */

struct numbered {
    uint64_t shape, number;
    uint32_t node;
};

static int compare_numbered(const void *left, const void *right) {
    const struct numbered *a = left, *b = right;
    if (a->shape != b->shape)
        return a->shape < b->shape ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* "*", "1-26", "0,2,4", "0,2,4.." */
static void add_label(const struct numbered *list, size_t count, size_t siblings,
                      struct text *out) {
    out->length = 0;
    if (count == siblings) {
        text_add(out, "*");
    } else if (list[count - 1].number - list[0].number == count - 1) {
        text_format(out, "%" PRIu64 "-%" PRIu64, list[0].number, list[count - 1].number);
    } else {
        for (size_t i = 0; i < count && i < NUMBERS_SHOWN; i++)
            text_format(out, "%s%" PRIu64, i ? "," : "", list[i].number);
        if (count > NUMBERS_SHOWN)
            text_add(out, "..");
    }
}

static bool label_children(struct holder_fold *f, uint32_t parent, struct text *label) {
    ARRAY(struct numbered) list = {0};
    bool ok = true;
    for (uint32_t i = f->nodes.at[parent].first_child; ok && i != 0;
         i = f->nodes.at[i].next_sibling) {
        const char *name = strtab_text(&f->strings, f->nodes.at[i].name);
        struct numbered n = {f->nodes.at[i].shape, strtoull(name, NULL, 10), i};
        ok = !is_number(name) || array_push(&list, n);
    }
    if (list.count > 1)
        qsort(list.at, list.count, sizeof *list.at, compare_numbered);
    for (size_t from = 0, to; ok && from < list.count; from = to) {
        for (to = from; to < list.count && list.at[to].shape == list.at[from].shape;)
            to++;
        if (to - from < 2 && list.count > 1)
            continue;
        uint32_t id;
        add_label(&list.at[from], to - from, list.count, label);
        ok = !label->failed && strtab_add(&f->strings, text_get(label), label->length, &id);
        for (size_t i = from; ok && i < to; i++)
            f->nodes.at[list.at[i].node].label = id;
    }
    array_fini(&list);
    return ok;
}

bool holder_fold_init(struct holder_fold *fold, const struct timeline *tl, uint8_t device) {
    memset(fold, 0, sizeof *fold);
    struct fold_node root = {0};
    if (!strtab_init(&fold->paths) || !strtab_init(&fold->strings) ||
        !array_push(&fold->nodes, root) || !add_paths(fold, tl, device))
        return false;
    find_shapes(fold);
    struct text label = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < fold->nodes.count; i++)
        ok = label_children(fold, i, &label);
    text_fini(&label);
    return ok;
}

void holder_fold_fini(struct holder_fold *fold) {
    strtab_fini(&fold->paths);
    strtab_fini(&fold->strings);
    array_fini(&fold->nodes);
}

const char *holder_fold_label(const struct holder_fold *fold, const char *path, size_t length) {
    uint32_t node = strtab_find(&fold->paths, path, length);
    uint32_t label = node < fold->nodes.count ? fold->nodes.at[node].label : 0;
    return label ? strtab_text(&fold->strings, label) : NULL;
}

/* owner_tree.c: see owner_tree.h. */
#include "owner_tree.h"

#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "find.h"
#include "text.h"
#include "timeline.h"

void owner_tree_fini(struct owner_tree *tree) {
    array_fini(&tree->nodes);
    array_fini(&tree->open);
    for (int i = 0; i < OWNER_TREE_LEVELS; i++) {
        array_fini(&tree->inner[i].rows);
        key_index_fini(&tree->inner[i].index);
        array_fini(&tree->sets[i].ids);
    }
}

static void start(struct owner_tree *tree, struct owners *owners) {
    static const enum owner_grouping inside[] = {OWNER_BY_PATH, OWNER_BY_OP};
    if (tree->levels == 0 || tree->by[0] != owners->grouping)
        array_clear(&tree->open);
    tree->owners = owners;
    tree->by[0] = owners->grouping;
    tree->levels = 1;
    for (int i = 0; i < 2; i++)
        if (inside[i] != owners->grouping)
            tree->by[tree->levels++] = inside[i];
    array_clear(&tree->nodes);
}

static size_t place_of_open(const struct owner_tree *tree, const struct owner_node *node) {
    size_t i = 0;
    while (i < tree->open.count && (tree->open.at[i].level != node->level ||
                                    memcmp(tree->open.at[i].keys, node->keys,
                                           ((size_t)node->level + 1) * sizeof *node->keys) != 0))
        i++;
    return i;
}

static bool add(struct owner_tree *tree, const struct owner_row *row, const uint64_t *keys,
                uint8_t level, bool is_block) {
    struct owner_node node = {.row = *row, .level = level, .is_block = is_block};
    memcpy(node.keys, keys, sizeof node.keys);
    if (!is_block) {
        node.keys[level] = row->key;
        node.is_open = place_of_open(tree, &node) < tree->open.count;
    }
    return array_push(&tree->nodes, node);
}

/* The set's blocks of one key. */
static bool narrow(struct owner_tree *tree, const struct live_set *set, uint8_t level, uint64_t key,
                   struct live_set *out) {
    array_clear(&out->ids);
    for (size_t i = 0; i < set->ids.count; i++) {
        uint64_t of;
        if (!owners_key_of(tree->owners, tree->by[level], set->ids.at[i], &of) ||
            (of == key && !array_push(&out->ids, set->ids.at[i])))
            return false;
    }
    return true;
}

static int larger_first(const void *a, const void *b) {
    const struct owner_node *x = a, *y = b;
    if (x->row.bytes != y->row.bytes)
        return x->row.bytes < y->row.bytes ? 1 : -1;
    return (x->row.key > y->row.key) - (x->row.key < y->row.key);
}

static bool add_blocks(struct owner_tree *tree, const struct live_set *set, const uint64_t *keys,
                       uint8_t level) {
    size_t first = tree->nodes.count;
    for (size_t i = 0; i < set->ids.count; i++) {
        const struct timeline_block *b = &tree->owners->tl->blocks.at[set->ids.at[i]];
        unsigned category = b->category < CATEGORY_COUNT ? b->category : CATEGORY_UNKNOWN;
        struct owner_row row = {.key = set->ids.at[i],
                                .bytes = b->block_bytes,
                                .largest = b->block_bytes,
                                .kept_bytes = b->free_event == TIMELINE_NONE ? b->block_bytes : 0,
                                .count = 1,
                                .oldest = set->ids.at[i]};
        row.by_category[category] = b->block_bytes;
        if (!add(tree, &row, keys, level, true))
            return false;
    }
    if (tree->nodes.count > first)
        qsort(tree->nodes.at + first, tree->nodes.count - first, sizeof *tree->nodes.at,
              larger_first);
    return true;
}

struct order {
    enum owner_order by;
    bool falling;
};

/* What is inside the node that was added last, when it is open. */
static bool expand(struct owner_tree *tree, const struct live_set *set, struct order order) {
    struct owner_node node = *array_last(&tree->nodes); /* the array moves */
    uint8_t level = node.level;
    struct live_set *own = &tree->sets[level];
    if (!node.is_open)
        return true;
    if (!narrow(tree, set, level, node.keys[level], own))
        return false;
    if (level + 1 >= tree->levels)
        return add_blocks(tree, own, node.keys, (uint8_t)(level + 1));
    struct owners *inner = &tree->inner[level];
    inner->tl = tree->owners->tl; /* paths and operations need no names of their own */
    if (!owners_read(inner, tree->by[level + 1], own))
        return false;
    owners_sort(inner, order.by, order.falling);
    for (size_t i = 0; i < inner->rows.count; i++)
        if (!add(tree, &inner->rows.at[i], node.keys, (uint8_t)(level + 1), false) ||
            !expand(tree, own, order))
            return false;
    return true;
}

bool owner_tree_read(struct owner_tree *tree, struct owners *owners, const struct live_set *set,
                     enum owner_order order, bool falling) {
    static const uint64_t none[OWNER_TREE_LEVELS] = {0, 0, 0};
    start(tree, owners);
    for (size_t i = 0; i < owners->rows.count; i++)
        if (!add(tree, &owners->rows.at[i], none, 0, false) ||
            !expand(tree, set, (struct order){order, falling})) {
            array_clear(&tree->nodes);
            return false;
        }
    return true;
}

bool owner_tree_toggle(struct owner_tree *tree, const struct owner_node *node) {
    size_t at = place_of_open(tree, node);
    if (at < tree->open.count) {
        tree->open.at[at] = *array_last(&tree->open);
        tree->open.count--;
        return true;
    }
    struct owner_open open = {.level = node->level};
    memcpy(open.keys, node->keys, sizeof open.keys);
    return array_push(&tree->open, open);
}

bool owner_tree_has(const struct owner_tree *tree, const struct owner_node *node, uint32_t block) {
    if (node->is_block)
        return node->row.key == block;
    for (int i = 0; i <= node->level; i++) {
        uint64_t key;
        if (!owners_key_of(tree->owners, tree->by[i], block, &key) || key != node->keys[i])
            return false;
    }
    return true;
}

/* The text as far as `end`. */
static void add_part(struct text *out, const char *field, const char *text, const char *end) {
    char part[256];
    size_t length = strcspn(text, end);
    length = length < sizeof part ? length : sizeof part - 1;
    memcpy(part, text, length);
    part[length] = '\0';
    find_add_word(out, field, part);
}

/* "> 1 MiB, <= 4 MiB" -> size>1MiB size<=4MiB */
static void add_sizes(const char *name, struct text *out) {
    text_add(out, out->length ? " size" : "size");
    for (; *name; name++) {
        if (*name == ',')
            text_add(out, " size");
        else if (*name != ' ')
            text_add_bytes(out, name, 1);
    }
}

void owner_key_words(const struct owners *owners, enum owner_grouping by, uint64_t key,
                     struct text *out) {
    char buffer[256];
    const struct timeline *tl = owners->tl;
    const char *name = owners_key_name(owners, by, key, LANGUAGE_ENGLISH, buffer);
    switch (by) {
    case OWNER_BY_MODULE: /* "(aten::mm)": no module */
        find_add_word(out, "module", *name == '(' ? "" : name);
        if (*name == '(')
            add_part(out, "op", name + 1, ")");
        break;
    case OWNER_BY_PATH:
        find_add_word(out, "module", timeline_text(tl, (uint32_t)key));
        break;
    case OWNER_BY_OP:
        find_add_word(out, "op", timeline_text(tl, (uint32_t)key));
        break;
    case OWNER_BY_NAME:
        find_add_word(out, "name", timeline_text(tl, (uint32_t)key));
        break;
    case OWNER_BY_CATEGORY:
        find_add_word(out, "cat", category_key((enum category)key));
        break;
    case OWNER_BY_DTYPE:
        find_add_word(out, "dtype", dtype_name((enum dtype)key));
        break;
    case OWNER_BY_STREAM:
        text_format(out, "%sstream:%u", out->length ? " " : "", (unsigned)key);
        break;
    case OWNER_BY_STACK: /* the innermost frame's function */
        add_part(out, "stack", name, " ");
        break;
    case OWNER_BY_SIZE:
        add_sizes(name, out);
        break;
    case OWNER_GROUPING_COUNT:
        break;
    }
}

void owner_tree_words(const struct owner_tree *tree, const struct owner_node *node,
                      struct text *out) {
    int last = node->is_block ? tree->levels - 1 : node->level;
    for (int i = 0; i <= last; i++)
        if (tree->by[i] != OWNER_BY_MODULE || i == last) /* else the path says it all */
            owner_key_words(tree->owners, tree->by[i], node->keys[i], out);
}

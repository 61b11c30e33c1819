/* owners.c: see owners.h. */
#include "owners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "timeline.h"

bool owners_init(struct owners *owners, const struct timeline *tl, struct error *err) {
    memset(owners, 0, sizeof *owners);
    owners->tl = tl;
    return owner_names_init(&owners->names, tl) || error_host_memory(err);
}

void owners_fini(struct owners *owners) {
    owner_names_fini(&owners->names);
    array_fini(&owners->rows);
    array_fini(&owners->slots);
}

enum owner_grouping owners_default(const struct timeline *tl) {
    if (tl->has & TIMELINE_HAS_OWNER)
        return OWNER_BY_MODULE;
    if (tl->has & TIMELINE_HAS_STACK)
        return OWNER_BY_STACK;
    return OWNER_BY_CATEGORY;
}

enum text_id owners_title(enum owner_grouping grouping) {
    static const enum text_id titles[OWNER_GROUPING_COUNT] = {
#define X(id, title) title,
        OWNER_GROUPINGS(X)
#undef X
    };
    return titles[grouping];
}

static bool key_of(struct owners *owners, const struct timeline_block *b, uint64_t *key) {
    uint32_t id = 0;
    switch (owners->grouping) {
    case OWNER_BY_MODULE:
        if (!owner_names_module(&owners->names, b, &id))
            return false;
        *key = id;
        return true;
    case OWNER_BY_PATH:
        *key = b->owner;
        return true;
    case OWNER_BY_CATEGORY:
        *key = b->category < CATEGORY_COUNT ? b->category : CATEGORY_UNKNOWN;
        return true;
    case OWNER_BY_OP:
        *key = b->op;
        return true;
    case OWNER_BY_NAME:
        *key = b->name;
        return true;
    case OWNER_BY_STACK:
        if (!owner_names_stack(&owners->names, b->stack, &id))
            return false;
        *key = id;
        return true;
    case OWNER_BY_DTYPE:
        *key = b->dtype;
        return true;
    case OWNER_BY_STREAM:
        *key = b->stream;
        return true;
    case OWNER_GROUPING_COUNT:
        break;
    }
    *key = 0;
    return true;
}

static size_t slot_of(const struct owners *owners, uint64_t key) {
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    size_t mask = owners->slots.count - 1;
    size_t at = (size_t)(hash >> 32) & mask;
    while (owners->slots.at[at] != 0 &&
           array_at(&owners->rows, owners->slots.at[at] - 1)->key != key)
        at = (at + 1) & mask;
    return at;
}

/* Keeps the table at most half full; a power of two. */
static bool grow_slots(struct owners *owners) {
    if (owners->slots.count > 2 * owners->rows.count + 2)
        return true;
    size_t count = owners->slots.count ? 2 * owners->slots.count : 64;
    if (!array_reserve(&owners->slots, count))
        return false;
    owners->slots.count = count;
    memset(owners->slots.at, 0, count * sizeof *owners->slots.at);
    for (size_t i = 0; i < owners->rows.count; i++)
        owners->slots.at[slot_of(owners, owners->rows.at[i].key)] = (uint32_t)i + 1;
    return true;
}

static struct owner_row *row_of(struct owners *owners, uint64_t key, uint32_t block) {
    if (!grow_slots(owners))
        return NULL;
    size_t at = slot_of(owners, key);
    if (owners->slots.at[at] == 0) {
        struct owner_row row = {.key = key, .oldest = block};
        if (!array_push(&owners->rows, row))
            return NULL;
        owners->slots.at[at] = (uint32_t)owners->rows.count;
    }
    return array_at(&owners->rows, owners->slots.at[at] - 1);
}

static bool add_block(struct owners *owners, uint32_t block) {
    const struct timeline_block *b = array_at(&owners->tl->blocks, block);
    uint64_t key;
    if (!key_of(owners, b, &key))
        return false;
    struct owner_row *row = row_of(owners, key, block);
    if (!row)
        return false;
    row->bytes += b->block_bytes;
    row->count++;
    if (b->block_bytes > row->largest)
        row->largest = b->block_bytes;
    if (b->free_event == TIMELINE_NONE)
        row->kept_bytes += b->block_bytes;
    row->by_category[b->category < CATEGORY_COUNT ? b->category : CATEGORY_UNKNOWN] +=
        b->block_bytes;
    owners->total_bytes += b->block_bytes;
    owners->total_count++;
    return true;
}

static int larger_first(const void *a, const void *b) {
    const struct owner_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

bool owners_read(struct owners *owners, enum owner_grouping grouping, const struct live_set *set) {
    owners->grouping = grouping;
    array_clear(&owners->rows);
    array_clear(&owners->slots);
    owners->total_bytes = owners->total_count = 0;
    for (size_t i = 0; i < set->ids.count; i++)
        if (!add_block(owners, set->ids.at[i])) {
            array_clear(&owners->rows);
            return false;
        }
    if (owners->rows.count > 0)
        qsort(owners->rows.at, owners->rows.count, sizeof *owners->rows.at, larger_first);
    return true;
}

static const char *or_unknown(const char *name, enum language language) {
    return *name ? name : i18n_text(language, TEXT_UNKNOWN);
}

const char *owners_name(const struct owners *owners, const struct owner_row *row,
                        enum language language, char buffer[256]) {
    const struct timeline *tl = owners->tl;
    switch (owners->grouping) {
    case OWNER_BY_MODULE:
    case OWNER_BY_STACK:
        return or_unknown(owner_names_text(&owners->names, (uint32_t)row->key), language);
    case OWNER_BY_PATH:
    case OWNER_BY_OP:
    case OWNER_BY_NAME:
        return or_unknown(timeline_text(tl, (uint32_t)row->key), language);
    case OWNER_BY_CATEGORY:
        return i18n_category(language, (enum category)row->key);
    case OWNER_BY_DTYPE:
        return row->key < DTYPE_COUNT && row->key != DTYPE_NONE ? dtype_name((enum dtype)row->key)
                                                                : i18n_text(language, TEXT_UNKNOWN);
    case OWNER_BY_STREAM:
        snprintf(buffer, 256, "%s %u", i18n_text(language, TEXT_STREAM), (unsigned)row->key);
        return buffer;
    case OWNER_GROUPING_COUNT:
        break;
    }
    return "";
}

enum category owners_category(const struct owner_row *row) {
    enum category best = CATEGORY_UNKNOWN;
    for (unsigned i = 0; i < CATEGORY_COUNT; i++)
        if (row->by_category[i] > row->by_category[best])
            best = (enum category)i;
    return best;
}

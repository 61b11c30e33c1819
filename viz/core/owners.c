/* owners.c: see owners.h. */
#include "owners.h"

#include <stdio.h>
#include <string.h>

#include "error.h"
#include "sort.h"
#include "timeline.h"
#include "units.h"

bool owners_init(struct owners *owners, const struct timeline *tl, struct error *err) {
    memset(owners, 0, sizeof *owners);
    owners->tl = tl;
    return owner_names_init(&owners->names, tl) || error_host_memory(err);
}

void owners_fini(struct owners *owners) {
    owner_names_fini(&owners->names);
    array_fini(&owners->rows);
    key_index_fini(&owners->index);
}

enum owner_grouping owners_default(const struct timeline *tl) {
    if (tl->has & TIMELINE_HAS_OWNER)
        return OWNER_BY_MODULE;
    if (tl->has & TIMELINE_HAS_STACK)
        return OWNER_BY_STACK;
    if (tl->has & TIMELINE_HAS_CATEGORY)
        return OWNER_BY_CATEGORY;
    for (size_t i = 0; i < tl->blocks.count; i++) /* one category would hold all of it */
        if (tl->blocks.at[i].op != 0)
            return OWNER_BY_OP;
    return OWNER_BY_CATEGORY;
}

bool owners_knows(const struct timeline *tl, enum owner_grouping grouping) {
    switch (grouping) {
    case OWNER_BY_MODULE:
    case OWNER_BY_PATH:
        return (tl->has & TIMELINE_HAS_OWNER) != 0;
    case OWNER_BY_STACK:
        return (tl->has & TIMELINE_HAS_STACK) != 0;
    case OWNER_BY_CATEGORY:
        return (tl->has & TIMELINE_HAS_CATEGORY) != 0;
    case OWNER_BY_STREAM:
        return (tl->has & TIMELINE_HAS_STREAM) != 0;
    case OWNER_BY_OP:
    case OWNER_BY_NAME:
    case OWNER_BY_DTYPE:
    case OWNER_BY_SIZE:
    case OWNER_GROUPING_COUNT:
        break;
    }
    return true;
}

enum text_id owners_title(enum owner_grouping grouping) {
    static const enum text_id titles[OWNER_GROUPING_COUNT] = {
#define X(id, key, title) title,
        OWNER_GROUPINGS(X)
#undef X
    };
    return titles[grouping];
}

const char *owners_word(enum owner_grouping grouping) {
    static const char *const keys[OWNER_GROUPING_COUNT] = {
#define X(id, key, title) key,
        OWNER_GROUPINGS(X)
#undef X
    };
    return keys[grouping];
}

/* The largest block of each class; the last has none. */
static const uint64_t size_limits[OWNER_SIZES - 1] = {4 * KIB,  64 * KIB, MIB,       4 * MIB,
                                                      16 * MIB, 64 * MIB, 256 * MIB, GIB};

static uint32_t size_class(uint64_t bytes) {
    uint32_t at = 0;
    while (at < OWNER_SIZES - 1 && bytes > size_limits[at])
        at++;
    return at;
}

/* As "256 KiB": the limits are whole ones. */
static int write_limit(char *out, size_t bytes, const char *sign, uint64_t limit) {
    const char *unit = limit < MIB ? "KiB" : limit < GIB ? "MiB" : "GiB";
    uint64_t of = limit < MIB ? KIB : limit < GIB ? MIB : GIB;
    return snprintf(out, bytes, "%s %u %s", sign, (unsigned)(limit / of), unit);
}

static const char *size_name(uint64_t key, char buffer[256]) {
    int length = 0;
    buffer[0] = '\0';
    if (key > 0 && key < OWNER_SIZES)
        length = write_limit(buffer, 256, ">", size_limits[key - 1]);
    if (key < OWNER_SIZES - 1)
        write_limit(buffer + length, 256 - (size_t)length,
                    length > 0 ? ", <=" : "<=", size_limits[key]);
    return buffer;
}

bool owners_key_of(struct owners *owners, enum owner_grouping grouping, uint32_t block,
                   uint64_t *key) {
    const struct timeline_block *b = array_at(&owners->tl->blocks, block);
    uint32_t id = 0;
    switch (grouping) {
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
    case OWNER_BY_SIZE:
        *key = size_class(b->block_bytes);
        return true;
    case OWNER_GROUPING_COUNT:
        break;
    }
    *key = 0;
    return true;
}

static struct owner_row *row_of(struct owners *owners, uint64_t key, uint32_t block) {
    uint32_t at;
    if (!key_index_add(&owners->index, key, &at))
        return NULL;
    if (at == owners->rows.count) {
        struct owner_row row = {.key = key, .oldest = block};
        if (!array_push(&owners->rows, row))
            return NULL;
    }
    return array_at(&owners->rows, at);
}

static bool add_block(struct owners *owners, uint32_t block) {
    const struct timeline_block *b = array_at(&owners->tl->blocks, block);
    uint64_t key;
    if (!owners_key_of(owners, owners->grouping, block, &key))
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

/* What a row is sorted by; the oldest block has the earliest allocation. */
static uint64_t order_value(const struct owners *owners, const struct owner_row *row,
                            enum owner_order order) {
    switch (order) {
    case OWNER_BYTES:
        return row->bytes;
    case OWNER_COUNT:
        return row->count;
    case OWNER_LARGEST:
        return row->largest;
    case OWNER_KEPT:
        return row->kept_bytes;
    case OWNER_AGE: {
        uint32_t event = owners->tl->blocks.at[row->oldest].alloc_event;
        return event == TIMELINE_NONE ? UINT64_MAX : UINT64_MAX - 1 - event;
    }
    }
    return 0;
}

struct row_order {
    const struct owners *owners;
    enum owner_order order;
    bool falling;
};

static int compare_rows(const void *x, const void *y, const void *user) {
    const struct row_order *o = user;
    const struct owner_row *a = x, *b = y;
    uint64_t first = order_value(o->owners, a, o->order),
             second = order_value(o->owners, b, o->order);
    if (first != second)
        return (first < second) == o->falling ? 1 : -1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return (a->key > b->key) - (a->key < b->key);
}

void owners_sort(struct owners *owners, enum owner_order order, bool falling) {
    const struct row_order by = {owners, order, falling};
    sort_items(owners->rows.at, owners->rows.count, sizeof *owners->rows.at, compare_rows, &by);
}

bool owners_read(struct owners *owners, enum owner_grouping grouping, const struct live_set *set) {
    owners->grouping = grouping;
    array_clear(&owners->rows);
    key_index_clear(&owners->index);
    owners->total_bytes = owners->total_count = 0;
    for (size_t i = 0; i < set->ids.count; i++)
        if (!add_block(owners, set->ids.at[i])) {
            array_clear(&owners->rows);
            return false;
        }
    owners_sort(owners, OWNER_BYTES, true);
    return true;
}

static const char *or_unknown(const char *name, enum language language) {
    return *name ? name : i18n_text(language, TEXT_UNKNOWN);
}

const char *owners_key_name(const struct owners *owners, enum owner_grouping grouping, uint64_t key,
                            enum language language, char buffer[256]) {
    const struct timeline *tl = owners->tl;
    switch (grouping) {
    case OWNER_BY_MODULE:
    case OWNER_BY_STACK:
        return or_unknown(owner_names_text(&owners->names, (uint32_t)key), language);
    case OWNER_BY_PATH:
    case OWNER_BY_OP:
    case OWNER_BY_NAME:
        return or_unknown(timeline_text(tl, (uint32_t)key), language);
    case OWNER_BY_CATEGORY:
        return i18n_category(language, (enum category)key);
    case OWNER_BY_DTYPE:
        return key < DTYPE_COUNT && key != DTYPE_NONE ? dtype_name((enum dtype)key)
                                                      : i18n_text(language, TEXT_UNKNOWN);
    case OWNER_BY_STREAM:
        snprintf(buffer, 256, "%s %u", i18n_text(language, TEXT_STREAM), (unsigned)key);
        return buffer;
    case OWNER_BY_SIZE:
        return size_name(key, buffer);
    case OWNER_GROUPING_COUNT:
        break;
    }
    return "";
}

const char *owners_name(const struct owners *owners, const struct owner_row *row,
                        enum language language, char buffer[256]) {
    return owners_key_name(owners, owners->grouping, row->key, language, buffer);
}

enum category owners_category(const struct owner_row *row) {
    enum category best = CATEGORY_UNKNOWN;
    for (unsigned i = 0; i < CATEGORY_COUNT; i++)
        if (row->by_category[i] > row->by_category[best])
            best = (enum category)i;
    return best;
}

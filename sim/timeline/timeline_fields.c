/* timeline_fields.c: see timeline_fields.h. */
#include "timeline_fields.h"

#include <assert.h>
#include <string.h>

#include "error.h"
#include "timeline.h"

#define FIELD_AS(s, id, member, type, target, link)                                                \
    {                                                                                              \
#member, id, offsetof(struct timeline_##s, member),                                        \
            sizeof(((struct timeline_##s *)0)->member), TIMELINE_FIELD_##type,                     \
            TIMELINE_TABLE_##target, link                                                          \
    }
#define FIELD(s, id, member, type) FIELD_AS(s, id, member, type, COUNT, EVENT_KIND_COUNT)
/* Points to a row of a table. */
#define POINT(s, id, member, type, table) FIELD_AS(s, id, member, type, table, EVENT_KIND_COUNT)
#define LINK(s, id, member, kind) FIELD_AS(s, id, member, INDEX, EVENTS, EVENT_##kind)

#define RUN(id, member, type)                                                                      \
    {                                                                                              \
#member, id, offsetof(struct timeline, member), sizeof(((struct timeline *)0)->member),    \
            TIMELINE_FIELD_##type, TIMELINE_TABLE_COUNT, EVENT_KIND_COUNT                          \
    }

static const struct timeline_field run_fields[] = {
    RUN(1, has, NUMBER),          RUN(2, title, STRING),          RUN(3, source_kind, STRING),
    RUN(4, framework, STRING),    RUN(5, alloc_settings, STRING), RUN(6, warnings, NUMBER),
    RUN(7, first_warning, STRING)};

static const struct timeline_field stream_fields[] = {{"handle", 1, 0, sizeof(uint64_t),
                                                       TIMELINE_FIELD_NUMBER, TIMELINE_TABLE_COUNT,
                                                       EVENT_KIND_COUNT}};

static const struct timeline_field device_fields[] = {FIELD(device, 1, name, STRING),
                                                      FIELD(device, 2, total_bytes, NUMBER),
                                                      FIELD(device, 3, context_bytes, NUMBER)};

static const struct timeline_field frame_fields[] = {FIELD(frame, 1, function, STRING),
                                                     FIELD(frame, 2, file, STRING),
                                                     FIELD(frame, 3, line, NUMBER)};

static const struct timeline_field stack_fields[] = {FIELD(stack, 1, first, NUMBER),
                                                     FIELD(stack, 2, count, NUMBER)};

static const struct timeline_field segment_fields[] = {FIELD(segment, 1, address, NUMBER),
                                                       FIELD(segment, 2, bytes, NUMBER),
                                                       LINK(segment, 3, alloc_event, SEGMENT_ALLOC),
                                                       LINK(segment, 4, free_event, SEGMENT_FREE),
                                                       FIELD(segment, 5, pool_id[0], NUMBER),
                                                       FIELD(segment, 6, pool_id[1], NUMBER),
                                                       POINT(segment, 7, stack, NUMBER, STACKS),
                                                       POINT(segment, 8, stream, NUMBER, STREAMS),
                                                       FIELD(segment, 9, device, NUMBER),
                                                       FIELD(segment, 10, small_pool, BOOL),
                                                       FIELD(segment, 11, expandable, BOOL)};

static const struct timeline_field phase_fields[] = {
    FIELD(phase, 1, name, STRING),        LINK(phase, 2, begin_event, PHASE_BEGIN),
    LINK(phase, 3, end_event, PHASE_END), POINT(phase, 4, parent, INDEX, PHASES),
    FIELD(phase, 5, depth, NUMBER),       FIELD(phase, 6, device, NUMBER)};

static const struct timeline_field oom_fields[] = {LINK(oom, 1, event, OOM),
                                                   FIELD(oom, 2, requested_bytes, NUMBER),
                                                   FIELD(oom, 3, rounded_bytes, NUMBER),
                                                   FIELD(oom, 4, segment_bytes, NUMBER),
                                                   FIELD(oom, 5, device_free_bytes, NUMBER),
                                                   FIELD(oom, 6, allocated_bytes, NUMBER),
                                                   FIELD(oom, 7, reserved_bytes, NUMBER),
                                                   FIELD(oom, 8, op, STRING),
                                                   FIELD(oom, 9, owner, STRING),
                                                   FIELD(oom, 10, message, STRING)};

/* Those that others are told from come first: see vrt_table.h. */
static const struct timeline_field block_fields[] = {POINT(block, 1, segment, INDEX, SEGMENTS),
                                                     FIELD(block, 2, requested_bytes, NUMBER),
                                                     FIELD(block, 3, address, NUMBER),
                                                     FIELD(block, 4, block_bytes, NUMBER),
                                                     LINK(block, 5, alloc_event, ALLOC),
                                                     LINK(block, 6, free_event, FREE_REQUESTED),
                                                     LINK(block, 7, complete_event, FREE_COMPLETED),
                                                     FIELD(block, 8, owner, STRING),
                                                     FIELD(block, 9, op, STRING),
                                                     FIELD(block, 10, name, STRING),
                                                     POINT(block, 11, stack, NUMBER, STACKS),
                                                     POINT(block, 12, phase, INDEX, PHASES),
                                                     POINT(block, 13, stream, NUMBER, STREAMS),
                                                     FIELD(block, 14, category, CATEGORY),
                                                     FIELD(block, 15, dtype, DTYPE),
                                                     FIELD(block, 16, device, NUMBER),
                                                     FIELD(block, 17, small_pool, BOOL),
                                                     FIELD(block, 18, pending_at_start, BOOL)};

static const struct timeline_field event_fields[] = {
    FIELD(event, 1, kind, KIND),      FIELD(event, 2, ref, NUMBER),
    FIELD(event, 3, time_ns, NUMBER), FIELD(event, 4, bytes, NUMBER),
    FIELD(event, 5, address, NUMBER), POINT(event, 6, stream, NUMBER, STREAMS),
    FIELD(event, 7, device, NUMBER)};

#define TABLE(name, row, fields)                                                                   \
    { name, sizeof(row), fields, sizeof(fields) / sizeof *(fields) }

static const struct timeline_table tables[] = {
    [TIMELINE_TABLE_RUN] = TABLE("run", struct timeline, run_fields),
    [TIMELINE_TABLE_STREAMS] = TABLE("streams", uint64_t, stream_fields),
    [TIMELINE_TABLE_DEVICES] = TABLE("devices", struct timeline_device, device_fields),
    [TIMELINE_TABLE_FRAMES] = TABLE("frames", struct timeline_frame, frame_fields),
    [TIMELINE_TABLE_STACKS] = TABLE("stacks", struct timeline_stack, stack_fields),
    [TIMELINE_TABLE_SEGMENTS] = TABLE("segments", struct timeline_segment, segment_fields),
    [TIMELINE_TABLE_PHASES] = TABLE("phases", struct timeline_phase, phase_fields),
    [TIMELINE_TABLE_OOMS] = TABLE("ooms", struct timeline_oom, oom_fields),
    [TIMELINE_TABLE_BLOCKS] = TABLE("blocks", struct timeline_block, block_fields),
    [TIMELINE_TABLE_EVENTS] = TABLE("events", struct timeline_event, event_fields),
};

static_assert(sizeof tables / sizeof tables[0] == TIMELINE_TABLE_COUNT, "all tables");

const struct timeline_table *timeline_table(enum timeline_table_id id) {
    return &tables[id];
}

/* The arrays of timeline.h, as what they have in common. */
struct rows {
    void *at;
    size_t count, capacity;
};

#define ROWS_CASE(id, member)                                                                      \
    case TIMELINE_TABLE_##id:                                                                      \
        return (struct rows){tl->member.at, tl->member.count, tl->member.capacity};

static struct rows rows_of(const struct timeline *tl, enum timeline_table_id id) {
    switch (id) {
        ROWS_CASE(STREAMS, streams)
        ROWS_CASE(DEVICES, devices)
        ROWS_CASE(FRAMES, frames)
        ROWS_CASE(STACKS, stacks)
        ROWS_CASE(SEGMENTS, segments)
        ROWS_CASE(PHASES, phases)
        ROWS_CASE(OOMS, ooms)
        ROWS_CASE(BLOCKS, blocks)
        ROWS_CASE(EVENTS, events)
    case TIMELINE_TABLE_RUN:
    case TIMELINE_TABLE_COUNT:
        break;
    }
    return (struct rows){NULL, 1, 1};
}

#define SET_CASE(id, member)                                                                       \
    case TIMELINE_TABLE_##id:                                                                      \
        tl->member.at = rows.at;                                                                   \
        tl->member.count = rows.count;                                                             \
        tl->member.capacity = rows.capacity;                                                       \
        break;

static void set_rows(struct timeline *tl, enum timeline_table_id id, struct rows rows) {
    switch (id) {
        SET_CASE(STREAMS, streams)
        SET_CASE(DEVICES, devices)
        SET_CASE(FRAMES, frames)
        SET_CASE(STACKS, stacks)
        SET_CASE(SEGMENTS, segments)
        SET_CASE(PHASES, phases)
        SET_CASE(OOMS, ooms)
        SET_CASE(BLOCKS, blocks)
        SET_CASE(EVENTS, events)
    case TIMELINE_TABLE_RUN:
    case TIMELINE_TABLE_COUNT:
        break;
    }
}

size_t timeline_rows(const struct timeline *tl, enum timeline_table_id id) {
    return rows_of(tl, id).count;
}

const void *timeline_row(const struct timeline *tl, enum timeline_table_id id, size_t row) {
    if (id == TIMELINE_TABLE_RUN)
        return tl;
    struct rows rows = rows_of(tl, id);
    assert(row < rows.count);
    return (const char *)rows.at + row * tables[id].row_bytes;
}

static bool grow(struct timeline *tl, enum timeline_table_id id, struct rows *rows, size_t need,
                 bool exactly) {
    size_t bytes = tables[id].row_bytes;
    if (need >= TIMELINE_NONE)
        return false;
    if (need <= rows->capacity)
        return true;
    void *at = rows->at;
    bool ok = exactly ? array_resize((void *)&at, &rows->capacity, need, bytes)
                      : array_grow((void *)&at, &rows->capacity, need, bytes);
    rows->at = at;
    if (ok)
        set_rows(tl, id, *rows);
    return ok;
}

bool timeline_reserve_rows(struct timeline *tl, enum timeline_table_id id, size_t count) {
    struct rows rows = rows_of(tl, id);
    assert(id != TIMELINE_TABLE_RUN);
    return grow(tl, id, &rows, count, true);
}

void *timeline_add_rows(struct timeline *tl, enum timeline_table_id id, size_t count) {
    struct rows rows = rows_of(tl, id);
    assert(id != TIMELINE_TABLE_RUN);
    if (count >= TIMELINE_NONE || !grow(tl, id, &rows, rows.count + count, false))
        return NULL;
    char *added = (char *)rows.at + rows.count * tables[id].row_bytes;
    if (count > 0)
        memset(added, 0, count * tables[id].row_bytes);
    rows.count += count;
    set_rows(tl, id, rows);
    return added;
}

char *timeline_rows_at(struct timeline *tl, enum timeline_table_id id) {
    assert(id != TIMELINE_TABLE_RUN);
    return rows_of(tl, id).at;
}

uint64_t timeline_field_get(const struct timeline_field *field, const void *row) {
    const unsigned char *at = (const unsigned char *)row + field->offset;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (field->bytes) {
    case 1:
        return *at;
    case 2:
        memcpy(&two, at, sizeof two);
        return two;
    case 4:
        memcpy(&four, at, sizeof four);
        return four;
    default:
        memcpy(&eight, at, sizeof eight);
        return eight;
    }
}

void timeline_field_set(const struct timeline_field *field, void *row, uint64_t value) {
    unsigned char *at = (unsigned char *)row + field->offset;
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;
    switch (field->bytes) {
    case 1:
        *at = (unsigned char)value;
        break;
    case 2:
        memcpy(at, &two, sizeof two);
        break;
    case 4:
        memcpy(at, &four, sizeof four);
        break;
    default:
        memcpy(at, &value, sizeof value);
        break;
    }
}

const char *timeline_has_name(unsigned bit) {
    static const char *const names[] = {"time",     "address", "block_bytes", "requested",
                                        "segments", "stream",  "category",    "owner",
                                        "stack",    "phase",   "device",      "history"};
    static_assert(1 << (sizeof names / sizeof names[0] - 1) == TIMELINE_HAS_HISTORY, "all bits");
    return bit < sizeof names / sizeof names[0] ? names[bit] : NULL;
}

/* --- equality --- */

static bool equal_text(const struct timeline *a, uint64_t x, const struct timeline *b, uint64_t y) {
    size_t length = strtab_length(&a->strings, (uint32_t)x);
    return length == strtab_length(&b->strings, (uint32_t)y) &&
           memcmp(timeline_text(a, (uint32_t)x), timeline_text(b, (uint32_t)y), length) == 0;
}

static bool equal_rows(const struct timeline *a, const struct timeline *b,
                       enum timeline_table_id id, size_t row, struct error *err) {
    const struct timeline_table *table = &tables[id];
    for (size_t f = 0; f < table->field_count; f++) {
        const struct timeline_field *field = &table->fields[f];
        uint64_t x = timeline_field_get(field, timeline_row(a, id, row));
        uint64_t y = timeline_field_get(field, timeline_row(b, id, row));
        bool is_text = field->type == TIMELINE_FIELD_STRING;
        if (is_text && !equal_text(a, x, b, y))
            return error_set(err, ERROR_BAD_INPUT, "%s %zu: %s '%s', '%s'", table->name, row,
                             field->name, timeline_text(a, (uint32_t)x),
                             timeline_text(b, (uint32_t)y));
        if (!is_text && x != y)
            return error_set(err, ERROR_BAD_INPUT, "%s %zu: %s %llu, %llu", table->name, row,
                             field->name, (unsigned long long)x, (unsigned long long)y);
    }
    return true;
}

bool timeline_equal(const struct timeline *a, const struct timeline *b, struct error *err) {
    for (unsigned t = 0; t < TIMELINE_TABLE_COUNT; t++) {
        enum timeline_table_id id = (enum timeline_table_id)t;
        size_t rows = timeline_rows(a, id);
        if (rows != timeline_rows(b, id))
            return error_set(err, ERROR_BAD_INPUT, "%s: %zu rows, %zu rows", tables[t].name, rows,
                             timeline_rows(b, id));
        for (size_t i = 0; i < rows; i++)
            if (!equal_rows(a, b, id, i, err))
                return false;
    }
    return true;
}

/* vrt_table_unpack.c: bytes -> rows; see vrt_table.h. Columns go into the rows as they are; what was foretold is added
 * in a second walk over the rows, in their order. */
#include "error.h"
#include "timeline.h"
#include "vrt_column.h"
#include "vrt_format.h"
#include "vrt_table.h"

enum { AT_ONCE = 1024, MOST_COLUMNS = 256 };

/* Where the rows of a block go. */
struct target {
    const struct timeline *tl;
    const struct timeline_table *table;
    char *rows;
    size_t count;
    uint64_t foretold; /* fields by their id */
};

static bool check_strings(const struct timeline *tl, const struct timeline_field *field,
                          const uint64_t *values, size_t count, struct error *err) {
    size_t known = strtab_count(&tl->strings);
    for (size_t i = 0; i < count; i++)
        if (values[i] >= known)
            return error_set(err, ERROR_BAD_INPUT, "%s is string %llu of %zu", field->name,
                             (unsigned long long)values[i], known);
    return true;
}

static bool check_rows(const struct timeline *tl, const struct timeline_field *field,
                       const uint64_t *values, size_t count, struct error *err) {
    size_t rows = timeline_rows(tl, (enum timeline_table_id)field->target);
    for (size_t i = 0; i < count; i++)
        if (values[i] >= rows &&
            (field->type != TIMELINE_FIELD_INDEX || values[i] != TIMELINE_NONE))
            return error_set(err, ERROR_BAD_INPUT, "%s is row %llu of %zu %s", field->name,
                             (unsigned long long)values[i], rows,
                             timeline_table((enum timeline_table_id)field->target)->name);
    return true;
}

static void translate(const uint8_t map[256], uint64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        values[i] = map[values[i] & 0xff];
}

/* All but where the number points to. */
static bool convert(const struct timeline *tl, const struct timeline_field *field,
                    const struct vrt_maps *maps, uint64_t *values, size_t count,
                    struct error *err) {
    switch ((enum timeline_field_type)field->type) {
    case TIMELINE_FIELD_NUMBER:
        return true;
    case TIMELINE_FIELD_BOOL:
        for (size_t i = 0; i < count; i++)
            values[i] = values[i] != 0;
        return true;
    case TIMELINE_FIELD_STRING:
        return check_strings(tl, field, values, count, err);
    case TIMELINE_FIELD_INDEX:
        for (size_t i = 0; i < count; i++)
            values[i] = (uint32_t)(values[i] - 1);
        return true;
    case TIMELINE_FIELD_KIND:
        translate(maps->kind, values, count);
        return true;
    case TIMELINE_FIELD_CATEGORY:
        translate(maps->category, values, count);
        return true;
    case TIMELINE_FIELD_DTYPE:
        translate(maps->dtype, values, count);
        return true;
    }
    return true;
}

bool vrt_table_convert(const struct timeline *tl, const struct timeline_field *field,
                       const struct vrt_maps *maps, uint64_t *values, size_t count,
                       struct error *err) {
    return convert(tl, field, maps, values, count, err) &&
           (field->target == TIMELINE_TABLE_COUNT || check_rows(tl, field, values, count, err));
}

#define SCATTER(type)                                                                              \
    for (size_t i = 0; i < count; i++, at += stride) {                                             \
        type narrow = (type)values[i];                                                             \
        memcpy(at, &narrow, sizeof narrow);                                                        \
    }

static void scatter(const struct timeline_field *field, size_t stride, char *at,
                    const uint64_t *values, size_t count) {
    at += field->offset;
    switch (field->bytes) {
    case 1:
        SCATTER(uint8_t)
        break;
    case 2:
        SCATTER(uint16_t)
        break;
    case 4:
        SCATTER(uint32_t)
        break;
    default:
        SCATTER(uint64_t)
        break;
    }
}

static bool fill_column(const struct target *t, const struct timeline_field *field,
                        const struct vrt_column *column, const uint8_t *numbers,
                        const struct vrt_maps *maps, struct error *err) {
    uint64_t values[AT_ONCE], before = column->base;
    size_t stride = t->table->row_bytes;
    for (size_t first = 0; first < t->count; first += AT_ONCE) {
        size_t count = t->count - first < AT_ONCE ? t->count - first : AT_ONCE;
        vrt_column_unpack(column, numbers, first, count, &before, values);
        bool ok = column->encoding & VRT_FORETOLD
                      ? convert(t->tl, field, maps, values, count, err)
                      : vrt_table_convert(t->tl, field, maps, values, count, err);
        if (!ok)
            return false;
        scatter(field, stride, t->rows + first * stride, values, count);
    }
    return true;
}

static const struct timeline_field *find_field(const struct timeline_table *table, uint16_t id) {
    for (size_t i = 0; i < table->field_count; i++)
        if (table->fields[i].id == id)
            return &table->fields[i];
    return NULL;
}

static bool fill_columns(struct target *t, const uint8_t *bytes, size_t length,
                         const struct vrt_maps *maps, struct error *err) {
    uint32_t columns = vrt_get32(bytes + 8);
    size_t at = 16 + (size_t)columns * VRT_COLUMN_BYTES;
    if (columns > MOST_COLUMNS || at > length)
        return error_set(err, ERROR_BAD_INPUT, "%s: %u columns in %zu bytes", t->table->name,
                         columns, length);
    for (uint32_t i = 0; i < columns; i++) {
        struct vrt_column c = vrt_column_get(bytes + 16 + (size_t)i * VRT_COLUMN_BYTES);
        const struct timeline_field *field = find_field(t->table, c.field);
        if (c.bytes > length - at)
            return error_set(err, ERROR_BAD_INPUT, "%s: column %u ends behind its block",
                             t->table->name, c.field);
        if (field && !vrt_column_is_known(&c, t->count))
            return error_set(err, ERROR_BAD_INPUT,
                             "%s: column '%s' of %zu rows has encoding %u, width %u, %u bytes",
                             t->table->name, field->name, t->count, c.encoding, c.width, c.bytes);
        if (field && !fill_column(t, field, &c, bytes + at, maps, err))
            return false;
        if (field && (c.encoding & VRT_FORETOLD))
            t->foretold |= UINT64_C(1) << field->id;
        at += c.bytes;
    }
    return true;
}

/* Members that the file does not have: an index is none, the rest is zero already. */
static void fill_defaults(const struct target *t) {
    for (size_t f = 0; f < t->table->field_count; f++) {
        const struct timeline_field *field = &t->table->fields[f];
        const uint32_t none = TIMELINE_NONE;
        char *at = t->rows + field->offset;
        if (field->type == TIMELINE_FIELD_INDEX)
            for (size_t i = 0; i < t->count; i++, at += t->table->row_bytes)
                memcpy(at, &none, sizeof none);
    }
}

/* --- what was foretold --- */

static bool is_foretold(const struct target *t, size_t offset) {
    for (size_t f = 0; f < t->table->field_count; f++)
        if (t->table->fields[f].offset == offset)
            return t->foretold >> t->table->fields[f].id & 1;
    return false;
}

static void add_to_blocks(const struct target *t, struct timeline_block *b) {
    bool sizes = is_foretold(t, offsetof(struct timeline_block, block_bytes));
    bool addresses = is_foretold(t, offsetof(struct timeline_block, address));
    for (size_t i = 0; i < t->count; i++) {
        if (sizes)
            b[i].block_bytes += b[i].requested_bytes;
        if (addresses && b[i].segment < t->tl->segments.count)
            b[i].address += t->tl->segments.at[b[i].segment].address;
    }
}

struct foretold {
    bool ref, bytes, address, stream, device;
};

static void add_all(struct timeline_event *e, const struct foretold *f, uint64_t bytes,
                    uint64_t address, uint16_t stream, uint8_t device) {
    if (f->bytes)
        e->bytes += bytes;
    if (f->address)
        e->address += address;
    if (f->stream)
        e->stream = (uint16_t)(e->stream + stream);
    if (f->device)
        e->device = (uint8_t)(e->device + device);
}

static bool fail_ref(const struct timeline_event *e, size_t limit, struct error *err) {
    return error_set(err, ERROR_BAD_INPUT, "events: a %s refers to %u of %zu",
                     event_kind_name((enum event_kind)e->kind), e->ref, limit);
}

static bool of_block(const struct timeline *tl, struct timeline_event *e, const struct foretold *f,
                     struct error *err) {
    if (e->ref >= tl->blocks.count)
        return fail_ref(e, tl->blocks.count, err);
    const struct timeline_block *b = &tl->blocks.at[e->ref];
    add_all(e, f, b->requested_bytes, b->address, b->stream, b->device);
    return true;
}

static bool of_segment(const struct timeline *tl, struct timeline_event *e,
                       const struct foretold *f, struct error *err) {
    if (e->ref >= tl->segments.count)
        return fail_ref(e, tl->segments.count, err);
    const struct timeline_segment *s = &tl->segments.at[e->ref];
    bool is_whole = e->kind == EVENT_SEGMENT_ALLOC || e->kind == EVENT_SEGMENT_FREE;
    add_all(e, f, is_whole ? s->bytes : 0, s->address, s->stream, s->device);
    return true;
}

static bool of_phase(const struct timeline *tl, struct timeline_event *e, const struct foretold *f,
                     struct error *err) {
    if (e->ref >= tl->phases.count)
        return fail_ref(e, tl->phases.count, err);
    if (f->device)
        e->device = (uint8_t)(e->device + tl->phases.at[e->ref].device);
    return true;
}

static bool add_to_event(const struct timeline *tl, struct timeline_event *e, uint32_t before,
                         const struct foretold *f, struct vrt_foretell *foretell,
                         struct error *err) {
    switch ((enum event_kind)e->kind) {
    case EVENT_ALLOC:
        e->ref += f->ref ? foretell->next_block : 0;
        foretell->next_block = e->ref + 1;
        return of_block(tl, e, f, err);
    case EVENT_FREE_REQUESTED:
    case EVENT_STREAM_USE:
        e->ref += f->ref ? foretell->next_block : 0;
        return of_block(tl, e, f, err);
    case EVENT_FREE_COMPLETED:
        e->ref += f->ref ? before : 0;
        return of_block(tl, e, f, err);
    case EVENT_SEGMENT_ALLOC:
    case EVENT_SEGMENT_FREE:
    case EVENT_SEGMENT_MAP:
    case EVENT_SEGMENT_UNMAP:
        return of_segment(tl, e, f, err);
    case EVENT_PHASE_BEGIN:
    case EVENT_PHASE_END:
        return of_phase(tl, e, f, err);
    case EVENT_OOM:
        return e->ref < tl->ooms.count || fail_ref(e, tl->ooms.count, err);
    case EVENT_EMPTY_CACHE:
    case EVENT_SNAPSHOT:
    case EVENT_OTHER:
    case EVENT_KIND_COUNT:
        break;
    }
    return true;
}

static bool add_to_events(const struct target *t, struct timeline_event *e,
                          struct vrt_foretell *foretell, struct error *err) {
    const struct foretold f = {.ref = is_foretold(t, offsetof(struct timeline_event, ref)),
                               .bytes = is_foretold(t, offsetof(struct timeline_event, bytes)),
                               .address = is_foretold(t, offsetof(struct timeline_event, address)),
                               .stream = is_foretold(t, offsetof(struct timeline_event, stream)),
                               .device = is_foretold(t, offsetof(struct timeline_event, device))};
    uint32_t before = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (!add_to_event(t->tl, &e[i], before, &f, foretell, err))
            return false;
        if (e[i].stream >= t->tl->streams.count)
            return error_set(err, ERROR_BAD_INPUT, "events: stream %u of %zu", e[i].stream,
                             t->tl->streams.count);
        before = e[i].ref;
    }
    return true;
}

/* The first event of its kind that names a row is the row's. */
struct link {
    char *at; /* of the first row; NULL: no row names events of this kind */
    size_t row_bytes;
};

static void link_events(struct timeline *tl, size_t first) {
    struct link links[EVENT_KIND_COUNT] = {0};
    for (unsigned k = 0; k < EVENT_KIND_COUNT; k++) {
        enum timeline_table_id id;
        const struct timeline_field *field = vrt_link_of((uint8_t)k, &id);
        if (field && timeline_rows(tl, id) > 0)
            links[k] = (struct link){timeline_rows_at(tl, id) + field->offset,
                                     timeline_table(id)->row_bytes};
    }
    for (size_t i = first; i < tl->events.count; i++) {
        const struct link *link = &links[tl->events.at[i].kind];
        uint32_t event = (uint32_t)i, known;
        if (!link->at)
            continue;
        char *at = link->at + tl->events.at[i].ref * link->row_bytes;
        memcpy(&known, at, sizeof known);
        if (known == TIMELINE_NONE)
            memcpy(at, &event, sizeof event);
    }
}

/* --- the block --- */

static bool check_stacks(const struct timeline *tl, size_t first, struct error *err) {
    for (size_t i = first; i < tl->stacks.count; i++)
        if (tl->stacks.at[i].first + (uint64_t)tl->stacks.at[i].count > tl->frames.count)
            return error_set(err, ERROR_BAD_INPUT, "stack %zu: outside the frames", i);
    return true;
}

static bool fill(struct timeline *tl, struct target *t, enum timeline_table_id id,
                 const uint8_t *bytes, size_t length, const struct vrt_maps *maps,
                 struct vrt_foretell *foretell, struct error *err) {
    size_t first = id == TIMELINE_TABLE_RUN ? 0 : timeline_rows(tl, id) - t->count;
    fill_defaults(t);
    if (!fill_columns(t, bytes, length, maps, err))
        return false;
    if (id == TIMELINE_TABLE_BLOCKS)
        add_to_blocks(t, &tl->blocks.at[first]);
    if (id == TIMELINE_TABLE_STACKS)
        return check_stacks(tl, first, err);
    if (id != TIMELINE_TABLE_EVENTS)
        return true;
    if (!add_to_events(t, &tl->events.at[first], foretell, err))
        return false;
    link_events(tl, first);
    return true;
}

bool vrt_table_unpack(struct timeline *tl, enum timeline_table_id id, const uint8_t *bytes,
                      size_t length, size_t rows, const struct vrt_maps *maps,
                      struct vrt_foretell *foretell, struct error *err) {
    const struct timeline_table *table = timeline_table(id);
    struct target t = {.tl = tl, .table = table, .count = rows};
    size_t there = id == TIMELINE_TABLE_RUN ? 0 : timeline_rows(tl, id);
    if (length < 16 || rows == 0 || (id == TIMELINE_TABLE_RUN && rows != 1))
        return error_set(err, ERROR_BAD_INPUT, "%s: %zu rows in %zu bytes", table->name, rows,
                         length);
    if (vrt_get64(bytes) != there)
        return error_set(err, ERROR_BAD_INPUT, "%s: rows from %llu on, where %zu are", table->name,
                         (unsigned long long)vrt_get64(bytes), there);
    if (id == TIMELINE_TABLE_RUN) {
        t.rows = (char *)tl;
        return fill(tl, &t, id, bytes, length, maps, foretell, err);
    }
    t.rows = timeline_add_rows(tl, id, rows);
    if (!t.rows)
        return error_host_memory(err);
    return fill(tl, &t, id, bytes, length, maps, foretell, err);
}

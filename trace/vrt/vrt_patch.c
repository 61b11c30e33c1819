/* vrt_patch.c: see vrt_patch.h. */
#include "vrt_patch.h"

#include "error.h"
#include "timeline.h"
#include "vrt_format.h"
#include "vrt_write.h"

enum { PATCH_BYTES = 16, PATCHES_AT_ONCE = 1 << 16 };

uint32_t vrt_row_mark(const struct vrt_crc *crc, const struct timeline *tl,
                      enum timeline_table_id id, size_t row) {
    const struct timeline_table *table = timeline_table(id);
    const void *at = timeline_row(tl, id, row);
    uint32_t mark = 0;
    for (size_t f = 0; f < table->field_count; f++) {
        uint64_t value = timeline_field_get(&table->fields[f], at);
        if (table->fields[f].link == EVENT_KIND_COUNT)
            mark = vrt_crc_of(crc, mark, &value, sizeof value);
    }
    return mark;
}

static bool flush(struct vrt_writer *w, struct error *err) {
    uint32_t rows = (uint32_t)(w->buffer.bytes.count / PATCH_BYTES);
    bool ok = rows == 0 || vrt_put_block(w, VRT_PATCH, rows, err);
    array_clear(&w->buffer.bytes);
    return ok;
}

static bool put(struct vrt_writer *w, enum timeline_table_id id, const struct timeline_field *field,
                size_t row, uint64_t value, struct error *err) {
    size_t at = w->buffer.bytes.count;
    if (!array_reserve(&w->buffer.bytes, at + PATCH_BYTES))
        return error_host_memory(err);
    if (field->type == TIMELINE_FIELD_INDEX)
        value = (uint32_t)(value + 1);
    uint8_t *bytes = w->buffer.bytes.at + at;
    vrt_put16(bytes, (uint16_t)id);
    vrt_put16(bytes + 2, field->id);
    vrt_put32(bytes + 4, (uint32_t)row);
    vrt_put64(bytes + 8, value);
    w->buffer.bytes.count = at + PATCH_BYTES;
    return w->buffer.bytes.count < PATCHES_AT_ONCE * PATCH_BYTES || flush(w, err);
}

/* --- rows --- */

static bool put_row(struct vrt_writer *w, const struct timeline *tl, enum timeline_table_id id,
                    size_t row, struct error *err) {
    const struct timeline_table *table = timeline_table(id);
    const void *at = timeline_row(tl, id, row);
    for (size_t f = 0; f < table->field_count; f++)
        if (table->fields[f].link == EVENT_KIND_COUNT &&
            !put(w, id, &table->fields[f], row, timeline_field_get(&table->fields[f], at), err))
            return false;
    return true;
}

/* `first`: the row of the table that the first mark is of. */
static bool put_changed(struct vrt_writer *w, const struct timeline *tl, enum timeline_table_id id,
                        struct error *err) {
    size_t first = w->rows[id] - w->marks[id].count;
    for (size_t i = 0; i < w->marks[id].count; i++) {
        uint32_t mark = vrt_row_mark(&w->out->crc, tl, id, first + i);
        if (mark == w->marks[id].at[i])
            continue;
        w->marks[id].at[i] = mark;
        if (!put_row(w, tl, id, first + i, err))
            return false;
    }
    return true;
}

bool vrt_patch_small(struct vrt_writer *w, const struct timeline *tl, struct error *err) {
    array_clear(&w->buffer.bytes);
    return put_changed(w, tl, TIMELINE_TABLE_SEGMENTS, err) &&
           put_changed(w, tl, TIMELINE_TABLE_PHASES, err) &&
           put_changed(w, tl, TIMELINE_TABLE_OOMS, err) && flush(w, err);
}

/* --- links --- */

/* Where the link of a kind's events is. */
struct told {
    enum timeline_table_id id;
    const struct timeline_field *field; /* NULL: nowhere */
    const char *rows;
    size_t row_bytes;
};

static void find_told(const struct timeline *tl, struct told told[EVENT_KIND_COUNT]) {
    for (unsigned k = 0; k < EVENT_KIND_COUNT; k++) {
        told[k] = (struct told){.rows = NULL};
        told[k].field = vrt_link_of((uint8_t)k, &told[k].id);
        if (!told[k].field || timeline_rows(tl, told[k].id) == 0)
            continue;
        told[k].rows = timeline_row(tl, told[k].id, 0);
        told[k].row_bytes = timeline_table(told[k].id)->row_bytes;
    }
}

/* A reader takes the first event of a kind that names a row for the row's. */
static bool put_early(struct vrt_writer *w, const struct timeline *tl, struct error *err) {
    struct told told[EVENT_KIND_COUNT];
    find_told(tl, told);
    for (size_t i = 0; i < tl->events.count; i++) {
        const struct timeline_event *e = &tl->events.at[i];
        const struct told *t = &told[e->kind];
        if (!t->field)
            continue;
        uint64_t link = timeline_field_get(t->field, t->rows + e->ref * t->row_bytes);
        if (i < link && !put(w, t->id, t->field, e->ref, link, err))
            return false;
    }
    return true;
}

/* Bits by enum event_kind: those that a reader takes for this link. */
static uint32_t kinds_that_tell(const struct timeline_field *field) {
    uint32_t kinds = 0;
    enum timeline_table_id id;
    for (unsigned k = 0; k < EVENT_KIND_COUNT; k++)
        kinds |= (uint32_t)(vrt_link_of((uint8_t)k, &id) == field) << k;
    return kinds;
}

/* Links to events of which no reader would think. */
static bool put_strange(struct vrt_writer *w, const struct timeline *tl, enum timeline_table_id id,
                        const struct timeline_field *field, struct error *err) {
    uint32_t kinds = kinds_that_tell(field);
    size_t rows = timeline_rows(tl, id), stride = timeline_table(id)->row_bytes;
    const char *at = rows > 0 ? timeline_row(tl, id, 0) : NULL;
    for (size_t row = 0; row < rows; row++, at += stride) {
        uint64_t link = timeline_field_get(field, at);
        if (link < tl->events.count && !(kinds >> tl->events.at[link].kind & 1) &&
            !put(w, id, field, row, link, err))
            return false;
    }
    return true;
}

static bool put_links(struct vrt_writer *w, const struct timeline *tl, struct error *err) {
    if (!put_early(w, tl, err))
        return false;
    for (unsigned t = 0; t < TIMELINE_TABLE_COUNT; t++) {
        enum timeline_table_id id = (enum timeline_table_id)t;
        const struct timeline_table *table = timeline_table(id);
        for (size_t f = 0; f < table->field_count; f++)
            if (table->fields[f].link != EVENT_KIND_COUNT &&
                !put_strange(w, tl, id, &table->fields[f], err))
                return false;
    }
    return true;
}

bool vrt_patch_rest(struct vrt_writer *w, const struct timeline *tl, struct error *err) {
    array_clear(&w->buffer.bytes);
    for (unsigned t = 0; t < TIMELINE_TABLE_COUNT; t++)
        if (!put_changed(w, tl, (enum timeline_table_id)t, err))
            return false;
    return put_links(w, tl, err) && flush(w, err);
}

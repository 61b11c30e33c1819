/* vrt_patch.c: see vrt_patch.h. */
#include "vrt_patch.h"

#include <stdlib.h>

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

uint32_t vrt_patch_count(const struct vrt_buffer *patches) {
    return (uint32_t)(patches->bytes.count / PATCH_BYTES);
}

static int by_bytes(const void *a, const void *b) {
    return memcmp(a, b, PATCH_BYTES);
}

/* Each change once: several events may call for one. */
static void unite(struct vrt_buffer *patches) {
    uint8_t *at = patches->bytes.at;
    size_t kept = 0, count = vrt_patch_count(patches);
    if (count > 1)
        qsort(at, count, PATCH_BYTES, by_bytes);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || by_bytes(at + (kept - 1) * PATCH_BYTES, at + i * PATCH_BYTES) != 0)
            memmove(at + kept++ * PATCH_BYTES, at + i * PATCH_BYTES, PATCH_BYTES);
    patches->bytes.count = kept * PATCH_BYTES;
}

static bool flush(struct vrt_writer *w, struct error *err) {
    unite(&w->buffer);
    uint32_t rows = vrt_patch_count(&w->buffer);
    bool ok = rows == 0 || vrt_put_block(w, &w->buffer, VRT_PATCH, 0, rows, err);
    array_clear(&w->buffer.bytes);
    return ok;
}

static bool append(struct vrt_buffer *patches, enum timeline_table_id id,
                   const struct timeline_field *field, size_t row, uint64_t value,
                   struct error *err) {
    size_t at = patches->bytes.count;
    if (!array_reserve(&patches->bytes, at + PATCH_BYTES))
        return error_host_memory(err);
    if (field->type == TIMELINE_FIELD_INDEX)
        value = (uint32_t)(value + 1);
    uint8_t *bytes = patches->bytes.at + at;
    vrt_put16(bytes, (uint16_t)id);
    vrt_put16(bytes + 2, field->id);
    vrt_put32(bytes + 4, (uint32_t)row);
    vrt_put64(bytes + 8, value);
    patches->bytes.count = at + PATCH_BYTES;
    return true;
}

static bool put(struct vrt_writer *w, enum timeline_table_id id, const struct timeline_field *field,
                size_t row, uint64_t value, struct error *err) {
    return append(&w->buffer, id, field, row, value, err) &&
           (w->buffer.bytes.count < PATCHES_AT_ONCE * PATCH_BYTES || flush(w, err));
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

/* Where the links are that events of a kind may be: a reader takes those of `told` from them. */
struct told {
    enum timeline_table_id id;
    const struct timeline_field *field; /* NULL: none */
    bool is_told;
    const char *rows;
    size_t row_bytes;
};

static void find_told(const struct timeline *tl, struct told told[EVENT_KIND_COUNT]) {
    for (unsigned k = 0; k < EVENT_KIND_COUNT; k++) {
        told[k] = (struct told){.is_told = true};
        told[k].field = vrt_link_of((uint8_t)k, &told[k].id);
        if (k ==
            EVENT_SEGMENT_UNMAP) { /* of a reservation: it may be its end, no reader thinks so */
            told[k].field = vrt_link_of(EVENT_SEGMENT_FREE, &told[k].id);
            told[k].is_told = false;
        }
        if (!told[k].field || timeline_rows(tl, told[k].id) == 0) {
            told[k].field = NULL;
            continue;
        }
        told[k].rows = timeline_row(tl, told[k].id, 0);
        told[k].row_bytes = timeline_table(told[k].id)->row_bytes;
    }
}

bool vrt_patch_links(struct vrt_writer *w, const struct timeline *tl, size_t first, size_t end,
                     size_t known, struct error *err) {
    struct told told[EVENT_KIND_COUNT];
    find_told(tl, told);
    array_clear(&w->links.bytes);
    for (size_t i = first; i < end; i++) {
        const struct timeline_event *e = &tl->events.at[i];
        const struct told *t = &told[e->kind];
        if (!t->field)
            continue;
        uint64_t link = timeline_field_get(t->field, t->rows + e->ref * t->row_bytes);
        bool is_wrong = t->is_told ? i < link : i == link;
        if (is_wrong &&
            !append(&w->links, t->id, t->field, e->ref, link < known ? link : TIMELINE_NONE, err))
            return false;
    }
    unite(&w->links);
    return true;
}

/* Any may have changed since its events were written. */
static bool put_links(struct vrt_writer *w, const struct timeline *tl, struct error *err) {
    for (size_t first = 0, end; first < tl->events.count; first = end) {
        end =
            tl->events.count - first < PATCHES_AT_ONCE ? tl->events.count : first + PATCHES_AT_ONCE;
        if (!vrt_patch_links(w, tl, first, end, tl->events.count, err))
            return false;
        uint32_t rows = vrt_patch_count(&w->links);
        if (rows > 0 && !vrt_put_block(w, &w->links, VRT_PATCH, 0, rows, err))
            return false;
    }
    return true;
}

bool vrt_patch_rest(struct vrt_writer *w, const struct timeline *tl, struct error *err) {
    array_clear(&w->buffer.bytes);
    for (unsigned t = 0; t < TIMELINE_TABLE_COUNT; t++)
        if (!put_changed(w, tl, (enum timeline_table_id)t, err))
            return false;
    return flush(w, err) && (w->adds_once || put_links(w, tl, err));
}

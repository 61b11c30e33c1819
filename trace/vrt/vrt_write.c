/* vrt_write.c: see vrt_write.h. Groups of blocks, each ended by one of events: the rows that these events refer to come
 * before them, as do the rows that those rows refer to; links that a reader of so much has wrong come behind. */
#include "vrt_write.h"

#include "category.h"
#include "dtype.h"
#include "error.h"
#include "timeline.h"
#include "vrt_format.h"
#include "vrt_patch.h"
#include "vrt_zstd.h"

enum { ROWS_AT_ONCE = 1 << 16, LEAST_GROUP = 1 << 12, TEXT_AT_ONCE = 1 << 20 };

/* --- blocks --- */

static bool put_block(struct vrt_writer *w, const struct vrt_buffer *buffer,
                      struct vrt_block *block, struct error *err) {
    block->stored = buffer->bytes.at;
    block->stored_bytes = block->raw_bytes = (uint32_t)buffer->bytes.count;
    block->codec = VRT_RAW;
    array_clear(&w->packed.bytes);
    if (w->packs && !vrt_zstd_pack(buffer->bytes.at, buffer->bytes.count, &w->packed))
        return error_host_memory(err);
    if (w->packed.bytes.count > 0) {
        block->stored = w->packed.bytes.at;
        block->stored_bytes = (uint32_t)w->packed.bytes.count;
        block->codec = VRT_ZSTD;
    }
    return vrt_out_block(w->out, block, err);
}

static bool put_names(struct vrt_writer *w, uint8_t which, uint8_t number, const char *name) {
    size_t n = strlen(name), at = w->buffer.bytes.count;
    if (!array_reserve(&w->buffer.bytes, at + 3 + n))
        return false;
    w->buffer.bytes.at[at] = which;
    w->buffer.bytes.at[at + 1] = number;
    w->buffer.bytes.at[at + 2] = (uint8_t)n;
    memcpy(w->buffer.bytes.at + at + 3, name, n);
    w->buffer.bytes.count = at + 3 + n;
    return true;
}

bool vrt_put_block(struct vrt_writer *w, const struct vrt_buffer *buffer, uint16_t type,
                   uint8_t flags, uint32_t rows, struct error *err) {
    struct vrt_block block = {.type = type,
                              .flags = flags,
                              .rows = rows,
                              .first_ns = VRT_UNKNOWN,
                              .last_ns = VRT_UNKNOWN};
    return put_block(w, buffer, &block, err);
}

/* What the numbers of tables mean, whatever becomes of the enums. */
static bool write_names(struct vrt_writer *w, struct error *err) {
    bool ok = true;
    array_clear(&w->buffer.bytes);
    for (uint8_t i = 0; i < EVENT_KIND_COUNT; i++)
        ok = ok && put_names(w, VRT_NAMES_KIND, i, event_kind_name((enum event_kind)i));
    for (uint8_t i = 0; i < CATEGORY_COUNT; i++)
        ok = ok && put_names(w, VRT_NAMES_CATEGORY, i, category_key((enum category)i));
    for (uint8_t i = 0; i < DTYPE_COUNT; i++)
        ok = ok && put_names(w, VRT_NAMES_DTYPE, i, dtype_name((enum dtype)i));
    const uint32_t rows = EVENT_KIND_COUNT + CATEGORY_COUNT + DTYPE_COUNT;
    return ok ? vrt_put_block(w, &w->buffer, VRT_NAMES, 0, rows, err) : error_host_memory(err);
}

bool vrt_writer_begin(struct vrt_writer *w, struct vrt_out *out, const struct vrt_header *header,
                      bool adds_once, struct error *err) {
    *w = (struct vrt_writer){.out = out, .adds_once = adds_once, .packs = true, .strings = 1};
    w->rows[TIMELINE_TABLE_STREAMS] = w->rows[TIMELINE_TABLE_STACKS] =
        1; /* every timeline has it */
    w->values = xalloc(ROWS_AT_ONCE * sizeof *w->values);
    if (!w->values)
        return error_host_memory(err);
    return vrt_out_begin(out, header, err) && write_names(w, err);
}

void vrt_writer_fini(struct vrt_writer *w) {
    for (unsigned t = 0; t < TIMELINE_TABLE_COUNT; t++)
        array_fini(&w->marks[t]);
    array_fini(&w->buffer.bytes);
    array_fini(&w->packed.bytes);
    array_fini(&w->links.bytes);
    xfree(w->values);
    w->values = NULL;
}

/* --- strings --- */

/* One block, of those from w->strings on that fit. */
static bool write_some_strings(struct vrt_writer *w, const struct timeline *tl, struct error *err) {
    size_t count = 0, text = 0, there = strtab_count(&tl->strings);
    while (w->strings + count < there && count < ROWS_AT_ONCE && text < TEXT_AT_ONCE)
        text += strtab_length(&tl->strings, (uint32_t)(w->strings + count++));
    size_t total = 16 + 4 * count + text;
    if (total > VRT_MAX_BLOCK_BYTES)
        return error_set(err, ERROR_LIMIT, "a string of more than %d bytes", TEXT_AT_ONCE);
    array_clear(&w->buffer.bytes);
    if (!array_reserve(&w->buffer.bytes, total))
        return error_host_memory(err);
    uint8_t *at = w->buffer.bytes.at, *next = at + 16 + 4 * count;
    vrt_put64(at, w->strings);
    vrt_put32(at + 8, (uint32_t)text);
    vrt_put32(at + 12, 0);
    for (size_t i = 0; i < count; i++) {
        uint32_t id = (uint32_t)(w->strings + i);
        size_t n = strtab_length(&tl->strings, id);
        vrt_put32(at + 16 + 4 * i, (uint32_t)n);
        memcpy(next, strtab_text(&tl->strings, id), n);
        next += n;
    }
    w->buffer.bytes.count = total;
    w->strings += count;
    return vrt_put_block(w, &w->buffer, VRT_STRINGS, 0, (uint32_t)count, err);
}

static bool write_strings(struct vrt_writer *w, const struct timeline *tl, struct error *err) {
    while (w->strings < strtab_count(&tl->strings))
        if (!write_some_strings(w, tl, err))
            return false;
    return true;
}

/* --- tables --- */

static bool keep_marks(struct vrt_writer *w, const struct timeline *tl, enum timeline_table_id id,
                       size_t first, size_t count) {
    if (w->adds_once || id == TIMELINE_TABLE_EVENTS || id == TIMELINE_TABLE_RUN)
        return true;
    for (size_t i = first; i < first + count; i++)
        if (!array_push(&w->marks[id], vrt_row_mark(&w->out->crc, tl, id, i)))
            return false;
    return true;
}

static bool write_rows(struct vrt_writer *w, const struct timeline *tl, enum timeline_table_id id,
                       size_t first, size_t count, struct error *err) {
    struct vrt_block block = {.type = (uint16_t)(VRT_TABLE + id),
                              .rows = (uint32_t)count,
                              .first_ns = VRT_UNKNOWN,
                              .last_ns = VRT_UNKNOWN};
    array_clear(&w->buffer.bytes);
    if (!vrt_table_pack(tl, id, first, count, &w->foretell, w->values, &w->buffer) ||
        !keep_marks(w, tl, id, first, count))
        return error_host_memory(err);
    if (id == TIMELINE_TABLE_EVENTS) {
        block.flags = w->links.bytes.count == 0 ? VRT_FLAG_WHOLE : 0;
        block.first_ns = tl->events.at[first].time_ns;
        block.last_ns = tl->events.at[first + count - 1].time_ns;
    }
    return put_block(w, &w->buffer, &block, err);
}

/* The rows of a table before `end`. */
static bool write_until(struct vrt_writer *w, const struct timeline *tl, enum timeline_table_id id,
                        size_t end, struct error *err) {
    while (w->rows[id] < end) {
        size_t count = end - w->rows[id] < ROWS_AT_ONCE ? end - w->rows[id] : ROWS_AT_ONCE;
        if (!write_rows(w, tl, id, w->rows[id], count, err))
            return false;
        w->rows[id] += count;
    }
    return true;
}

static bool write_run(struct vrt_writer *w, const struct timeline *tl, struct error *err) {
    uint32_t mark = vrt_row_mark(&w->out->crc, tl, TIMELINE_TABLE_RUN, 0);
    if (w->has_run && mark == w->run_mark)
        return true;
    w->has_run = true;
    w->run_mark = mark;
    return write_rows(w, tl, TIMELINE_TABLE_RUN, 0, 1, err);
}

/* --- groups --- */

/* Where the rows of each table end that some events need. */
struct needs {
    size_t end[TIMELINE_TABLE_COUNT];
};

static void need(struct needs *n, enum timeline_table_id id, uint32_t row) {
    if (row != TIMELINE_NONE && row + (size_t)1 > n->end[id])
        n->end[id] = row + (size_t)1;
}

static void need_of_event(const struct timeline_event *e, struct needs *n) {
    if (e->kind <= EVENT_FREE_COMPLETED || e->kind == EVENT_STREAM_USE)
        need(n, TIMELINE_TABLE_BLOCKS, e->ref);
    else if (e->kind <= EVENT_SEGMENT_UNMAP)
        need(n, TIMELINE_TABLE_SEGMENTS, e->ref);
    else if (e->kind == EVENT_OOM)
        need(n, TIMELINE_TABLE_OOMS, e->ref);
    else if (e->kind == EVENT_PHASE_BEGIN || e->kind == EVENT_PHASE_END)
        need(n, TIMELINE_TABLE_PHASES, e->ref);
}

/* Memory from before the first event, as far as it stands before all other. */
static void need_of_start(const struct timeline *tl, struct needs *n) {
    size_t *blocks = &n->end[TIMELINE_TABLE_BLOCKS], *segments = &n->end[TIMELINE_TABLE_SEGMENTS];
    while (*blocks < tl->blocks.count && tl->blocks.at[*blocks].alloc_event == TIMELINE_NONE)
        ++*blocks;
    while (*segments < tl->segments.count &&
           tl->segments.at[*segments].alloc_event == TIMELINE_NONE)
        ++*segments;
}

static struct needs needs_of(const struct vrt_writer *w, const struct timeline *tl, size_t first,
                             size_t count) {
    struct needs n = {0};
    if (first == 0)
        need_of_start(tl, &n);
    for (size_t i = first; i < first + count; i++)
        need_of_event(&tl->events.at[i], &n);
    for (size_t i = w->rows[TIMELINE_TABLE_BLOCKS]; i < n.end[TIMELINE_TABLE_BLOCKS]; i++) {
        need(&n, TIMELINE_TABLE_SEGMENTS, tl->blocks.at[i].segment);
        need(&n, TIMELINE_TABLE_PHASES, tl->blocks.at[i].phase);
    }
    for (size_t i = w->rows[TIMELINE_TABLE_PHASES]; i < n.end[TIMELINE_TABLE_PHASES]; i++)
        need(&n, TIMELINE_TABLE_PHASES, tl->phases.at[i].parent);
    return n;
}

static const enum timeline_table_id grouped[] = {TIMELINE_TABLE_SEGMENTS, TIMELINE_TABLE_PHASES,
                                                 TIMELINE_TABLE_OOMS, TIMELINE_TABLE_BLOCKS};
enum { GROUPED = sizeof grouped / sizeof grouped[0] };

static bool write_group(struct vrt_writer *w, const struct timeline *tl, size_t count,
                        struct error *err) {
    size_t first = w->rows[TIMELINE_TABLE_EVENTS];
    struct needs n = needs_of(w, tl, first, count);
    for (size_t t = 0; t < GROUPED; t++)
        if (!write_until(w, tl, grouped[t], n.end[grouped[t]], err))
            return false;
    size_t end = first + count;
    if (!vrt_patch_links(w, tl, first, end, end, err) ||
        !write_until(w, tl, TIMELINE_TABLE_EVENTS, end, err))
        return false;
    uint32_t patches = vrt_patch_count(&w->links);
    return patches == 0 || vrt_put_block(w, &w->links, VRT_PATCH, VRT_FLAG_WHOLE, patches, err);
}

/* What no event names. */
static bool write_rest(struct vrt_writer *w, const struct timeline *tl, struct error *err) {
    for (size_t t = 0; t < GROUPED; t++)
        if (!write_until(w, tl, grouped[t], timeline_rows(tl, grouped[t]), err))
            return false;
    return true;
}

static size_t group_of(const struct vrt_writer *w) {
    size_t eighth = w->rows[TIMELINE_TABLE_EVENTS] / 8;
    if (w->group_events > 0)
        return w->group_events;
    return eighth < LEAST_GROUP ? LEAST_GROUP : eighth < ROWS_AT_ONCE ? eighth : ROWS_AT_ONCE;
}

bool vrt_writer_add(struct vrt_writer *w, const struct timeline *tl, struct error *err) {
    static const enum timeline_table_id plain[] = {TIMELINE_TABLE_STREAMS, TIMELINE_TABLE_DEVICES,
                                                   TIMELINE_TABLE_FRAMES, TIMELINE_TABLE_STACKS};
    if (!write_strings(w, tl, err) || !write_run(w, tl, err))
        return false;
    for (size_t t = 0; t < sizeof plain / sizeof plain[0]; t++)
        if (!write_until(w, tl, plain[t], timeline_rows(tl, plain[t]), err))
            return false;
    if (!w->adds_once && !vrt_patch_small(w, tl, err))
        return false;
    while (w->rows[TIMELINE_TABLE_EVENTS] < tl->events.count) {
        size_t left = tl->events.count - w->rows[TIMELINE_TABLE_EVENTS];
        if (!write_group(w, tl, left < group_of(w) ? left : group_of(w), err))
            return false;
    }
    return true;
}

bool vrt_writer_end(struct vrt_writer *w, const struct timeline *tl, struct error *err) {
    struct vrt_block block = {.type = VRT_END,
                              .flags = VRT_FLAG_END | VRT_FLAG_WHOLE,
                              .first_ns = VRT_UNKNOWN,
                              .last_ns = VRT_UNKNOWN};
    if (!vrt_writer_add(w, tl, err) || !write_rest(w, tl, err) || !vrt_patch_rest(w, tl, err))
        return false;
    return vrt_out_block(w->out, &block, err);
}

bool vrt_write_all(struct vrt_out *out, uint32_t producer, const struct timeline *tl,
                   struct error *err) {
    const struct vrt_header header = {.producer = producer, .json = "{\"program\":\"vramsim\"}"};
    struct vrt_writer w;
    bool ok = vrt_writer_begin(&w, out, &header, true, err) && vrt_writer_end(&w, tl, err);
    vrt_writer_fini(&w);
    return ok;
}

/* vrt_table_pack.c: rows -> bytes; see vrt_table.h. */
#include "timeline.h"
#include "vrt_column.h"
#include "vrt_format.h"
#include "vrt_table.h"

static void gather(const struct timeline *tl, enum timeline_table_id id,
                   const struct timeline_field *field, size_t first, size_t count,
                   uint64_t *values) {
    size_t stride = timeline_table(id)->row_bytes;
    const char *row = timeline_row(tl, id, first);
    for (size_t i = 0; i < count; i++, row += stride)
        values[i] = timeline_field_get(field, row);
    for (size_t i = 0; field->type == TIMELINE_FIELD_INDEX && i < count; i++)
        values[i] = (uint32_t)(values[i] + 1);
}

/* --- what the rows before tell --- */

static bool foretell_block(const struct timeline *tl, const struct timeline_field *field,
                           size_t first, size_t count, uint64_t *values) {
    const struct timeline_block *b = &tl->blocks.at[first];
    if (field->offset == offsetof(struct timeline_block, block_bytes)) {
        for (size_t i = 0; i < count; i++)
            values[i] -= b[i].requested_bytes;
        return true;
    }
    if (field->offset != offsetof(struct timeline_block, address))
        return false;
    for (size_t i = 0; i < count; i++)
        if (b[i].segment < tl->segments.count)
            values[i] -= tl->segments.at[b[i].segment].address;
    return true;
}

static void foretell_refs(const struct timeline_event *e, size_t count,
                          struct vrt_foretell *foretell, uint64_t *values) {
    uint32_t before = 0;
    for (size_t i = 0; i < count; i++) {
        enum event_kind kind = (enum event_kind)e[i].kind;
        if (kind == EVENT_FREE_COMPLETED)
            values[i] -= before;
        else if (kind == EVENT_ALLOC || kind == EVENT_FREE_REQUESTED || kind == EVENT_STREAM_USE)
            values[i] -= foretell->next_block;
        if (kind == EVENT_ALLOC)
            foretell->next_block = e[i].ref + 1;
        before = e[i].ref;
    }
}

/* The member of what an event refers to that goes with its own; 0: none does. */
static uint64_t told_by_block(const struct timeline_block *b, size_t offset) {
    switch (offset) {
    case offsetof(struct timeline_event, bytes):
        return b->requested_bytes;
    case offsetof(struct timeline_event, address):
        return b->address;
    case offsetof(struct timeline_event, stream):
        return b->stream;
    default:
        return b->device;
    }
}

static uint64_t told_by_segment(const struct timeline_segment *s, size_t offset, uint8_t kind) {
    bool is_whole = kind == EVENT_SEGMENT_ALLOC || kind == EVENT_SEGMENT_FREE;
    switch (offset) {
    case offsetof(struct timeline_event, bytes):
        return is_whole ? s->bytes : 0;
    case offsetof(struct timeline_event, address):
        return s->address;
    case offsetof(struct timeline_event, stream):
        return s->stream;
    default:
        return s->device;
    }
}

static uint64_t told(const struct timeline *tl, const struct timeline_event *e, size_t offset) {
    switch ((enum event_kind)e->kind) {
    case EVENT_ALLOC:
    case EVENT_FREE_REQUESTED:
    case EVENT_FREE_COMPLETED:
    case EVENT_STREAM_USE:
        return told_by_block(&tl->blocks.at[e->ref], offset);
    case EVENT_SEGMENT_ALLOC:
    case EVENT_SEGMENT_FREE:
    case EVENT_SEGMENT_MAP:
    case EVENT_SEGMENT_UNMAP:
        return told_by_segment(&tl->segments.at[e->ref], offset, e->kind);
    case EVENT_PHASE_BEGIN:
    case EVENT_PHASE_END:
        return offset == offsetof(struct timeline_event, device) ? tl->phases.at[e->ref].device : 0;
    case EVENT_OOM:
    case EVENT_EMPTY_CACHE:
    case EVENT_SNAPSHOT:
    case EVENT_OTHER:
    case EVENT_KIND_COUNT:
        break;
    }
    return 0;
}

static bool foretell_event(const struct timeline *tl, const struct timeline_field *field,
                           size_t first, size_t count, struct vrt_foretell *foretell,
                           uint64_t *values) {
    const struct timeline_event *e = &tl->events.at[first];
    if (field->offset == offsetof(struct timeline_event, kind) ||
        field->offset == offsetof(struct timeline_event, time_ns))
        return false;
    if (field->offset == offsetof(struct timeline_event, ref)) {
        foretell_refs(e, count, foretell, values);
        return true;
    }
    for (size_t i = 0; i < count; i++)
        values[i] -= told(tl, &e[i], field->offset);
    return true;
}

static bool foretell_values(const struct timeline *tl, enum timeline_table_id id,
                            const struct timeline_field *field, size_t first, size_t count,
                            struct vrt_foretell *foretell, uint64_t *values) {
    if (id == TIMELINE_TABLE_BLOCKS)
        return foretell_block(tl, field, first, count, values);
    if (id == TIMELINE_TABLE_EVENTS)
        return foretell_event(tl, field, first, count, foretell, values);
    return false;
}

/* --- the block --- */

bool vrt_table_pack(const struct timeline *tl, enum timeline_table_id id, size_t first,
                    size_t count, struct vrt_foretell *foretell, uint64_t *values,
                    struct vrt_buffer *out) {
    const struct timeline_table *table = timeline_table(id);
    size_t columns = 0, head = 16;
    for (size_t f = 0; f < table->field_count; f++)
        columns += table->fields[f].link == EVENT_KIND_COUNT;
    if (!array_reserve(&out->bytes, head + columns * VRT_COLUMN_BYTES))
        return false;
    out->bytes.count = head + columns * VRT_COLUMN_BYTES;
    memset(out->bytes.at, 0, out->bytes.count);
    vrt_put64(out->bytes.at, first);
    vrt_put32(out->bytes.at + 8, (uint32_t)columns);
    for (size_t f = 0; f < table->field_count; f++) {
        const struct timeline_field *field = &table->fields[f];
        if (field->link != EVENT_KIND_COUNT)
            continue;
        gather(tl, id, field, first, count, values);
        bool is_foretold = foretell_values(tl, id, field, first, count, foretell, values);
        struct vrt_column c = vrt_column_plan(values, count);
        c.field = field->id;
        if (!array_reserve(&out->bytes, out->bytes.count + c.bytes))
            return false;
        vrt_column_pack(&c, values, count, out->bytes.at + out->bytes.count);
        if (is_foretold)
            c.encoding |= VRT_FORETOLD;
        vrt_column_put(&c, out->bytes.at + head);
        out->bytes.count += c.bytes;
        head += VRT_COLUMN_BYTES;
    }
    return true;
}

/* timeline_order.c: see timeline_order.h. Rows are moved in place: a copy of all would be the most memory that an import
 * takes. */
#include "timeline_order.h"

#include <stddef.h>
#include <string.h>

#include "timeline.h"
#include "xalloc.h"

/* The rows of a table, and where their alloc_event is. */
struct rows {
    char *at;
    size_t count, stride, event_offset;
};

static uint32_t event_of(const struct rows *r, size_t row) {
    uint32_t event;
    memcpy(&event, r->at + row * r->stride + r->event_offset, sizeof event);
    return event;
}

static bool is_from_before(const struct rows *r, size_t row) {
    return event_of(r, row) == TIMELINE_NONE;
}

/* How the rows stand. */
struct standing {
    size_t leading; /* rows from before the first event that stand first */
    size_t late;    /* further ones */
    bool rises;     /* the rest, by their events */
};

static struct standing look(const struct rows *r) {
    struct standing s = {.rises = true};
    while (s.leading < r->count && is_from_before(r, s.leading))
        s.leading++;
    uint32_t before = 0;
    for (size_t row = s.leading; row < r->count; row++) {
        uint32_t event = event_of(r, row);
        if (event == TIMELINE_NONE) {
            s.late++;
            continue;
        }
        s.rises = s.rises && event >= before;
        before = event;
    }
    return s;
}

/* The new number of each row. NULL: host memory. */
static uint32_t *number_rows(const struct timeline *tl, const struct rows *r, bool rises) {
    uint32_t *number = xalloc(r->count * sizeof *number), next = 0;
    if (!number)
        return NULL;
    for (size_t row = 0; row < r->count; row++)
        number[row] = is_from_before(r, row) ? next++ : TIMELINE_NONE;
    for (size_t i = 0; i < tl->events.count && !rises; i++) {
        uint32_t row = tl->events.at[i].ref;
        if (row < r->count && number[row] == TIMELINE_NONE && event_of(r, row) == i)
            number[row] = next++;
    }
    for (size_t row = 0; row < r->count;
         row++) /* those left, if not all rise: timeline_check() refuses them */
        if (number[row] == TIMELINE_NONE)
            number[row] = next++;
    return number;
}

/* --- moves --- */

/* The late rows to the others from before; what stands between moves up, the last first. */
static bool move_late(const struct rows *r, const struct standing *s) {
    char *kept = xalloc(s->late * r->stride);
    if (!kept)
        return false;
    size_t left = s->late,
           end = r->count; /* of what stands behind the late row that is looked for */
    for (size_t row = r->count; left > 0; row--) {
        if (!is_from_before(r, row - 1))
            continue;
        memmove(r->at + (row + s->late - left) * r->stride, r->at + row * r->stride,
                (end - row) * r->stride);
        left--;
        memcpy(kept + left * r->stride, r->at + (row - 1) * r->stride, r->stride);
        end = row - 1;
    }
    memmove(r->at + (s->leading + s->late) * r->stride, r->at + s->leading * r->stride,
            (end - s->leading) * r->stride);
    memcpy(r->at + s->leading * r->stride, kept, s->late * r->stride);
    xfree(kept);
    return true;
}

static void swap_bytes(char *a, char *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

/* By their numbers, which come to be those of rows that stay. */
static void move_all(const struct rows *r, uint32_t *number) {
    for (uint32_t row = 0; row < r->count; row++)
        while (number[row] != row) {
            uint32_t to = number[row];
            swap_bytes(r->at + to * r->stride, r->at + row * r->stride, r->stride);
            number[row] = number[to];
            number[to] = to;
        }
}

/* --- who names them --- */

static void rename_blocks(struct timeline *tl, const uint32_t *number) {
    for (size_t i = 0; i < tl->events.count; i++) {
        struct timeline_event *e = &tl->events.at[i];
        bool names = e->kind <= EVENT_FREE_COMPLETED || e->kind == EVENT_STREAM_USE;
        if (names && e->ref < tl->blocks.count)
            e->ref = number[e->ref];
    }
}

static void rename_segments(struct timeline *tl, const uint32_t *number) {
    for (size_t i = 0; i < tl->events.count; i++) {
        struct timeline_event *e = &tl->events.at[i];
        bool names = e->kind >= EVENT_SEGMENT_ALLOC && e->kind <= EVENT_SEGMENT_UNMAP;
        if (names && e->ref < tl->segments.count)
            e->ref = number[e->ref];
    }
    for (size_t i = 0; i < tl->blocks.count; i++)
        if (tl->blocks.at[i].segment < tl->segments.count)
            tl->blocks.at[i].segment = number[tl->blocks.at[i].segment];
}

/* --- both --- */

static bool order(struct timeline *tl, const struct rows *rows,
                  void (*rename_rows)(struct timeline *tl, const uint32_t *number)) {
    struct standing standing = look(rows);
    if (standing.late == 0 && standing.rises)
        return true;
    uint32_t *number = number_rows(tl, rows, standing.rises);
    bool ok = number && (!standing.rises || move_late(rows, &standing));
    if (ok)
        rename_rows(tl, number);
    if (ok && !standing.rises)
        move_all(rows, number);
    xfree(number);
    return ok;
}

bool timeline_order_rows(struct timeline *tl) {
    const struct rows blocks = {(char *)tl->blocks.at, tl->blocks.count, sizeof *tl->blocks.at,
                                offsetof(struct timeline_block, alloc_event)};
    const struct rows segments = {(char *)tl->segments.at, tl->segments.count,
                                  sizeof *tl->segments.at,
                                  offsetof(struct timeline_segment, alloc_event)};
    return order(tl, &blocks, rename_blocks) && order(tl, &segments, rename_segments);
}

/* timeline_order.c: see timeline_order.h. Rows are moved in place, a ring of them at a time: a copy of all would be the
 * most memory that an import takes. */
#include "timeline_order.h"

#include "timeline.h"
#include "xalloc.h"

static bool is_from_before(uint32_t alloc_event) {
    return alloc_event == TIMELINE_NONE;
}

/* Of one table: `event_of` is the alloc_event of a row. */
typedef uint32_t event_of_row(const struct timeline *tl, size_t row);

static uint32_t event_of_block(const struct timeline *tl, size_t row) {
    return tl->blocks.at[row].alloc_event;
}

static uint32_t event_of_segment(const struct timeline *tl, size_t row) {
    return tl->segments.at[row].alloc_event;
}

static bool is_ordered(const struct timeline *tl, size_t count, event_of_row *event_of) {
    size_t row = 0;
    while (row < count && is_from_before(event_of(tl, row)))
        row++;
    for (row++; row < count; row++)
        if (is_from_before(event_of(tl, row)) || event_of(tl, row) < event_of(tl, row - 1))
            return false;
    return true;
}

/* The new number of each row. NULL: host memory. */
static uint32_t *number_rows(const struct timeline *tl, size_t count, event_of_row *event_of) {
    uint32_t *number = xalloc(count * sizeof *number), next = 0;
    if (!number)
        return NULL;
    for (size_t row = 0; row < count; row++)
        number[row] = is_from_before(event_of(tl, row)) ? next++ : TIMELINE_NONE;
    for (size_t i = 0; i < tl->events.count; i++) {
        uint32_t row = tl->events.at[i].ref;
        if (row < count && number[row] == TIMELINE_NONE && event_of(tl, row) == i)
            number[row] = next++;
    }
    for (size_t row = 0; row < count; row++) /* of a timeline that timeline_check() refuses */
        if (number[row] == TIMELINE_NONE)
            number[row] = next++;
    return number;
}

/* --- blocks --- */

static bool names_block(uint8_t kind) {
    return kind <= EVENT_FREE_COMPLETED || kind == EVENT_STREAM_USE;
}

static void move_blocks(struct timeline *tl, uint32_t *number) {
    for (size_t i = 0; i < tl->events.count; i++) {
        struct timeline_event *e = &tl->events.at[i];
        if (names_block(e->kind) && e->ref < tl->blocks.count)
            e->ref = number[e->ref];
    }
    for (uint32_t row = 0; row < tl->blocks.count; row++)
        while (number[row] != row) {
            uint32_t to = number[row];
            struct timeline_block there = tl->blocks.at[to];
            tl->blocks.at[to] = tl->blocks.at[row];
            tl->blocks.at[row] = there;
            number[row] = number[to];
            number[to] = to;
        }
}

/* --- segments --- */

static bool names_segment(uint8_t kind) {
    return kind >= EVENT_SEGMENT_ALLOC && kind <= EVENT_SEGMENT_UNMAP;
}

static void move_segments(struct timeline *tl, uint32_t *number) {
    for (size_t i = 0; i < tl->events.count; i++) {
        struct timeline_event *e = &tl->events.at[i];
        if (names_segment(e->kind) && e->ref < tl->segments.count)
            e->ref = number[e->ref];
    }
    for (size_t i = 0; i < tl->blocks.count; i++)
        if (tl->blocks.at[i].segment < tl->segments.count)
            tl->blocks.at[i].segment = number[tl->blocks.at[i].segment];
    for (uint32_t row = 0; row < tl->segments.count; row++)
        while (number[row] != row) {
            uint32_t to = number[row];
            struct timeline_segment there = tl->segments.at[to];
            tl->segments.at[to] = tl->segments.at[row];
            tl->segments.at[row] = there;
            number[row] = number[to];
            number[to] = to;
        }
}

/* --- both --- */

static bool order(struct timeline *tl, size_t count, event_of_row *event_of,
                  void (*move)(struct timeline *tl, uint32_t *number)) {
    if (is_ordered(tl, count, event_of))
        return true;
    uint32_t *number = number_rows(tl, count, event_of);
    if (!number)
        return false;
    move(tl, number);
    xfree(number);
    return true;
}

bool timeline_order_rows(struct timeline *tl) {
    return order(tl, tl->blocks.count, event_of_block, move_blocks) &&
           order(tl, tl->segments.count, event_of_segment, move_segments);
}

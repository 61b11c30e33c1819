/* track_rows.h: more timelines than two: each with the levels of detail that a small row of it needs,
 * and laid on the axis of the one that is first. Which of them are first and second is a choice.
 *
 * Ownership: borrows the timelines; owns the rest. */
#ifndef TRACK_ROWS_H
#define TRACK_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "align.h"
#include "array.h"
#include "lod.h"

struct error;
struct timeline;

struct track_row {
    const struct timeline *tl;
    struct lod lod;
    struct align align; /* from the first; empty for the first itself */
    uint64_t context_bytes;
};

struct track_rows {
    ARRAY(struct track_row) rows;
    size_t first, second; /* different ones */
    uint64_t top;         /* the highest allocated bytes of all */
};

/* False: host memory, with nothing left. */
bool track_rows_init(struct track_rows *rows, const struct timeline *const *timelines, size_t count,
                     uint8_t device, struct error *err);
void track_rows_fini(struct track_rows *rows);
/* Lays the others on another one's axis. A second that is the first becomes the old first. After a
 * failure all is as it was. */
bool track_rows_choose(struct track_rows *rows, size_t first, size_t second, struct error *err);
/* The highest of the moments first .. end - 1 of the first timeline, of a row; the state before them
 * where there are none. */
uint64_t track_rows_max(const struct track_rows *rows, size_t row, uint32_t first, uint32_t end);
/* The moment of the first timeline under which a row's peak lies. */
uint32_t track_rows_peak(const struct track_rows *rows, size_t row);

#endif

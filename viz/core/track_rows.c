/* track_rows.c: see track_rows.h. */
#include "track_rows.h"

#include <string.h>

#include "error.h"
#include "timeline.h"

static bool add_row(struct track_rows *rows, const struct timeline *tl, uint8_t device,
                    struct error *err) {
    struct track_row row = {.tl = tl};
    if (!lod_build(&row.lod, tl, device, NULL, err))
        return false;
    if (!array_push(&rows->rows, row)) {
        lod_fini(&row.lod);
        return error_host_memory(err);
    }
    if (row.lod.peak.max > rows->top)
        rows->top = row.lod.peak.max;
    return true;
}

bool track_rows_init(struct track_rows *rows, const struct timeline *const *timelines, size_t count,
                     uint8_t device, struct error *err) {
    memset(rows, 0, sizeof *rows);
    for (size_t i = 0; i < count; i++)
        if (!add_row(rows, timelines[i], device, err)) {
            track_rows_fini(rows);
            return false;
        }
    rows->first = count; /* none yet */
    if (track_rows_choose(rows, 0, 1, err))
        return true;
    track_rows_fini(rows);
    return false;
}

void track_rows_fini(struct track_rows *rows) {
    for (size_t i = 0; i < rows->rows.count; i++) {
        lod_fini(&rows->rows.at[i].lod);
        align_fini(&rows->rows.at[i].align);
    }
    array_fini(&rows->rows);
}

/* All new maps, then all at once. */
static bool lay(struct track_rows *rows, size_t first, struct align *fresh, struct error *err) {
    for (size_t i = 0; i < rows->rows.count; i++)
        if (i != first &&
            !align_build(&fresh[i], rows->rows.at[first].tl, rows->rows.at[i].tl, err))
            return false;
    for (size_t i = 0; i < rows->rows.count; i++) {
        struct align old = rows->rows.at[i].align;
        rows->rows.at[i].align = fresh[i];
        fresh[i] = old;
    }
    return true;
}

bool track_rows_choose(struct track_rows *rows, size_t first, size_t second, struct error *err) {
    size_t count = rows->rows.count;
    if (second == first)
        second = rows->first != first && rows->first < count ? rows->first : (first + 1) % count;
    if (first != rows->first) {
        struct align *fresh = xcalloc(count, sizeof *fresh);
        bool laid = fresh ? lay(rows, first, fresh, err) : error_host_memory(err);
        for (size_t i = 0; fresh && i < count; i++)
            align_fini(&fresh[i]);
        xfree(fresh);
        if (!laid)
            return false;
    }
    rows->first = first;
    rows->second = second;
    return true;
}

uint64_t track_rows_max(const struct track_rows *rows, size_t row, uint32_t first, uint32_t end) {
    const struct track_row *r = array_at(&rows->rows, row);
    struct lod_node node;
    if (row != rows->first) {
        first = align_map(&r->align, first);
        end = align_map(&r->align, end);
    }
    first = first < r->lod.moments ? first : r->lod.moments;
    end = end < r->lod.moments ? end : r->lod.moments;
    if (first >= end) { /* the state before */
        end = first > 0 ? first : 1;
        first = end - 1;
    }
    lod_range(&r->lod, first, end, &node);
    return node.max;
}

/* The map is monotone: where it first reaches the peak. */
uint32_t track_rows_peak(const struct track_rows *rows, size_t row) {
    const struct track_row *r = array_at(&rows->rows, row);
    uint32_t low = 0, high = rows->rows.at[rows->first].lod.moments - 1;
    if (row == rows->first)
        return r->lod.peak.arg;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (align_map(&r->align, middle) < r->lod.peak.arg)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

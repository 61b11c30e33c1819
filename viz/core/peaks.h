/* peaks.h: local maxima by prominence: how far one must go down before going up to something
 * higher.
 *
 * Over the buckets of the lod (64 moments), so two maxima inside one bucket are one. A border
 * counts as the bottom. Of equal maxima the first is the higher one. Those of at least a fiftieth
 * of the highest are kept, the 20 most prominent. */
#ifndef PEAKS_H
#define PEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct lod;

enum { PEAKS_MAX = 20 };

struct peak {
    uint32_t moment;
    uint64_t bytes, prominence;
};

struct peaks {
    struct peak at[PEAKS_MAX]; /* the most prominent first; equal: the earlier */
    size_t count;
};

bool peaks_find(const struct lod *lod, struct peaks *out, struct error *err);

#endif

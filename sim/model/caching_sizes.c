/* caching_sizes.c: see caching_sizes.h. */
#include "caching_sizes.h"

#include "bits.h"
#include "checked.h"

/* Sizes that no device has keep away from the end of the range; they fail later as any request that
 * is too large. */
#define LARGEST_BYTES (UINT64_C(1) << 62)

struct caching_sizes caching_sizes_default(void) {
    return (struct caching_sizes){.large_segment_bytes = CACHING_LARGE_SEGMENT_BYTES,
                                  .max_split_bytes = UINT64_MAX,
                                  .max_non_split_rounding_bytes = CACHING_LARGE_SEGMENT_BYTES};
}

static uint32_t divisions_for(const uint32_t divisions[CACHING_DIVISION_SLOTS], uint64_t bytes) {
    uint32_t octave = bits_highest(bytes), slot = octave > 20 ? octave - 20 : 0;
    return divisions[slot < CACHING_DIVISION_SLOTS ? slot : CACHING_DIVISION_SLOTS - 1];
}

static uint64_t round_up(uint64_t bytes, uint64_t unit) {
    uint64_t rounded = bytes;
    return checked_round_up(bytes, unit, &rounded) ? rounded : LARGEST_BYTES;
}

uint64_t caching_sizes_round(const uint32_t divisions[CACHING_DIVISION_SLOTS], uint64_t bytes) {
    if (bytes < CACHING_MIN_BLOCK_BYTES)
        return CACHING_MIN_BLOCK_BYTES;
    if (bytes > LARGEST_BYTES)
        return LARGEST_BYTES;
    uint64_t parts = divisions_for(divisions, bytes);
    if (parts <= 1 || bytes <= CACHING_MIN_BLOCK_BYTES * parts)
        return round_up(bytes, CACHING_MIN_BLOCK_BYTES);
    uint64_t power = UINT64_C(1) << bits_highest(bytes);
    if (power == bytes)
        return bytes;
    return round_up(bytes, power / parts);
}

uint64_t caching_sizes_segment(uint64_t large_segment_bytes, uint64_t rounded) {
    if (rounded <= CACHING_SMALL_MAX_BYTES)
        return CACHING_SMALL_SEGMENT_BYTES;
    if (rounded < CACHING_LARGE_MIN_BYTES)
        return large_segment_bytes;
    return round_up(rounded, CACHING_LARGE_ROUND_BYTES);
}

bool caching_sizes_serve(const struct caching_sizes *sizes, uint64_t rounded, uint64_t bytes) {
    if (bytes < rounded)
        return false;
    if (rounded < sizes->max_split_bytes)
        return bytes < sizes->max_split_bytes;
    return bytes - rounded < sizes->max_non_split_rounding_bytes;
}

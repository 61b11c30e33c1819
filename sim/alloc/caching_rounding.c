/* caching_rounding.c: from the bytes asked for to the block's and the segment's. */
#include "bits.h"
#include "caching_core.h"
#include "checked.h"

/* Sizes that no device has keep away from the end of the range; they fail later as any request that
 * is too large. */
#define LARGEST_BYTES (UINT64_C(1) << 62)

static uint32_t divisions_for(const struct alloc_settings *settings, uint64_t bytes) {
    uint32_t octave = bits_highest(bytes), slot = octave > 20 ? octave - 20 : 0;
    return settings->divisions[slot < ALLOC_DIVISION_SLOTS ? slot : ALLOC_DIVISION_SLOTS - 1];
}

static uint64_t round_up(uint64_t bytes, uint64_t unit) {
    uint64_t rounded = bytes;
    return checked_round_up(bytes, unit, &rounded) ? rounded : LARGEST_BYTES;
}

uint64_t caching_round_bytes(const struct alloc_settings *settings, uint64_t bytes) {
    if (bytes < MIN_BLOCK_BYTES)
        return MIN_BLOCK_BYTES;
    if (bytes > LARGEST_BYTES)
        return LARGEST_BYTES;
    uint64_t divisions = divisions_for(settings, bytes);
    if (divisions <= 1 || bytes / MIN_BLOCK_BYTES < divisions)
        return round_up(bytes, MIN_BLOCK_BYTES);
    uint64_t power = UINT64_C(1) << bits_highest(bytes);
    if (power == bytes)
        return bytes;
    return round_up(bytes, power / divisions);
}

uint64_t caching_segment_bytes(const struct alloc_settings *settings, uint64_t rounded) {
    if (rounded <= SMALL_MAX_BYTES)
        return SMALL_SEGMENT_BYTES;
    if (rounded < LARGE_MIN_BYTES)
        return settings->large_segment_bytes;
    return round_up(rounded, LARGE_ROUND_BYTES);
}

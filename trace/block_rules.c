/* block_rules.c: see block_rules.h. */
#include "block_rules.h"

static unsigned log2_floor(uint64_t n) {
    unsigned log = 0;
    while (n >>= 1)
        log++;
    return log;
}

static uint64_t round_up(uint64_t n, uint64_t unit) {
    return (n + unit - 1) / unit * unit;
}

/* The divisions that hold for a request: everything below 2 MiB is the first slot, from 32 GiB on
 * the last. */
static uint32_t divisions_for(const struct block_rules *rules, uint64_t requested) {
    unsigned log = log2_floor(requested);
    unsigned slot = log < 20 ? 0 : log - 20;
    return rules->divisions[slot < BLOCK_RULES_SLOTS ? slot : BLOCK_RULES_SLOTS - 1];
}

uint64_t block_round(const struct block_rules *rules, uint64_t requested) {
    if (requested < BLOCK_MIN_BYTES)
        return BLOCK_MIN_BYTES;
    uint64_t divisions = divisions_for(rules, requested);
    if (divisions <= 1 || requested <= BLOCK_MIN_BYTES * divisions)
        return round_up(requested, BLOCK_MIN_BYTES);
    uint64_t power = UINT64_C(1) << log2_floor(requested);
    return power == requested ? requested : round_up(requested, power / divisions);
}

uint64_t block_segment_bytes(uint64_t rounded) {
    if (rounded <= BLOCK_SMALL_MAX_BYTES)
        return BLOCK_SMALL_SEGMENT_BYTES;
    if (rounded < BLOCK_LARGE_SEGMENT_BYTES / 2)
        return BLOCK_LARGE_SEGMENT_BYTES;
    return round_up(rounded, BLOCK_SMALL_SEGMENT_BYTES);
}

uint64_t block_taken(const struct block_rules *rules, uint64_t rounded, uint64_t room,
                     bool small_pool) {
    uint64_t rest = room - rounded;
    bool split;
    if (small_pool || rules->expandable)
        split = rest >= BLOCK_MIN_BYTES;
    else
        split = rounded < rules->max_split_bytes && rest > BLOCK_SMALL_MAX_BYTES;
    return split ? rounded : room;
}

/* compare_window.c: see compare_window.h. */
#include "compare_window.h"

#include <stdlib.h>

#include "compare.h"
#include "counters.h"
#include "timeline.h"

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

struct window_peaks window_peaks(const struct alignment_side *side) {
    struct window_peaks peaks = {0};
    struct counters c;
    counters_start(side->tl, side->device, &c);
    for (uint32_t i = 0; i <= side->end; i++) {
        if (i >= side->begin) {
            peaks.allocated = larger(peaks.allocated, c.allocated);
            peaks.active = larger(peaks.active, c.active);
            peaks.reserved = larger(peaks.reserved, c.reserved);
        }
        if (i < side->end)
            counters_apply(side->tl, side->device, i, &c);
    }
    return peaks;
}

struct sizes {
    ARRAY(uint64_t) list;
    uint64_t sum;
};

static bool is_alive(const struct timeline_block *b, uint32_t begin) {
    bool is_older = b->alloc_event == TIMELINE_NONE || b->alloc_event < begin;
    return is_older && !b->pending_at_start &&
           (b->free_event == TIMELINE_NONE || b->free_event >= begin);
}

static int order(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool find_sizes(const struct alignment_side *side, uint32_t begin, struct sizes *out) {
    for (size_t i = 0; i < side->tl->blocks.count; i++) {
        const struct timeline_block *b = &side->tl->blocks.at[i];
        if (b->device != side->device || !is_alive(b, begin))
            continue;
        if (!array_push(&out->list, b->requested_bytes))
            return false;
        out->sum += b->requested_bytes;
    }
    if (out->list.count > 0)
        qsort(out->list.at, out->list.count, sizeof *out->list.at, order);
    return true;
}

static uint32_t count_equal(const struct sizes *a, const struct sizes *b) {
    uint32_t equal = 0;
    for (size_t i = 0, k = 0; i < a->list.count && k < b->list.count;) {
        uint64_t x = a->list.at[i], y = b->list.at[k];
        equal += x == y;
        i += x <= y;
        k += y <= x;
    }
    return equal;
}

bool alive_find(const struct alignment_side *simulated, uint32_t begin,
                const struct alignment_side *real, uint32_t real_begin, struct compare_alive *out) {
    struct sizes a = {0}, b = {0};
    bool ok = find_sizes(simulated, begin, &a) && find_sizes(real, real_begin, &b);
    if (ok)
        *out = (struct compare_alive){.real = (uint32_t)b.list.count,
                                      .simulated = (uint32_t)a.list.count,
                                      .equal = count_equal(&a, &b),
                                      .real_bytes = b.sum,
                                      .simulated_bytes = a.sum};
    array_fini(&a.list);
    array_fini(&b.list);
    return ok;
}

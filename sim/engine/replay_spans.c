/* replay_spans.c: see replay_spans.h. */
#include "replay_spans.h"

#include <string.h>

/* Index of the first span that ends above `address`; the count when there is none. */
static size_t first_above(const struct spans *spans, uint64_t address) {
    size_t low = 0, high = spans->list.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spans->list.at[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t spans_find(const struct spans *spans, uint64_t address) {
    size_t i = first_above(spans, address);
    return i < spans->list.count && spans->list.at[i].start <= address ? i : SPANS_NONE;
}

size_t spans_overlap(const struct spans *spans, uint64_t start, uint64_t end) {
    size_t i = first_above(spans, start);
    return i < spans->list.count && spans->list.at[i].start < end ? i : SPANS_NONE;
}

static void remove_at(struct spans *spans, size_t index) {
    spans->list.count--;
    memmove(spans->list.at + index, spans->list.at + index + 1,
            (spans->list.count - index) * sizeof *spans->list.at);
}

static bool insert_at(struct spans *spans, size_t index, const struct span *span) {
    if (!array_reserve(&spans->list, spans->list.count + 1))
        return false;
    memmove(spans->list.at + index + 1, spans->list.at + index,
            (spans->list.count - index) * sizeof *spans->list.at);
    spans->list.at[index] = *span;
    spans->list.count++;
    return true;
}

static bool can_join(const struct span *low, const struct span *high) {
    return low->joins && high->joins && low->value == high->value && low->end == high->start;
}

bool spans_add(struct spans *spans, struct span span) {
    size_t i = first_above(spans, span.start);
    assert(span.end > span.start);
    assert(i == spans->list.count || spans->list.at[i].start >= span.end);
    if (i < spans->list.count && can_join(&span, &spans->list.at[i])) {
        span.end = spans->list.at[i].end;
        remove_at(spans, i);
    }
    if (i > 0 && can_join(&spans->list.at[i - 1], &span)) {
        spans->list.at[i - 1].end = span.end;
        return true;
    }
    return insert_at(spans, i, &span);
}

bool spans_cut(struct spans *spans, uint64_t start, uint64_t end) {
    size_t i;
    if (end <= start)
        return true;
    while ((i = spans_overlap(spans, start, end)) != SPANS_NONE) {
        struct span *hit = &spans->list.at[i], high = *hit;
        if (hit->start < start && hit->end > end) {
            high.start = end;
            if (!insert_at(spans, i + 1, &high))
                return false;
            spans->list.at[i].end = start;
        } else if (hit->start < start) {
            hit->end = start;
        } else if (hit->end > end) {
            hit->start = end;
        } else {
            remove_at(spans, i);
        }
    }
    return true;
}

void spans_fini(struct spans *spans) {
    array_fini(&spans->list);
}

/* spans.c: see spans.h. */
#include "spans.h"

#include <string.h>

enum { RUN_SPANS = 256 };

/* A place: the span at `index` of `run`, or the end of the last run. */
struct place {
    size_t run, index;
};

static const struct span *last_of(const struct spans_run *run) {
    return &run->list.at[run->list.count - 1];
}

/* The first span that ends above `address`. */
static struct place first_above(const struct spans *spans, uint64_t address) {
    size_t low = 0, high = spans->runs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (last_of(&spans->runs.at[middle])->end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    struct place place = {low, 0};
    if (low == spans->runs.count)
        return place;
    const struct spans_run *run = &spans->runs.at[low];
    for (low = 0, high = run->list.count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (run->list.at[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    place.index = low;
    return place;
}

/* NULL: behind the last. */
static struct span *span_at(const struct spans *spans, struct place place) {
    return place.run < spans->runs.count ? &spans->runs.at[place.run].list.at[place.index] : NULL;
}

/* NULL: before the first. */
static struct span *span_before(const struct spans *spans, struct place place) {
    if (place.index > 0)
        return &spans->runs.at[place.run].list.at[place.index - 1];
    if (place.run == 0)
        return NULL;
    struct spans_run *run = &spans->runs.at[place.run - 1];
    return &run->list.at[run->list.count - 1];
}

struct span *spans_find(const struct spans *spans, uint64_t address) {
    struct span *span = span_at(spans, first_above(spans, address));
    return span && span->start <= address ? span : NULL;
}

struct span *spans_overlap(const struct spans *spans, uint64_t start, uint64_t end) {
    struct span *span = span_at(spans, first_above(spans, start));
    return span && span->start < end ? span : NULL;
}

/* --- changes --- */

static void remove_run(struct spans *spans, size_t at) {
    struct spans_run *runs = spans->runs.at;
    array_fini(&runs[at].list);
    memmove(runs + at, runs + at + 1, (spans->runs.count - at - 1) * sizeof *runs);
    spans->runs.count--;
}

static void remove_at(struct spans *spans, struct place place) {
    struct spans_run *run = &spans->runs.at[place.run];
    struct span *at = run->list.at + place.index;
    memmove(at, at + 1, (run->list.count - place.index - 1) * sizeof *at);
    if (--run->list.count == 0)
        remove_run(spans, place.run);
}

/* Room for one more run at `at`, which is then empty. */
static bool insert_run(struct spans *spans, size_t at) {
    if (!array_reserve(&spans->runs, spans->runs.count + 1))
        return false;
    struct spans_run *runs = spans->runs.at;
    memmove(runs + at + 1, runs + at, (spans->runs.count - at) * sizeof *runs);
    memset(&runs[at], 0, sizeof runs[at]);
    spans->runs.count++;
    return true;
}

/* Moves the upper half of a full run into one of its own. */
static bool split_run(struct spans *spans, size_t at) {
    enum { HALF = RUN_SPANS / 2 };
    if (!insert_run(spans, at + 1))
        return false;
    struct spans_run *low = &spans->runs.at[at], *high = low + 1;
    if (!array_reserve(&high->list, RUN_SPANS)) {
        remove_run(spans, at + 1);
        return false;
    }
    high->list.count = low->list.count - HALF;
    memcpy(high->list.at, low->list.at + HALF, high->list.count * sizeof *high->list.at);
    low->list.count = HALF;
    return true;
}

static bool insert_at(struct spans *spans, struct place place, const struct span *span) {
    if (place.run == spans->runs.count && place.run > 0) { /* behind the last: the last run's end */
        place.run--;
        place.index = spans->runs.at[place.run].list.count;
    }
    if (spans->runs.count == 0 && !insert_run(spans, 0))
        return false;
    if (spans->runs.at[place.run].list.count == RUN_SPANS) {
        if (!split_run(spans, place.run))
            return false;
        size_t kept = spans->runs.at[place.run].list.count;
        if (place.index > kept)
            place = (struct place){place.run + 1, place.index - kept};
    }
    struct spans_run *run = &spans->runs.at[place.run];
    if (!array_reserve(&run->list, run->list.count + 1)) {
        if (run->list.count == 0)
            remove_run(spans, place.run);
        return false;
    }
    struct span *at = run->list.at + place.index;
    memmove(at + 1, at, (run->list.count - place.index) * sizeof *at);
    *at = *span;
    run->list.count++;
    return true;
}

static bool can_join(const struct span *low, const struct span *high) {
    return low->joins && high->joins && low->value == high->value && low->end == high->start;
}

bool spans_add(struct spans *spans, struct span span) {
    struct place place = first_above(spans, span.start);
    struct span *next = span_at(spans, place), *previous = span_before(spans, place);
    assert(span.end > span.start);
    assert(!next || next->start >= span.end);
    bool joins_next = next && can_join(&span, next);
    bool joins_previous = previous && can_join(previous, &span);
    if (joins_previous) {
        previous->end = joins_next ? next->end : span.end;
        if (joins_next)
            remove_at(spans, place);
    } else if (joins_next) {
        next->start = span.start;
    } else {
        return insert_at(spans, place, &span);
    }
    return true;
}

bool spans_cut(struct spans *spans, uint64_t start, uint64_t end) {
    while (end > start) {
        struct place place = first_above(spans, start);
        struct span *hit = span_at(spans, place);
        if (!hit || hit->start >= end)
            break;
        struct span high = *hit;
        if (hit->start < start && hit->end > end) {
            uint64_t kept_end = hit->end;
            high.start = end;
            hit->end = start;
            if (insert_at(spans, (struct place){place.run, place.index + 1}, &high))
                return true;
            spans_find(spans, start - 1)->end = kept_end;
            return false;
        }
        if (hit->start < start)
            hit->end = start;
        else if (hit->end > end)
            hit->start = end;
        else
            remove_at(spans, place);
    }
    return true;
}

void spans_fini(struct spans *spans) {
    for (size_t i = 0; i < spans->runs.count; i++)
        array_fini(&spans->runs.at[i].list);
    array_fini(&spans->runs);
}

struct span *spans_next(const struct spans *spans, struct spans_cursor *cursor) {
    if (cursor->run >= spans->runs.count)
        return NULL;
    struct spans_run *run = &spans->runs.at[cursor->run];
    struct span *span = &run->list.at[cursor->index++];
    if (cursor->index == run->list.count) {
        cursor->run++;
        cursor->index = 0;
    }
    return span;
}

/* viz_large.h: a long made-up timeline as fast as memory can be written, for benchmarks of the
 * viewer: steps and phases, streams, stacks, owners, sizes spread evenly over their logarithm.
 *
 *   events      two a block: its allocation and the request of its free
 *   frees       70 % the youngest block, else any */
#ifndef VIZ_LARGE_H
#define VIZ_LARGE_H

#include "viz_fixture.h"

enum { LARGE_OWNERS = 97, LARGE_STACKS = 200, LARGE_PHASES = 64, LARGE_STREAMS = 4 };

struct large {
    struct fixture f;
    uint32_t owners[LARGE_OWNERS], op;
    uint32_t *alive, count;
};

static inline void large_words(struct large *l) {
    struct timeline *tl = l->f.tl;
    char text[64];
    for (unsigned i = 0; i < LARGE_OWNERS; i++) {
        snprintf(text, sizeof text, "model.layers.%u.%s", i % 32, i % 3 ? "mlp.up_proj" : "attn");
        l->owners[i] = timeline_string(tl, text);
    }
    l->op = timeline_string(tl, "aten::mm");
    struct timeline_stack none = {0, 0};
    fixture_need(array_push(&tl->stacks, none));
    for (uint32_t i = 0; i < LARGE_STACKS; i++) {
        struct timeline_stack stack = {(uint32_t)tl->frames.count, 12};
        fixture_need(array_push(&tl->stacks, stack));
        for (uint32_t k = 0; k < stack.count; k++) {
            snprintf(text, sizeof text, "function_%u", (i * 7 + k) % 300);
            struct timeline_frame frame = {timeline_string(tl, text), timeline_string(tl, "m.py"),
                                           1 + i * k};
            fixture_need(array_push(&tl->frames, frame));
        }
    }
    for (uint64_t i = 1; i < LARGE_STREAMS; i++) {
        uint16_t index;
        fixture_need(timeline_stream(tl, i, &index));
    }
    tl->has |= TIMELINE_HAS_STACK;
}

/* 512 B to 256 MiB. */
static inline uint64_t large_size(struct fixture *f) {
    uint64_t scale = UINT64_C(512) << fixture_random_below(f, 19);
    return (scale + fixture_random_below(f, scale)) / 512 * 512;
}

static inline void large_alloc(struct large *l) {
    struct fixture *f = &l->f;
    uint64_t bytes = large_size(f);
    struct timeline_block b = {.requested_bytes = bytes,
                               .block_bytes = bytes,
                               .alloc_event = (uint32_t)f->tl->events.count,
                               .free_event = TIMELINE_NONE,
                               .complete_event = TIMELINE_NONE,
                               .segment = TIMELINE_NONE,
                               .phase = f->phase,
                               .op = l->op};
    b.category = (uint8_t)fixture_random_below(f, CATEGORY_COUNT);
    b.dtype = DTYPE_BFLOAT16;
    b.owner = l->owners[fixture_random_below(f, LARGE_OWNERS)];
    b.stack = 1 + (uint32_t)fixture_random_below(f, LARGE_STACKS);
    b.stream = (uint16_t)fixture_random_below(f, LARGE_STREAMS);
    uint32_t index = timeline_add_block(f->tl, &b);
    fixture_need(index != TIMELINE_NONE);
    fixture_event(f, EVENT_ALLOC, index, bytes);
    l->alive[l->count++] = index;
}

static inline void large_free(struct large *l) {
    struct fixture *f = &l->f;
    uint32_t at = l->count - 1;
    if (fixture_random_below(f, 100) >= 70)
        at = (uint32_t)fixture_random_below(f, l->count);
    uint32_t block = l->alive[at];
    struct timeline_block *b = &f->tl->blocks.at[block];
    b->free_event = fixture_event(f, EVENT_FREE_REQUESTED, block, b->requested_bytes);
    l->alive[at] = l->alive[--l->count];
}

static inline void large_start(struct large *l, uint32_t live) {
    *l =
        (struct large){.f = fixture_start("large"), .alive = malloc((live + 1) * sizeof *l->alive)};
    fixture_need(l->alive != NULL);
    l->f.tl->has &= ~(uint32_t)TIMELINE_HAS_SEGMENTS;
    large_words(l);
}

/* Up to `end` events, as one phase; about half of `live` blocks come and go with a phase. */
static inline void large_phase(struct large *l, bool backward, uint32_t end, uint32_t live) {
    uint32_t most = backward ? live : live / 2;
    fixture_begin(&l->f, backward ? "backward" : "forward");
    while (l->f.tl->events.count + 1 < end) {
        l->f.time_ns += fixture_random_below(&l->f, 3000);
        if (l->count == 0 || (l->count < most && fixture_random_below(&l->f, 100) < 55))
            large_alloc(l);
        else
            large_free(l);
    }
    fixture_end(&l->f);
}

static inline struct timeline *large_end(struct large *l) {
    free(l->alive);
    return l->f.tl;
}

/* `events` of them, `live` blocks alive after the first few. */
static inline struct timeline *large_timeline(uint32_t events, uint32_t live) {
    struct large l;
    large_start(&l, live);
    for (uint32_t done = 0; done < LARGE_PHASES; done++)
        large_phase(&l, done % 2, (uint32_t)((uint64_t)events * (done + 1) / LARGE_PHASES), live);
    return large_end(&l);
}

#endif

/* timeline.c: see timeline.h. */
#include "timeline.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(struct timeline_event) == 32, "ten million events are 320 MB");

struct timeline *timeline_create(void) {
    struct timeline *tl = xcalloc(1, sizeof *tl);
    if (!tl)
        return NULL;
    struct timeline_stack empty = {0, 0};
    uint64_t default_stream = 0;
    if (!strtab_init(&tl->strings) || !array_push(&tl->stacks, empty) ||
        !array_push(&tl->streams, default_stream)) {
        timeline_destroy(tl);
        return NULL;
    }
    return tl;
}

void timeline_destroy(struct timeline *tl) {
    if (!tl)
        return;
    array_fini(&tl->events);
    array_fini(&tl->blocks);
    array_fini(&tl->segments);
    array_fini(&tl->phases);
    array_fini(&tl->frames);
    array_fini(&tl->stacks);
    array_fini(&tl->ooms);
    array_fini(&tl->devices);
    array_fini(&tl->streams);
    strtab_fini(&tl->strings);
    xfree(tl);
}

size_t timeline_bytes(const struct timeline *tl) {
    return array_bytes(&tl->events) + array_bytes(&tl->blocks) + array_bytes(&tl->segments) +
           array_bytes(&tl->phases) + array_bytes(&tl->frames) + array_bytes(&tl->stacks) +
           array_bytes(&tl->ooms) + strtab_bytes(&tl->strings);
}

#define PUSH(array, record)                                                                        \
    ((array)->count < TIMELINE_NONE && array_push((array), *(record))                              \
         ? (uint32_t)((array)->count - 1)                                                          \
         : TIMELINE_NONE)

uint32_t timeline_add_event(struct timeline *tl, const struct timeline_event *event) {
    return PUSH(&tl->events, event);
}

uint32_t timeline_add_block(struct timeline *tl, const struct timeline_block *block) {
    return PUSH(&tl->blocks, block);
}

uint32_t timeline_add_segment(struct timeline *tl, const struct timeline_segment *segment) {
    return PUSH(&tl->segments, segment);
}

uint32_t timeline_add_phase(struct timeline *tl, const struct timeline_phase *phase) {
    return PUSH(&tl->phases, phase);
}

bool timeline_stream(struct timeline *tl, uint64_t handle, uint16_t *index) {
    for (size_t i = 0; i < tl->streams.count; i++)
        if (tl->streams.at[i] == handle) {
            *index = (uint16_t)i;
            return true;
        }
    if (tl->streams.count > UINT16_MAX || !array_push(&tl->streams, handle))
        return false;
    *index = (uint16_t)(tl->streams.count - 1);
    return true;
}

uint32_t timeline_string(struct timeline *tl, const char *text) {
    uint32_t id;
    return strtab_add(&tl->strings, text, strlen(text), &id) ? id : 0;
}

const char *timeline_text(const struct timeline *tl, uint32_t string) {
    return strtab_text(&tl->strings, string);
}

bool timeline_knows(const struct timeline *tl, enum timeline_figure figure) {
    static const struct {
        uint32_t needs, excludes; /* enum timeline_has */
    } rules[] = {
        [FIGURE_ALLOCATED] = {TIMELINE_HAS_BLOCK_BYTES, 0},
        [FIGURE_ACTIVE] = {TIMELINE_HAS_BLOCK_BYTES, TIMELINE_NO_COMPLETIONS},
        [FIGURE_REQUESTED] = {TIMELINE_HAS_REQUESTED, 0},
        [FIGURE_RESERVED] = {TIMELINE_HAS_SEGMENTS, TIMELINE_DEVICE_USE},
        [FIGURE_PLACEMENT] = {TIMELINE_HAS_ADDRESS | TIMELINE_HAS_BLOCK_BYTES |
                                  TIMELINE_HAS_SEGMENTS,
                              TIMELINE_SUMS_BLOCKS | TIMELINE_SUMS_SEGMENTS},
        [FIGURE_DEVICE_USE] = {TIMELINE_HAS_SEGMENTS | TIMELINE_DEVICE_USE, 0},
    };
    return (tl->has & rules[figure].needs) == rules[figure].needs &&
           (tl->has & rules[figure].excludes) == 0;
}

uint8_t timeline_main_device(const struct timeline *tl) {
    uint32_t blocks[UINT8_MAX + 1] = {0};
    uint8_t best = 0;
    for (size_t i = 0; i < tl->blocks.count; i++)
        blocks[tl->blocks.at[i].device]++;
    for (unsigned d = 1; d <= UINT8_MAX; d++)
        if (blocks[d] > blocks[best])
            best = (uint8_t)d;
    return best;
}

static const struct {
    const char *name;
    bool is_request;
} kinds[EVENT_KIND_COUNT] = {
#define X(id, name, is_request) {name, is_request},
    EVENT_KINDS(X)
#undef X
};

bool event_is_request(enum event_kind kind) {
    return kinds[kind].is_request;
}

const char *event_kind_name(enum event_kind kind) {
    return kinds[kind].name;
}

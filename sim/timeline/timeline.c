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

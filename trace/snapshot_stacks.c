/* snapshot_stacks.c: lists of frames -> stacks of the timeline. Each list is read once; equal
 * contents share a stack. */
#include <string.h>

#include "error.h"
#include "snapshot_build.h"

enum { FIRST_SLOTS = 256 };

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_frames(const struct timeline_frame *frames, size_t count) {
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++)
        hash = mix(hash, (uint64_t)frames[i].function << 40 ^ (uint64_t)frames[i].file << 20 ^
                             frames[i].line);
    return hash ^ hash >> 32;
}

static bool same_frames(const struct timeline *tl, uint32_t stack,
                        const struct timeline_frame *frames, size_t count) {
    const struct timeline_stack *s = &tl->stacks.at[stack];
    return s->count == count &&
           (count == 0 || memcmp(tl->frames.at + s->first, frames, count * sizeof *frames) == 0);
}

static bool grow_slots(struct build *b) {
    size_t count = b->stack_slots.count > 0 ? b->stack_slots.count * 2 : FIRST_SLOTS;
    uint32_t *slots = xcalloc(count, sizeof *slots);
    if (!slots)
        return build_no_memory(b);
    for (size_t i = 1; i < b->tl->stacks.count; i++) {
        const struct timeline_stack *s = &b->tl->stacks.at[i];
        size_t at = hash_frames(b->tl->frames.at + s->first, s->count) & (count - 1);
        while (slots[at] != 0)
            at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    xfree(b->stack_slots.at);
    b->stack_slots.at = slots;
    b->stack_slots.count = b->stack_slots.capacity = count;
    return true;
}

/* The frames from `first` on become a stack, or are dropped again when an equal one is there. */
static bool intern_stack(struct build *b, size_t first, uint32_t *stack) {
    struct timeline *tl = b->tl;
    size_t count = tl->frames.count - first;
    if (tl->stacks.count * 2 >= b->stack_slots.count && !grow_slots(b))
        return false;
    size_t mask = b->stack_slots.count - 1;
    size_t at = hash_frames(tl->frames.at + first, count) & mask;
    for (; b->stack_slots.at[at] != 0; at = (at + 1) & mask) {
        *stack = b->stack_slots.at[at] - 1;
        if (same_frames(tl, *stack, tl->frames.at + first, count)) {
            tl->frames.count = first;
            return true;
        }
    }
    struct timeline_stack made = {.first = (uint32_t)first, .count = (uint32_t)count};
    if (!array_push(&tl->stacks, made))
        return build_no_memory(b);
    *stack = (uint32_t)(tl->stacks.count - 1);
    b->stack_slots.at[at] = *stack + 1;
    return true;
}

/* All frame records in the timeline's form, made when the first stack is. */
static bool convert_frames(struct build *b) {
    size_t count = b->s->frames.count;
    if (b->frame_values.count == count)
        return true;
    if (!array_reserve(&b->frame_values, count))
        return build_no_memory(b);
    for (size_t i = 0; i < count; i++) {
        const struct snapshot_frame *r = &b->s->frames.at[i];
        struct timeline_frame *f = &b->frame_values.at[i];
        f->line = r->line;
        if (!build_string(b, r->name, &f->function) || !build_string(b, r->file, &f->file))
            return false;
    }
    b->frame_values.count = count;
    return true;
}

static bool read_frames(struct build *b, uint32_t list) {
    struct snapshot_walk walk;
    uint32_t handle;
    struct timeline *tl = b->tl;
    uint32_t count = snapshot_list_count(b->s, list);
    if (tl->frames.count + count >= UINT32_MAX)
        return error_set(b->err, ERROR_LIMIT, "more than 2^32 frames");
    if (!array_reserve(&tl->frames, tl->frames.count + count))
        return build_no_memory(b);
    snapshot_walk_begin(b->s, list, &walk);
    while (snapshot_walk_next(b->s, &walk, &handle)) {
        uint32_t record = snapshot_record(b->s, handle, ROLE_FRAME);
        if (record != NO_HANDLE)
            tl->frames.at[tl->frames.count++] = b->frame_values.at[record];
    }
    return true;
}

bool build_stack(struct build *b, uint32_t list, uint32_t *stack) {
    *stack = 0;
    if (snapshot_list_count(b->s, list) == 0)
        return true;
    uint32_t chunk = b->s->pickle.containers.at[list].record - 1;
    if (b->list_stacks.at[chunk] != 0) {
        *stack = b->list_stacks.at[chunk] - 1;
        return true;
    }
    size_t first = b->tl->frames.count;
    if (!convert_frames(b) || !read_frames(b, list))
        return false;
    if (b->tl->frames.count > first && !intern_stack(b, first, stack))
        return false;
    b->list_stacks.at[chunk] = *stack + 1;
    return true;
}

/* snapshot_stacks.c: lists of frames -> stacks of the timeline. Each list is read once; equal
 * contents share a stack. */
#include <string.h>

#include "error.h"
#include "snapshot_build.h"

enum { FIRST_SLOTS = 256 };

/* Each frame's share depends on its place only, so that the products do not wait for each other. */
static uint64_t hash_step(uint64_t hash, uint32_t frame, size_t place) {
    return hash +
           (frame + UINT64_C(0x9e3779b97f4a7c15)) * (2 * place + UINT64_C(0xd1342543de82ef95));
}

static uint64_t hash_end(uint64_t hash) {
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static bool same_frame(const struct timeline_frame *a, const struct timeline_frame *b) {
    return a->function == b->function && a->file == b->file && a->line == b->line;
}

/* Equal frames get the same number, the first one's. */
static bool number_frames(struct build *b) {
    size_t count = b->frames.count, size = FIRST_SLOTS;
    while (size < 2 * count)
        size *= 2;
    uint32_t *slots = xcalloc(size, sizeof *slots);
    if (!slots)
        return build_no_memory(b);
    for (uint32_t i = 0; i < count; i++) {
        struct build_frame *f = &b->frames.at[i];
        uint64_t hash = hash_step(hash_step(f->value.line, f->value.function, 1), f->value.file, 2);
        size_t at = hash_end(hash) & (size - 1);
        while (slots[at] != 0 && !same_frame(&b->frames.at[slots[at] - 1].value, &f->value))
            at = (at + 1) & (size - 1);
        if (slots[at] == 0)
            slots[at] = i + 1;
        f->number = slots[at] - 1;
    }
    xfree(slots);
    return true;
}

/* All frame records in the timeline's form, made when the first stack is. */
static bool convert_frames(struct build *b) {
    size_t count = b->s->frames.count;
    if (b->frames.count == count)
        return true;
    if (!array_reserve(&b->frames, count))
        return build_no_memory(b);
    for (size_t i = 0; i < count; i++) {
        const struct snapshot_frame *r = &b->s->frames.at[i];
        struct timeline_frame *f = &b->frames.at[i].value;
        f->line = r->line;
        if (!build_string(b, r->name, &f->function) || !build_string(b, r->file, &f->file))
            return false;
    }
    b->frames.count = count;
    return number_frames(b);
}

static bool grow_slots(struct build *b) {
    size_t count = b->stack_slots.count > 0 ? b->stack_slots.count * 2 : FIRST_SLOTS;
    struct build_stack_slot *slots = xcalloc(count, sizeof *slots);
    if (!slots)
        return build_no_memory(b);
    for (size_t i = 0; i < b->stack_slots.count; i++) {
        const struct build_stack_slot *old = &b->stack_slots.at[i];
        size_t at = old->hash & (count - 1);
        while (old->stack != 0 && slots[at].stack != 0)
            at = (at + 1) & (count - 1);
        if (old->stack != 0)
            slots[at] = *old;
    }
    xfree(b->stack_slots.at);
    b->stack_slots.at = slots;
    b->stack_slots.count = b->stack_slots.capacity = count;
    return true;
}

static bool same_stack(const struct timeline *tl, uint32_t stack, size_t first, size_t count) {
    const struct timeline_stack *s = &tl->stacks.at[stack];
    return s->count == count && memcmp(tl->frames.at + s->first, tl->frames.at + first,
                                       count * sizeof *tl->frames.at) == 0;
}

/* The frames from `first` on become a stack, or are dropped again when an equal one is there. */
static bool intern_stack(struct build *b, size_t first, uint64_t hash, uint32_t *stack) {
    struct timeline *tl = b->tl;
    size_t count = tl->frames.count - first;
    if (tl->stacks.count * 2 >= b->stack_slots.count && !grow_slots(b))
        return false;
    size_t mask = b->stack_slots.count - 1, at = hash & mask;
    for (; b->stack_slots.at[at].stack != 0; at = (at + 1) & mask) {
        *stack = b->stack_slots.at[at].stack;
        if (b->stack_slots.at[at].hash == hash && same_stack(tl, *stack, first, count)) {
            tl->frames.count = first;
            return true;
        }
    }
    struct timeline_stack made = {.first = (uint32_t)first, .count = (uint32_t)count};
    if (!array_push(&tl->stacks, made))
        return build_no_memory(b);
    *stack = (uint32_t)(tl->stacks.count - 1);
    b->stack_slots.at[at] = (struct build_stack_slot){.hash = hash, .stack = *stack};
    return true;
}

/* Appends the frames of one chunk; most of an import's time can pass here, so it goes straight
 * through the tables. */
static uint64_t read_chunk(struct build *b, const struct snapshot_chunk *chunk, size_t first,
                           uint64_t hash) {
    const struct pickle_container *containers = b->s->pickle.containers.at;
    const uint32_t *items = b->s->items.at + chunk->first;
    struct timeline_frame *to = b->tl->frames.at + b->tl->frames.count;
    size_t added = 0, place = b->tl->frames.count - first;
    for (uint32_t i = 0; i < chunk->count; i++) {
        if (items[i] == NO_HANDLE || containers[items[i]].role != ROLE_FRAME)
            continue;
        const struct build_frame *f = &b->frames.at[containers[items[i]].record];
        hash = hash_step(hash, f->number, place + added);
        to[added++] = f->value;
    }
    b->tl->frames.count += added;
    return hash;
}

static bool read_frames(struct build *b, uint32_t list, uint64_t *hash) {
    struct timeline *tl = b->tl;
    uint32_t count = snapshot_list_count(b->s, list);
    if (tl->frames.count + count >= UINT32_MAX)
        return error_set(b->err, ERROR_LIMIT, "more than 2^32 frames");
    if (!array_reserve(&tl->frames, tl->frames.count + count))
        return build_no_memory(b);
    uint32_t chunk = b->s->pickle.containers.at[list].record;
    size_t first = tl->frames.count;
    *hash = 0;
    while (chunk != 0) {
        const struct snapshot_chunk *c = &b->s->chunks.at[chunk - 1];
        *hash = read_chunk(b, c, first, *hash);
        chunk = c->next;
    }
    *hash = hash_end(*hash);
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
    uint64_t hash = 0;
    if (!convert_frames(b) || !read_frames(b, list, &hash))
        return false;
    if (b->tl->frames.count > first && !intern_stack(b, first, hash, stack))
        return false;
    b->list_stacks.at[chunk] = *stack + 1;
    return true;
}

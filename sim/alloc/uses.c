/* uses.c: see uses.h. */
#include "uses.h"

bool uses_add(struct uses *uses, uint32_t *head, uint64_t stream) {
    for (uint32_t id = *head; id; id = uses->list.at[id].next)
        if (uses->list.at[id].stream == stream)
            return true;
    struct use use = {.stream = stream, .next = *head};
    uint32_t id = uses->free_slot;
    if (id) {
        uses->free_slot = uses->list.at[id].next;
        uses->list.at[id] = use;
    } else {
        size_t need = uses->list.count ? uses->list.count + 1 : 2;
        if (need > UINT32_MAX || !array_reserve(&uses->list, need))
            return false;
        id = (uint32_t)need - 1;
        uses->list.count = need;
        uses->list.at[id] = use;
    }
    *head = id;
    return true;
}

void uses_record(struct uses *uses, uint32_t head, const struct alloc_world *world) {
    for (uint32_t id = head; id; id = uses->list.at[id].next)
        uses->list.at[id].event =
            world->event_record ? world->event_record(world->user, uses->list.at[id].stream) : 0;
}

bool uses_are_done(const struct uses *uses, uint32_t head, const struct alloc_world *world) {
    for (uint32_t id = head; id && world->event_done; id = uses->list.at[id].next)
        if (!world->event_done(world->user, uses->list.at[id].event))
            return false;
    return true;
}

void uses_wait(const struct uses *uses, uint32_t head, const struct alloc_world *world) {
    for (uint32_t id = head; id && world->event_wait; id = uses->list.at[id].next)
        world->event_wait(world->user, uses->list.at[id].event);
}

void uses_let_wait(const struct uses *uses, uint32_t head, const struct alloc_world *world,
                   uint64_t stream) {
    for (uint32_t id = head; id && world->stream_wait_event; id = uses->list.at[id].next)
        world->stream_wait_event(world->user, stream, uses->list.at[id].event);
}

void uses_drop(struct uses *uses, uint32_t *head) {
    while (*head) {
        uint32_t id = *head;
        *head = uses->list.at[id].next;
        uses->list.at[id].next = uses->free_slot;
        uses->free_slot = id;
    }
}

void uses_fini(struct uses *uses) {
    array_fini(&uses->list);
    uses->free_slot = 0;
}

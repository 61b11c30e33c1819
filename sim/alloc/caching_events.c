/* caching_events.c: blocks that other streams use.
 *
 * A use is noted by record_stream. At the free request every use becomes an event in the FIFO of
 * its stream; the block completes when its last event is found done. While captures suspend events
 * the block waits in the deferred list. The use's slot serves through all of this, so a free never
 * needs host memory. */
#include <assert.h>

#include "caching_core.h"

static void drop_use(struct caching *al, uint32_t id) {
    al->uses.at[id].next = al->free_use_slot;
    al->free_use_slot = id;
}

static uint32_t add_use(struct caching *al, const struct use *use) {
    uint32_t id = al->free_use_slot;
    if (id) {
        al->free_use_slot = al->uses.at[id].next;
        al->uses.at[id] = *use;
        return id;
    }
    if (al->uses.count == 0 && !array_push(&al->uses, (struct use){0}))
        return 0;
    if (al->uses.count == UINT32_MAX || !array_push(&al->uses, *use))
        return 0;
    return (uint32_t)al->uses.count - 1;
}

static struct fifo *find_fifo(struct caching *al, uint64_t stream) {
    for (size_t i = 0; i < al->fifos.count; i++)
        if (al->fifos.at[i].stream == stream)
            return &al->fifos.at[i];
    return NULL;
}

bool events_record_use(struct caching *al, struct block *block, uint64_t stream) {
    if (stream == block_home(al, block)->stream)
        return true;
    bool in_capture = caching_is_suspended(al);
    uint32_t last = 0;
    if (!caching_reserve_sides(al))
        return false;
    for (uint32_t id = block_uses(al, block); id; id = al->uses.at[id].next) {
        last = id;
        if (al->uses.at[id].stream != stream)
            continue;
        al->uses.at[id].during_capture |= in_capture;
        return true;
    }
    if (!find_fifo(al, stream) && !array_push(&al->fifos, (struct fifo){.stream = stream}))
        return false;
    struct use use = {.stream = stream, .block = block_id(al, block), .during_capture = in_capture};
    uint32_t id = add_use(al, &use);
    if (!id)
        return false;
    if (last)
        al->uses.at[last].next = id;
    else
        block_side(al, block)->uses = id;
    return true;
}

/* Turns every use of the block into an event, now. */
static void record_events(struct caching *al, struct block *block) {
    struct side *side = block_side(al, block);
    for (uint32_t id = side->uses, next; id; id = next) {
        struct use *use = &al->uses.at[id];
        next = use->next;
        use->next = 0;
        use->event =
            al->world.event_record ? al->world.event_record(al->world.user, use->stream) : 0;
        struct fifo *fifo = find_fifo(al, use->stream);
        if (fifo->last)
            al->uses.at[fifo->last].next = id;
        else
            fifo->first = id;
        fifo->last = id;
        side->events++;
        al->pending_events++;
    }
    side->uses = 0;
}

static void defer(struct caching *al, const struct block *block) {
    uint32_t uses = block_uses(al, block);
    al->uses.at[uses].next_deferred = 0;
    if (al->last_deferred)
        al->uses.at[al->last_deferred].next_deferred = uses;
    else
        al->first_deferred = uses;
    al->last_deferred = uses;
}

void events_free_used(struct caching *al, struct block *block) {
    if (caching_is_suspended(al))
        defer(al, block);
    else
        record_events(al, block);
}

static void drop_capture_uses(struct caching *al, const struct block *block) {
    uint32_t *link = &block_side(al, block)->uses;
    while (*link) {
        uint32_t id = *link;
        if (al->uses.at[id].during_capture) {
            *link = al->uses.at[id].next;
            drop_use(al, id);
        } else {
            link = &al->uses.at[id].next;
        }
    }
}

static void handle_deferred(struct caching *al) {
    uint32_t id = al->first_deferred;
    al->first_deferred = al->last_deferred = 0;
    while (id) {
        struct block *block = block_at(al, al->uses.at[id].block);
        id = al->uses.at[id].next_deferred;
        drop_capture_uses(al, block);
        record_events(al, block);
        if (block_side(al, block)->events == 0)
            caching_complete_free(al, block);
    }
}

/* Takes the front of the FIFO out; its event is done. */
static void pop(struct caching *al, struct fifo *fifo, uint32_t before) {
    uint32_t id = before ? al->uses.at[before].next : fifo->first;
    struct use *use = &al->uses.at[id];
    struct block *block = block_at(al, use->block);
    if (before)
        al->uses.at[before].next = use->next;
    else
        fifo->first = use->next;
    if (fifo->last == id)
        fifo->last = before;
    drop_use(al, id);
    al->pending_events--;
    if (--block_side(al, block)->events == 0)
        caching_complete_free(al, block);
}

static bool is_done(const struct caching *al, uint64_t event) {
    return !al->world.event_done || al->world.event_done(al->world.user, event);
}

void events_process(struct caching *al) {
    if (al->first_deferred)
        handle_deferred(al);
    if (al->pending_events == 0)
        return;
    for (size_t i = 0; i < al->fifos.count; i++) {
        struct fifo *fifo = &al->fifos.at[i];
        while (fifo->first && is_done(al, al->uses.at[fifo->first].event))
            pop(al, fifo, 0);
    }
}

static bool belongs_to(const struct caching *al, uint32_t block, const struct private_pool *pool) {
    return !pool || block_home(al, block_at(al, block))->pool->owner == pool;
}

void events_wait_all(struct caching *al, const struct private_pool *only) {
    al->stats.num_sync_all_streams++;
    handle_deferred(al);
    for (size_t i = 0; i < al->fifos.count; i++) {
        struct fifo *fifo = &al->fifos.at[i];
        uint32_t before = 0;
        for (;;) {
            uint32_t id = before ? al->uses.at[before].next : fifo->first;
            if (!id)
                break;
            if (!belongs_to(al, al->uses.at[id].block, only)) {
                before = id;
                continue;
            }
            if (al->world.event_wait)
                al->world.event_wait(al->world.user, al->uses.at[id].event);
            pop(al, fifo, before);
        }
    }
}

/* live_sum.c: see live_sum.h. */
#include "live_sum.h"

#include <assert.h>

#include "checked.h"
#include "error.h"
#include "ideal.h"
#include "packing.h"

struct live_sum {
    struct ideal ideal;
    struct lifetimes *lifetimes; /* NULL: not asked for */
    uint64_t next_address;
};

static struct live_sum *sum_of(struct ideal *ideal) {
    return (struct live_sum *)(void *)ideal;
}

/* A block is dead for all that is born from now on. */
static void on_ended(struct ideal *ideal, const struct ideal_block *block) {
    struct lifetimes *lifetimes = sum_of(ideal)->lifetimes;
    if (lifetimes)
        lifetimes->list.at[block->number].death = ideal->requests;
    ideal_segment(ideal, ALLOC_ENTRY_SEGMENT_FREE, block->address, block->address, block->bytes);
}

/* The clock is the count of requests; a refused one lives for its own moment. */
static bool note_birth(struct live_sum *al, uint64_t bytes, bool refused) {
    uint64_t now = al->ideal.requests++;
    const struct lifetime born = {bytes, now, refused ? now + 1 : UINT64_MAX};
    return !al->lifetimes || array_push(&al->lifetimes->list, born);
}

static bool has_room(const struct ideal *ideal, uint64_t bytes) {
    return bytes <= ideal->capacity_bytes - ideal->stats.reserved_bytes[ALLOC_POOL_ALL].current;
}

static enum alloc_result take(struct alloc *alloc, uint64_t bytes, uint64_t stream,
                              uint64_t *address) {
    struct ideal *ideal = ideal_of(alloc);
    struct live_sum *al = sum_of(ideal);
    uint64_t rounded, next;
    if (!ideal_reserve(ideal))
        return ALLOC_HOST_MEMORY;
    bool known = checked_round_up(bytes, IDEAL_UNIT, &rounded) &&
                 checked_add(al->next_address, rounded, &next);
    ideal_end_pending(ideal, false);
    if (known && !has_room(ideal, rounded))
        ideal_end_pending(ideal, true);
    bool refused = !known || !has_room(ideal, rounded);
    if (!note_birth(al, known ? rounded : bytes, refused))
        return ALLOC_HOST_MEMORY;
    if (refused)
        return ideal_out_of_memory(ideal, bytes, known ? rounded : bytes, stream);
    const struct ideal_block block = {.address = al->next_address,
                                      .bytes = rounded,
                                      .requested = bytes,
                                      .stream = stream,
                                      .segment_address = al->next_address,
                                      .number = ideal->requests - 1};
    al->next_address = next;
    ideal_segment(ideal, ALLOC_ENTRY_SEGMENT_ALLOC, block.address, block.address, rounded);
    ideal_hand_out(ideal, &block);
    *address = block.address;
    return ALLOC_OK;
}

static struct alloc *create(const struct alloc_config *config, struct error *err) {
    struct live_sum *al = xcalloc(1, sizeof *al);
    if (!al) {
        error_host_memory(err);
        return NULL;
    }
    ideal_init(&al->ideal, &live_sum_ops, config);
    al->ideal.ended = on_ended;
    al->lifetimes = config->lifetimes;
    al->next_address = ALLOC_FIRST_ADDRESS;
    assert(!al->lifetimes || al->lifetimes->list.count == 0);
    return &al->ideal.alloc;
}

static void destroy(struct alloc *alloc) {
    ideal_fini(ideal_of(alloc));
    xfree(alloc);
}

const struct alloc_ops live_sum_ops = {
    .name = "sum-of-live",
    .doc = "ideal: only what is live, the least that any allocator could hold",
    .create = create,
    .destroy = destroy,
    .take = take,
    .free = ideal_free,
    .record_stream = ideal_record_stream,
    .empty_cache = ideal_empty_cache,
    .stats = ideal_stats,
    .last_oom = ideal_last_oom,
};

/* ideal.c: see ideal.h. */
#include "ideal.h"

#include <assert.h>

#include "caching_stats.h"

void ideal_init(struct ideal *ideal, const struct alloc_ops *ops,
                const struct alloc_config *config) {
    ideal->alloc.ops = ops;
    ideal->world = config->world;
    ideal->total_bytes = config->total_bytes;
    ideal->capacity_bytes = config->capacity_bytes;
    ideal->stats.max_split_size = -1;
}

void ideal_fini(struct ideal *ideal) {
    array_fini(&ideal->blocks);
    array_fini(&ideal->pending);
    live_map_fini(&ideal->live);
    uses_fini(&ideal->uses);
}

struct ideal *ideal_of(struct alloc *alloc) {
    return (struct ideal *)(void *)alloc;
}

const struct alloc_stats *ideal_stats(const struct alloc *alloc) {
    return &((const struct ideal *)(const void *)alloc)->stats;
}

const struct alloc_oom *ideal_last_oom(const struct alloc *alloc) {
    return &((const struct ideal *)(const void *)alloc)->oom;
}

static void send(const struct ideal *ideal, const struct alloc_entry *entry) {
    if (ideal->world.entry)
        ideal->world.entry(ideal->world.user, entry);
}

static void send_block(const struct ideal *ideal, enum alloc_entry_kind kind,
                       const struct ideal_block *block) {
    const struct alloc_entry entry = {.kind = kind,
                                      .address = block->address,
                                      .bytes = block->requested,
                                      .block_bytes = block->bytes,
                                      .stream = block->stream,
                                      .segment_address = block->segment_address};
    send(ideal, &entry);
}

void ideal_segment(struct ideal *ideal, enum alloc_entry_kind kind, uint64_t segment_address,
                   uint64_t address, uint64_t bytes) {
    struct alloc_stats *stats = &ideal->stats;
    bool grows = kind == ALLOC_ENTRY_SEGMENT_ALLOC || kind == ALLOC_ENTRY_SEGMENT_MAP;
    bool expandable = kind == ALLOC_ENTRY_SEGMENT_MAP;
    const struct alloc_entry entry = {.kind = kind,
                                      .address = address,
                                      .bytes = bytes,
                                      .segment_address = segment_address,
                                      .expandable = expandable};
    if (grows) {
        stats->num_device_alloc++;
        stat_raise_one(&stats->reserved_bytes[ALLOC_POOL_ALL], bytes);
        if (!expandable)
            stat_raise_one(&stats->segment[ALLOC_POOL_ALL], 1);
    } else {
        stats->num_device_free++;
        stat_lower_one(&stats->reserved_bytes[ALLOC_POOL_ALL], bytes);
        stat_lower_one(&stats->segment[ALLOC_POOL_ALL], 1);
    }
    send(ideal, &entry);
}

/* --- blocks --- */

bool ideal_reserve(struct ideal *ideal) {
    size_t need = ideal->blocks.count ? ideal->blocks.count + 1 : 2;
    if (need > UINT32_MAX - 1 || !array_reserve(&ideal->blocks, need) ||
        !array_reserve(&ideal->pending, need) || !live_map_reserve(&ideal->live))
        return false;
    if (ideal->blocks.count == 0)
        ideal->blocks.at[ideal->blocks.count++] = (struct ideal_block){0};
    return true;
}

void ideal_hand_out(struct ideal *ideal, const struct ideal_block *block) {
    struct alloc_stats *stats = &ideal->stats;
    uint32_t id = ideal->free_record;
    if (id)
        ideal->free_record = ideal->blocks.at[id].next;
    else
        id = (uint32_t)ideal->blocks.count++;
    assert(ideal->blocks.count <= ideal->blocks.capacity);
    ideal->blocks.at[id] = *block;
    live_map_add(&ideal->live, block->address, id);
    stat_raise_one(&stats->allocation[ALLOC_POOL_ALL], 1);
    stat_raise_one(&stats->allocated_bytes[ALLOC_POOL_ALL], block->bytes);
    stat_raise_one(&stats->active[ALLOC_POOL_ALL], 1);
    stat_raise_one(&stats->active_bytes[ALLOC_POOL_ALL], block->bytes);
    stat_raise_one(&stats->requested_bytes[ALLOC_POOL_ALL], block->requested);
    send_block(ideal, ALLOC_ENTRY_ALLOC, block);
}

static void end_block(struct ideal *ideal, uint32_t id) {
    struct alloc_stats *stats = &ideal->stats;
    struct ideal_block *block = &ideal->blocks.at[id];
    stat_lower_one(&stats->active[ALLOC_POOL_ALL], 1);
    stat_lower_one(&stats->active_bytes[ALLOC_POOL_ALL], block->bytes);
    stat_lower_one(&stats->requested_bytes[ALLOC_POOL_ALL], block->requested);
    send_block(ideal, ALLOC_ENTRY_FREE_COMPLETED, block);
    ideal->ended(ideal, block);
    uses_drop(&ideal->uses, &block->uses);
    block->next = ideal->free_record;
    ideal->free_record = id;
}

void ideal_end_pending(struct ideal *ideal, bool wait) {
    size_t kept = 0;
    for (size_t i = 0; i < ideal->pending.count; i++) {
        uint32_t id = ideal->pending.at[i];
        if (wait)
            uses_wait(&ideal->uses, ideal->blocks.at[id].uses, &ideal->world);
        if (wait || uses_are_done(&ideal->uses, ideal->blocks.at[id].uses, &ideal->world))
            end_block(ideal, id);
        else
            ideal->pending.at[kept++] = id;
    }
    ideal->pending.count = kept;
}

void ideal_free(struct alloc *alloc, uint64_t address) {
    struct ideal *ideal = ideal_of(alloc);
    uint32_t id = live_map_take(&ideal->live, address);
    assert(id != LIVE_NONE);
    struct ideal_block *block = &ideal->blocks.at[id];
    stat_lower_one(&ideal->stats.allocation[ALLOC_POOL_ALL], 1);
    stat_lower_one(&ideal->stats.allocated_bytes[ALLOC_POOL_ALL], block->bytes);
    send_block(ideal, ALLOC_ENTRY_FREE_REQUESTED, block);
    if (block->uses) {
        uses_record(&ideal->uses, block->uses, &ideal->world);
        ideal->pending.at[ideal->pending.count++] = id;
    } else {
        end_block(ideal, id);
    }
}

enum alloc_result ideal_record_stream(struct alloc *alloc, uint64_t address, uint64_t stream) {
    struct ideal *ideal = ideal_of(alloc);
    uint32_t id = live_map_find(&ideal->live, address);
    assert(id != LIVE_NONE);
    struct ideal_block *block = &ideal->blocks.at[id];
    return stream == block->stream || uses_add(&ideal->uses, &block->uses, stream)
               ? ALLOC_OK
               : ALLOC_HOST_MEMORY;
}

enum alloc_result ideal_empty_cache(struct alloc *alloc) {
    ideal_end_pending(ideal_of(alloc), true);
    return ALLOC_OK;
}

enum alloc_result ideal_out_of_memory(struct ideal *ideal, uint64_t bytes, uint64_t rounded,
                                      uint64_t stream) {
    const struct alloc_stats *stats = &ideal->stats;
    uint64_t reserved = stats->reserved_bytes[ALLOC_POOL_ALL].current;
    uint64_t free_bytes = ideal->capacity_bytes - reserved;
    ideal->stats.num_ooms++;
    ideal->oom =
        (struct alloc_oom){.requested_bytes = bytes,
                           .rounded_bytes = rounded,
                           .segment_bytes = rounded,
                           .device_total_bytes = ideal->total_bytes,
                           .device_free_bytes = free_bytes,
                           .allocated_bytes = stats->allocated_bytes[ALLOC_POOL_ALL].current,
                           .reserved_bytes = reserved};
    const struct alloc_entry entry = {
        .kind = ALLOC_ENTRY_OOM, .address = free_bytes, .bytes = rounded, .stream = stream};
    send(ideal, &entry);
    return ALLOC_OOM;
}

/* snapshot_place.c: the sizes of blocks whose end the final state does not show.
 *
 * A free range of a segment is always one block, since free neighbours merge. A new block takes the
 * low part of its range; in a large plain segment a rest of at most 1 MiB stays with it. For blocks
 * alive at the start the range they were cut from is unknown: what is free behind them now belongs
 * to them when it is at most 1 MiB. A larger free range may still hide such a rest; it shows when a
 * later block begins a little above where that range does. */
#include "error.h"
#include "snapshot_build.h"

/* The end of the free range that begins in `range` above the live position `at` (or at its start,
 * when !has_at). */
static uint64_t gap_end(const struct build_device *d, const struct build_range *range,
                        struct addrmap_at at, bool has_at) {
    bool more = has_at ? addrmap_next(&d->live, &at) : addrmap_first(&d->live, &at);
    uint64_t next = more ? addrmap_key(&d->live, at) : UINT64_MAX;
    return next < range->end ? next : range->end;
}

static void set_home(struct timeline_block *block, const struct build_range *range,
                     uint64_t rounded) {
    block->segment = range ? range->segment : TIMELINE_NONE;
    block->small_pool = range ? range->small_pool : rounded <= CACHING_SMALL_MAX_BYTES;
}

static bool is_plain_large(const struct build_range *range) {
    return !range->small_pool && !range->expandable;
}

/* A block alive at the start at position `at`. */
static void size_start_block(struct build *b, struct build_device *d, struct addrmap_at at) {
    uint32_t index = addrmap_value(&d->live, at);
    struct timeline_block *block = &b->tl->blocks.at[index];
    const struct build_range *range = ranges_find(b, &d->ranges, block->address);
    uint64_t rounded = caching_sizes_round(b->rules.divisions, block->requested_bytes);
    set_home(block, range, rounded);
    if (block->block_bytes != 0)
        return;
    block->block_bytes = rounded;
    if (!range) {
        build_warn(b, "the block at 0x%llx was freed but lies in no segment",
                   (unsigned long long)block->address);
        return;
    }
    if (range->expandable) /* always split: exact; the free range may span several pieces */
        return;
    uint64_t room = gap_end(d, range, at, true) - block->address;
    if (room < rounded) {
        build_warn(b, "the block at 0x%llx is larger than its place",
                   (unsigned long long)block->address);
        block->block_bytes = room;
    } else if (is_plain_large(range)) {
        if (room - rounded <= CACHING_SMALL_MAX_BYTES)
            block->block_bytes = room;
        b->guessed.at[index] = room != block->block_bytes;
    }
}

/* Damaged files have blocks that reach into the next one. */
static void fit_start_block(struct build *b, const struct build_device *d, struct addrmap_at at) {
    struct timeline_block *block = &b->tl->blocks.at[addrmap_value(&d->live, at)];
    if (!addrmap_next(&d->live, &at) ||
        addrmap_key(&d->live, at) - block->address >= block->block_bytes)
        return;
    build_warn(b, "the block at 0x%llx reaches into the one behind it",
               (unsigned long long)block->address);
    block->block_bytes = addrmap_key(&d->live, at) - block->address;
}

bool place_start_blocks(struct build *b, struct build_device *d) {
    for (size_t i = 0; i < d->start_blocks.count; i++) {
        uint32_t index = d->start_blocks.at[i];
        if (!addrmap_put(&d->live, b->tl->blocks.at[index].address, index))
            return build_no_memory(b);
    }
    struct addrmap_at at;
    for (bool more = addrmap_first(&d->live, &at); more; more = addrmap_next(&d->live, &at)) {
        size_start_block(b, d, at);
        fit_start_block(b, d, at);
    }
    return true;
}

/* The block before a free range gets the bytes up to where a later block really began. */
static void repair_slack(struct build *b, const struct build_device *d, struct addrmap_at before,
                         uint64_t address) {
    uint32_t index = addrmap_value(&d->live, before);
    struct timeline_block *block = &b->tl->blocks.at[index];
    uint64_t end = block->address + block->block_bytes;
    if (end == address)
        return;
    if (end > address || !b->guessed.at[index] || address - end > CACHING_SMALL_MAX_BYTES) {
        build_warn(b, "a block begins at 0x%llx, inside a free range or another block",
                   (unsigned long long)address);
        return;
    }
    block->block_bytes += address - end;
    b->guessed.at[index] = 0;
}

/* A block in a plain segment. Where nothing was lost it begins where the block before it ends, or
 * its segment. */
static void place_plain(struct build *b, const struct build_device *d,
                        const struct build_range *range, struct timeline_block *block,
                        uint64_t rounded, struct addrmap_at before, bool has_before) {
    if (has_before && addrmap_key(&d->live, before) >= range->start)
        repair_slack(b, d, before, block->address);
    else if (block->address != range->start)
        build_warn(b, "a block begins at 0x%llx, inside a free range",
                   (unsigned long long)block->address);
    if (block->block_bytes != 0)
        return;
    uint64_t room = gap_end(d, range, before, has_before) - block->address;
    if (room >= rounded) {
        bool split = caching_sizes_split(rounded, room - rounded, range->small_pool,
                                         b->rules.expandable, b->rules.max_split_bytes);
        block->block_bytes = split ? rounded : room;
        return;
    }
    if (rounded <= range->end - block->address) { /* over a live one, whose free is missing */
        block->block_bytes = rounded;
        return;
    }
    build_warn(b, "the block at 0x%llx is larger than its place",
               (unsigned long long)block->address);
    block->block_bytes = room;
}

/* ranges_find, trying the last one found first. */
static const struct build_range *find_home(struct build *b, struct build_device *d,
                                           uint64_t address) {
    const struct build_range *near =
        d->near_range == NO_HANDLE ? NULL : &b->ranges.at[d->near_range];
    if (near && address >= near->start && address < near->end)
        return near;
    near = ranges_find(b, &d->ranges, address);
    d->near_range = near ? (uint32_t)(near - b->ranges.at) : NO_HANDLE;
    return near;
}

/* A live block that shares an address with the block; TIMELINE_NONE. `before` is the last that begins
 * below it. */
static uint32_t find_overlap(const struct build *b, const struct build_device *d,
                             const struct timeline_block *block, struct addrmap_at before,
                             bool has_before) {
    if (has_before) {
        uint32_t index = addrmap_value(&d->live, before);
        const struct timeline_block *low = &b->tl->blocks.at[index];
        if (low->block_bytes > block->address - low->address)
            return index;
    }
    bool more = has_before ? addrmap_next(&d->live, &before) : addrmap_first(&d->live, &before);
    bool overlaps = more && addrmap_key(&d->live, before) - block->address < block->block_bytes;
    return overlaps ? addrmap_value(&d->live, before) : TIMELINE_NONE;
}

bool place_block(struct build *b, struct build_device *d, uint32_t index, uint32_t *lost) {
    struct timeline_block *block = &b->tl->blocks.at[index];
    struct addrmap_at before = {0, 0};
    bool has_before = addrmap_floor(&d->live, block->address, &before);
    *lost = TIMELINE_NONE;
    if (has_before && addrmap_key(&d->live, before) == block->address) {
        *lost = addrmap_value(&d->live, before);
        return false;
    }
    const struct build_range *range = find_home(b, d, block->address);
    uint64_t rounded = caching_sizes_round(b->rules.divisions, block->requested_bytes);
    set_home(block, range, rounded);
    if (range && !range->expandable)
        place_plain(b, d, range, block, rounded, before, has_before);
    else if (block->block_bytes ==
             0) /* split off exactly; or in no known segment, where nothing better is known */
        block->block_bytes = rounded;
    if (!range)
        build_warn(b, "the block at 0x%llx lies in no segment", (unsigned long long)block->address);
    *lost = find_overlap(b, d, block, before, has_before);
    if (*lost != TIMELINE_NONE)
        return false;
    return addrmap_put(&d->live, block->address, index) || build_no_memory(b);
}

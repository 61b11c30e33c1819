/* packed.c: see packed.h. */
#include "packed.h"

#include <assert.h>

#include "checked.h"
#include "error.h"
#include "ideal.h"
#include "packing.h"

struct packed_extent {
    uint64_t offset, end;
};

struct packed {
    struct ideal ideal;
    const struct packing *packing;       /* NULL: none, or the run went another way */
    ARRAY(struct packed_extent) extents; /* of blocks that have not ended, by offset */
    uint64_t height_bytes;
};

static struct packed *packed_of(struct ideal *ideal) {
    return (struct packed *)(void *)ideal;
}

/* The first extent that does not begin below `offset`. */
static size_t place_of(const struct packed *al, uint64_t offset) {
    size_t low = 0, high = al->extents.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (al->extents.at[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void on_ended(struct ideal *ideal, const struct ideal_block *block) {
    struct packed *al = packed_of(ideal);
    size_t at = place_of(al, block->address - ALLOC_FIRST_ADDRESS);
    assert(at < al->extents.count &&
           al->extents.at[at].end - al->extents.at[at].offset == block->bytes);
    al->extents.count--;
    memmove(al->extents.at + at, al->extents.at + at + 1,
            (al->extents.count - at) * sizeof al->extents.at[0]);
}

static bool is_free(const struct packed *al, uint64_t offset, uint64_t bytes) {
    size_t at = place_of(al, offset);
    uint64_t end;
    if (!checked_add(offset, bytes, &end) || end > al->ideal.capacity_bytes)
        return false;
    return (at == 0 || al->extents.at[at - 1].end <= offset) &&
           (at == al->extents.count || al->extents.at[at].offset >= end);
}

/* False: not even above all that lives. */
static bool find_lowest(const struct packed *al, uint64_t bytes, uint64_t *offset) {
    *offset = 0;
    for (size_t i = 0; i < al->extents.count; i++) {
        const struct packed_extent *e = &al->extents.at[i];
        if (e->offset - *offset >= bytes)
            break;
        *offset = e->end;
    }
    return is_free(al, *offset, bytes);
}

static bool find_offset(struct packed *al, uint64_t bytes, uint64_t *offset) {
    size_t number = al->ideal.requests - 1;
    const struct packing *p = al->packing;
    if (p && (number >= p->count || p->places[number].bytes != bytes))
        al->packing = p = NULL; /* not the run that was packed */
    if (p && is_free(al, p->places[number].offset, bytes)) {
        *offset = p->places[number].offset;
        return true;
    }
    return find_lowest(al, bytes, offset);
}

static void grow_to(struct packed *al, uint64_t end) {
    if (end <= al->height_bytes)
        return;
    ideal_segment(&al->ideal, ALLOC_ENTRY_SEGMENT_MAP, ALLOC_FIRST_ADDRESS,
                  ALLOC_FIRST_ADDRESS + al->height_bytes, end - al->height_bytes);
    al->height_bytes = end;
}

static void add_extent(struct packed *al, uint64_t offset, uint64_t end) {
    size_t at = place_of(al, offset);
    assert(al->extents.count < al->extents.capacity);
    memmove(al->extents.at + at + 1, al->extents.at + at,
            (al->extents.count - at) * sizeof al->extents.at[0]);
    al->extents.at[at] = (struct packed_extent){offset, end};
    al->extents.count++;
}

static enum alloc_result take(struct alloc *alloc, uint64_t bytes, uint64_t stream,
                              uint64_t *address) {
    struct ideal *ideal = ideal_of(alloc);
    struct packed *al = packed_of(ideal);
    uint64_t rounded = 0, offset = 0;
    if (!ideal_reserve(ideal) || !array_reserve(&al->extents, al->extents.count + 1))
        return ALLOC_HOST_MEMORY;
    ideal->requests++;
    ideal_end_pending(ideal, false);
    bool known = checked_round_up(bytes, IDEAL_UNIT, &rounded);
    bool found = known && find_offset(al, rounded, &offset);
    if (known && !found) {
        ideal_end_pending(ideal, true);
        found = find_offset(al, rounded, &offset);
    }
    if (!found)
        return ideal_out_of_memory(ideal, bytes, known ? rounded : bytes, stream);
    const struct ideal_block block = {.address = ALLOC_FIRST_ADDRESS + offset,
                                      .bytes = rounded,
                                      .requested = bytes,
                                      .stream = stream,
                                      .segment_address = ALLOC_FIRST_ADDRESS};
    grow_to(al, offset + rounded);
    add_extent(al, offset, offset + rounded);
    ideal_hand_out(ideal, &block);
    *address = block.address;
    return ALLOC_OK;
}

static struct alloc *create(const struct alloc_config *config, struct error *err) {
    struct packed *al = xcalloc(1, sizeof *al);
    if (!al) {
        error_host_memory(err);
        return NULL;
    }
    ideal_init(&al->ideal, &packed_ops, config);
    al->ideal.ended = on_ended;
    al->packing = config->packing;
    return &al->ideal.alloc;
}

static void destroy(struct alloc *alloc) {
    struct packed *al = packed_of(ideal_of(alloc));
    array_fini(&al->extents);
    ideal_fini(&al->ideal);
    xfree(al);
}

const struct alloc_ops packed_ops = {
    .name = "best-packing",
    .doc = "ideal: each block at one place for its life, chosen with the whole run in view",
    .packs = true,
    .create = create,
    .destroy = destroy,
    .take = take,
    .free = ideal_free,
    .record_stream = ideal_record_stream,
    .empty_cache = ideal_empty_cache,
    .stats = ideal_stats,
    .last_oom = ideal_last_oom,
};

/* replay_start.c: the state before the first event. To reproduce it is loaded: segments with their
 * blocks, every gap one free block, since free neighbours always merge. For a what-if the blocks
 * are asked for, in address order.
 *
 * Of a reservation (expandable segments) the trace shows mapped pieces only. It is taken to begin
 * at the lowest address ever mapped of it, and to be as large as the device makes it. */
#include <inttypes.h>
#include <stdlib.h>

#include "caching.h"
#include "caching_load.h"
#include "checked.h"
#include "replay_core.h"
#include "strtab.h"

#define SMALL_PAGE_BYTES UINT64_C(2097152)

/* A plain segment or a reservation of the start. */
struct root {
    uint64_t address, end;
    const struct timeline_segment *segment; /* any piece of it: stream, pool, kind */
    struct spans mapped;
};

struct start {
    struct replay_device *d;
    ARRAY(struct root) roots; /* by address, once sorted */
    ARRAY(uint32_t) blocks;   /* likewise */
    ARRAY(struct caching_block) state;
    ARRAY(uint64_t) events; /* of the pending blocks */
    bool overlaps;          /* pieces of a reservation do */
};

static bool is_of_start(const struct replay_device *d, const struct timeline_segment *s) {
    return s->device == d->result.device && s->alloc_event == TIMELINE_NONE;
}

/* --- reservations --- */

/* One pool and stream's reservation, as long as anything of it is mapped. */
struct extent {
    const struct timeline_segment *segment;
    uint64_t low, high;
    struct spans mapped;
    struct spans start; /* what of it was mapped before the first event */
};

struct extents {
    ARRAY(struct extent) list;
    struct strtab keys;     /* of a pool and stream */
    ARRAY(uint32_t) newest; /* by key: index into list + 1; 0: none */
    uint64_t most_bytes;
    bool overlaps; /* pieces of the start do */
};

static void extents_fini(struct extents *extents) {
    for (size_t i = 0; i < extents->list.count; i++) {
        spans_fini(&extents->list.at[i].mapped);
        spans_fini(&extents->list.at[i].start);
    }
    array_fini(&extents->list);
    array_fini(&extents->newest);
    strtab_fini(&extents->keys);
}

/* Where the newest reservation of the segment's pool and stream is noted; NULL: host memory. */
static uint32_t *newest_of(struct extents *extents, const struct timeline_segment *s) {
    uint64_t key[] = {s->pool_id[0], s->pool_id[1], (uint64_t)s->stream << 1 | s->small_pool};
    uint32_t id;
    if (!strtab_add(&extents->keys, (const char *)key, sizeof key, &id))
        return NULL;
    while (extents->newest.count <= id)
        if (!array_push(&extents->newest, 0))
            return NULL;
    return &extents->newest.at[id];
}

/* A reservation goes with its last mapped page; the next mapping begins another. */
static struct extent *extent_to_map(struct extents *extents, const struct timeline_segment *s,
                                    uint64_t address, uint64_t end) {
    uint32_t *newest = newest_of(extents, s);
    if (!newest)
        return NULL;
    if (*newest && !spans_is_empty(&extents->list.at[*newest - 1].mapped))
        return &extents->list.at[*newest - 1];
    const struct extent fresh = {.segment = s, .low = address, .high = end};
    if (!array_push(&extents->list, fresh))
        return NULL;
    *newest = (uint32_t)extents->list.count;
    return array_last(&extents->list);
}

static bool map_extent(struct extents *extents, const struct timeline_segment *s, uint64_t address,
                       uint64_t bytes, bool at_start) {
    uint64_t end;
    if (bytes == 0 || !checked_add(address, bytes, &end))
        return true;
    struct extent *e = extent_to_map(extents, s, address, end);
    if (!e)
        return false;
    e->low = address < e->low ? address : e->low;
    e->high = end > e->high ? end : e->high;
    if (e->high - e->low > extents->most_bytes)
        extents->most_bytes = e->high - e->low;
    const struct span span = {.start = address, .end = end, .joins = true};
    if (spans_overlap(&e->mapped, address, end)) {
        extents->overlaps = extents->overlaps || at_start;
        return true;
    }
    return spans_add(&e->mapped, span) && (!at_start || spans_add(&e->start, span));
}

static bool unmap_extent(struct extents *extents, const struct timeline_segment *s,
                         uint64_t address, uint64_t bytes) {
    const uint32_t *newest = newest_of(extents, s);
    uint64_t end;
    if (!newest)
        return false;
    return *newest == 0 || !checked_add(address, bytes, &end) ||
           spans_cut(&extents->list.at[*newest - 1].mapped, address, end);
}

static bool measure(struct replay_device *d, struct extents *extents) {
    const struct timeline *real = d->replay->real;
    if (!strtab_init(&extents->keys))
        return false;
    for (size_t i = 0; i < real->segments.count; i++) {
        const struct timeline_segment *s = &real->segments.at[i];
        if (is_of_start(d, s) && s->expandable &&
            !map_extent(extents, s, s->address, s->bytes, true))
            return false;
    }
    for (size_t i = 0; i < d->answers.count; i++) {
        const struct timeline_event *e = &real->events.at[d->answers.at[i]];
        const struct timeline_segment *s = &real->segments.at[e->ref];
        if (e->kind == EVENT_SEGMENT_MAP && !map_extent(extents, s, e->address, e->bytes, false))
            return false;
        if (e->kind == EVENT_SEGMENT_UNMAP && !unmap_extent(extents, s, e->address, e->bytes))
            return false;
    }
    return true;
}

/* --- how large they are --- */

#define MOST_RESERVED (UINT64_C(1) << 40) /* of a device: 9/8 of what the largest has is less */

struct places {
    ARRAY(uint64_t) begins; /* of reservations and plain segments, sorted */
};

static int by_number(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool find_places(const struct replay_device *d, const struct extents *extents,
                        struct places *places) {
    const struct timeline *real = d->replay->real;
    for (size_t i = 0; i < extents->list.count; i++)
        if (!array_push(&places->begins, extents->list.at[i].low))
            return false;
    for (size_t i = 0; i < real->segments.count; i++) {
        const struct timeline_segment *s = &real->segments.at[i];
        if (s->device == d->result.device && !s->expandable && s->bytes > 0 &&
            !array_push(&places->begins, s->address))
            return false;
    }
    if (places->begins.count > 0)
        qsort(places->begins.at, places->begins.count, sizeof *places->begins.at, by_number);
    return true;
}

/* The first at or behind `address`; UINT64_MAX: none. */
static uint64_t next_place(const struct places *places, uint64_t address) {
    size_t low = 0, high = places->begins.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (places->begins.at[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < places->begins.count ? places->begins.at[low] : UINT64_MAX;
}

/* All are of one size, 9/8 of a device that is not known here: what was ever mapped of one at least, and none reaches into
 * what lies behind it. The model asks how far a block can grow, so too small a size would change its choices. */
static bool size_reservations(struct replay_device *d, const struct extents *extents) {
    struct places places = {0};
    if (!find_places(d, extents, &places)) {
        array_fini(&places.begins);
        return false;
    }
    uint64_t bytes = MOST_RESERVED;
    for (size_t i = 0; i < extents->list.count; i++) {
        const struct extent *e = &extents->list.at[i];
        uint64_t room = next_place(&places, e->high) - e->low;
        bytes = room < bytes ? room : bytes;
    }
    array_fini(&places.begins);
    bytes = bytes / SMALL_PAGE_BYTES * SMALL_PAGE_BYTES;
    d->reserve_bytes = bytes > extents->most_bytes ? bytes : extents->most_bytes;
    return true;
}

bool replay_measure_reservations(struct replay_device *d) {
    struct extents extents = {0};
    bool ok = measure(d, &extents) && size_reservations(d, &extents);
    extents_fini(&extents);
    return ok;
}

/* As the model makes one; at least what was ever mapped. */
static uint64_t reservation_bytes(const struct replay_device *d, uint64_t page, uint64_t extent) {
    uint64_t bytes = d->reserve_bytes;
    if (d->capacity_known)
        checked_add(d->total_bytes, d->total_bytes / 8, &bytes);
    if (bytes < extent)
        bytes = extent;
    return checked_round_up(bytes, page, &bytes) ? bytes : extent;
}

/* --- roots: segments and reservations --- */

static bool add_root(struct start *start, const struct root *root) {
    return array_push(&start->roots, *root);
}

static bool add_plain_root(struct start *start, const struct timeline_segment *s) {
    struct root root = {.address = s->address, .segment = s};
    if (!checked_add(s->address, s->bytes, &root.end) || s->bytes == 0)
        return true; /* a block in it will be found to lie nowhere */
    const struct span span = {.start = root.address, .end = root.end};
    if (spans_add(&root.mapped, span) && add_root(start, &root))
        return true;
    spans_fini(&root.mapped);
    return false;
}

/* Takes the extent's pieces of the start over. */
static bool add_reservation(struct start *start, struct extent *extent) {
    uint64_t page = extent->segment->small_pool ? SMALL_PAGE_BYTES
                                                : start->d->replay->settings.large_segment_bytes;
    struct root root = {.address = extent->low, .segment = extent->segment};
    uint64_t bytes = reservation_bytes(start->d, page, extent->high - extent->low);
    if (!checked_add(root.address, bytes, &root.end))
        root.end = extent->high;
    root.mapped = extent->start;
    if (!add_root(start, &root))
        return false;
    extent->start = (struct spans){0};
    return true;
}

static int order_roots(const void *a, const void *b) {
    const struct root *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static uint64_t mapped_end(const struct root *root) {
    assert(!spans_is_empty(&root->mapped));
    return array_last(&array_last(&root->mapped.runs)->list)->end;
}

/* Guessed reservations end where the next memory begins. */
static bool fit_roots(struct start *start, struct error *err) {
    if (start->roots.count > 0)
        qsort(start->roots.at, start->roots.count, sizeof *start->roots.at, order_roots);
    for (size_t i = 0; i + 1 < start->roots.count; i++) {
        struct root *root = &start->roots.at[i];
        const struct root *next = &start->roots.at[i + 1];
        if (root->end <= next->address)
            continue;
        uint64_t used = mapped_end(root);
        if (!root->segment->expandable || used > next->address)
            return error_set(err, ERROR_BAD_INPUT, "segments overlap at 0x%" PRIx64, next->address);
        root->end = used;
    }
    return true;
}

static bool find_roots(struct start *start) {
    const struct timeline *real = start->d->replay->real;
    struct extents extents = {0};
    bool ok = measure(start->d, &extents);
    for (size_t i = 0; ok && i < real->segments.count; i++) {
        const struct timeline_segment *s = &real->segments.at[i];
        if (is_of_start(start->d, s) && !s->expandable)
            ok = add_plain_root(start, s);
    }
    for (size_t i = 0; ok && i < extents.list.count; i++)
        if (!spans_is_empty(&extents.list.at[i].start))
            ok = add_reservation(start, &extents.list.at[i]);
    start->overlaps = extents.overlaps;
    extents_fini(&extents);
    return ok;
}

/* --- blocks --- */

/* qsort has no argument for the timeline. */
struct placed {
    uint64_t address;
    uint32_t block;
};

static int order_placed(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

static bool find_blocks(struct start *start) {
    const struct timeline *real = start->d->replay->real;
    ARRAY(struct placed) placed = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < real->blocks.count; i++) {
        const struct timeline_block *b = &real->blocks.at[i];
        struct placed p = {b->address, i};
        if (b->alloc_event == TIMELINE_NONE && b->device == start->d->result.device)
            ok = array_push(&placed, p);
    }
    if (ok && placed.count > 0)
        qsort(placed.at, placed.count, sizeof *placed.at, order_placed);
    for (size_t i = 0; ok && i < placed.count; i++)
        ok = array_push(&start->blocks, placed.at[i].block);
    array_fini(&placed);
    return ok;
}

/* --- the state to load --- */

static bool add_piece(struct start *start, const struct root *root, uint64_t from, uint64_t to,
                      enum caching_block_state state, uint64_t requested) {
    const struct timeline_segment *s = root->segment;
    const struct caching_block block = {.address = from,
                                        .bytes = to - from,
                                        .requested_bytes = requested,
                                        .stream = replay_stream(start->d->replay->real, s->stream),
                                        .segment_address = root->address,
                                        .segment_bytes = root->end - root->address,
                                        .pool_id = {{s->pool_id[0], s->pool_id[1]}},
                                        .state = state,
                                        .small_pool = s->small_pool,
                                        .expandable = s->expandable};
    return from == to || array_push(&start->state, block);
}

/* The blocks that lie in one mapped range, and the gaps between them. *next is the first block not
 * placed yet. */
static bool add_range(struct start *start, const struct root *root, const struct span *range,
                      size_t *next, struct error *err) {
    const struct timeline *real = start->d->replay->real;
    uint64_t at = range->start;
    for (; *next < start->blocks.count; ++*next) {
        uint32_t index = start->blocks.at[*next];
        const struct timeline_block *b = &real->blocks.at[index];
        if (b->address >= range->end)
            break;
        if (b->address < at || b->block_bytes == 0 || b->block_bytes > range->end - b->address)
            return error_set(err, ERROR_BAD_INPUT,
                             "the block at 0x%" PRIx64 " overlaps another or lies in no segment",
                             b->address);
        bool ok = add_piece(start, root, at, b->address, CACHING_BLOCK_FREE, 0);
        at = b->address + b->block_bytes;
        ok = ok && add_piece(start, root, b->address, at,
                             b->pending_at_start ? CACHING_BLOCK_PENDING : CACHING_BLOCK_ALLOCATED,
                             b->requested_bytes);
        if (ok && b->pending_at_start)
            ok = array_push(&start->events, index);
        if (!ok)
            return error_host_memory(err);
    }
    return add_piece(start, root, at, range->end, CACHING_BLOCK_FREE, 0) || error_host_memory(err);
}

static bool add_state(struct start *start, struct error *err) {
    size_t next = 0;
    for (size_t i = 0; i < start->roots.count; i++) {
        const struct root *root = &start->roots.at[i];
        uint64_t at = root->address;
        struct spans_cursor cursor = {0};
        for (const struct span *range; (range = spans_next(&root->mapped, &cursor)) != NULL;) {
            if (!add_piece(start, root, at, range->start, CACHING_BLOCK_UNMAPPED, 0))
                return error_host_memory(err);
            if (!add_range(start, root, range, &next, err))
                return false;
            at = range->end;
        }
        if (!add_piece(start, root, at, root->end, CACHING_BLOCK_UNMAPPED, 0))
            return error_host_memory(err);
    }
    if (next == start->blocks.count)
        return true;
    return error_set(err, ERROR_BAD_INPUT, "the block at 0x%" PRIx64 " lies in no segment",
                     start->d->replay->real->blocks.at[start->blocks.at[next]].address);
}

/* Addresses for memory that the trace does not have lie above all that it has. */
static void find_fresh_addresses(struct replay_device *d) {
    const struct timeline *real = d->replay->real;
    uint64_t above = ALLOC_FIRST_ADDRESS, end;
    for (size_t i = 0; i < real->segments.count; i++)
        if (checked_add(real->segments.at[i].address, real->segments.at[i].bytes, &end) &&
            end > above)
            above = end;
    struct spans_cursor cursor = {0};
    for (const struct span *span; (span = spans_next(&d->space, &cursor)) != NULL;)
        if (span->end > above)
            above = span->end;
    for (size_t i = 0; i < d->answers.count; i++) {
        const struct timeline_event *e = &real->events.at[d->answers.at[i]];
        uint64_t reach = d->reserve_bytes > e->bytes ? d->reserve_bytes : e->bytes;
        if (checked_add(e->address, reach, &end) && end > above)
            above = end;
    }
    d->fresh = checked_round_up(above, SMALL_PAGE_BYTES, &end) ? end : 0;
}

static bool note_roots(struct start *start) {
    struct replay_device *d = start->d;
    const struct timeline *real = d->replay->real;
    for (size_t i = 0; i < start->roots.count; i++) {
        const struct root *root = &start->roots.at[i];
        const struct span span = {.start = root->address, .end = root->end};
        if (!spans_add(&d->space, span))
            return false;
    }
    for (size_t i = 0; i < real->segments.count; i++)
        if (is_of_start(d, &real->segments.at[i]) && real->segments.at[i].bytes > 0 &&
            checked_add(real->segments.at[i].address, real->segments.at[i].bytes, &(uint64_t){0}))
            answer_start_segment(d, &real->segments.at[i]);
    for (size_t i = 0; i < start->blocks.count; i++)
        answer_start_block(d, start->blocks.at[i]);
    return true;
}

static bool load(struct start *start, struct error *err) {
    if (!find_roots(start) || !find_blocks(start))
        return error_host_memory(err);
    if (start->overlaps)
        return error_set(err, ERROR_BAD_INPUT, "mapped ranges of the start overlap");
    if (!fit_roots(start, err) || !add_state(start, err) ||
        !caching_load_state(start->d->al, start->state.at, start->state.count, start->events.at,
                            err))
        return error_wrap(err, "the state before the first event");
    if (!note_roots(start))
        return error_host_memory(err);
    find_fresh_addresses(start->d);
    start->d->loaded = start->roots.count;
    return true;
}

/* --- the state to ask for --- */

static bool fill(struct start *start, struct error *err) {
    struct replay_device *d = start->d;
    if (!find_blocks(start))
        return error_host_memory(err);
    d->filling = true;
    d->now = TIMELINE_NONE;
    for (size_t i = 0; i < start->blocks.count && !d->stopped; i++)
        if (!replay_fill_block(d, start->blocks.at[i])) {
            d->stopped = true;
            d->result.stopped_at = 0;
        }
    if (!replay_ok(d->replay))
        return error_host_memory(err);
    answer_end_fill(d);
    d->filling = false;
    return true;
}

static void start_fini(struct start *start) {
    for (size_t i = 0; i < start->roots.count; i++)
        spans_fini(&start->roots.at[i].mapped);
    array_fini(&start->roots);
    array_fini(&start->blocks);
    array_fini(&start->state);
    array_fini(&start->events);
}

bool replay_start(struct replay_device *d, struct error *err) {
    struct start start = {.d = d};
    bool ok = d->replay->config->reproduce ? load(&start, err) : fill(&start, err);
    start_fini(&start);
    return ok;
}

/* cuda_pool.c: see cuda_pool.h. */
#include "cuda_pool.h"

#include <assert.h>

#include "checked.h"

enum range_state {
    RANGE_UNUSED, /* a record without a range */
    RANGE_LIVE,
    RANGE_FREE,
    RANGE_AFTER_STREAM, /* free when `event` of `stream` is done, for `stream` at once */
    RANGE_AFTER_USES    /* free when all uses are done */
};

struct cuda_range {
    uint64_t address, bytes;
    uint64_t requested; /* live, after uses */
    uint64_t stream;    /* that took it; after stream: that freed it */
    uint64_t event;
    uint32_t prev, next; /* by address; 0: none; unused: next unused */
    uint32_t uses;
    uint32_t place; /* in the list of free ranges */
    enum range_state state;
};

void cuda_pool_init(struct cuda_pool *pool, const struct cuda_pool_options *options,
                    const struct alloc_world *world, uint64_t capacity_bytes) {
    assert(options->align_bytes >= 256 && options->chunk_bytes >= options->align_bytes);
    *pool =
        (struct cuda_pool){.options = *options, .world = world, .capacity_bytes = capacity_bytes};
}

void cuda_pool_fini(struct cuda_pool *pool) {
    array_fini(&pool->ranges);
    array_fini(&pool->free);
    array_fini(&pool->unified);
    live_map_fini(&pool->live);
    uses_fini(&pool->uses);
}

static struct cuda_range *range_at(const struct cuda_pool *pool, uint32_t id) {
    assert(id > 0 && id < pool->ranges.count);
    return &pool->ranges.at[id];
}

/* --- entries and gauges --- */

static void send(const struct cuda_pool *pool, enum alloc_entry_kind kind, uint64_t address,
                 uint64_t bytes, uint64_t block_bytes, uint64_t stream) {
    struct alloc_entry entry = {.kind = kind,
                                .address = address,
                                .bytes = bytes,
                                .block_bytes = block_bytes,
                                .stream = stream,
                                .segment_address = ALLOC_FIRST_ADDRESS,
                                .expandable = true};
    if (pool->world->entry)
        pool->world->entry(pool->world->user, &entry);
}

static void send_range(const struct cuda_pool *pool, enum alloc_entry_kind kind,
                       const struct cuda_range *r) {
    send(pool, kind, r->address, r->requested, r->bytes, r->stream);
}

static void raise_used(struct cuda_pool *pool, uint64_t bytes) {
    pool->used_bytes += bytes;
    if (pool->used_bytes > pool->used_peak)
        pool->used_peak = pool->used_bytes;
}

/* --- records --- */

/* Room for `more` records, and a place in every list for all of them: then nothing fails half-way. */
static bool reserve(struct cuda_pool *pool, size_t more) {
    size_t need = (pool->ranges.count ? pool->ranges.count : 1) + more;
    if (need > UINT32_MAX - 1 || !array_reserve(&pool->ranges, need) ||
        !array_reserve(&pool->free, need) || !array_reserve(&pool->unified, need) ||
        !live_map_reserve(&pool->live))
        return false;
    assert(pool->ranges.at);
    if (pool->ranges.count == 0)
        pool->ranges.at[pool->ranges.count++] = (struct cuda_range){.state = RANGE_UNUSED};
    return true;
}

static uint32_t new_range(struct cuda_pool *pool, const struct cuda_range *range) {
    uint32_t id = pool->free_record;
    if (id)
        pool->free_record = range_at(pool, id)->next;
    else
        id = (uint32_t)pool->ranges.count++;
    assert(pool->ranges.at && pool->ranges.count <= pool->ranges.capacity);
    pool->ranges.at[id] = *range;
    return id;
}

static void list_free(struct cuda_pool *pool, uint32_t id) {
    assert(pool->free.count < pool->free.capacity);
    range_at(pool, id)->place = (uint32_t)pool->free.count;
    pool->free.at[pool->free.count++] = id;
}

static void unlist_free(struct cuda_pool *pool, uint32_t id) {
    uint32_t place = range_at(pool, id)->place, moved = array_pop(&pool->free);
    if (moved == id)
        return;
    pool->free.at[place] = moved;
    range_at(pool, moved)->place = place;
}

/* Takes the range out of the area: its memory is gone, or has joined its lower neighbour. */
static void drop_range(struct cuda_pool *pool, uint32_t id) {
    struct cuda_range *r = range_at(pool, id);
    if (r->prev)
        range_at(pool, r->prev)->next = r->next;
    if (r->next)
        range_at(pool, r->next)->prev = r->prev;
    else
        pool->last = r->prev;
    unlist_free(pool, id);
    r->state = RANGE_UNUSED;
    r->next = pool->free_record;
    pool->free_record = id;
}

/* The part from `bytes` on becomes a range of its own, with the same state and point. */
static uint32_t cut_range(struct cuda_pool *pool, uint32_t id, uint64_t bytes) {
    struct cuda_range rest = *range_at(pool, id);
    assert(bytes > 0 && bytes < rest.bytes);
    rest.address += bytes;
    rest.bytes -= bytes;
    rest.prev = id;
    uint32_t high = new_range(pool, &rest);
    struct cuda_range *low = range_at(pool, id);
    low->bytes = bytes;
    low->next = high;
    if (rest.next)
        range_at(pool, rest.next)->prev = high;
    else
        pool->last = high;
    list_free(pool, high);
    return high;
}

/* One stream's points are in order, so the later one serves for both ranges. */
static bool can_join(const struct cuda_range *low, const struct cuda_range *high) {
    if (low->address + low->bytes != high->address || low->state != high->state)
        return false;
    return low->state == RANGE_FREE ||
           (low->state == RANGE_AFTER_STREAM && low->stream == high->stream);
}

/* `id` is a listed range, not older than its neighbours. Returns what it has become. */
static uint32_t join_neighbours(struct cuda_pool *pool, uint32_t id) {
    struct cuda_range *r = range_at(pool, id);
    uint64_t event = r->event;
    if (r->next && can_join(r, range_at(pool, r->next))) {
        r->bytes += range_at(pool, r->next)->bytes;
        drop_range(pool, r->next);
    }
    if (r->prev && can_join(range_at(pool, r->prev), r)) {
        uint32_t low = r->prev;
        range_at(pool, low)->bytes += r->bytes;
        range_at(pool, low)->event = event;
        drop_range(pool, id);
        return low;
    }
    return id;
}

/* --- what has become free --- */

static bool is_point_reached(const struct cuda_pool *pool, const struct cuda_range *r) {
    const struct alloc_world *world = pool->world;
    return !world->event_done || world->event_done(world->user, r->event);
}

static void end_uses(struct cuda_pool *pool, uint32_t id) {
    struct cuda_range *r = range_at(pool, id);
    send_range(pool, ALLOC_ENTRY_FREE_COMPLETED, r);
    pool->used_bytes -= r->requested;
    uses_drop(&pool->uses, &r->uses);
    r->state = RANGE_FREE;
}

/* The stream that waits for all uses works in order: the first that is not done holds the rest up. */
static bool end_unified(struct cuda_pool *pool) {
    size_t done = 0;
    while (done < pool->unified.count &&
           uses_are_done(&pool->uses, range_at(pool, pool->unified.at[done])->uses, pool->world))
        end_uses(pool, pool->unified.at[done++]);
    if (done == 0)
        return false;
    pool->unified.count -= done;
    memmove(pool->unified.at, pool->unified.at + done,
            pool->unified.count * sizeof pool->unified.at[0]);
    return true;
}

static void join_all(struct cuda_pool *pool) {
    for (size_t i = pool->free.count; i-- > 0;)
        if (i < pool->free.count) /* joining shortens the list */
            join_neighbours(pool, pool->free.at[i]);
}

void cuda_pool_notice(struct cuda_pool *pool) {
    bool any = end_unified(pool);
    for (size_t i = 0; i < pool->free.count; i++) {
        struct cuda_range *r = range_at(pool, pool->free.at[i]);
        if (r->state != RANGE_AFTER_STREAM || !is_point_reached(pool, r))
            continue;
        r->state = RANGE_FREE;
        any = true;
    }
    if (any)
        join_all(pool);
}

/* --- taking --- */

/* Stream order is enough for its own memory; for another's the program must have made it wait. */
static bool may_have(const struct cuda_pool *pool, const struct cuda_range *r, uint64_t stream) {
    const struct alloc_world *world = pool->world;
    if (r->state != RANGE_AFTER_STREAM)
        return r->state == RANGE_FREE;
    return r->stream == stream || (pool->options.follows_events && world->stream_follows &&
                                   world->stream_follows(world->user, stream, r->event));
}

/* The smallest range, then the lowest; 0: none. With `waits` those that the stream would have to wait for. */
static uint32_t best_fit(const struct cuda_pool *pool, uint64_t bytes, uint64_t stream,
                         bool waits) {
    uint32_t best = 0;
    for (size_t i = 0; i < pool->free.count; i++) {
        const struct cuda_range *r = range_at(pool, pool->free.at[i]);
        if (r->bytes < bytes || (!waits && !may_have(pool, r, stream)))
            continue;
        const struct cuda_range *b = best ? range_at(pool, best) : NULL;
        if (!b || r->bytes < b->bytes || (r->bytes == b->bytes && r->address < b->address))
            best = pool->free.at[i];
    }
    return best;
}

static uint32_t grow(struct cuda_pool *pool, uint64_t bytes, uint64_t stream) {
    const struct cuda_range *tail = pool->last ? range_at(pool, pool->last) : NULL;
    bool extends = tail && may_have(pool, tail, stream);
    uint64_t missing = extends ? bytes - tail->bytes : bytes;
    if (!checked_round_up(missing, pool->options.chunk_bytes, &missing) ||
        missing > pool->capacity_bytes - pool->reserved_bytes)
        return 0;
    struct cuda_range fresh = {.address = tail ? tail->address + tail->bytes : ALLOC_FIRST_ADDRESS,
                               .bytes = missing,
                               .prev = pool->last,
                               .state = RANGE_FREE};
    pool->reserved_bytes += missing;
    if (pool->reserved_bytes > pool->reserved_peak)
        pool->reserved_peak = pool->reserved_bytes;
    send(pool, ALLOC_ENTRY_SEGMENT_MAP, fresh.address, missing, 0, 0);
    if (extends) {
        range_at(pool, pool->last)->bytes += missing;
        return pool->last;
    }
    uint32_t id = new_range(pool, &fresh);
    if (pool->last)
        range_at(pool, pool->last)->next = id;
    pool->last = id;
    list_free(pool, id);
    return id;
}

/* The driver makes the stream wait, and the memory is its own then. */
static uint32_t depend(struct cuda_pool *pool, uint64_t bytes, uint64_t stream) {
    const struct alloc_world *world = pool->world;
    uint32_t id = best_fit(pool, bytes, stream, true);
    if (!id)
        return 0;
    struct cuda_range *r = range_at(pool, id);
    if (r->state == RANGE_AFTER_STREAM) {
        if (world->stream_wait_event)
            world->stream_wait_event(world->user, stream, r->event);
        return id;
    }
    uses_let_wait(&pool->uses, r->uses, world, stream);
    end_uses(pool, id);
    r->state = RANGE_AFTER_STREAM; /* the rest of it is for others when this stream has waited */
    r->stream = stream;
    r->event = world->event_record ? world->event_record(world->user, stream) : 0;
    size_t at = 0;
    while (pool->unified.at[at] != id)
        at++;
    pool->unified.count--;
    memmove(pool->unified.at + at, pool->unified.at + at + 1,
            (pool->unified.count - at) * sizeof pool->unified.at[0]);
    return id;
}

static uint64_t hand_out(struct cuda_pool *pool, uint32_t id, uint64_t rounded, uint64_t requested,
                         uint64_t stream) {
    if (range_at(pool, id)->bytes > rounded)
        cut_range(pool, id, rounded);
    unlist_free(pool, id);
    struct cuda_range *r = range_at(pool, id);
    r->state = RANGE_LIVE;
    r->requested = requested;
    r->stream = stream;
    r->uses = 0;
    live_map_add(&pool->live, r->address, id);
    raise_used(pool, requested);
    send_range(pool, ALLOC_ENTRY_ALLOC, r);
    return r->address;
}

enum alloc_result cuda_pool_take(struct cuda_pool *pool, uint64_t bytes, uint64_t stream,
                                 uint64_t *address) {
    uint64_t rounded;
    if (!reserve(pool, 2))
        return ALLOC_HOST_MEMORY;
    if (!checked_round_up(bytes, pool->options.align_bytes, &rounded))
        return ALLOC_OOM;
    if (pool->options.opportunistic)
        cuda_pool_notice(pool);
    uint32_t id = best_fit(pool, rounded, stream, false);
    if (!id)
        id = grow(pool, rounded, stream);
    if (!id && pool->options.internal_dependencies)
        id = depend(pool, rounded, stream);
    if (!id)
        return ALLOC_OOM;
    *address = hand_out(pool, id, rounded, bytes, stream);
    return ALLOC_OK;
}

bool cuda_pool_use(struct cuda_pool *pool, uint64_t address, uint64_t stream) {
    uint32_t id = live_map_find(&pool->live, address);
    assert(id != LIVE_NONE);
    struct cuda_range *r = range_at(pool, id);
    return r->stream == stream || uses_add(&pool->uses, &r->uses, stream);
}

uint64_t cuda_pool_free(struct cuda_pool *pool, uint64_t address) {
    const struct alloc_world *world = pool->world;
    uint32_t id = live_map_take(&pool->live, address);
    assert(id != LIVE_NONE);
    struct cuda_range *r = range_at(pool, id);
    uint64_t requested = r->requested;
    list_free(pool, id);
    send_range(pool, ALLOC_ENTRY_FREE_REQUESTED, r);
    if (r->uses) {
        uses_record(&pool->uses, r->uses, world);
        r->state = RANGE_AFTER_USES;
        pool->unified.at[pool->unified.count++] = id;
        return requested;
    }
    send_range(pool, ALLOC_ENTRY_FREE_COMPLETED, r);
    pool->used_bytes -= requested;
    r->state = RANGE_AFTER_STREAM;
    r->event = world->event_record ? world->event_record(world->user, r->stream) : 0;
    join_neighbours(pool, id);
    return requested;
}

/* --- giving back --- */

bool cuda_pool_synchronize(struct cuda_pool *pool) {
    const struct alloc_world *world = pool->world;
    for (size_t i = 0; i < pool->unified.count; i++) {
        uses_wait(&pool->uses, range_at(pool, pool->unified.at[i])->uses, world);
        end_uses(pool, pool->unified.at[i]);
    }
    array_clear(&pool->unified);
    for (size_t i = 0; i < pool->free.count; i++) {
        struct cuda_range *r = range_at(pool, pool->free.at[i]);
        if (r->state == RANGE_AFTER_STREAM && world->event_wait)
            world->event_wait(world->user, r->event);
        r->state = RANGE_FREE;
    }
    join_all(pool);
    return cuda_pool_trim(pool, pool->options.release_threshold);
}

/* Gives the highest whole chunks of a free range back, as far as they are too many. */
static void trim_range(struct cuda_pool *pool, uint32_t id, uint64_t keep) {
    uint64_t chunk = pool->options.chunk_bytes, low;
    struct cuda_range *r = range_at(pool, id);
    uint64_t start = r->address - ALLOC_FIRST_ADDRESS, end = start + r->bytes;
    uint64_t high = end / chunk * chunk;
    if (!checked_round_up(start, chunk, &low) || low >= high)
        return;
    uint64_t surplus = (pool->reserved_bytes - keep + chunk - 1) / chunk * chunk;
    if (high - low > surplus)
        low = high - surplus;
    if (end > high)
        cut_range(pool, id, high - start);
    if (low > start)
        id = cut_range(pool, id, low - start);
    drop_range(pool, id);
    pool->reserved_bytes -= high - low;
    send(pool, ALLOC_ENTRY_SEGMENT_UNMAP, ALLOC_FIRST_ADDRESS + low, high - low, 0, 0);
}

bool cuda_pool_trim(struct cuda_pool *pool, uint64_t keep) {
    if (pool->reserved_bytes <= keep)
        return true;
    if (!reserve(pool, 2 * pool->free.count))
        return false;
    for (uint32_t id = pool->last, below; id && pool->reserved_bytes > keep; id = below) {
        below = range_at(pool, id)->prev;
        if (range_at(pool, id)->state == RANGE_FREE)
            trim_range(pool, id, keep);
    }
    return true;
}

/* replay_serve.c: one request of the log after the other: what the program asked beside it and the
 * trace does not say, the call of the allocator, and the comparison of the answer. */
#include <inttypes.h>
#include <stdio.h>

#include "caching.h"
#include "caching_load.h"
#include "checked.h"
#include "oom_fill.h"
#include "replay_core.h"

/* A completion further away from its free request is none that came at once. */
enum { MOST_EVENTS_BETWEEN = 4096 };

static bool is_native(const struct replay_device *d) {
    return d->al->ops == &caching_ops;
}

static bool reproduces(const struct replay_device *d) {
    return d->replay->config->reproduce;
}

static void check_memory(struct replay_device *d, enum alloc_result result) {
    if (result == ALLOC_HOST_MEMORY)
        replay_fail_memory(d->replay);
}

/* --- what the trace does not say --- */

static bool is_private(const uint64_t pool_id[2]) {
    return pool_id[0] || pool_id[1];
}

static struct caching_pool_id pool_of(const struct timeline_segment *segment) {
    return (struct caching_pool_id){{segment->pool_id[0], segment->pool_id[1]}};
}

/* Memory of a private pool is given back only when its users are gone. */
static void release_pool(struct replay_device *d, const struct timeline_segment *segment) {
    struct caching_pool_id id = pool_of(segment);
    struct caching_pool_info info;
    for (uint32_t i = 0; caching_pool_row(d->al, i, &info); i++)
        if (info.id.v[0] == id.v[0] && info.id.v[1] == id.v[1] && info.use_count == 1)
            caching_pool_release(d->al, id);
}

/* The recorded answers that belong to the request about to be served. */
struct group {
    size_t end;         /* index into answers */
    bool releases;      /* the first of them gives memory back */
    uint64_t new_bytes; /* memory taken; 0: none */
};

static struct group look_ahead(struct replay_device *d) {
    const struct timeline *real = d->replay->real;
    struct group group = {.end = d->next_answer};
    for (; group.end < d->answers.count && d->answers.at[group.end] < d->limit; group.end++) {
        const struct timeline_event *e = &real->events.at[d->answers.at[group.end]];
        const struct timeline_segment *segment = &real->segments.at[e->ref];
        if (replay_is_growth(e))
            group.new_bytes += e->bytes;
        else if (group.end == d->next_answer)
            group.releases = true;
        if (replay_is_release(e) && is_private(segment->pool_id) && is_native(d))
            release_pool(d, segment);
    }
    return group;
}

/* Would the allocator have been refused that memory, and so have given some back by itself? */
static bool would_retry(const struct replay_device *d, uint64_t new_bytes) {
    const struct alloc_settings *set = &d->replay->settings;
    if (set->garbage_collection_threshold > 0 || set->max_split_bytes != UINT64_MAX)
        return true; /* there are more reasons: the model finds them */
    if (!d->capacity_known)
        return !set->expandable_segments; /* the recorded driver refuses; maps ask no driver */
    uint64_t reserved = alloc_get_stats(d->al)->reserved_bytes[ALLOC_POOL_ALL].current, sum;
    double fraction = set->memory_fraction;
    if (d->replay->config->memory_fraction > 0)
        fraction = d->replay->config->memory_fraction;
    return !checked_add(reserved, new_bytes, &sum) || sum > d->capacity_bytes ||
           (double)sum > fraction * (double)d->total_bytes;
}

/* Memory given back without a request that explains it: the program called empty_cache. */
static void derive_empty_cache(struct replay_device *d) {
    struct group group = look_ahead(d);
    const struct timeline *real = d->replay->real;
    bool at_end = d->now >= real->events.count;
    bool fails = !at_end && real->events.at[d->now].kind == EVENT_OOM;
    if (group.releases) {
        bool explained =
            (group.new_bytes > 0 && (!reproduces(d) || would_retry(d, group.new_bytes))) ||
            (fails && (d->capacity_known || !d->replay->settings.expandable_segments));
        if (!explained) {
            d->result.empty_caches++;
            check_memory(d, alloc_empty_cache(d->al));
        }
    }
    if (!reproduces(d))
        d->next_answer = group.end;
}

/* What the model did not do. */
static void count_leftovers(struct replay_device *d) {
    const struct timeline_event *e;
    while (reproduces(d) && (e = replay_next_answer(d)) != NULL) {
        char text[REPLAY_TEXT_BYTES];
        snprintf(text, sizeof text, "%s of %" PRIu64 " bytes at 0x%" PRIx64,
                 event_kind_name((enum event_kind)e->kind), e->bytes, e->address);
        replay_differ(d, d->answers.at[d->next_answer], text, "nothing");
        d->next_answer++;
    }
}

static void begin_request(struct replay_device *d, uint32_t event, uint32_t block) {
    d->now = d->limit = event;
    d->block = TIMELINE_NONE;
    derive_empty_cache(d);
    d->block = block;
    d->took_memory = false;
}

static void end_request(struct replay_device *d) {
    count_leftovers(d);
    d->block = TIMELINE_NONE;
    d->previous = d->now;
}

/* --- requests for memory --- */

/* The private pool that served the recorded request; false: the default pool. */
static bool find_redirect(struct replay_device *d, uint32_t block, struct caching_pool_id *id) {
    const struct timeline *real = d->replay->real;
    if (block == TIMELINE_NONE || !is_native(d))
        return false;
    uint32_t segment = real->blocks.at[block].segment;
    if (segment == TIMELINE_NONE || !is_private(real->segments.at[segment].pool_id))
        return false;
    *id = pool_of(&real->segments.at[segment]);
    return true;
}

static bool make_pool(struct replay_device *d, struct caching_pool_id id) {
    static const struct caching_pool_options none = {0};
    struct caching_pool_info info;
    for (uint32_t i = 0; caching_pool_row(d->al, i, &info); i++)
        if (info.id.v[0] == id.v[0] && info.id.v[1] == id.v[1] && info.use_count > 0)
            return true;
    return caching_pool_create(d->al, id, none) == ALLOC_OK;
}

static enum alloc_result take(struct replay_device *d, uint64_t bytes, uint64_t stream,
                              uint64_t *address) {
    struct caching_pool_id id;
    if (bytes == 0)
        bytes = 1; /* no allocator is asked for nothing: the trace is damaged there */
    if (!find_redirect(d, d->block, &id))
        return alloc_take(d->al, bytes, stream, address);
    struct caching_filter filter = {.stream = stream};
    if (!make_pool(d, id) || caching_pool_begin(d->al, id, filter) != ALLOC_OK)
        return ALLOC_HOST_MEMORY;
    enum alloc_result result = alloc_take(d->al, bytes, stream, address);
    caching_pool_end(d->al, id);
    caching_pool_release(d->al, id);
    return result;
}

static void compare_alloc(struct replay_device *d, const struct timeline_block *b,
                          uint64_t address) {
    char recorded[REPLAY_TEXT_BYTES];
    if (address == b->address) {
        d->result.addr_ok++;
        return;
    }
    snprintf(recorded, sizeof recorded, "alloc of %" PRIu64 " bytes at 0x%" PRIx64,
             b->requested_bytes, b->address);
    replay_differ(d, d->now, recorded, "at 0x%" PRIx64, address);
}

static void take_failed(struct replay_device *d, const struct timeline_block *b) {
    oom_fill(d->replay->tl, d->al, b->requested_bytes, d->result.device);
    if (reproduces(d)) {
        char recorded[REPLAY_TEXT_BYTES];
        snprintf(recorded, sizeof recorded, "alloc of %" PRIu64 " bytes at 0x%" PRIx64,
                 b->requested_bytes, b->address);
        replay_differ(d, d->now, recorded, "out of memory");
        return;
    }
    d->stopped = true;
    d->result.stopped_at = d->now;
}

/* Which segment of the start is older the trace shows only here. */
static void settle_tie(struct replay_device *d, const struct timeline_block *b) {
    struct caching_pool_id id = {{0, 0}};
    if (!reproduces(d) || d->loaded < 2 || b->requested_bytes == 0)
        return;
    (void)find_redirect(d, d->block, &id);
    d->result.ties_settled +=
        caching_settle_tie(d->al, b->requested_bytes, replay_stream(d->replay->real, b->stream), id,
                           b->address, d->loaded);
}

void replay_serve_alloc(struct replay_device *d, uint32_t event) {
    const struct timeline *real = d->replay->real;
    uint32_t block = real->events.at[event].ref;
    const struct timeline_block *b = &real->blocks.at[block];
    uint64_t address = 0;
    if (b->alloc_event != event)
        return;
    begin_request(d, event, block);
    settle_tie(d, b);
    enum alloc_result result =
        take(d, b->requested_bytes, replay_stream(real, b->stream), &address);
    check_memory(d, result);
    d->result.allocs++;
    if (result == ALLOC_OK) {
        d->result.cache_hits += !d->took_memory;
        if (reproduces(d))
            compare_alloc(d, b, address);
    } else if (result == ALLOC_OOM) {
        take_failed(d, b);
    }
    end_request(d);
}

/* A request that failed when it was recorded. Where it succeeds now, nothing is known of what the
 * program would have done: the block goes at once. */
void replay_serve_oom(struct replay_device *d, uint32_t event) {
    const struct timeline *real = d->replay->real;
    const struct timeline_event *e = &real->events.at[event];
    const struct timeline_oom *oom = &real->ooms.at[e->ref];
    uint64_t address = 0;
    uint64_t bytes = oom->requested_bytes ? oom->requested_bytes : oom->rounded_bytes;
    d->result.recorded_ooms++;
    begin_request(d, event, TIMELINE_NONE);
    enum alloc_result result = take(d, bytes, replay_stream(real, e->stream), &address);
    check_memory(d, result);
    if (result == ALLOC_OOM)
        oom_fill(d->replay->tl, d->al, bytes, d->result.device);
    if (result == ALLOC_OK) {
        if (reproduces(d))
            replay_differ(d, event, "out of memory", "alloc at 0x%" PRIx64, address);
        alloc_free(d->al, address);
    }
    end_request(d);
}

bool replay_fill_block(struct replay_device *d, uint32_t block) {
    const struct timeline *real = d->replay->real;
    const struct timeline_block *b = &real->blocks.at[block];
    uint64_t address;
    d->block = block;
    enum alloc_result result =
        take(d, b->requested_bytes, replay_stream(real, b->stream), &address);
    check_memory(d, result);
    if (result == ALLOC_OK && b->pending_at_start) {
        replay_use_fake_stream(d, block, address);
        alloc_free(d->al, address);
    }
    d->block = TIMELINE_NONE;
    return result == ALLOC_OK;
}

/* --- frees --- */

/* Did the free complete in the same call? Entries of other devices and phases may stand between. */
static bool completed_at_once(const struct timeline *real, const struct timeline_block *b) {
    if (b->complete_event == TIMELINE_NONE ||
        b->complete_event - b->free_event > MOST_EVENTS_BETWEEN)
        return false;
    for (uint32_t i = b->free_event + 1; i < b->complete_event; i++) {
        const struct timeline_event *e = &real->events.at[i];
        if (e->device == b->device && e->kind != EVENT_PHASE_BEGIN && e->kind != EVENT_PHASE_END)
            return false;
    }
    return true;
}

void replay_serve_free(struct replay_device *d, uint32_t event) {
    struct replay *r = d->replay;
    uint32_t block = r->real->events.at[event].ref;
    const struct timeline_block *b = &r->real->blocks.at[block];
    if (b->free_event != event || r->blocks[block] == TIMELINE_NONE)
        return;
    begin_request(d, event, block);
    uint64_t address = r->tl->blocks.at[r->blocks[block]].address;
    if (!completed_at_once(r->real, b) && r->uses[block] == 0)
        replay_use_fake_stream(d, block, address);
    alloc_free(d->al, address);
    r->blocks[block] = TIMELINE_NONE;
    end_request(d);
}

void replay_serve_stream_use(struct replay_device *d, uint32_t event) {
    struct replay *r = d->replay;
    const struct timeline_event *e = &r->real->events.at[event];
    if (r->blocks[e->ref] == TIMELINE_NONE)
        return;
    d->now = event;
    uint64_t address = r->tl->blocks.at[r->blocks[e->ref]].address;
    if (e->stream != r->real->blocks.at[e->ref].stream)
        r->uses[e->ref] = USES_LOGGED;
    answer_copy(d, event);
    check_memory(d, alloc_record_stream(d->al, address, replay_stream(r->real, e->stream)));
}

void replay_serve_empty_cache(struct replay_device *d, uint32_t event) {
    d->now = d->limit = event;
    derive_empty_cache(d);
    count_leftovers(d);
    d->limit = (uint32_t)d->replay->real->events.count; /* what it gave back stands behind it */
    answer_copy(d, event);
    check_memory(d, alloc_empty_cache(d->al));
    d->previous = event;
}

void replay_serve_end(struct replay_device *d) {
    d->now = d->limit = (uint32_t)d->replay->real->events.count;
    derive_empty_cache(d);
    if (is_native(d))
        caching_notice_events(d->al);
    end_request(d);
}

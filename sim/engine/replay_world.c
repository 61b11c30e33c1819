/* replay_world.c: the world around a replay's allocator. When reproducing, the driver is the
 * recorded one: it gives the addresses that it gave, and where the device's memory is unknown it
 * refuses when it must have refused, since the trace goes on with memory given back. */
#include <inttypes.h>
#include <stdio.h>

#include "checked.h"
#include "replay_core.h"

#define SEGMENT_STEP UINT64_C(2097152)

const struct timeline_event *replay_next_answer(const struct replay_device *d) {
    if (d->next_answer >= d->answers.count || d->answers.at[d->next_answer] >= d->limit)
        return NULL;
    return &d->replay->real->events.at[d->answers.at[d->next_answer]];
}

/* Fake streams count down from here; a loaded state's lie above. Idle ones are used again: the
 * model keeps a queue for each. */
#define FIRST_FAKE_STREAM (UINT64_MAX - (UINT64_C(1) << 33))

void replay_use_fake_stream(struct replay_device *d, uint32_t block, uint64_t address) {
    struct replay *r = d->replay;
    uint32_t stream = r->idle_streams.count > 0 ? array_pop(&r->idle_streams) : r->fake_streams++;
    r->uses[block] = stream + 1;
    if (alloc_record_stream(d->al, address, FIRST_FAKE_STREAM - stream) != ALLOC_OK)
        replay_fail_memory(r);
}

static void end_fake_use(struct replay *r, uint32_t block) {
    uint32_t use = r->uses[block];
    r->uses[block] = 0;
    if (use != 0 && use != USES_LOGGED && !array_push(&r->idle_streams, use - 1))
        replay_fail_memory(r);
}

/* --- addresses --- */

static uint64_t fresh_address(struct replay_device *d, uint64_t bytes) {
    uint64_t span, next;
    if (!checked_round_up(bytes, SEGMENT_STEP, &span) || !checked_add(d->fresh, span, &next))
        return 0;
    uint64_t address = d->fresh;
    d->fresh = next;
    return address;
}

/* Was the request that is being served out of memory when it was recorded? At the start and at the
 * end none is. */
static bool failed_then(const struct replay_device *d) {
    const struct timeline *real = d->replay->real;
    return d->now < real->events.count && real->events.at[d->now].kind == EVENT_OOM;
}

static bool is_refused(const struct replay_device *d, const struct timeline_event *next) {
    if (d->capacity_known)
        return false;
    if (next)
        return replay_is_release(next);
    return failed_then(d);
}

static uint64_t recorded_address(const struct replay_device *d, const struct timeline_event *next,
                                 uint64_t bytes, bool reservation) {
    uint64_t end;
    bool fits = next && next->kind == (reservation ? EVENT_SEGMENT_MAP : EVENT_SEGMENT_ALLOC) &&
                (reservation || next->bytes == bytes);
    if (!fits || !checked_add(next->address, bytes, &end) ||
        spans_overlap(&d->space, next->address, end))
        return 0;
    return next->address;
}

static uint64_t plan_address(void *user, uint64_t bytes, bool reservation) {
    struct replay_device *d = user;
    const struct timeline_event *next = replay_next_answer(d);
    if (!reservation && is_refused(d, next))
        return 0;
    uint64_t address = recorded_address(d, next, bytes, reservation);
    if (!address)
        address = fresh_address(d, bytes);
    struct span span = {.start = address, .end = address + bytes};
    if (address && !spans_add(&d->space, span)) {
        replay_fail_memory(d->replay);
        return 0;
    }
    return address;
}

static void give_space_back(struct replay_device *d, const struct alloc_entry *entry) {
    const struct span *at = spans_find(&d->space, entry->segment_address);
    if (!at)
        return;
    struct span span = *at;
    /* A reservation goes with its last mapped page. */
    if (entry->expandable && spans_overlap(&d->mapped, span.start, span.end))
        return;
    if (!spans_cut(&d->space, span.start, span.end))
        replay_fail_memory(d->replay);
}

/* --- events: ended by the recorded completion --- */

static uint64_t event_record(void *user, uint64_t stream) {
    const struct replay_device *d = user;
    (void)stream;
    return d->block;
}

/* Completions of a request that then gave memory back may come from the wait before that, too late
 * for its own search; where nothing else gives memory back they do. */
static bool came_by_waiting(const struct replay_device *d, uint32_t completion) {
    const struct alloc_settings *set = &d->replay->settings;
    if (set->garbage_collection_threshold > 0 || set->max_split_bytes != UINT64_MAX)
        return false;
    if (completion < d->previous || d->now == TIMELINE_NONE)
        return false;
    const struct timeline_event *next = replay_next_answer(d);
    bool released = next && replay_is_release(next);
    return released || failed_then(d);
}

static bool event_done(void *user, uint64_t event) {
    const struct replay_device *d = user;
    if (event >= d->replay->real->blocks.count)
        return true; /* of a request that had failed when it was recorded: see replay_serve_oom */
    uint32_t completion = d->replay->real->blocks.at[event].complete_event;
    if (completion == TIMELINE_NONE || d->filling || completion >= d->limit)
        return false;
    return !d->replay->config->reproduce || !came_by_waiting(d, completion);
}

/* --- what the model did, against the trace --- */

static const char *describe_recorded(const struct timeline_event *e, char *out, size_t size) {
    if (!e)
        return "nothing";
    snprintf(out, size, "%s of %" PRIu64 " bytes at 0x%" PRIx64,
             event_kind_name((enum event_kind)e->kind), e->bytes, e->address);
    return out;
}

static enum event_kind kind_of(enum alloc_entry_kind kind) {
    switch (kind) {
    case ALLOC_ENTRY_ALLOC:
        return EVENT_ALLOC;
    case ALLOC_ENTRY_FREE_REQUESTED:
        return EVENT_FREE_REQUESTED;
    case ALLOC_ENTRY_FREE_COMPLETED:
        return EVENT_FREE_COMPLETED;
    case ALLOC_ENTRY_SEGMENT_ALLOC:
        return EVENT_SEGMENT_ALLOC;
    case ALLOC_ENTRY_SEGMENT_FREE:
        return EVENT_SEGMENT_FREE;
    case ALLOC_ENTRY_SEGMENT_MAP:
        return EVENT_SEGMENT_MAP;
    case ALLOC_ENTRY_SEGMENT_UNMAP:
        return EVENT_SEGMENT_UNMAP;
    case ALLOC_ENTRY_OOM:
        return EVENT_OOM;
    }
    return EVENT_OTHER;
}

static void match_segment(struct replay_device *d, const struct alloc_entry *entry) {
    const struct timeline_event *next = replay_next_answer(d);
    enum event_kind kind = kind_of(entry->kind);
    if (next && next->kind == kind && next->bytes == entry->bytes &&
        next->address == entry->address) {
        if (replay_is_growth(next))
            d->result.segments_ok++;
        else
            d->result.releases_ok++;
        d->next_answer++;
        return;
    }
    char text[REPLAY_TEXT_BYTES];
    replay_differ(d, next ? d->answers.at[d->next_answer] : d->now,
                  describe_recorded(next, text, sizeof text),
                  "%s of %" PRIu64 " bytes at 0x%" PRIx64, event_kind_name(kind), entry->bytes,
                  entry->address);
}

/* A block that waits for streams must not complete before the trace says so. */
static void match_completion(struct replay_device *d, uint32_t origin,
                             const struct alloc_entry *entry) {
    uint32_t completion = d->replay->real->blocks.at[origin].complete_event;
    if (origin == d->block)
        return; /* the free that is being served: not pending */
    if (completion == TIMELINE_NONE || completion >= d->limit)
        replay_differ(d, d->now, "nothing", "free_completed of %" PRIu64 " bytes at 0x%" PRIx64,
                      entry->bytes, entry->address);
}

static void on_completed(struct replay_device *d, const struct alloc_entry *entry) {
    struct replay *r = d->replay;
    const struct span *at = spans_find(&d->pending, entry->address);
    uint32_t origin = at ? *array_at(&r->origins, at->value) : TIMELINE_NONE;
    if (origin != TIMELINE_NONE) {
        end_fake_use(r, origin);
        if (r->config->reproduce)
            match_completion(d, origin, entry);
    }
    answer_free_completed(d, entry);
}

static void on_entry(void *user, const struct alloc_entry *entry) {
    struct replay_device *d = user;
    bool compares = d->replay->config->reproduce;
    if (!replay_ok(d->replay))
        return; /* the replay ends with this request */
    switch (entry->kind) {
    case ALLOC_ENTRY_ALLOC:
        answer_alloc(d, entry);
        return;
    case ALLOC_ENTRY_FREE_REQUESTED:
        answer_free_requested(d, entry);
        return;
    case ALLOC_ENTRY_FREE_COMPLETED:
        on_completed(d, entry);
        return;
    case ALLOC_ENTRY_SEGMENT_ALLOC:
    case ALLOC_ENTRY_SEGMENT_MAP:
        d->took_memory = true;
        if (compares)
            match_segment(d, entry);
        answer_segment(d, entry);
        return;
    case ALLOC_ENTRY_SEGMENT_FREE:
    case ALLOC_ENTRY_SEGMENT_UNMAP:
        if (compares)
            match_segment(d, entry);
        answer_segment(d, entry);
        if (compares)
            give_space_back(d, entry);
        return;
    case ALLOC_ENTRY_OOM:
        answer_oom(d, entry);
        return;
    }
}

struct alloc_world replay_world(struct replay_device *d) {
    return (struct alloc_world){.user = d,
                                .entry = on_entry,
                                .event_record = event_record,
                                .event_done = event_done,
                                .plan_address = d->replay->config->reproduce ? plan_address : NULL};
}

/* alloc_fixture.h: an allocator in a small world of its own, for tests: streams with positions,
 * events, a log of entries as text with addresses as offsets from the first. Every fixture_end
 * checks the model's invariants. */
#ifndef ALLOC_FIXTURE_H
#define ALLOC_FIXTURE_H

#include "suite.h"

#include <string.h>

#include "alloc.h"
#include "caching.h"
#include "framework.h"
#include "text.h"
#include "units.h"
#include "xalloc.h"

enum { STREAM_A = 0, STREAM_B = 7, STREAM_C = 9, FIXTURE_STREAMS = 10, FIXTURE_EVENTS = 4096 };

struct fixture {
    struct alloc *al;
    const struct alloc_stats *stats;
    struct text log;
    struct world_state *world;
    size_t events_recorded;
};

/* Work items queued on and finished by each stream; an event is (stream, position). Lives apart,
 * since a fixture is returned by value. */
struct world_state {
    uint64_t queued[FIXTURE_STREAMS], done[FIXTURE_STREAMS];
    uint64_t event_stream[FIXTURE_EVENTS], event_position[FIXTURE_EVENTS];
    size_t events;
    bool waits[FIXTURE_STREAMS][FIXTURE_STREAMS]; /* the program's: stream, on other */
    uint64_t waits_position[FIXTURE_STREAMS][FIXTURE_STREAMS];
    size_t driver_waits; /* that an allocator asked for; the last one's streams */
    uint64_t driver_wait_stream, driver_wait_other;
    struct text *log;
};

static inline void fixture_log_entry(void *user, const struct alloc_entry *e) {
    static const char *const names[] = {
        "alloc",        "free_requested", "free_completed", "segment_alloc",
        "segment_free", "segment_map",    "segment_unmap",  "oom"};
    struct world_state *w = user;
    uint64_t offset = e->kind == ALLOC_ENTRY_OOM ? e->address : e->address - ALLOC_FIRST_ADDRESS;
    if (w->log)
        text_format(w->log, "%s @%llu %llu\n", names[e->kind], (unsigned long long)offset,
                    (unsigned long long)e->bytes);
}

static inline uint64_t fixture_record(void *user, uint64_t stream) {
    struct world_state *w = user;
    size_t id = w->events++ % FIXTURE_EVENTS;
    w->event_stream[id] = stream;
    w->event_position[id] = w->queued[stream];
    return id;
}

static inline bool fixture_done(void *user, uint64_t event) {
    struct world_state *w = user;
    return w->done[w->event_stream[event]] >= w->event_position[event];
}

static inline void fixture_wait_stream(void *user, uint64_t stream) {
    struct world_state *w = user;
    w->done[stream] = w->queued[stream];
}

static inline bool fixture_follows(void *user, uint64_t stream, uint64_t event) {
    struct world_state *w = user;
    uint64_t other = w->event_stream[event];
    return w->waits_position[stream][other] >= w->event_position[event] && w->waits[stream][other];
}

static inline void fixture_stream_wait_event(void *user, uint64_t stream, uint64_t event) {
    struct world_state *w = user;
    w->driver_waits++;
    w->driver_wait_stream = stream;
    w->driver_wait_other = w->event_stream[event];
}

static inline void fixture_wait(void *user, uint64_t event) {
    struct world_state *w = user;
    uint64_t *done = &w->done[w->event_stream[event]];
    if (*done < w->event_position[event])
        *done = w->event_position[event];
}

static inline struct alloc_config fixture_config(const struct framework *framework,
                                                 const char *settings, struct world_state *world) {
    struct alloc_config config = {.framework = framework,
                                  .total_bytes = 80 * GIB,
                                  .capacity_bytes = 80 * GIB,
                                  .world = {.user = world,
                                            .entry = fixture_log_entry,
                                            .event_record = fixture_record,
                                            .event_done = fixture_done,
                                            .event_wait = fixture_wait,
                                            .stream_wait = fixture_wait_stream,
                                            .stream_follows = fixture_follows,
                                            .stream_wait_event = fixture_stream_wait_event}};
    struct error err;
    assert_ok(alloc_settings_parse(settings ? settings : "", framework, &config.settings, &err),
              err);
    return config;
}

/* `row` NULL: the settings' backend. */
static inline struct fixture fixture_start_row(const struct alloc_ops *row,
                                               const struct framework *framework,
                                               const char *settings, uint64_t total,
                                               uint64_t capacity) {
    struct fixture f = {.world = xcalloc(1, sizeof *f.world)};
    struct alloc_config config = fixture_config(framework, settings, f.world);
    struct error err;
    config.total_bytes = total;
    config.capacity_bytes = capacity;
    f.al = alloc_create(row ? row : alloc_of_backend(config.settings.backend), &config, &err);
    assert_ok(f.al != NULL, err);
    f.stats = alloc_get_stats(f.al);
    return f;
}

static inline struct fixture fixture_start_on(const struct framework *framework,
                                              const char *settings, uint64_t total,
                                              uint64_t capacity) {
    return fixture_start_row(NULL, framework, settings, total, capacity);
}

static inline struct fixture fixture_start(const struct framework *framework,
                                           const char *settings) {
    return fixture_start_on(framework, settings, 80 * GIB, 80 * GIB);
}

static inline void fixture_end(struct fixture *f) {
    struct error err;
    if (f->al->ops == &caching_ops)
        assert_ok(caching_check(f->al, &err), err);
    alloc_destroy(f->al);
    text_fini(&f->log);
    xfree(f->world);
}

static inline uint64_t fixture_take_on(struct fixture *f, uint64_t bytes, uint64_t stream) {
    uint64_t address = 0;
    f->world->log = &f->log;
    enum alloc_result result = alloc_take(f->al, bytes, stream, &address);
    f->world->log = NULL;
    f->events_recorded = f->world->events;
    assert_int_equal(result, ALLOC_OK);
    return address;
}

static inline uint64_t fixture_take(struct fixture *f, uint64_t bytes) {
    return fixture_take_on(f, bytes, 0);
}

static inline void fixture_expect_oom_on(struct fixture *f, uint64_t bytes, uint64_t stream) {
    uint64_t address = 0;
    assert_int_equal(alloc_take(f->al, bytes, stream, &address), ALLOC_OOM);
}

static inline void fixture_expect_oom(struct fixture *f, uint64_t bytes) {
    fixture_expect_oom_on(f, bytes, 0);
}

static inline void fixture_free(struct fixture *f, uint64_t address) {
    alloc_free(f->al, address);
    f->events_recorded = f->world->events;
}

static inline void fixture_queue_work(struct fixture *f, uint64_t stream) {
    f->world->queued[stream]++;
}

static inline void fixture_finish(struct fixture *f, uint64_t stream) {
    fixture_wait_stream(f->world, stream);
}

/* The program makes `stream` wait for all that is queued on `other`. */
static inline void fixture_make_wait(struct fixture *f, uint64_t stream, uint64_t other) {
    f->world->waits[stream][other] = true;
    f->world->waits_position[stream][other] = f->world->queued[other];
}

static inline void check_at(const struct fixture *f, uint64_t address, uint64_t offset) {
    (void)f;
    assert_bytes_equal(address - ALLOC_FIRST_ADDRESS, offset);
}

static inline void check_sums(const struct fixture *f, uint64_t allocated, uint64_t requested,
                              uint64_t reserved, uint64_t segments) {
    assert_bytes_equal(f->stats->allocated_bytes[0].current, allocated);
    assert_bytes_equal(f->stats->requested_bytes[0].current, requested);
    assert_bytes_equal(f->stats->reserved_bytes[0].current, reserved);
    assert_bytes_equal(f->stats->segment[0].current, segments);
}

static inline void check_split(const struct fixture *f, uint64_t count, uint64_t bytes) {
    assert_bytes_equal(f->stats->inactive_split[0].current, count);
    assert_bytes_equal(f->stats->inactive_split_bytes[0].current, bytes);
}

static inline void check_block_bytes(struct fixture *f, uint64_t asked, uint64_t block) {
    uint64_t before = f->stats->allocated_bytes[0].current;
    fixture_take(f, asked);
    assert_bytes_equal(f->stats->allocated_bytes[0].current - before, block);
}

static inline void check_message(const struct fixture *f, const char *part) {
    char text[ALLOC_OOM_MESSAGE_BYTES];
    alloc_write_oom(f->al, 0, text, sizeof text);
    if (!strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text);
}

#endif

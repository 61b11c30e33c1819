/* engine.c: see engine.h. */
#include "engine.h"

#include <stdio.h>
#include <string.h>

#include "clocks.h"
#include "node.h"
#include "oom_fill.h"
#include "text.h"

static const uint64_t default_max_requests = UINT64_C(4000000);

struct pending_free { /* freed, waiting for another stream */
    uint64_t address;
    uint32_t block;
};

struct known_string {
    const char *text;
    uint32_t id;
};

enum { KNOWN_STRINGS = 1024 };

struct engine {
    struct engine_config config;
    struct clocks clocks;
    struct alloc *allocator;
    struct timeline *timeline;
    struct error error;
    const struct tape_request *request; /* being served */
    uint32_t freeing;                   /* block being freed; TIMELINE_NONE: none */
    uint64_t requests;
    double memory_fraction; /* as the program has set it; 1: all */
    ARRAY(struct pending_free) pending;
    ARRAY(uint64_t) event_times; /* completion time of each recorded stream event */
    ARRAY(uint32_t) open_phases;
    struct known_string known[KNOWN_STRINGS];
};

static void fail_memory(struct engine *engine) {
    if (engine->error.code == ERROR_NONE)
        error_host_memory(&engine->error);
}

static uint32_t new_string(struct engine *engine, const char *text) {
    return text && *text ? timeline_string(engine->timeline, text) : 0;
}

/* For texts that stay where they are for the whole run (ops, module paths): answered by the
 * pointer. */
static uint32_t string(struct engine *engine, const char *text) {
    if (!text || !*text)
        return 0;
    struct known_string *known = &engine->known[((uintptr_t)text >> 3) % KNOWN_STRINGS];
    if (known->text != text) {
        known->text = text;
        known->id = timeline_string(engine->timeline, text);
    }
    return known->id;
}

static uint32_t add_event(struct engine *engine, enum event_kind kind, uint64_t address,
                          uint64_t bytes, uint32_t ref, uint64_t stream) {
    struct timeline_event e = {.time_ns = engine->clocks.host_ns,
                               .bytes = bytes,
                               .address = address,
                               .ref = ref,
                               .kind = (uint8_t)kind};
    if (!timeline_stream(engine->timeline, stream, &e.stream))
        fail_memory(engine);
    uint32_t index = timeline_add_event(engine->timeline, &e);
    if (index == TIMELINE_NONE)
        fail_memory(engine);
    return index;
}

/* By halves, as the planner hands out growing addresses; where it did not, from the newest on. */
static uint32_t find_segment(const struct engine *engine, uint64_t address) {
    const struct timeline *tl = engine->timeline;
    size_t low = 0, high = tl->segments.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (tl->segments.at[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < tl->segments.count && tl->segments.at[low].address == address)
        return (uint32_t)low;
    for (size_t i = tl->segments.count; i-- > 0;)
        if (tl->segments.at[i].address == address)
            return (uint32_t)i;
    return TIMELINE_NONE;
}

static void on_alloc(struct engine *engine, const struct alloc_entry *entry) {
    const struct tape_request *r = engine->request;
    struct timeline *tl = engine->timeline;
    uint32_t index = (uint32_t)tl->blocks.count;
    uint32_t event =
        add_event(engine, EVENT_ALLOC, entry->address, entry->bytes, index, entry->stream);
    struct timeline_block b = {
        .address = entry->address,
        .requested_bytes = entry->bytes,
        .block_bytes = entry->block_bytes,
        .alloc_event = event,
        .free_event = TIMELINE_NONE,
        .complete_event = TIMELINE_NONE,
        .segment = find_segment(engine, entry->segment_address),
        .owner = string(engine, r->owner),
        .op = string(engine, r->op),
        .phase = engine->open_phases.count ? *array_last(&engine->open_phases) : TIMELINE_NONE,
        .category = (uint8_t)r->category,
        .dtype = (uint8_t)r->dtype,
        .small_pool = entry->small_pool,
    };
    if (event != TIMELINE_NONE)
        b.stream = tl->events.at[event].stream;
    if (timeline_add_block(tl, &b) == TIMELINE_NONE)
        fail_memory(engine);
}

static void on_segment(struct engine *engine, const struct alloc_entry *entry,
                       enum event_kind kind) {
    struct timeline *tl = engine->timeline;
    uint32_t index = TIMELINE_NONE;
    if (kind != EVENT_SEGMENT_ALLOC)
        index = find_segment(engine, entry->expandable ? entry->segment_address : entry->address);
    if (index == TIMELINE_NONE) {
        struct timeline_segment s = {.address = entry->expandable ? entry->segment_address
                                                                  : entry->address,
                                     .bytes = entry->bytes,
                                     .alloc_event = (uint32_t)tl->events.count,
                                     .free_event = TIMELINE_NONE,
                                     .pool_id = {entry->pool_id[0], entry->pool_id[1]},
                                     .small_pool = entry->small_pool,
                                     .expandable = entry->expandable};
        if (!timeline_stream(tl, entry->stream, &s.stream))
            fail_memory(engine);
        index = timeline_add_segment(tl, &s);
        if (index == TIMELINE_NONE) {
            fail_memory(engine);
            return;
        }
    }
    uint32_t event = add_event(engine, kind, entry->address, entry->bytes, index, entry->stream);
    if (kind == EVENT_SEGMENT_FREE)
        tl->segments.at[index].free_event = event;
}

static void on_completed(struct engine *engine, const struct alloc_entry *entry) {
    uint32_t block = engine->freeing;
    for (size_t i = 0; i < engine->pending.count; i++)
        if (engine->pending.at[i].address == entry->address) {
            block = engine->pending.at[i].block;
            engine->pending.at[i] = engine->pending.at[engine->pending.count - 1];
            engine->pending.count--;
            break;
        }
    if (block == TIMELINE_NONE)
        return;
    uint32_t event =
        add_event(engine, EVENT_FREE_COMPLETED, entry->address, entry->bytes, block, entry->stream);
    engine->timeline->blocks.at[block].complete_event = event;
}

static void on_free_requested(struct engine *engine, const struct alloc_entry *entry) {
    uint32_t block = engine->freeing;
    uint32_t event =
        add_event(engine, EVENT_FREE_REQUESTED, entry->address, entry->bytes, block, entry->stream);
    engine->timeline->blocks.at[block].free_event = event;
    struct pending_free p = {entry->address, block};
    if (!array_push(&engine->pending, p))
        fail_memory(engine);
}

static void on_oom(struct engine *engine, const struct alloc_entry *entry) {
    struct timeline_oom oom = {.event = (uint32_t)engine->timeline->events.count,
                               .requested_bytes = engine->request->bytes,
                               .rounded_bytes = entry->bytes,
                               .op = string(engine, engine->request->op),
                               .owner = string(engine, engine->request->owner)};
    if (!array_push(&engine->timeline->ooms, oom))
        fail_memory(engine);
    else
        add_event(engine, EVENT_OOM, 0, entry->bytes, (uint32_t)engine->timeline->ooms.count - 1,
                  entry->stream);
}

static void on_entry(void *user, const struct alloc_entry *entry) {
    struct engine *engine = user;
    switch (entry->kind) {
    case ALLOC_ENTRY_ALLOC:
        on_alloc(engine, entry);
        break;
    case ALLOC_ENTRY_FREE_REQUESTED:
        on_free_requested(engine, entry);
        break;
    case ALLOC_ENTRY_FREE_COMPLETED:
        on_completed(engine, entry);
        break;
    case ALLOC_ENTRY_SEGMENT_ALLOC:
        on_segment(engine, entry, EVENT_SEGMENT_ALLOC);
        break;
    case ALLOC_ENTRY_SEGMENT_FREE:
        on_segment(engine, entry, EVENT_SEGMENT_FREE);
        break;
    case ALLOC_ENTRY_SEGMENT_MAP:
        on_segment(engine, entry, EVENT_SEGMENT_MAP);
        break;
    case ALLOC_ENTRY_SEGMENT_UNMAP:
        on_segment(engine, entry, EVENT_SEGMENT_UNMAP);
        break;
    case ALLOC_ENTRY_OOM:
        on_oom(engine, entry);
        break;
    }
}

/* ---- the allocator's world: events on stream clocks ---- */

static uint64_t event_record(void *user, uint64_t stream) {
    struct engine *engine = user;
    if (!array_push(&engine->event_times, clocks_stream_done(&engine->clocks, stream)))
        fail_memory(engine);
    return engine->event_times.count; /* 0 is none */
}

static bool event_done(void *user, uint64_t event) {
    const struct engine *engine = user;
    return event == 0 || engine->event_times.at[event - 1] <= engine->clocks.host_ns;
}

static void event_wait(void *user, uint64_t event) {
    struct engine *engine = user;
    if (event > 0)
        clocks_wait_until(&engine->clocks, engine->event_times.at[event - 1]);
}

static void stream_wait(void *user, uint64_t stream) {
    struct engine *engine = user;
    clocks_wait_until(&engine->clocks, clocks_stream_done(&engine->clocks, stream));
}

static void stream_wait_event(void *user, uint64_t stream, uint64_t event) {
    struct engine *engine = user;
    if (event > 0 &&
        !clocks_stream_wait(&engine->clocks, stream, engine->event_times.at[event - 1]))
        fail_memory(engine);
}

/* ---- the tape's sink ---- */

static bool sink_request(void *user, const struct tape_request *request, uint32_t *block) {
    struct engine *engine = user;
    uint64_t address;
    if (engine->error.code == ERROR_NONE && ++engine->requests > engine->config.max_requests)
        error_set(
            &engine->error, ERROR_LIMIT,
            "more than %llu requests for memory (an endless loop? if not, --max-requests allows "
            "more)",
            (unsigned long long)engine->config.max_requests);
    if (engine->error.code != ERROR_NONE)
        return false;
    engine->request = request;
    *block = (uint32_t)engine->timeline->blocks.count;
    enum alloc_result result =
        alloc_take(engine->allocator, request->bytes, request->stream, &address);
    if (result == ALLOC_HOST_MEMORY)
        fail_memory(engine);
    if (result == ALLOC_OOM)
        oom_fill(engine->timeline, engine->allocator, request->bytes, 0);
    engine->request = NULL;
    return result == ALLOC_OK && engine->error.code == ERROR_NONE;
}

static void sink_release(void *user, uint32_t block) {
    struct engine *engine = user;
    engine->freeing = block;
    alloc_free(engine->allocator, engine->timeline->blocks.at[block].address);
    engine->freeing = TIMELINE_NONE;
}

static void sink_label(void *user, uint32_t block, enum category category, const char *owner,
                       const char *name) {
    struct engine *engine = user;
    struct timeline_block *b = &engine->timeline->blocks.at[block];
    b->category = (uint8_t)category;
    if (owner)
        b->owner = new_string(engine, owner);
    if (name)
        b->name = new_string(engine, name);
}

static void sink_kernel(void *user, const struct tape_kernel *kernel) {
    struct engine *engine = user;
    struct kernel_times times;
    if (!clocks_kernel(&engine->clocks, kernel, &times)) {
        fail_memory(engine);
        return;
    }
    if (engine->config.schedule_dump)
        text_format(engine->config.schedule_dump,
                    "  %s stream %llu flops %llu bytes %llu host %llu device %llu..%llu %s\n",
                    kernel->name, (unsigned long long)kernel->stream,
                    (unsigned long long)kernel->flops, (unsigned long long)kernel->bytes,
                    (unsigned long long)times.dispatched_ns, (unsigned long long)times.start_ns,
                    (unsigned long long)times.end_ns, kernel->owner);
}

static void sink_phase(void *user, const char *name, bool begin) {
    struct engine *engine = user;
    struct timeline *tl = engine->timeline;
    if (engine->config.schedule_dump)
        text_format(engine->config.schedule_dump, "%s %s\n", begin ? "begin" : "end", name);
    if (begin) {
        struct timeline_phase p = {
            .name = string(engine, name),
            .begin_event = (uint32_t)tl->events.count,
            .end_event = TIMELINE_NONE,
            .parent = engine->open_phases.count ? *array_last(&engine->open_phases) : TIMELINE_NONE,
            .depth = (uint16_t)engine->open_phases.count};
        uint32_t index = timeline_add_phase(tl, &p);
        if (index == TIMELINE_NONE || !array_push(&engine->open_phases, index))
            fail_memory(engine);
        else
            add_event(engine, EVENT_PHASE_BEGIN, 0, 0, index, 0);
    } else if (engine->open_phases.count > 0) {
        uint32_t index = array_pop(&engine->open_phases);
        tl->phases.at[index].end_event = add_event(engine, EVENT_PHASE_END, 0, 0, index, 0);
    }
}

static void sink_synchronize(void *user) {
    struct engine *engine = user;
    clocks_synchronize(&engine->clocks);
}

static void sink_limit_memory(void *user, double fraction) {
    struct engine *engine = user;
    engine->memory_fraction = fraction;
    alloc_set_memory_fraction(engine->allocator, fraction);
}

static void sink_empty_cache(void *user) {
    struct engine *engine = user;
    add_event(engine, EVENT_EMPTY_CACHE, 0, 0, TIMELINE_NONE, 0);
    if (alloc_empty_cache(engine->allocator) == ALLOC_HOST_MEMORY)
        fail_memory(engine);
}

static size_t sink_host_bytes(const void *user) {
    const struct engine *engine = user;
    const struct text *dumps[] = {engine->config.tape_dump, engine->config.schedule_dump};
    size_t bytes = timeline_bytes(engine->timeline) + array_bytes(&engine->event_times);
    for (size_t i = 0; i < sizeof dumps / sizeof dumps[0]; i++)
        bytes += dumps[i] ? dumps[i]->length : 0;
    return bytes;
}

static void sink_memory(void *user, struct tape_memory *out) {
    struct engine *engine = user;
    const struct alloc_stats *stats = alloc_get_stats(engine->allocator);
    const struct device *device = engine->config.device;
    const struct alloc_stat *allocated = &stats->allocated_bytes[ALLOC_POOL_ALL],
                            *reserved = &stats->reserved_bytes[ALLOC_POOL_ALL];
    *out = (struct tape_memory){.allocated = allocated->current,
                                .allocated_peak = allocated->peak,
                                .reserved = reserved->current,
                                .reserved_peak = reserved->peak,
                                .total = device->total_bytes};
    uint64_t used = device->context_bytes + reserved->current;
    out->free = used < out->total ? out->total - used : 0;
}

static uint64_t sink_time_ns(void *user) {
    const struct engine *engine = user;
    return engine->clocks.host_ns;
}

static void dump_tensor(struct text *out, const struct tensor *t) {
    char shape[128];
    text_format(out, " t%u%s%s", t->id, dtype_short_name(t->dtype),
                shape_format(&t->shape, shape, sizeof shape));
}

static void sink_record(void *user, const struct tape_record *r) {
    struct engine *engine = user;
    struct text *out = engine->config.tape_dump;
    text_format(out, "%s", r->op);
    for (unsigned i = 0; i < r->input_count; i++)
        dump_tensor(out, r->inputs[i]);
    text_add(out, " ->");
    for (unsigned i = 0; i < r->output_count; i++)
        dump_tensor(out, r->outputs[i]);
    if (r->node) {
        text_format(out, " | %s saves", r->node->op->name);
        for (unsigned i = 0; i < NODE_MAX_SAVED; i++)
            if (r->node->saved[i])
                dump_tensor(out, r->node->saved[i]);
    }
    text_format(out, " | %s\n", r->owner);
}

static bool start(struct engine *engine, struct error *err) {
    const struct engine_config *c = &engine->config;
    struct alloc_config config = {.framework = c->framework,
                                  .settings = c->settings,
                                  .total_bytes = c->device->total_bytes,
                                  .capacity_bytes =
                                      c->device->total_bytes - c->device->context_bytes,
                                  .world = {.user = engine,
                                            .entry = on_entry,
                                            .event_record = event_record,
                                            .event_done = event_done,
                                            .event_wait = event_wait,
                                            .stream_wait = stream_wait,
                                            .stream_wait_event = stream_wait_event},
                                  .lifetimes = c->lifetimes,
                                  .packing = c->packing};
    clocks_init(&engine->clocks, c->device);
    engine->freeing = TIMELINE_NONE;
    engine->timeline = timeline_create();
    if (!engine->timeline)
        return error_host_memory(err);
    engine->allocator = alloc_create(
        c->allocator ? c->allocator : alloc_of_backend(c->settings.backend), &config, err);
    if (!engine->allocator)
        return false;
    struct timeline *tl = engine->timeline;
    tl->has = TIMELINE_HAS_TIME | TIMELINE_HAS_ADDRESS | TIMELINE_HAS_BLOCK_BYTES |
              TIMELINE_HAS_REQUESTED | TIMELINE_HAS_SEGMENTS | TIMELINE_HAS_STREAM |
              TIMELINE_HAS_CATEGORY | TIMELINE_HAS_OWNER | TIMELINE_HAS_PHASE |
              TIMELINE_HAS_DEVICE | TIMELINE_HAS_HISTORY;
    tl->source_kind = timeline_string(tl, "simulation");
    tl->framework = timeline_string(tl, c->framework->name);
    struct timeline_device d = {.name = timeline_string(tl, c->device->product),
                                .total_bytes = c->device->total_bytes,
                                .context_bytes = c->device->context_bytes};
    return array_push(&tl->devices, d) || error_host_memory(err);
}

struct engine *engine_create(const struct engine_config *config, struct error *err) {
    struct engine *engine = xcalloc(1, sizeof *engine);
    if (!engine) {
        error_host_memory(err);
        return NULL;
    }
    engine->config = *config;
    engine->memory_fraction = 1;
    if (engine->config.max_requests == 0)
        engine->config.max_requests = default_max_requests;
    if (!start(engine, err)) {
        engine_destroy(engine);
        return NULL;
    }
    return engine;
}

void engine_destroy(struct engine *engine) {
    if (!engine)
        return;
    alloc_destroy(engine->allocator);
    timeline_destroy(engine->timeline);
    clocks_fini(&engine->clocks);
    array_fini(&engine->pending);
    array_fini(&engine->event_times);
    array_fini(&engine->open_phases);
    xfree(engine);
}

struct tape_sink engine_sink(struct engine *engine) {
    return (struct tape_sink){.user = engine,
                              .request = sink_request,
                              .release = sink_release,
                              .label = sink_label,
                              .kernel = sink_kernel,
                              .phase = sink_phase,
                              .synchronize = sink_synchronize,
                              .limit_memory = sink_limit_memory,
                              .empty_cache = sink_empty_cache,
                              .host_bytes = sink_host_bytes,
                              .memory = sink_memory,
                              .time_ns = sink_time_ns,
                              .record = engine->config.tape_dump ? sink_record : NULL};
}

const struct error *engine_error(const struct engine *engine) {
    return &engine->error;
}

double engine_memory_fraction(const struct engine *engine) {
    return engine->memory_fraction;
}

const struct alloc_stats *engine_stats(const struct engine *engine) {
    return alloc_get_stats(engine->allocator);
}

struct timeline *engine_finish(struct engine *engine) {
    struct timeline *tl = engine->timeline;
    engine->timeline = NULL;
    return tl;
}

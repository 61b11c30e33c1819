/* nsight_build.c: see nsight.h.
 *
 * What the driver gave a program is a segment, since a framework's allocator cuts it into blocks of
 * which Nsight Systems sees nothing; one block of unknown content fills it. Stream-ordered
 * allocations (cudaMallocAsync) are blocks of a pool, of which only the size is told: pools are
 * reserved as a total. */
#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "emit.h"
#include "error.h"
#include "merge.h"
#include "nsight.h"
#include "timeline.h"
#include "xalloc.h"

enum { PHASED_DEVICES = 16, MOST_SPACES = 4096 };

/* Addresses of one context, or the pools of one process (context UINT64_MAX). */
struct space {
    uint64_t process, context;
    struct addrmap live; /* address -> block, or index into `pools` */
};

struct pool {
    uint64_t bytes;
    uint8_t device;
};

struct build {
    struct nsight *n;
    struct timeline *tl;
    struct error *err;
    struct emit emit;
    struct merge merge;
    ARRAY(struct space) spaces;
    ARRAY(struct pool) pools;
    uint64_t pooled[EMIT_DEVICES]; /* bytes of all pools */
    bool has_memory[EMIT_DEVICES];
    bool has_pools, is_partial;
};

static bool no_memory(struct build *b) {
    return error_host_memory(b->err);
}

/* --- where --- */

static bool device_of(const struct build *b, const struct nsight_event *e, uint8_t *device) {
    uint64_t pid = e->process >> 24 & 0xffffff, card = e->cuda_device;
    for (size_t i = 0; i < b->n->ordinals.count; i++) {
        const struct nsight_ordinal *o = &b->n->ordinals.at[i];
        if (o->pid == pid && o->cuda == e->cuda_device) {
            card = o->gpu;
            break;
        }
    }
    *device = (uint8_t)card;
    return card < EMIT_DEVICES;
}

static bool find_space(struct build *b, uint64_t process, uint64_t context, struct space **out) {
    for (size_t i = b->spaces.count; i-- > 0;)
        if (b->spaces.at[i].process == process && b->spaces.at[i].context == context) {
            *out = &b->spaces.at[i];
            return true;
        }
    if (b->spaces.count >= MOST_SPACES)
        return error_set(b->err, ERROR_LIMIT, "more than %d contexts", MOST_SPACES);
    struct space made = {.process = process, .context = context};
    if (!array_push(&b->spaces, made))
        return no_memory(b);
    *out = array_last(&b->spaces);
    return true;
}

static uint64_t absolute(const struct build *b, uint64_t time_ns) {
    uint64_t sum;
    return !b->n->is_wall_clock && checked_add(time_ns, b->n->epoch_ns, &sum) ? sum : time_ns;
}

/* --- pools --- */

static bool set_pool(struct build *b, const struct nsight_event *e, uint8_t device,
                     uint64_t time_ns) {
    struct space *space;
    uint32_t index;
    if (!find_space(b, e->process, UINT64_MAX, &space))
        return false;
    if (!addrmap_find(&space->live, e->pool, &index)) {
        struct pool made = {.device = device};
        index = (uint32_t)b->pools.count;
        if (!array_push(&b->pools, made) || !addrmap_put(&space->live, e->pool, index))
            return no_memory(b);
    }
    struct pool *pool = &b->pools.at[index];
    uint64_t bytes = e->pool_bytes < EMIT_MOST_BYTES ? e->pool_bytes : EMIT_MOST_BYTES;
    b->pooled[pool->device] += bytes - pool->bytes;
    pool->bytes = bytes;
    return emit_reserved(&b->emit, time_ns, pool->device, b->pooled[pool->device]);
}

/* --- memory --- */

static bool add_older(struct build *b, const struct timeline_block *block,
                      const struct timeline_segment *segment, uint32_t *ref) {
    struct timeline_block made = *block;
    if (segment && !emit_start_segment(&b->emit, segment, &made.segment))
        return false;
    b->is_partial = true;
    return emit_start_block(&b->emit, &made, ref);
}

static struct timeline_segment segment_of(const struct nsight_event *e, uint8_t device) {
    return (struct timeline_segment){.address = e->address,
                                     .bytes = e->bytes,
                                     .alloc_event = TIMELINE_NONE,
                                     .free_event = TIMELINE_NONE,
                                     .device = device};
}

static bool block_of(struct build *b, const struct nsight_event *e, uint8_t device,
                     struct timeline_block *out) {
    uint32_t name = nsight_call(b->n, e);
    *out = emit_block(device, e->address, e->bytes);
    if (name == 0)
        return true;
    const char *call = strtab_text(&b->n->names, name), *suffix = strstr(call, "_v");
    size_t length = suffix ? (size_t)(suffix - call) : strlen(call); /* cudaMalloc_v3020 */
    return strtab_add(&b->tl->strings, call, length, &out->op) || no_memory(b);
}

static bool end_block(struct build *b, uint32_t ref, uint64_t time_ns) {
    uint32_t segment = b->tl->blocks.at[ref].segment;
    return emit_free(&b->emit, time_ns, ref) &&
           (segment == TIMELINE_NONE || emit_segment_end(&b->emit, time_ns, segment));
}

static bool take(struct build *b, const struct nsight_event *e, uint8_t device, uint64_t time_ns) {
    struct space *space;
    struct timeline_block block;
    uint32_t ref;
    if (e->bytes > EMIT_MOST_BYTES) {
        emit_warn(b->tl, "an allocation of %llu bytes is skipped", (unsigned long long)e->bytes);
        return true;
    }
    if (!find_space(b, e->process, e->context, &space) || !block_of(b, e, device, &block))
        return false;
    if (addrmap_take(&space->live, e->address, &ref)) {
        emit_warn(b->tl, "0x%llx is allocated again without a free",
                  (unsigned long long)e->address);
        if (!end_block(b, ref, time_ns))
            return false;
    }
    if (e->has_pool) {
        if (!set_pool(b, e, device, time_ns))
            return false;
    } else {
        const struct timeline_segment segment = segment_of(e, device);
        if (!emit_segment(&b->emit, time_ns, &segment, &block.segment))
            return false;
    }
    if (!timeline_stream(b->tl, e->stream, &block.stream))
        block.stream = 0; /* more streams than there can be: damage */
    if (!emit_alloc(&b->emit, time_ns, &block, &ref))
        return false;
    return ref == TIMELINE_NONE || addrmap_put(&space->live, e->address, ref) || no_memory(b);
}

static bool give(struct build *b, const struct nsight_event *e, uint8_t device, uint64_t time_ns) {
    struct space *space;
    uint32_t ref;
    if (!find_space(b, e->process, e->context, &space))
        return false;
    if (!addrmap_take(&space->live, e->address, &ref)) {
        const struct timeline_segment segment = segment_of(e, device);
        struct timeline_block block;
        if (e->bytes > EMIT_MOST_BYTES)
            return true;
        if (!block_of(b, e, device, &block))
            return false;
        block.op = 0; /* the call that freed it */
        if (!add_older(b, &block, e->has_pool ? NULL : &segment, &ref))
            return false;
        if (ref == TIMELINE_NONE)
            return true;
    }
    return end_block(b, ref, time_ns) && (!e->has_pool || set_pool(b, e, device, time_ns));
}

static bool on_event(void *user, uint32_t ref, uint64_t time_ns) {
    struct build *b = user;
    const struct nsight_event *e = &b->n->events.at[ref];
    uint8_t device;
    if (!device_of(b, e, &device))
        return true;
    switch ((enum nsight_what)e->what) {
    case NSIGHT_ALLOC:
        return take(b, e, device, time_ns);
    case NSIGHT_FREE:
        return give(b, e, device, time_ns);
    case NSIGHT_POOL_SIZE:
        return set_pool(b, e, device, time_ns);
    }
    return true;
}

/* --- the whole --- */

static bool mark_events(struct build *b) {
    for (size_t i = 0; i < b->n->events.count; i++) {
        const struct nsight_event *e = &b->n->events.at[i];
        uint8_t device;
        if (!nsight_is_device(e) || !device_of(b, e, &device))
            continue;
        b->has_memory[device] = true;
        b->has_pools |= e->has_pool;
        if (!merge_event(&b->merge, absolute(b, e->time_ns), (uint32_t)i))
            return no_memory(b);
    }
    return true;
}

static bool mark_ranges(struct build *b) {
    uint64_t end = 0;
    for (size_t i = 0; i < b->n->events.count; i++)
        end = b->n->events.at[i].time_ns > end ? b->n->events.at[i].time_ns : end;
    for (size_t i = 0; i < b->n->ranges.count; i++) {
        const struct nsight_range *range = &b->n->ranges.at[i];
        uint32_t name = range->text, string;
        if (!name && (!addrmap_find(&b->n->texts, range->text_id, &name) || !name))
            continue;
        uint64_t last = range->end_ns == UINT64_MAX ? end : range->end_ns;
        if (!strtab_add(&b->tl->strings, strtab_text(&b->n->names, name),
                        strtab_length(&b->n->names, name), &string) ||
            !merge_label(&b->merge, absolute(b, range->begin_ns), absolute(b, last), string))
            return no_memory(b);
    }
    return true;
}

static bool calls(const struct nsight *n, const char *prefix) {
    struct addrmap_at at;
    size_t length = strlen(prefix);
    uint32_t name;
    for (bool more = addrmap_first(&n->calls_by_name, &at); more;
         more = addrmap_next(&n->calls_by_name, &at))
        if (addrmap_find(&n->texts, addrmap_key(&n->calls_by_name, at), &name) &&
            strncmp(strtab_text(&n->names, name), prefix, length) == 0)
            return true;
    return false;
}

static void warn(struct build *b) {
    if (!b->n->has_memory_table || b->n->says_no_memory)
        emit_warn(b->tl, "memory was not recorded: nsys profile --cuda-memory-usage=true does");
    if (b->n->skipped > 0)
        emit_warn(b->tl, "%llu rows of memory without usable numbers are skipped",
                  (unsigned long long)b->n->skipped);
    if (calls(b->n, "cuMemCreate"))
        emit_warn(b->tl, "cuMemCreate was called, of which no sizes are recorded (expandable "
                         "segments, NCCL): sums are a lower bound");
    if (b->n->is_shifted)
        emit_warn(b->tl, "times are shifted (EXPORT_PARAM_TIME_SHIFT)");
    if (b->is_partial)
        emit_warn(b->tl, "what is freed here was allocated before the recording began");
}

static uint32_t presence(const struct build *b) {
    uint32_t has =
        TIMELINE_HAS_TIME | TIMELINE_HAS_HISTORY | TIMELINE_NO_COMPLETIONS | TIMELINE_HAS_STREAM;
    if (b->n->ranges.count > 0)
        has |= TIMELINE_HAS_PHASE;
    if (b->n->has_memory_table)
        has |= TIMELINE_HAS_SEGMENTS;
    if (b->has_pools)
        has |= TIMELINE_HAS_BLOCK_BYTES | TIMELINE_SUMS_SEGMENTS;
    else
        has |= TIMELINE_HAS_ADDRESS;
    return has;
}

static bool build(struct build *b) {
    uint8_t devices[PHASED_DEVICES];
    size_t count = 0;
    if (!mark_events(b) || !mark_ranges(b))
        return false;
    for (unsigned i = 0; i < EMIT_DEVICES && count < PHASED_DEVICES; i++)
        if (b->has_memory[i])
            devices[count++] = (uint8_t)i;
    b->tl->has = presence(b);
    const struct merge_sink sink = {
        .emit = &b->emit, .devices = devices, .device_count = count, .event = on_event, .user = b};
    if (!merge_run(&b->merge, &sink) || !emit_check_reserved(&b->emit))
        return false;
    warn(b);
    return true;
}

bool nsight_build(struct nsight *n, struct timeline *tl, struct error *err) {
    struct build *b = xcalloc(1, sizeof *b);
    if (!b)
        return error_host_memory(err);
    b->n = n;
    b->tl = tl;
    b->err = err;
    bool ok = emit_init(&b->emit, tl, err) && build(b);
    emit_fini(&b->emit);
    merge_fini(&b->merge);
    for (size_t i = 0; i < b->spaces.count; i++)
        addrmap_fini(&b->spaces.at[i].live);
    array_fini(&b->spaces);
    array_fini(&b->pools);
    xfree(b);
    return ok;
}

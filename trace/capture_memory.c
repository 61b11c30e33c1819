/* capture_memory.c: see capture_records.h: allocations and frees, plain and of pools, and those of tensors. */
#include <string.h>

#include "capture_build.h"
#include "error.h"

/* Pools have no address on the device: each gets a range that nothing else has. */
#define POOL_ADDRESSES (UINT64_C(1) << 52)
#define POOL_STEP (UINT64_C(1) << 42)
enum { MOST_POOLS = 512 }; /* those that come later are left out */

static uint32_t phase_now(const struct capture_build *b) {
    return b->open.count > 0 ? b->open.at[b->open.count - 1] : TIMELINE_NONE;
}

/* --- blocks --- */

struct wish {
    uint64_t address, bytes;
    uint8_t device;
    uint16_t stream;
    uint32_t segment, name;
};

static bool free_block(struct capture_build *b, uint8_t device, uint64_t address, bool *found) {
    uint32_t ref;
    *found = addrmap_take(&b->devices[device].blocks, address, &ref);
    if (!*found)
        return true;
    struct timeline_block *block = &b->tl->blocks.at[ref];
    block->free_event = capture_event(b, EVENT_FREE_REQUESTED, device, ref, block->address,
                                      block->requested_bytes, block->stream);
    block->complete_event = capture_event(b, EVENT_FREE_COMPLETED, device, ref, block->address,
                                          block->requested_bytes, block->stream);
    return block->complete_event != TIMELINE_NONE;
}

/* Whatever lies there has been freed unseen. */
static bool clear_way(struct capture_build *b, const struct wish *w) {
    struct capture_device *d = &b->devices[w->device];
    struct addrmap_at at;
    bool found;
    while (addrmap_floor(&d->blocks, w->address + (w->bytes - 1), &at)) {
        const struct timeline_block *block = &b->tl->blocks.at[addrmap_value(&d->blocks, at)];
        if (block->address + block->block_bytes <= w->address)
            break;
        b->unpaired++;
        if (!free_block(b, w->device, block->address, &found))
            return false;
    }
    return true;
}

static bool add_block(struct capture_build *b, const struct wish *w) {
    if (w->bytes == 0 || w->address > UINT64_MAX - w->bytes)
        return true;
    if (!clear_way(b, w))
        return false;
    struct timeline_block block = {.address = w->address,
                                   .requested_bytes = w->bytes,
                                   .block_bytes = w->bytes,
                                   .free_event = TIMELINE_NONE,
                                   .complete_event = TIMELINE_NONE,
                                   .segment = w->segment,
                                   .name = w->name,
                                   .phase = phase_now(b),
                                   .stream = w->stream,
                                   .category = CATEGORY_UNKNOWN,
                                   .device = w->device};
    uint32_t ref = timeline_add_block(b->tl, &block);
    if (ref == TIMELINE_NONE || !addrmap_put(&b->devices[w->device].blocks, w->address, ref))
        return capture_no_memory(b);
    uint32_t event = capture_event(b, EVENT_ALLOC, w->device, ref, w->address, w->bytes, w->stream);
    b->tl->blocks.at[ref].alloc_event = event;
    return event != TIMELINE_NONE;
}

/* --- segments --- */

static bool free_segment(struct capture_build *b, uint8_t device, uint64_t address, bool *found) {
    uint32_t ref;
    struct capture_device *d = &b->devices[device];
    *found = addrmap_take(&d->segments, address, &ref);
    if (!*found)
        return true;
    struct timeline_segment *segment = &b->tl->segments.at[ref];
    d->bytes -= segment->bytes;
    segment->free_event = capture_event(b, EVENT_SEGMENT_FREE, device, ref, segment->address,
                                        segment->bytes, segment->stream);
    return segment->free_event != TIMELINE_NONE;
}

static bool add_segment(struct capture_build *b, const struct wish *w, uint32_t *ref) {
    struct capture_device *d = &b->devices[w->device];
    struct addrmap_at at;
    bool found;
    while (addrmap_floor(&d->segments, w->address + (w->bytes - 1), &at)) {
        const struct timeline_segment *s = &b->tl->segments.at[addrmap_value(&d->segments, at)];
        if (s->address + s->bytes <= w->address)
            break;
        if (!free_segment(b, w->device, s->address, &found))
            return false;
    }
    struct timeline_segment segment = {.address = w->address,
                                       .bytes = w->bytes,
                                       .free_event = TIMELINE_NONE,
                                       .stream = w->stream,
                                       .device = w->device};
    *ref = timeline_add_segment(b->tl, &segment);
    if (*ref == TIMELINE_NONE || !addrmap_put(&d->segments, w->address, *ref))
        return capture_no_memory(b);
    uint32_t event =
        capture_event(b, EVENT_SEGMENT_ALLOC, w->device, *ref, w->address, w->bytes, w->stream);
    b->tl->segments.at[*ref].alloc_event = event;
    d->bytes += w->bytes;
    return event != TIMELINE_NONE;
}

/* --- pools --- */

static struct capture_pool *find_pool(struct capture_build *b, uint8_t device, uint64_t pool) {
    for (size_t i = 0; i < b->pools.count; i++)
        if (b->pools.at[i].pool == pool && b->pools.at[i].device == device)
            return &b->pools.at[i];
    struct capture_pool fresh = {
        .pool = pool, .address = POOL_ADDRESSES + b->pools.count * POOL_STEP, .device = device};
    if (!array_push(&b->pools, fresh)) {
        capture_no_memory(b);
        return NULL;
    }
    return array_last(&b->pools);
}

/* What it has grown by is a piece; one that it shrinks into is mapped anew, as far as it is left. */
static bool size_pool(struct capture_build *b, uint8_t device, uint64_t pool, uint64_t bytes) {
    struct addrmap_at at;
    if (bytes == RECORD_UNKNOWN64 || bytes > POOL_STEP || b->pools.count > MOST_POOLS)
        return true;
    struct capture_pool *p = find_pool(b, device, pool);
    if (!p)
        return false;
    uint64_t kept = p->bytes < bytes ? p->bytes : bytes, end = p->address + p->bytes;
    if (kept < p->bytes) {
        const struct addrmap *mapped = &b->devices[device].mapped;
        if (addrmap_floor(mapped, p->address + kept, &at)) /* the piece that the new end lies in */
            kept = addrmap_key(mapped, at) - p->address;
        if (!capture_unmap(b, device, p->address + kept, end))
            return false;
    }
    p->bytes = bytes;
    return bytes == kept || capture_map(b, device, p->address + kept, bytes - kept);
}

bool capture_pool_record(struct capture_build *b, const uint8_t *at) {
    struct record_pool p;
    uint8_t device;
    memcpy(&p, at, sizeof p);
    if (!capture_device_of(b, p.device, &device) || p.type == POOL_IMPORTED)
        return true; /* the exporter's memory */
    return size_pool(b, device, p.pool, p.operation == POOL_DESTROYED ? 0 : p.bytes);
}

/* --- records --- */

static bool is_counted(struct capture_build *b, const struct record_memory *m, uint8_t *device) {
    if (m->kind == MEMORY_PINNED) {
        b->has_host = true;
        *device = b->host;
        return true;
    }
    /* managed memory is a range of addresses: how much of it lies on the device is not told */
    return m->kind != MEMORY_MANAGED && m->kind != MEMORY_MANAGED_STATIC &&
           m->kind != MEMORY_PAGEABLE &&
           capture_device_of(b, m->device == RECORD_UNKNOWN32 ? 0 : m->device, device);
}

static bool take_alloc(struct capture_build *b, const struct record_memory *m,
                       const struct record_memory_pool *pool, uint8_t device) {
    struct wish w = {.address = m->address,
                     .bytes = m->bytes,
                     .device = device,
                     .segment = TIMELINE_NONE,
                     .name = capture_string(b, m->name)};
    if (m->bytes == 0 || m->bytes == RECORD_UNKNOWN64 || m->address > UINT64_MAX - m->bytes)
        return true;
    if (!capture_stream(b, m->stream, &w.stream))
        return false;
    if (pool)
        return size_pool(b, device, pool->pool, pool->pool_bytes) &&
               (b->has_tensors || add_block(b, &w));
    return add_segment(b, &w, &w.segment) && (b->has_tensors || add_block(b, &w));
}

static bool take_free(struct capture_build *b, const struct record_memory *m,
                      const struct record_memory_pool *pool, uint8_t device) {
    bool block = false, segment = false;
    if (!b->has_tensors && !free_block(b, device, m->address, &block))
        return false;
    if (!free_segment(b, device, m->address, &segment))
        return false;
    b->unpaired += !block && !segment;
    return !pool || size_pool(b, device, pool->pool, pool->pool_bytes);
}

bool capture_memory(struct capture_build *b, const uint8_t *at) {
    struct record_memory_pool pool = {0};
    struct record_memory m;
    uint8_t device;
    memcpy(&m, at, sizeof m);
    bool has_pool = (m.flags & MEMORY_HAS_POOL) && (size_t)m.head.len8 * 8 >= sizeof pool;
    if (has_pool)
        memcpy(&pool, at, sizeof pool);
    if (!is_counted(b, &m, &device))
        return true;
    return (m.head.type == RECORD_ALLOC ? take_alloc : take_free)(b, &m, has_pool ? &pool : NULL,
                                                                  device);
}

bool capture_tensor(struct capture_build *b, const uint8_t *at) {
    struct record_tensor t;
    uint8_t device;
    bool found;
    memcpy(&t, at, sizeof t);
    if (!capture_device_of(b, t.device, &device))
        return true;
    if (t.head.type == RECORD_TENSOR_FREE) {
        if (!free_block(b, device, t.address, &found))
            return false;
        b->unpaired += !found;
        return true;
    }
    struct wish w = {
        .address = t.address, .bytes = t.bytes, .device = device, .segment = TIMELINE_NONE};
    uint32_t segment;
    if (addrmap_find(&b->devices[device].segments, t.address, &segment) &&
        b->tl->segments.at[segment].bytes >= t.bytes)
        w.segment = segment;
    return capture_stream(b, t.stream, &w.stream) && add_block(b, &w);
}

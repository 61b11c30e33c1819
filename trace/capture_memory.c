/* capture_memory.c: see capture_records.h: allocations and frees, plain and of pools, and those of tensors. */
#include <string.h>

#include "capture_build.h"
#include "error.h"

/* Pools have no address on the device: each gets a range that nothing else has. */
#define POOL_ADDRESSES (UINT64_C(1) << 52)
#define POOL_STEP (UINT64_C(1) << 42)
enum { MOST_POOLS = 512 }; /* those that come later are left out */

/* --- blocks --- */

static bool free_block(struct capture_build *b, uint8_t device, uint64_t address, bool *found) {
    uint32_t ref;
    *found = addrmap_take(&b->devices[device].blocks, address, &ref);
    return !*found || emit_free(&b->emit, b->now, ref);
}

/* Whatever lies there has been freed unseen. */
static bool clear_way(struct capture_build *b, uint8_t device, uint64_t address, uint64_t bytes) {
    struct capture_device *d = &b->devices[device];
    struct addrmap_at at;
    bool found;
    while (addrmap_floor(&d->blocks, address + (bytes - 1), &at)) {
        const struct timeline_block *block = &b->tl->blocks.at[addrmap_value(&d->blocks, at)];
        if (block->address + block->block_bytes <= address)
            break;
        b->unpaired++;
        if (!free_block(b, device, block->address, &found))
            return false;
    }
    return true;
}

static bool add_block(struct capture_build *b, struct timeline_block *wish) {
    uint32_t ref;
    if (wish->block_bytes == 0 || wish->address > UINT64_MAX - wish->block_bytes)
        return true;
    wish->phase = capture_phase(b);
    return clear_way(b, wish->device, wish->address, wish->block_bytes) &&
           emit_alloc(&b->emit, b->now, wish, &ref) &&
           (ref == TIMELINE_NONE ||
            addrmap_put(&b->devices[wish->device].blocks, wish->address, ref) ||
            capture_no_memory(b));
}

/* --- segments --- */

static bool free_segment(struct capture_build *b, uint8_t device, uint64_t address, bool *found) {
    uint32_t ref;
    struct capture_device *d = &b->devices[device];
    *found = addrmap_take(&d->segments, address, &ref);
    if (!*found)
        return true;
    const struct timeline_segment *s = &b->tl->segments.at[ref];
    d->bytes -= s->bytes;
    return clear_way(b, device, address, s->bytes) && emit_segment_end(&b->emit, b->now, ref);
}

/* The segment that a block fills. */
static bool add_segment(struct capture_build *b, const struct timeline_block *wish, uint32_t *ref) {
    struct capture_device *d = &b->devices[wish->device];
    struct addrmap_at at;
    bool found;
    while (addrmap_floor(&d->segments, wish->address + (wish->block_bytes - 1), &at)) {
        const struct timeline_segment *s = &b->tl->segments.at[addrmap_value(&d->segments, at)];
        if (s->address + s->bytes <= wish->address)
            break;
        if (!free_segment(b, wish->device, s->address, &found))
            return false;
    }
    const struct timeline_segment segment = {.address = wish->address,
                                             .bytes = wish->block_bytes,
                                             .free_event = TIMELINE_NONE,
                                             .stream = wish->stream,
                                             .device = wish->device};
    if (!emit_segment(&b->emit, b->now, &segment, ref))
        return false;
    d->bytes += wish->block_bytes;
    return addrmap_put(&d->segments, wish->address, *ref) || capture_no_memory(b);
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
    struct timeline_block wish = emit_block(device, m->address, m->bytes);
    wish.name = capture_string(b, m->name);
    if (m->bytes == 0 || m->bytes == RECORD_UNKNOWN64 || m->address > UINT64_MAX - m->bytes)
        return true;
    if (!capture_stream(b, m->stream, &wish.stream))
        return false;
    if (pool)
        return size_pool(b, device, pool->pool, pool->pool_bytes) &&
               (b->has_tensors || add_block(b, &wish));
    return add_segment(b, &wish, &wish.segment) && (b->has_tensors || add_block(b, &wish));
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
    struct timeline_block wish = emit_block(device, t.address, t.bytes);
    uint32_t segment;
    if (addrmap_find(&b->devices[device].segments, t.address, &segment) &&
        b->tl->segments.at[segment].bytes >= t.bytes)
        wish.segment = segment;
    return capture_stream(b, t.stream, &wish.stream) && add_block(b, &wish);
}

/* capture_virtual.c: see capture_records.h: what is mapped into reserved ranges of addresses. */
#include <string.h>

#include "capture_build.h"
#include "error.h"

/* A mapped piece comes, or goes. */
static bool push_piece(struct capture_build *b, enum event_kind kind, uint32_t ref,
                       uint32_t *index) {
    const struct timeline_segment *s = &b->tl->segments.at[ref];
    const struct timeline_event event = {.time_ns = b->now,
                                         .bytes = s->bytes,
                                         .address = s->address,
                                         .ref = ref,
                                         .kind = (uint8_t)kind,
                                         .device = s->device};
    return emit_event(&b->emit, &event, index);
}

bool capture_map(struct capture_build *b, uint8_t device, uint64_t address, uint64_t bytes) {
    struct capture_device *d = &b->devices[device];
    struct timeline_segment segment = {.address = address,
                                       .bytes = bytes,
                                       .free_event = TIMELINE_NONE,
                                       .device = device,
                                       .expandable = true};
    if (!capture_unmap(b, device, address, address + bytes)) /* its unmapping was not seen */
        return false;
    uint32_t ref, index;
    if (!emit_start_segment(&b->emit, &segment, &ref))
        return false;
    if (!addrmap_put(&d->mapped, address, ref))
        return capture_no_memory(b);
    if (!push_piece(b, EVENT_SEGMENT_MAP, ref, &index))
        return false;
    b->tl->segments.at[ref].alloc_event = index;
    d->bytes += bytes;
    return true;
}

bool capture_unmap(struct capture_build *b, uint8_t device, uint64_t address, uint64_t end) {
    struct capture_device *d = &b->devices[device];
    struct addrmap_at at;
    while (end > address && addrmap_floor(&d->mapped, end - 1, &at) &&
           addrmap_key(&d->mapped, at) >= address) {
        uint32_t ref = addrmap_value(&d->mapped, at);
        struct timeline_segment *s = &b->tl->segments.at[ref];
        (void)addrmap_remove(&d->mapped, s->address, ref);
        d->bytes -= s->bytes;
        if (!push_piece(b, EVENT_SEGMENT_UNMAP, ref, &s->free_event))
            return false;
    }
    return true;
}

static bool map(struct capture_build *b, const struct record_vmm *v) {
    uint32_t ordinal = 0;
    uint8_t device;
    (void)addrmap_find(&b->handles, v->handle, &ordinal);
    return !capture_device_of(b, ordinal, &device) || capture_map(b, device, v->address, v->bytes);
}

/* Addresses are the process': whose memory lies there is not said. */
static bool unmap(struct capture_build *b, const struct record_vmm *v) {
    for (int i = 0; i < CAPTURE_DEVICES; i++)
        if (b->devices[i].is_there &&
            !capture_unmap(b, (uint8_t)i, v->address, v->address + v->bytes))
            return false;
    return true;
}

bool capture_virtual(struct capture_build *b, const uint8_t *at) {
    struct record_vmm v;
    memcpy(&v, at, sizeof v);
    bool is_range = v.bytes > 0 && v.address <= UINT64_MAX - v.bytes;
    switch (v.head.type) {
    case RECORD_VMM_CREATE:
        return v.device >= CAPTURE_DEVICES || addrmap_put(&b->handles, v.handle, v.device) ||
               capture_no_memory(b);
    case RECORD_VMM_MAP:
        return !is_range || map(b, &v);
    case RECORD_VMM_UNMAP:
        return !is_range || unmap(b, &v);
    default:
        return true; /* a reservation has no memory, a handle's is given back by the unmap */
    }
}

/* capture_build.c: see capture_records.h: one record after another, in the order of their times. */
#include "capture_build.h"

#include <string.h>

#include "error.h"
#include "text.h"

bool capture_no_memory(struct capture_build *b) {
    return error_host_memory(b->err);
}

uint32_t capture_phase(const struct capture_build *b) {
    const struct emit_device *first = &b->emit.devices[0];
    return first->open_phases.count > 0 ? *array_last(&first->open_phases) : TIMELINE_NONE;
}

bool capture_stream(struct capture_build *b, uint64_t handle, uint16_t *stream) {
    *stream = 0;
    if (handle == RECORD_UNKNOWN32 || handle == RECORD_UNKNOWN64)
        return true;
    return timeline_stream(b->tl, handle, stream) ||
           error_set(b->err, ERROR_LIMIT, "more than 65,535 streams, or no memory");
}

uint32_t capture_string(const struct capture_build *b, uint32_t id) {
    return id < b->strings.count ? b->strings.at[id] : 0;
}

bool capture_device_of(struct capture_build *b, uint32_t device, uint8_t *out) {
    if (device >= CAPTURE_DEVICES - 1)
        return false;
    *out = (uint8_t)device;
    b->devices[device].is_there = true;
    return true;
}

/* --- what is told before all else --- */

/* `most`: texts are numbered one after another, so an id is at most the number of records, those that are lost
 * included. */
static bool take_string(struct capture_build *b, const uint8_t *at, size_t most) {
    struct record_string s;
    struct record_head head;
    memcpy(&s, at, sizeof s);
    memcpy(&head, at, sizeof head);
    if (s.bytes > (size_t)head.len8 * 8 - sizeof s || s.id > most)
        return error_set(b->err, ERROR_BAD_INPUT, "text %u has %u bytes in a record of %u", s.id,
                         s.bytes, head.len8 * 8u);
    struct text text = {0};
    text_add_bytes(&text, at + sizeof s, s.bytes);
    uint32_t string = text.failed ? 0 : timeline_string(b->tl, text_get(&text));
    text_fini(&text);
    if (string == 0 && s.bytes > 0)
        return capture_no_memory(b);
    while (b->strings.count <= s.id)
        if (!array_push(&b->strings, 0))
            return capture_no_memory(b);
    b->strings.at[s.id] = string;
    return true;
}

static bool name_device(struct capture_build *b, uint8_t device, uint32_t name, uint64_t total) {
    while (b->tl->devices.count <= device)
        if (!array_push(&b->tl->devices, (struct timeline_device){0}))
            return capture_no_memory(b);
    if (name != 0)
        b->tl->devices.at[device].name = name;
    if (total != 0 && total != RECORD_UNKNOWN64) {
        b->tl->devices.at[device].total_bytes = total;
        b->tl->has |= TIMELINE_HAS_DEVICE;
    }
    return true;
}

static bool take_device(struct capture_build *b, const uint8_t *at) {
    struct record_device d;
    uint8_t device;
    memcpy(&d, at, sizeof d);
    return !capture_device_of(b, d.device, &device) ||
           name_device(b, device, capture_string(b, d.name), d.total_bytes);
}

/* Texts, devices, which thread is the main one; records without a time. */
static bool take_first(struct capture_build *b, const struct capture_records *records) {
    const size_t most = records->refs.count + records->lost_bytes / sizeof(struct record_head);
    for (size_t i = 0; i < records->refs.count; i++) {
        const struct capture_ref *ref = &records->refs.at[i];
        struct record_head head;
        memcpy(&head, ref->at, sizeof head);
        if (head.type == RECORD_STRING && !take_string(b, ref->at, most))
            return false;
        if ((head.type == RECORD_TENSOR_ALLOC || head.type == RECORD_TENSOR_FREE))
            b->has_tensors = true;
        if (head.type == RECORD_THREAD && b->main_tid == 0)
            b->main_tid = head.tid;
    }
    for (size_t i = 0; i < records->refs.count; i++) {
        struct record_head head;
        memcpy(&head, records->refs.at[i].at, sizeof head);
        if (head.type == RECORD_DEVICE && !take_device(b, records->refs.at[i].at))
            return false;
    }
    return true;
}

/* The device that stands for pinned memory comes behind every other. */
static void find_host(struct capture_build *b, const struct capture_records *records) {
    for (size_t i = 0; i < records->refs.count; i++) {
        const struct capture_ref *ref = &records->refs.at[i];
        struct record_head head;
        uint32_t device = RECORD_UNKNOWN32;
        memcpy(&head, ref->at, sizeof head);
        if (head.type == RECORD_ALLOC || head.type == RECORD_FREE) {
            struct record_memory m;
            memcpy(&m, ref->at, sizeof m);
            device = m.kind == MEMORY_PINNED ? RECORD_UNKNOWN32 : m.device;
        } else if (head.type >= RECORD_VMM_RESERVE && head.type <= RECORD_VMM_UNMAP) {
            struct record_vmm v;
            memcpy(&v, ref->at, sizeof v);
            device = v.device;
        } else if (head.type == RECORD_DEVICE || head.type == RECORD_SAMPLE) {
            memcpy(&device, ref->at + sizeof head, sizeof device);
        }
        if (device < CAPTURE_DEVICES - 1 && device >= b->host)
            b->host = (uint8_t)(device + 1);
    }
    if (b->host == 0)
        b->host = 1;
}

/* --- phases --- */

static bool take_push(struct capture_build *b, const uint8_t *at) {
    struct record_push push;
    memcpy(&push, at, sizeof push);
    if (push.domain != 0 || (b->main_tid != 0 && push.head.tid != b->main_tid))
        return true;
    uint32_t phase;
    b->tl->has |= TIMELINE_HAS_PHASE;
    return emit_phase_begin(&b->emit, b->now, 0, capture_string(b, push.name), &phase);
}

static bool take_pop(struct capture_build *b, const uint8_t *at) {
    struct record_pop pop;
    memcpy(&pop, at, sizeof pop);
    uint32_t phase = capture_phase(b);
    return pop.domain != 0 || phase == TIMELINE_NONE ||
           (b->main_tid != 0 && pop.head.tid != b->main_tid) ||
           emit_phase_end(&b->emit, b->now, phase);
}

/* --- samples --- */

static bool take_sample(struct capture_build *b, const uint8_t *at) {
    struct record_sample s;
    uint8_t device;
    memcpy(&s, at, sizeof s);
    if (!capture_device_of(b, s.device, &device) || s.total_bytes < s.free_bytes)
        return true;
    uint64_t used =
        s.process_bytes != RECORD_UNKNOWN64 ? s.process_bytes : s.total_bytes - s.free_bytes;
    struct capture_device *d = &b->devices[device];
    uint64_t outside = used > d->bytes ? used - d->bytes : 0;
    if (outside < d->outside)
        d->outside = outside;
    return name_device(b, device, 0, s.total_bytes);
}

static bool take(struct capture_build *b, uint16_t type, const uint8_t *at) {
    switch (type) {
    case RECORD_ALLOC:
    case RECORD_FREE:
        return capture_memory(b, at);
    case RECORD_POOL:
        return capture_pool_record(b, at);
    case RECORD_TENSOR_ALLOC:
    case RECORD_TENSOR_FREE:
        return capture_tensor(b, at);
    case RECORD_PHASE_PUSH:
        return take_push(b, at);
    case RECORD_PHASE_POP:
        return take_pop(b, at);
    case RECORD_SAMPLE:
        return take_sample(b, at);
    default:
        return type < RECORD_VMM_RESERVE || type > RECORD_VMM_UNMAP || capture_virtual(b, at);
    }
}

/* --- all of it --- */

static bool finish(struct capture_build *b, const struct capture_records *records) {
    struct timeline *tl = b->tl;
    if (tl->segments.count > 0 || tl->blocks.count == 0) /* else tensors alone are told of */
        tl->has |= TIMELINE_HAS_SEGMENTS;
    tl->source_kind = timeline_string(tl, "capture");
    for (size_t i = 0; i < tl->devices.count; i++)
        if (b->devices[i].is_there && b->devices[i].outside != UINT64_MAX)
            tl->devices.at[i].context_bytes = b->devices[i].outside;
    if (records->dropped > 0)
        emit_warn(tl, "the capture lost %llu records", (unsigned long long)records->dropped);
    if (b->unpaired > 0)
        emit_warn(tl, "%llu frees of memory from before the capture: the picture is a part",
                  (unsigned long long)b->unpaired);
    return ((tl->source_kind != 0 && (tl->warnings == 0 || tl->first_warning != 0)) ||
            capture_no_memory(b)) &&
           emit_check_reserved(&b->emit);
}

static bool take_all(struct capture_build *b, struct capture_records *records) {
    b->tl->has |= TIMELINE_HAS_TIME | TIMELINE_HAS_ADDRESS | TIMELINE_HAS_BLOCK_BYTES |
                  TIMELINE_HAS_REQUESTED | TIMELINE_HAS_STREAM | TIMELINE_HAS_HISTORY;
    records->dropped = 0;
    if (!take_first(b, records))
        return false;
    find_host(b, records);
    for (size_t i = 0; i < records->refs.count; i++) {
        const struct capture_ref *ref = &records->refs.at[i];
        struct record_head head;
        memcpy(&head, ref->at, sizeof head);
        if (head.type == RECORD_DROPPED) {
            struct record_dropped dropped;
            memcpy(&dropped, ref->at, sizeof dropped);
            records->dropped += dropped.count;
        }
        if (head.t == RECORD_UNKNOWN64)
            continue; /* all that have no time are told already */
        b->now = head.t;
        if (!take(b, head.type, ref->at))
            return false;
    }
    if (b->has_host && !name_device(b, b->host, timeline_string(b->tl, "pinned host memory"), 0))
        return false;
    return finish(b, records);
}

bool capture_build(struct capture_records *records, struct timeline *tl, struct error *err) {
    struct capture_build *b = xcalloc(1, sizeof *b);
    if (!b)
        return error_host_memory(err);
    b->tl = tl;
    b->err = err;
    for (int i = 0; i < CAPTURE_DEVICES; i++)
        b->devices[i].outside = UINT64_MAX;
    bool ok = emit_init(&b->emit, tl, err) && take_all(b, records);
    for (int i = 0; i < CAPTURE_DEVICES; i++) {
        addrmap_fini(&b->devices[i].blocks);
        addrmap_fini(&b->devices[i].segments);
        addrmap_fini(&b->devices[i].mapped);
    }
    addrmap_fini(&b->handles);
    array_fini(&b->strings);
    array_fini(&b->pools);
    emit_fini(&b->emit);
    xfree(b);
    return ok;
}

/* vmm.c: see vmm.h. Parameters lie as generated_cuda_meta.h has them. */
#include "vmm.h"

#include <stddef.h>

#include "capture.h"
#include "clock.h"
#include "cupti_abi.h"

/* The u64 that the pointer at `offset` of the parameters points to. */
static uint64_t pointed(const uint8_t *params, unsigned offset) {
    const uint64_t *at;
    memcpy(&at, params + offset, sizeof at);
    return at ? *at : RECORD_UNKNOWN64;
}

/* CUmemAllocationProp: location type at 8, its id at 12. */
static void read_location(const uint8_t *params, struct record_vmm *out) {
    const uint8_t *prop;
    memcpy(&prop, params + 16, sizeof prop);
    if (!prop)
        return;
    out->location = cupti_u32(prop, 8);
    out->device = cupti_u32(prop, 12);
}

/* What the parameters of a call have, as offsets; ABSENT: it has none of that. A handle or an address
 * that the call makes is behind a pointer. */
enum { ABSENT = 0xff };
static const struct call {
    uint32_t id;
    uint16_t record;
    uint8_t address, bytes, offset, handle;
    bool makes, has_location;
} calls[] = {
    {CALL_ADDRESS_RESERVE, RECORD_VMM_RESERVE, 0, 8, ABSENT, ABSENT, true, false},
    {CALL_ADDRESS_FREE, RECORD_VMM_UNRESERVE, 0, 8, ABSENT, ABSENT, false, false},
    {CALL_CREATE, RECORD_VMM_CREATE, ABSENT, 8, ABSENT, 0, true, true},
    {CALL_RELEASE, RECORD_VMM_RELEASE, ABSENT, ABSENT, ABSENT, 0, false, false},
    {CALL_MAP, RECORD_VMM_MAP, 0, 8, 16, 24, false, false},
    {CALL_UNMAP, RECORD_VMM_UNMAP, 0, 8, ABSENT, ABSENT, false, false},
    {CALL_IMPORT, RECORD_VMM_IMPORT, ABSENT, ABSENT, ABSENT, 0, true, false},
    {CALL_RETAIN, RECORD_VMM_RETAIN, 8, ABSENT, ABSENT, 0, true, false},
    {CALL_HOST_REGISTER, RECORD_HOST_REGISTER, 0, 8, ABSENT, ABSENT, false, false},
    {CALL_HOST_UNREGISTER, RECORD_HOST_UNREGISTER, 0, ABSENT, ABSENT, ABSENT, false, false},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

uint32_t vmm_call(size_t index) {
    return index < CALLS ? calls[index].id : 0;
}

static void read_u64(const uint8_t *params, uint8_t offset, bool behind, uint64_t *out) {
    if (offset != ABSENT)
        *out = behind ? pointed(params, offset) : cupti_u64(params, offset);
}

/* False: not a call that is listened to. */
static bool read_call(uint32_t id, const uint8_t *params, struct record_vmm *out) {
    size_t i = 0;
    while (i < CALLS && calls[i].id != id)
        i++;
    if (i == CALLS)
        return false;
    const struct call *c = &calls[i];
    out->head.type = c->record;
    read_u64(params, c->address, c->makes && c->handle == ABSENT, &out->address);
    read_u64(params, c->bytes, false, &out->bytes);
    read_u64(params, c->offset, false, &out->offset);
    read_u64(params, c->handle, c->makes, &out->handle);
    if (c->has_location)
        read_location(params, out);
    return true;
}

void vmm_callback(void *user, int domain, uint32_t id, const void *data) {
    const struct cupti_callback_data *d = data;
    (void)user;
    if (domain != CUPTI_DRIVER_API || d->site != CUPTI_EXIT || !d->params || !d->result ||
        *(const int *)d->result != 0)
        return;
    struct record_vmm record = {.head = CAPTURE_HEAD(record, 0),
                                .address = RECORD_UNKNOWN64,
                                .bytes = RECORD_UNKNOWN64,
                                .offset = RECORD_UNKNOWN64,
                                .handle = RECORD_UNKNOWN64,
                                .device = RECORD_UNKNOWN32,
                                .correlation = d->correlation,
                                .location = RECORD_UNKNOWN32};
    if (read_call(id, d->params, &record))
        capture_put(&record.head);
}

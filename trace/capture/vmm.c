/* vmm.c: see vmm.h. Parameters lie as generated_cuda_meta.h has them. */
#include "vmm.h"

#include <stddef.h>

#include "capture.h"
#include "clock.h"
#include "cupti_abi.h"

const uint32_t vmm_calls[] = {CALL_ADDRESS_RESERVE,
                              CALL_ADDRESS_FREE,
                              CALL_CREATE,
                              CALL_RELEASE,
                              CALL_MAP,
                              CALL_UNMAP,
                              CALL_IMPORT,
                              CALL_RETAIN,
                              CALL_HOST_REGISTER,
                              CALL_HOST_UNREGISTER,
                              0};

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

static uint16_t read_call(uint32_t id, const uint8_t *p, struct record_vmm *out) {
    switch (id) {
    case CALL_ADDRESS_RESERVE:
        out->address = pointed(p, 0);
        out->bytes = cupti_u64(p, 8);
        return RECORD_VMM_RESERVE;
    case CALL_ADDRESS_FREE:
        out->address = cupti_u64(p, 0);
        out->bytes = cupti_u64(p, 8);
        return RECORD_VMM_UNRESERVE;
    case CALL_CREATE:
        out->handle = pointed(p, 0);
        out->bytes = cupti_u64(p, 8);
        read_location(p, out);
        return RECORD_VMM_CREATE;
    case CALL_RELEASE:
        out->handle = cupti_u64(p, 0);
        return RECORD_VMM_RELEASE;
    case CALL_MAP:
        out->address = cupti_u64(p, 0);
        out->bytes = cupti_u64(p, 8);
        out->offset = cupti_u64(p, 16);
        out->handle = cupti_u64(p, 24);
        return RECORD_VMM_MAP;
    case CALL_UNMAP:
        out->address = cupti_u64(p, 0);
        out->bytes = cupti_u64(p, 8);
        return RECORD_VMM_UNMAP;
    case CALL_IMPORT:
        out->handle = pointed(p, 0);
        return RECORD_VMM_IMPORT;
    case CALL_RETAIN:
        out->handle = pointed(p, 0);
        out->address = cupti_u64(p, 8);
        return RECORD_VMM_RETAIN;
    case CALL_HOST_REGISTER:
        out->address = cupti_u64(p, 0);
        out->bytes = cupti_u64(p, 8);
        return RECORD_HOST_REGISTER;
    case CALL_HOST_UNREGISTER:
        out->address = cupti_u64(p, 0);
        return RECORD_HOST_UNREGISTER;
    default:
        return 0;
    }
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
    record.head.type = read_call(id, d->params, &record);
    if (record.head.type != 0)
        capture_put(&record.head);
}

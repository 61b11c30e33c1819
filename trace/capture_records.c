/* capture_records.c: see capture_records.h: the records in one order. */
#include "capture_records.h"

#include <stdlib.h>
#include <string.h>

#include "capture_build.h"
#include "error.h"

void capture_records_fini(struct capture_records *records) {
    array_fini(&records->refs);
}

/* The least bytes that a record of this type has; 0: not known, to be passed over. */
static size_t least_bytes(uint16_t type) {
    switch (type) {
#define X(id, number, record)                                                                      \
    case number:                                                                                   \
        return sizeof(struct record);
        RECORD_TYPES(X)
#undef X
    default:
        return 0;
    }
}

bool capture_records_add(struct capture_records *records, const uint8_t *bytes, size_t length,
                         struct error *err) {
    for (size_t at = 0; at < length;) {
        struct record_head head;
        if (length - at < sizeof head)
            return error_set(err, ERROR_BAD_INPUT, "%zu bytes are no record", length - at);
        memcpy(&head, bytes + at, sizeof head);
        size_t size = (size_t)head.len8 * 8, least = least_bytes(head.type);
        if (size < sizeof head || size > length - at || size < least)
            return error_set(err, ERROR_BAD_INPUT, "a record of type %u has %zu bytes of %zu",
                             head.type, size, length - at);
        struct capture_ref ref = {
            .t = head.t, .tid = head.tid, .order = (uint32_t)records->refs.count, .at = bytes + at};
        if (records->refs.count >= UINT32_MAX - 1)
            return error_set(err, ERROR_LIMIT, "2^32 records");
        if (least > 0 && !array_push(&records->refs, ref))
            return error_host_memory(err);
        at += size;
    }
    return true;
}

static int earlier(const void *a, const void *b) {
    const struct capture_ref *x = a, *y = b;
    if (x->t != y->t)
        return x->t < y->t ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

bool capture_records_build(struct capture_records *records, struct timeline *tl,
                           struct error *err) {
    bool sorted = true;
    for (size_t i = 1; i < records->refs.count && sorted; i++)
        sorted = earlier(&records->refs.at[i - 1], &records->refs.at[i]) < 0;
    if (!sorted)
        qsort(records->refs.at, records->refs.count, sizeof *records->refs.at, earlier);
    return capture_build(records, tl, err);
}

/* capture_records.h: the records of a capture (capture/records.h), from all threads of a program, as one timeline.
 *
 *   plain device memory (cudaMalloc)    a segment, filled by one block; where tensors are told of, those are the blocks
 *   memory of a pool (cudaMallocAsync)  a block; the pool is a segment that grows and shrinks (SEGMENT_MAP, _UNMAP)
 *   virtual memory (cuMemMap)           SEGMENT_MAP and _UNMAP of its reservation
 *   pinned host memory                  likewise, on a device of its own behind the others
 *   ranges of the main NVTX thread      phases
 *   samples                             the device's bytes outside all that
 *
 * Times are calls' of the host: what is freed asynchronously counts as free at once. */
#ifndef CAPTURE_RECORDS_H
#define CAPTURE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array.h"

struct error;
struct timeline;

struct capture_ref {
    uint64_t t; /* ns; RECORD_UNKNOWN64: none, comes last */
    uint32_t tid, order;
    const uint8_t *at; /* the whole record, perhaps unaligned */
};

/* Zero bytes are an empty one. The bytes stay the caller's, and where they are. */
struct capture_records {
    ARRAY(struct capture_ref) refs;
    uint64_t dropped;    /* as the capture counted them */
    uint64_t lost_bytes; /* of records that the file has no more */
};

void capture_records_fini(struct capture_records *records);
/* The payload of one block. False: BAD_INPUT or HOST_MEMORY. */
bool capture_records_add(struct capture_records *records, const uint8_t *bytes, size_t length,
                         struct error *err);
/* All of them into an empty timeline; sorts them. More may be added after it, and all be built again. False:
 * BAD_INPUT, LIMIT or HOST_MEMORY. */
bool capture_records_build(struct capture_records *records, struct timeline *tl, struct error *err);

#endif

/* nsight.h: an export of Nsight Systems as records, between its database and its timeline. Private
 * to nsight*.c.
 *
 *   nsight_db.c      the database, of which nothing is trusted
 *   nsight_read.c    tables -> records of this file
 *   nsight_build.c   records -> timeline
 *   nsight_facts.c   what `vramsim info` shows
 *
 * Source: the schema that NVIDIA documents for `nsys export --type sqlite` (3.x; docs/formats.md).
 * Tables and columns come and go between releases: what is not there was not recorded. */
#ifndef NSIGHT_H
#define NSIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "addrmap.h"
#include "array.h"
#include "strtab.h"

struct error;
struct timeline;
struct trace_facts;
struct trace_options;

/* Names as in ENUM_CUDA_MEM_KIND, in the order of its usual ids. */
#define NSIGHT_KINDS(X)                                                                            \
    X(PAGEABLE, "Pageable")                                                                        \
    X(PINNED, "Pinned")                                                                            \
    X(DEVICE, "Device")                                                                            \
    X(ARRAY, "Array")                                                                              \
    X(MANAGED, "Managed")                                                                          \
    X(DEVICE_STATIC, "Device Static")                                                              \
    X(MANAGED_STATIC, "Managed Static")                                                            \
    X(UNKNOWN, "Unknown")

enum nsight_kind {
#define X(id, name) NSIGHT_##id,
    NSIGHT_KINDS(X)
#undef X
        NSIGHT_KIND_COUNT
};

enum nsight_what { NSIGHT_ALLOC, NSIGHT_FREE, NSIGHT_POOL_SIZE };

struct nsight_event {
    uint64_t time_ns, process, address, bytes;
    uint64_t pool, pool_bytes; /* of stream-ordered allocations, and of NSIGHT_POOL_SIZE */
    uint64_t call;             /* key in `calls`; 0: none */
    uint64_t context, stream, cuda_device;
    uint32_t order; /* in the file */
    uint8_t what, kind;
    bool has_pool;
};

/* An NVTX range. */
struct nsight_range {
    uint64_t begin_ns, end_ns; /* end UINT64_MAX: open */
    uint64_t text_id;          /* in `texts`; or ... */
    uint32_t text;             /* ... in `names` */
};

/* The CUDA ordinal of a process -> the card; they differ. */
struct nsight_ordinal {
    uint64_t pid, cuda, gpu;
};

struct nsight_card {
    uint64_t id, total_bytes;
    uint32_t name; /* in `names` */
};

struct nsight {
    struct strtab names;
    ARRAY(struct nsight_event) events;
    ARRAY(struct nsight_range) ranges;
    ARRAY(struct nsight_ordinal) ordinals;
    ARRAY(struct nsight_card) cards;
    struct addrmap calls;               /* correlation of a memory event -> id of its call's name */
    struct addrmap texts;               /* ids of StringIds that are asked for -> name */
    struct addrmap calls_by_name;       /* id of a name -> how often */
    uint8_t kind_of[NSIGHT_KIND_COUNT]; /* ENUM_CUDA_MEM_KIND: id -> enum nsight_kind */
    int64_t alloc_id, free_id;          /* ENUM_CUDA_DEV_MEM_EVENT_OPER */
    uint64_t epoch_ns, kernels, skipped;
    uint32_t schema, product; /* in `names`; 0: unknown */
    bool has_memory_table, says_no_memory, is_wall_clock, is_shifted;
};

/* False: no export of Nsight Systems, damage, a limit. nsight_fini() in any case. */
bool nsight_read(struct nsight *n, const uint8_t *data, size_t length,
                 const struct trace_options *options, struct error *err);
void nsight_fini(struct nsight *n);
/* By time; events of one time as the file has them. */
void nsight_sort(struct nsight *n);
bool nsight_build(struct nsight *n, struct timeline *tl, struct error *err);
bool nsight_facts(const struct nsight *n, struct trace_facts *facts);

/* Bytes on the card itself: those of the others are of the host, or of both. */
static inline bool nsight_is_device(const struct nsight_event *e) {
    return e->kind == NSIGHT_DEVICE || e->kind == NSIGHT_ARRAY || e->kind == NSIGHT_DEVICE_STATIC;
}
/* The call that made it, "cudaMalloc"; 0: unknown. */
uint32_t nsight_call(const struct nsight *n, const struct nsight_event *event);

#endif

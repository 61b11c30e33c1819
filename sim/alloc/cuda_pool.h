/* cuda_pool.h: the driver's pool behind cudaMallocAsync and cudaFreeAsync, as a plan of addresses.
 *
 *   area   | live | free | after stream 7 | live | free ........ |   memory held, in chunks, in address order;
 *          base                                                      holes where chunks were given back
 *
 * Memory that was freed carries the point of its stream at which it becomes free: the stream itself may have it at once,
 * others when that point is reached. Source of the rules: CUDA Programming Guide, Stream Ordered Memory Allocator (reuse
 * policies, release threshold, trimming). How the real driver chooses among free ranges, grows, aligns and defragments no
 * source tells: what stands for it here is an assumption, see docs/allocators.md.
 *
 * Ownership: init and fini on the caller's storage; `world` is borrowed. An address is valid from cuda_pool_take until its
 * free. */
#ifndef CUDA_POOL_H
#define CUDA_POOL_H

#include "alloc.h"
#include "array.h"
#include "live_map.h"
#include "uses.h"

struct cuda_pool_options {
    uint64_t chunk_bytes; /* the pool grows and shrinks by these; a power of two */
    uint64_t align_bytes; /* of sizes; a power of two, at least 256 */
    /* cudaMemPoolAttrReleaseThreshold: what a synchronisation leaves; UINT64_MAX: all */
    uint64_t release_threshold;
    /* cudaMemPoolReuseFollowEventDependencies, ...AllowOpportunistic, ...AllowInternalDependencies */
    bool follows_events, opportunistic, internal_dependencies;
};

struct cuda_range;

struct cuda_pool {
    struct cuda_pool_options options;
    const struct alloc_world *world;
    uint64_t capacity_bytes;
    uint64_t reserved_bytes, reserved_peak; /* cudaMemPoolAttrReservedMem... */
    uint64_t used_bytes, used_peak; /* cudaMemPoolAttrUsedMem...: requested, and not yet reusable */

    ARRAY(struct cuda_range) ranges;
    uint32_t free_record, last; /* last: the highest range of the area */
    ARRAY(uint32_t) free;       /* ranges that are not live, in no order */
    ARRAY(uint32_t) unified;    /* those that wait for uses, in order of their frees */
    struct live_map live;
    struct uses uses;
};

void cuda_pool_init(struct cuda_pool *pool, const struct cuda_pool_options *options,
                    const struct alloc_world *world, uint64_t capacity_bytes);
void cuda_pool_fini(struct cuda_pool *pool);
/* ALLOC_OOM: the state is as before, but for what was noticed as done. */
enum alloc_result cuda_pool_take(struct cuda_pool *pool, uint64_t bytes, uint64_t stream,
                                 uint64_t *address);
/* Notes that `stream` too uses the block. False: host memory. */
bool cuda_pool_use(struct cuda_pool *pool, uint64_t address, uint64_t stream);
/* cudaFreeAsync on the stream that took the block; where others use it, on a stream made to wait for all of them, which
 * nobody else queues work on. Returns the bytes requested. */
uint64_t cuda_pool_free(struct cuda_pool *pool, uint64_t address);
/* Looks which points are reached; cuda_pool_take does so by itself where the policy allows it. */
void cuda_pool_notice(struct cuda_pool *pool);
/* The host waits for everything that was freed. Then what the release threshold does not keep is given back. False: host
 * memory, and less is given back. */
bool cuda_pool_synchronize(struct cuda_pool *pool);
/* cudaMemPoolTrimTo: free chunks are given back, from the end on, while more than `keep` bytes are held. */
bool cuda_pool_trim(struct cuda_pool *pool, uint64_t keep);

#endif

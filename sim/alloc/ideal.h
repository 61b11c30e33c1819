/* ideal.h: what the ideal allocators share, for live_sum.c and packed.c only: live blocks, those that wait for other
 * streams, statistics, out-of-memory. */
#ifndef IDEAL_H
#define IDEAL_H

#include "alloc.h"
#include "array.h"
#include "live_map.h"
#include "uses.h"

struct error;

enum { IDEAL_UNIT = 512 }; /* sizes are multiples of it, as PyTorch's */

struct ideal_block {
    uint64_t address, bytes, requested, stream;
    uint64_t segment_address;
    uint32_t uses; /* head; see uses.h */
    uint32_t next; /* of unused records */
    size_t number; /* of the request, from 0 */
};

/* The implementation's struct begins with it. */
struct ideal {
    struct alloc alloc;
    struct alloc_world world;
    uint64_t total_bytes, capacity_bytes;
    size_t requests;                  /* so far, refused ones too */
    ARRAY(struct ideal_block) blocks; /* at[0] unused */
    uint32_t free_record;
    struct live_map live;
    struct uses uses;
    ARRAY(uint32_t) pending; /* freed, waiting for other streams */
    struct alloc_stats stats;
    struct alloc_oom oom;
    void (*ended)(struct ideal *ideal, const struct ideal_block *block); /* its bytes are free */
};

void ideal_init(struct ideal *ideal, const struct alloc_ops *ops,
                const struct alloc_config *config);
void ideal_fini(struct ideal *ideal);
struct ideal *ideal_of(struct alloc *alloc);
/* For alloc_ops. */
void ideal_free(struct alloc *alloc, uint64_t address);
enum alloc_result ideal_record_stream(struct alloc *alloc, uint64_t address, uint64_t stream);
enum alloc_result ideal_empty_cache(struct alloc *alloc);
const struct alloc_stats *ideal_stats(const struct alloc *alloc);
const struct alloc_oom *ideal_last_oom(const struct alloc *alloc);

/* Room for one more block. */
bool ideal_reserve(struct ideal *ideal);
/* Ends the blocks that no stream uses any more; `wait`: the host waits for those streams first. */
void ideal_end_pending(struct ideal *ideal, bool wait);
/* The caller has reserved. `block` without uses. */
void ideal_hand_out(struct ideal *ideal, const struct ideal_block *block);
enum alloc_result ideal_out_of_memory(struct ideal *ideal, uint64_t bytes, uint64_t rounded,
                                      uint64_t stream);
/* An entry of memory taken or given back; the statistics with it. */
void ideal_segment(struct ideal *ideal, enum alloc_entry_kind kind, uint64_t segment_address,
                   uint64_t address, uint64_t bytes);

#endif

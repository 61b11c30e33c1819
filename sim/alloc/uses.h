/* uses.h: other streams' uses of live blocks, as record_stream notes them, for the models that have no such books of their
 * own. A block holds the head of its list, 0 = none. At its free every use becomes an event; the memory is free when
 * all of them are done. */
#ifndef USES_H
#define USES_H

#include "alloc.h"
#include "array.h"

struct use {
    uint64_t stream, event;
    uint32_t next;
};

struct uses {               /* zero bytes are empty */
    ARRAY(struct use) list; /* at[0] unused */
    uint32_t free_slot;
};

/* Once a stream. False: host memory. */
bool uses_add(struct uses *uses, uint32_t *head, uint64_t stream);
/* An event on each stream of the list, now. */
void uses_record(struct uses *uses, uint32_t head, const struct alloc_world *world);
/* The events of uses_record: are all done; wait for them (the host), make `stream` wait for them. */
bool uses_are_done(const struct uses *uses, uint32_t head, const struct alloc_world *world);
void uses_wait(const struct uses *uses, uint32_t head, const struct alloc_world *world);
void uses_let_wait(const struct uses *uses, uint32_t head, const struct alloc_world *world,
                   uint64_t stream);
void uses_drop(struct uses *uses, uint32_t *head);
void uses_fini(struct uses *uses);

#endif

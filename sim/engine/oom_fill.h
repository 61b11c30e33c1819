/* oom_fill.h: what an allocator knows of its failure, for the timeline. */
#ifndef OOM_FILL_H
#define OOM_FILL_H

#include <stdint.h>

struct alloc;
struct timeline;

/* The figures and the message of the last failure of `al`, into the newest oom of the timeline. */
void oom_fill(struct timeline *tl, const struct alloc *al, uint64_t requested_bytes,
              unsigned device);

#endif

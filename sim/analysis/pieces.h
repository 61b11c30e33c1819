/* pieces.h: the plain segments of a device cut into blocks and free pieces, while the events are
 * walked. Tells what each event does to PyTorch's inactive_split figures.
 *
 *   segment  [block]<->[free]<->[block]<->[free]   pieces of a segment are linked in address order
 *                      ^ by_address                  free pieces are found by their start
 *
 * A piece is split when it has a neighbour; free split pieces are what inactive_split counts. */
#ifndef PIECES_H
#define PIECES_H

#include <stdbool.h>
#include <stdint.h>

#include "address_map.h"
#include "array.h"

struct placement;
struct timeline;

#define PIECE_NONE UINT32_MAX

struct piece {
    uint64_t address, bytes;
    uint32_t previous, next; /* PIECE_NONE: the segment's end */
    bool is_free;
};

struct pieces {
    const struct timeline *tl;
    ARRAY(struct piece) all;
    ARRAY(uint32_t) unused;        /* indexes of `all` to use again */
    uint32_t *of_block;            /* by block; PIECE_NONE: not in a plain segment */
    struct address_map by_address; /* free pieces */
    bool is_broken;                /* the addresses do not fit; nothing more is counted */
};

/* What an event changed. */
struct piece_change {
    int64_t bytes, blocks;
};

/* `placement` is the state before the first event. False: host memory. pieces_fini() frees in
 * either case. */
bool pieces_init(struct pieces *p, const struct timeline *tl, const struct placement *placement);
void pieces_fini(struct pieces *p);

bool pieces_take(struct pieces *p, uint32_t block, struct piece_change *change); /* ALLOC */
bool pieces_return(struct pieces *p, uint32_t block,
                   struct piece_change *change); /* FREE_COMPLETED */
bool pieces_add_segment(struct pieces *p, uint32_t segment);
bool pieces_remove_segment(struct pieces *p, uint32_t segment);

#endif

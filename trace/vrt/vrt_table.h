/* vrt_table.h: rows of a timeline's table as the stored bytes of one block of a `.vrt` file, and back.
 *
 *   0 u64 number of the first row   8 u32 columns   12 u32 0   16 the columns' descriptions, then their numbers
 *
 * Columns are told by the ids of timeline_fields.h; one that is not there is zero, an index none. Not written are links:
 * the events that name a row, the first of each kind (patches tell of others). An index goes out as itself + 1, so that
 * none is 0. FORETOLD columns hold the difference to what the rows before tell:
 *
 *   block   address: its segment's   block_bytes: its requested_bytes
 *   event   ref: of an alloc the block after that of the alloc before; of a free_completed the ref of the event before
 *           it in this block of the file (0: none); of a free_requested or record_stream the block that the next alloc
 *           would have; else 0
 *           bytes, address, stream, device: those of the block or segment it refers to (bytes of a block: the requested
 *           ones; of a map or unmap: none), device of a phase, too */
#ifndef VRT_TABLE_H
#define VRT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array.h"
#include "timeline_fields.h"

struct error;
struct timeline;

struct vrt_buffer {
    ARRAY(uint8_t) bytes;
};

/* What goes from one block of events to the next. Zero bytes at the start. */
struct vrt_foretell {
    uint32_t next_block;
};

/* Numbers of the file -> those of this program. */
struct vrt_maps {
    uint8_t kind[256], category[256], dtype[256];
};

/* Puts the rows [first, first + count) into an empty buffer. `values`: room for `count` numbers.
 * False: host memory. */
bool vrt_table_pack(const struct timeline *tl, enum timeline_table_id id, size_t first,
                    size_t count, struct vrt_foretell *foretell, uint64_t *values,
                    struct vrt_buffer *out);
/* Adds the rows of a block to the timeline (RUN: replaces). Every index is in its bounds then. */
bool vrt_table_unpack(struct timeline *tl, enum timeline_table_id id, const uint8_t *bytes,
                      size_t length, size_t rows, const struct vrt_maps *maps,
                      struct vrt_foretell *foretell, struct error *err);

/* Numbers as a file has them -> those of the member, in place. False: a string or a
 * row that is not there. */
bool vrt_table_convert(const struct timeline *tl, const struct timeline_field *field,
                       const struct vrt_maps *maps, uint64_t *values, size_t count,
                       struct error *err);

/* The member that names the first event of this kind that refers to a row: *table is where; NULL: there
 * is none. */
const struct timeline_field *vrt_link_of(uint8_t kind, enum timeline_table_id *table);

#endif

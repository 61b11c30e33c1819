/* vrt_patch.h: changes of rows that a `.vrt` file has already. Private to vrt_write.c. */
#ifndef VRT_PATCH_H
#define VRT_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline_fields.h"
#include "vrt_table.h"

struct error;
struct timeline;
struct vrt_crc;
struct vrt_writer;

/* A checksum of a row without its links. */
uint32_t vrt_row_mark(const struct vrt_crc *crc, const struct timeline *tl,
                      enum timeline_table_id id, size_t row);
/* Changes of written rows of segments, phases and ooms. */
bool vrt_patch_small(struct vrt_writer *w, const struct timeline *tl, struct error *err);
/* Into writer->links, as rows of one block: what a reader who takes the events [first, end) has wrong then, since it takes
 * the first event of a kind that names a row for the row's. Of the events from `known` on it knows nothing. */
bool vrt_patch_links(struct vrt_writer *w, const struct timeline *tl, size_t first, size_t end,
                     size_t known, struct error *err);
uint32_t vrt_patch_count(const struct vrt_buffer *patches);
/* Rows of all tables, and links that changed after their events were written. */
bool vrt_patch_rest(struct vrt_writer *w, const struct timeline *tl, struct error *err);
/* One block, of what is in the buffer. */
bool vrt_put_block(struct vrt_writer *w, const struct vrt_buffer *buffer, uint16_t type,
                   uint8_t flags, uint32_t rows, struct error *err);

#endif

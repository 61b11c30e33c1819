/* vrt_patch.h: changes of rows that a `.vrt` file has already. Private to vrt_write.c. */
#ifndef VRT_PATCH_H
#define VRT_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline_fields.h"

struct error;
struct timeline;
struct vrt_crc;
struct vrt_writer;

/* A checksum of a row without its links. */
uint32_t vrt_row_mark(const struct vrt_crc *crc, const struct timeline *tl,
                      enum timeline_table_id id, size_t row);
/* Changes of written rows of segments, phases and ooms. */
bool vrt_patch_small(struct vrt_writer *w, const struct timeline *tl, struct error *err);
/* Those of all tables, and links that are not the first event of their kind. */
bool vrt_patch_rest(struct vrt_writer *w, const struct timeline *tl, struct error *err);
/* One block, of what vrt_patch.c has put into the writer's buffer. */
bool vrt_put_block(struct vrt_writer *w, uint16_t type, uint32_t rows, struct error *err);

#endif

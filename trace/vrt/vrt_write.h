/* vrt_write.h: a timeline -> a `.vrt` file, at once or as it grows.
 *
 *   vrt_writer_begin, then vrt_writer_add as often as there is more, vrt_writer_end
 *
 * vrt_writer_add writes what was added to the timeline since the last time; readers that come meanwhile see the timeline
 * as it was then. A timeline only grows: events, strings and stacks stay as they are, requested_bytes, address, stream and
 * device of a block too; what else changes of a row is written as a change: of segments, phases and ooms by the next add,
 * of blocks by the end. The timeline passes timeline_check(). */
#ifndef VRT_WRITE_H
#define VRT_WRITE_H

#include "vrt_out.h"
#include "vrt_table.h"

struct error;
struct timeline;

struct vrt_writer {
    /* to be set after vrt_writer_begin */
    bool packs; /* by zstd */
    /* as many are lost at most when a file is cut off, 1 to 65,536; 0: an eighth of those before, 4,096 to 65,536, since
     * large groups pack well */
    size_t group_events;
    /* private */
    struct vrt_out *out;
    struct vrt_foretell foretell;
    struct vrt_buffer buffer, packed, links;
    size_t strings, rows[TIMELINE_TABLE_COUNT];  /* written */
    ARRAY(uint32_t) marks[TIMELINE_TABLE_COUNT]; /* checksum of each written row; links left out */
    uint32_t run_mark;
    bool has_run, adds_once;
    uint64_t *values;
};

/* `out`: its `write` and `user` are set; it outlives the writer. `adds_once`: the timeline is finished
 * and vrt_writer_add is called once, so that no row can change afterwards. */
bool vrt_writer_begin(struct vrt_writer *writer, struct vrt_out *out,
                      const struct vrt_header *header, bool adds_once, struct error *err);
bool vrt_writer_add(struct vrt_writer *writer, const struct timeline *tl, struct error *err);
/* What has changed since it was written, and the mark that the file is finished. */
bool vrt_writer_end(struct vrt_writer *writer, const struct timeline *tl, struct error *err);
void vrt_writer_fini(struct vrt_writer *writer); /* whatever went before */

/* All of it, into a file that did not exist before. */
bool vrt_write_all(struct vrt_out *out, uint32_t producer, const struct timeline *tl,
                   struct error *err);

#endif

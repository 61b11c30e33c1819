/* vrt_tail.h: a `.vrt` file that is being written (by whatever writes timelines, or by a capture), now and then as a
 * timeline of all that is there. Only what is new since the last time is read and decoded.
 *
 * A capture's file has records, which become a timeline all together: threads hand theirs over one behind the other, so a new
 * one may belong before those that are there. Their bytes are kept. Ownership: each timeline is the caller's. One thread. */
#ifndef VRT_TAIL_H
#define VRT_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct timeline;
struct vrt_tail;

/* NULL: `err` names the path. `max_bytes`: of host memory for a timeline; 0: three quarters of this machine's. */
struct vrt_tail *vrt_tail_open(const char *path, size_t max_bytes, struct error *err);
void vrt_tail_close(struct vrt_tail *tail);
/* As trace_import() would make it of what is whole so far, but that a file without its end is no reason for a warning.
 * NULL: not such a file, another one than before, damaged (trace_import() then says what is lost), a lie,
 * interrupted, or host memory; the tail is then of no further use. `progress` is optional; false cancels. */
struct timeline *vrt_tail_read(struct vrt_tail *tail,
                               bool (*progress)(void *user, uint64_t done, uint64_t total),
                               void *user, struct error *err);
bool vrt_tail_has_ended(const struct vrt_tail *tail);      /* the writer is done */
uint64_t vrt_tail_bytes_read(const struct vrt_tail *tail); /* of the file, in all */

#endif

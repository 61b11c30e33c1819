/* vrt_follow.h: a `.vrt` file that somebody may still be writing, as a timeline that grows with it.
 *
 *   vrt_follow_open, then vrt_follow_more now and then (whenever the file has grown, a few times a second)
 *
 * The timeline is the follower's. Every index in it is in its bounds after every call; that it passes timeline_check() is
 * made sure of whenever it has doubled, and at the end. Rows that are there may change (a block gets its free_event),
 * arrays may move. Nobody else adds to it: the numbers of its texts are the file's. One thread. */
#ifndef VRT_FOLLOW_H
#define VRT_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct timeline;
struct vrt_follow;

/* A file that is empty so far is fine. NULL: `err` names the path. `max_bytes`: of host memory for the
 * timeline; 0: no limit. */
struct vrt_follow *vrt_follow_open(const char *path, size_t max_bytes, struct error *err);
void vrt_follow_close(struct vrt_follow *follow);
/* Blocks of a capture's records go there; vrt_read.h. Without it they are passed over. */
void vrt_follow_take_records(struct vrt_follow *follow,
                             bool (*take)(void *records, const uint8_t *bytes, size_t length,
                                          struct error *err),
                             void *records);
/* Takes what is new, some 64 MiB of the file at most; *more: call again at once. False: not such a file,
 * another one than before, damaged, or host memory; what was taken before stays, and nothing comes any more. */
bool vrt_follow_more(struct vrt_follow *follow, bool *more, struct error *err);

const struct timeline *vrt_follow_timeline(const struct vrt_follow *follow);
uint64_t vrt_follow_offset(const struct vrt_follow *follow); /* bytes of the file that were taken */
uint64_t vrt_follow_bytes_read(const struct vrt_follow *follow); /* those read twice, twice */
uint64_t vrt_follow_records(const struct vrt_follow *follow);    /* blocks of a capture's records */
uint64_t vrt_follow_lost_bytes(
    const struct vrt_follow *follow); /* of records, passed over: they are damaged */
bool vrt_follow_has_ended(const struct vrt_follow *follow); /* the writer is done */

#endif

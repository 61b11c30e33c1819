/* vrt_read.h: a `.vrt` file's bytes -> a timeline, as far as the file is there, and on from there when there is more.
 *
 * Blocks are taken up to the last one that is marked WHOLE, so that a timeline that is still being written is one at
 * every moment. What follows that block in a file that was cut off is left out; so is everything from a damaged block
 * on, but for a capture's records: they do not build on each other as tables do, and are read on behind the damage.
 * Every index is in its bounds; whether the events make sense is for timeline_check() to say. Ownership: the timeline is
 * the caller's and nobody else adds to it meanwhile. */
#ifndef VRT_READ_H
#define VRT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vrt_crc.h"
#include "vrt_table.h"

struct error;
struct timeline;

/* Bytes of a file that are passed over. */
struct vrt_gap {
    uint64_t from, to; /* offsets */
    uint32_t sequence; /* of the block that lies at `to` */
};

struct vrt_reader {
    struct timeline *tl;
    size_t max_bytes; /* of host memory for the timeline; 0: no limit */
    /* (optional) now and then; false cancels: ERROR_INTERRUPTED */
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    /* (optional) the payload of a block of a capture's records; false: `err` says why. Without it a damaged
     * capture ends as any other file. */
    bool (*take_records)(void *records, const uint8_t *bytes, size_t length, struct error *err);
    void *records_user;
    /* since the beginning; to be read */
    uint64_t offset;   /* of the file: what lies before it is in the timeline */
    uint32_t producer; /* enum vrt_producer */
    uint16_t minor;
    bool has_ended;      /* the writer has finished the file */
    uint64_t blocks;     /* taken */
    uint64_t records;    /* blocks of raw records, which are passed over */
    uint64_t damaged_at; /* VRT_UNKNOWN: nothing was */
    const char *damage;  /* "" */
    /* behind which there is more that was taken */
    ARRAY(struct vrt_gap) gaps;
    uint64_t lost_bytes;   /* in them */
    uint64_t lost_blocks;  /* by the numbers of those that are there */
    uint64_t lost_records; /* of blocks whose heads are whole */
    /* private */
    struct vrt_crc crc;
    struct vrt_maps maps;
    struct vrt_foretell foretell;
    struct vrt_buffer unpacked;
    uint32_t sequence;
    size_t crossed; /* gaps */
};

bool vrt_is_one(const uint8_t *head, size_t length);

/* `tl`: as timeline_create() leaves it. */
void vrt_reader_init(struct vrt_reader *reader, struct timeline *tl);
void vrt_reader_fini(struct vrt_reader *reader);
/* Takes what is whole of the bytes that lie at reader->offset in the file, and moves the offset on.
 * Too few bytes are no error: the offset then stays. False: not a file of this kind, of a newer major
 * version, or one that lies; the timeline is then of no use. */
bool vrt_reader_take(struct vrt_reader *reader, const uint8_t *bytes, size_t length,
                     struct error *err);

#endif

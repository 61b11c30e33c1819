/* decode.h: a buffer of CUPTI's activity records -> records of ours. */
#ifndef DECODE_H
#define DECODE_H

#include <stddef.h>
#include <stdint.h>

struct decoded {
    uint8_t *records; /* whole ones, in CUPTI's order */
    size_t bytes, room;
    uint64_t skipped;    /* records of kinds that are not ours */
    uint64_t lost_bytes; /* of the buffer behind a record that CUPTI cannot step over */
    uint64_t lost;       /* records for which there was no memory */
};

/* `next`: cuptiActivityGetNextRecord. `version`: what cuptiGetVersion said. `text`: -> an id. The caller
 * frees `records`. */
void decode_buffer(uint8_t *buffer, size_t valid, uint32_t version,
                   int (*next)(uint8_t *buffer, size_t valid, uint8_t **record),
                   uint32_t (*text)(const char *text), struct decoded *out);

#endif

/* ooms.h: the requests of a device that failed. A program may catch an out-of-memory and go on; then
 * it asks for memory afterwards. */
#ifndef OOMS_H
#define OOMS_H

#include <stdbool.h>
#include <stdint.h>

struct timeline;
struct timeline_oom;

struct ooms {
    uint32_t count;
    const struct timeline_oom *first, *last; /* NULL: none */
    bool went_on; /* there are requests after the last one. Off: it ended the run, or the record */
};

void ooms_find(const struct timeline *tl, uint8_t device, struct ooms *out);

#endif

/* tip.h: what is told of the thing under the pointer: a few lines, the first one bold. */
#ifndef TIP_H
#define TIP_H

#include <stdbool.h>
#include <stdint.h>

#include "attr.h"

struct app;

enum { TIP_LINES = 10, TIP_BYTES = 240 };

struct tip {
    char lines[TIP_LINES][TIP_BYTES]; /* shortened in the middle where there is no room */
    int count;
    uint32_t swatch; /* the colour before the first line; 0: none */
};

/* A line more; what has no room is left out. */
void tip_add(struct tip *tip, const char *format, ...) ATTR_PRINTF(2, 3);
/* A block of the first timeline: its bytes, name, owner, operation, category, life. */
void tip_block(struct app *app, uint32_t block, struct tip *tip);
/* "16 events, 117.250 us"; false: it is not freed in this timeline, or began before it. */
bool tip_life(struct app *app, uint32_t block, char out[TIP_BYTES]);

#endif

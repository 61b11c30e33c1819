/* hit.h: what is under a pixel of the plot. The pointer's column is computed again, so nothing need
 * have been drawn. */
#ifndef HIT_H
#define HIT_H

#include <stdbool.h>
#include <stdint.h>

struct app;

/* (x, y) of the picture -> a band of the first timeline. `group`: the band; `block`: the block
 * there, TIMELINE_NONE where it is smaller than a pixel (or the context below all). False: no band
 * is there, or no host memory; both are then untouched. */
bool app_hit(struct app *app, int x, int y, uint32_t *block, int *group);

#endif

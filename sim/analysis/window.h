/* window.h: which part of a simulated run a recording from mid-run shows.
 *
 * Where the recording's requests stand in the simulated run, one after the other, that is the part;
 * of several such places the last, when the run has settled. Else as many of the last steps as the
 * recording has, from their first event to the end: the difference will be found there. */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct alignment_side;
struct error;
struct steps;

struct window {
    uint32_t begin, end;    /* events of the simulated run: [begin, end) */
    uint32_t first_request; /* ALLOCs before it */
    uint32_t places;        /* where all requests stand as recorded; 0: nowhere */
};

/* Both sides whole. False: host memory. */
bool window_find(const struct alignment_side *simulated, const struct steps *simulated_steps,
                 const struct alignment_side *real, const struct steps *real_steps,
                 struct window *out, struct error *err);

#endif

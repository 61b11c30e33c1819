/* phase_sums.h: what a phase did to the memory: its peak, what it allocated and freed. */
#ifndef PHASE_SUMS_H
#define PHASE_SUMS_H

#include <stdbool.h>
#include <stdint.h>

struct app;

struct phase_sums {
    bool known;
    uint32_t phase, begin, end; /* moments */
    uint64_t peak;              /* allocated, of the moments begin .. end */
    uint64_t allocated, freed;
};

/* Of a phase of the first timeline; walks its events unless it was the last one asked for. */
const struct phase_sums *phase_sums_of(struct app *app, uint32_t phase);

#endif

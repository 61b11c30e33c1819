/* steps.h: the training steps of a timeline, with the figures that torch.cuda.memory_stats() would
 * show at their ends.
 *
 * Where phases are named "step N" (or the profiler's "ProfilerStep#N"), these are the steps. Else a
 * step ends where a run of optimizer and zero_grad phases ends, PyTorch's own "Optimizer.step#..."
 * among them; a run is over at the next other phase or allocation. A step may hold several forwards
 * (accumulation). What was begun (forward, backward) after the last run, or is open at the end, is
 * an unfinished step. A timeline without such phases has no steps. The first step begins at the
 * first phase that is not "model"; where only optimizers are marked, at the first event. */
#ifndef STEPS_H
#define STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"

struct error;
struct timeline;

struct step {
    uint32_t begin_event, end_event; /* both inside */
    uint32_t phase;                  /* its "step N" phase, else TIMELINE_NONE */
    bool is_complete;
    /* Running maxima since the start of the timeline, read at the step's end. */
    uint64_t allocated_peak, active_peak, reserved_peak, requested_peak;
    /* Maxima within the step, the state it begins with included. */
    uint64_t own_allocated_peak, own_reserved_peak;
    uint32_t own_peak_event; /* of allocated; TIMELINE_NONE: it began with it */
    uint64_t allocated_end, reserved_end;
};

struct steps {
    ARRAY(struct step) rows;
};

/* False: host memory. steps_fini() frees. */
bool steps_find(const struct timeline *tl, uint8_t device, struct steps *out, struct error *err);
void steps_fini(struct steps *steps);

#endif

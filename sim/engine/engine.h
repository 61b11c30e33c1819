/* engine.h: drives an allocator with what a tape asks for and writes the timeline.
 *
 *   tape --(sink)--> engine --> clocks (time), allocator (answers) --> timeline
 *
 * Out of memory ends the run as the real one would end: the failed request, the allocator's figures
 * and PyTorch's message stand in the timeline's ooms. Ownership: the engine owns clocks and
 * allocator; the timeline is the caller's once engine_finish has returned it. */
#ifndef ENGINE_H
#define ENGINE_H

#include "alloc.h"
#include "tape.h"
#include "timeline.h"

struct engine;
struct text;

struct engine_config {
    const struct framework *framework;
    const struct device *device;
    const struct alloc_ops *allocator; /* NULL: the settings' backend */
    struct lifetimes *lifetimes;       /* (optional) and packing: see alloc_config */
    const struct packing *packing;
    struct alloc_settings settings;
    uint64_t max_requests;      /* 0: the default; more is ERROR_LIMIT */
    struct text *tape_dump;     /* (optional) a line for every op */
    struct text *schedule_dump; /* (optional) a line for every kernel and phase */
};

struct engine *engine_create(const struct engine_config *config, struct error *err);
void engine_destroy(struct engine *engine);
struct tape_sink engine_sink(struct engine *engine);
/* An error that the sink had to swallow (host memory, limit); ERROR_NONE if none. */
const struct error *engine_error(const struct engine *engine);
const struct alloc_stats *engine_stats(const struct engine *engine);
/* Of the device's memory, as the program has last set it; 1: all. */
double engine_memory_fraction(const struct engine *engine);
/* The finished timeline, now the caller's. */
struct timeline *engine_finish(struct engine *engine);

#endif

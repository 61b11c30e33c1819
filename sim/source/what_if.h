/* what_if.h: a run under another allocator, other settings or on another card.
 *
 *   trace      its requests are replayed (replay.h); nothing of the program but these is known
 *   scenario   it is run again, so it goes its own way after an out-of-memory
 *
 * Both give the same: figures of the run as it was and as it would be, and a timeline of the latter. */
#ifndef WHAT_IF_H
#define WHAT_IF_H

#include <stdbool.h>

#include "replay.h"
#include "source.h"

/* All NULL: nothing is changed. Strings are borrowed. */
struct what_if {
    const char *settings;  /* PYTORCH_ALLOC_CONF */
    const char *allocator; /* a row of alloc.h's table */
    const char *device;
    /* What the program of a trace had set by set_per_process_memory_fraction: no trace tells; 0: nothing
     * known. It is no change: with it, `device` is the card that was. */
    double memory_fraction;
};

/* The run as it was: a trace is read, a scenario is run with default settings. `options` as for
 * source_run; of a scenario its device is kept, of a trace its framework only counts in
 * what_if_run. */
bool what_if_base(const char *path, const struct source_options *options,
                  struct source_result *base, struct error *err);
/* On success the caller frees with replay_result_fini. Errors: those of source_run and replay_run;
 * settings, allocator or device that do not exist (ERROR_USAGE). */
bool what_if_run(const char *path, const struct source_options *options,
                 const struct source_result *base, const struct what_if *change,
                 struct replay_result *out, struct error *err);
/* The run as it was through the native allocator's model: every answer must be equal. Of `was` counts
 * what no trace tells: memory_fraction and, with it, the device. */
bool what_if_reproduce(const struct source_options *options, const struct source_result *base,
                       const struct what_if *was, struct replay_result *out, struct error *err);
/* Whose defaults and keys the settings of a trace have: the release asked for, else the trace's, else
 * the newest. */
const struct framework *what_if_rules(const struct source_options *options,
                                      const struct timeline *tl);

#endif

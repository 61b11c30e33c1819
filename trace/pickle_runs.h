/* pickle_runs.h: lists whose items were put into another list before, known again by their bytes;
 * private to pickle*.c.
 *
 * A snapshot writes the stack of each entry as a list of frames, and a frame that was written before
 * is a BINGET. Half of the bytes of a real file are such runs and nearly all runs are repetitions: a
 * whole step has a few hundred stacks, and what follows one is mostly what followed it before. So a
 * run is foretold from the one before it and compared at once. Between MARK and APPENDS equal bytes
 * name equal memo slots and so equal items, as long as no slot is written a second time: with the
 * first one that is, all this ends. */
#ifndef PICKLE_RUNS_H
#define PICKLE_RUNS_H

#include "pickle_machine.h"

/* A table for the runs, if the handler can share lists. */
bool pickle_runs_init(struct pickle *p);
void pickle_runs_fini(struct pickle *p);
/* APPENDS has put `count` items into a list: keeps the run if nothing but gets made them. */
bool pickle_runs_keep(struct pickle *p, uint32_t list, size_t count);
/* At a MARK, before it is run: the known run behind it, with its APPENDS, done at once. False:
 * nothing was done. */
bool pickle_runs_again(struct pickle *p);

#endif

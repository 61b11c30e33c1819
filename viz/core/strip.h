/* strip.h: the track below the timeline: fragmentation over time, or the signed difference of two
 * timelines. What it shows is built when it is looked at for the first time: in slices where a window
 * gives time (app_work), else at once. */
#ifndef STRIP_H
#define STRIP_H

#include <stdbool.h>
#include <stdint.h>

#include "free_runs.h"
#include "level.h"

struct app;

enum strip_kind { STRIP_FRAGMENTATION, STRIP_DIFFERENCE, STRIP_COUNT };

struct strip {
    enum strip_kind kind;
    enum level level;       /* of the difference, and of the second timeline's line */
    bool has_runs, has_gap; /* begun */
    struct free_runs runs;
    struct level_gap gap;
};

void strip_fini(struct strip *strip);
/* Off, fragmentation, difference (of two timelines), off. */
void strip_next(struct app *app);
void strip_next_level(struct app *app);
void strip_forget_gap(struct app *app); /* the alignment is another */
/* Begins what is shown and not begun. False: host memory. */
bool strip_start(struct app *app);
bool strip_is_building(const struct app *app);
/* A slice of it. False: host memory. */
bool strip_build(struct app *app, uint32_t events);

#endif

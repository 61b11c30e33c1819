/* plot.h: what the timeline and the overview have in common: columns as bands and lines of the draw
 * list. */
#ifndef PLOT_H
#define PLOT_H

#include <stdint.h>

#include "level.h"

struct app;
struct axis;
struct column;
struct draw_list;
struct rect;
struct streams_cursor;
struct track;
struct view;

struct plot_frame {
    const struct rect *rect; /* as wide as there are columns */
    const struct view *view;
    const struct track *track;
    const struct column *columns;
    struct streams_cursor *blocks; /* NULL: bands of groups alone */
    int phase; /* which column of the patterns the first one is: moves with a pan */
};

/* The plot without what lies over it: ground, grid, bands, lines of the columns. Of part of a plot's
 * columns the same pixels as of all, when the first is not looked at. */
void plot_ground(struct app *app, struct draw_list *list, const struct plot_frame *frame);
struct axis plot_byte_axis(const struct app *app, const struct plot_frame *frame);
int plot_y(const struct plot_frame *frame, double bytes); /* pixels of the picture */
/* Context, the other bands from the bottom, then what is reserved but not in use (hatched). */
void plot_bands(struct app *app, struct draw_list *list, const struct plot_frame *frame);
/* Over them the blocks of a pixel or more. */
void plot_blocks(struct app *app, struct draw_list *list, const struct plot_frame *frame);
/* Over them a pattern on what was there before the recording. */
void plot_before(struct app *app, struct draw_list *list, const struct plot_frame *frame);
void plot_reserved(struct app *app, struct draw_list *list, const struct plot_frame *frame);
/* The highest of each column as a line: allocated or reserved on top of `context` bytes, or the device. */
void plot_line(struct app *app, struct draw_list *list, const struct plot_frame *frame,
               enum level level, uint64_t context, uint32_t color);

/* The cache given back, and sums that contradict each other (marks.h), named on plates. */
struct plates;
void plot_marks(struct app *app, struct draw_list *list, const struct plot_frame *frame);
void plot_mark_names(struct app *app, struct draw_list *list, const struct plot_frame *frame,
                     struct plates *plates);

#endif

/* plot_matches.h: the search's matches in a plot whose bands are dim: what of each band matches at the
 * column's moment is bright, and a line says how many bytes match at each column's highest moment of
 * theirs. */
#ifndef PLOT_MATCHES_H
#define PLOT_MATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "category.h"

struct app;
struct column;
struct draw_list;
struct lod_state;
struct pieces;
struct plot_frame;

/* Whether bands of this frame are dim: a search is on, and the frame is of its timeline. */
bool plot_is_dim(const struct app *app, const struct plot_frame *frame);
/* Without blocks: from the bottom of each band as high as its matches are. */
void plot_matches(struct app *app, struct draw_list *list, const struct plot_frame *frame);
/* With blocks: the group of each piece that matches becomes as many more as there are bands. Of the rest of a group,
 * where blocks are smaller than a pixel, the part that matches is another piece. False: host memory. */
bool plot_matches_mark(struct app *app, const struct plot_frame *frame, const struct column *column,
                       struct pieces *pieces);
void plot_matches_line(struct app *app, struct draw_list *list, const struct plot_frame *frame);

#endif

/* plot_names.h: the names of the bands, written into them where there is room. */
#ifndef PLOT_NAMES_H
#define PLOT_NAMES_H

struct app;
struct draw_list;
struct plot_frame;

void plot_names(struct app *app, struct draw_list *list, const struct plot_frame *frame);

#endif

/* view.h: between positions on the x axis, bytes on the y axis, and pixels. Pure functions.
 *
 *   x: positions (ruler.h: events or nanoseconds) x0 .. x1 over `width` pixels, left to right
 *   y: bytes y0 .. y1 over `height` pixels, bottom to top
 *
 * Pixels are clamped to +-VIEW_FAR, so that no position, however wild, overflows an int. */
#ifndef VIEW_H
#define VIEW_H

#include <stdbool.h>
#include <stdint.h>

enum { VIEW_FAR = 1 << 20 };

struct view {
    double x0, x1; /* x0 < x1 */
    double y0, y1; /* y0 < y1 */
};

struct view_limits {
    double first, last; /* the whole trace; first < last */
    double min_span;    /* closest zoom, > 0 */
    double top;         /* bytes, > 0: the whole height */
};

void view_fit_x(struct view *view, const struct view_limits *limits);
void view_fit_y(struct view *view, const struct view_limits *limits);
/* Shows x0 .. x1, widened to the closest zoom and moved inside the limits. */
void view_show_x(struct view *view, const struct view_limits *limits, double x0, double x1);
/* `factor` < 1 zooms in; the position `at` stays where it is unless a limit is met. */
void view_zoom_x(struct view *view, const struct view_limits *limits, double at, double factor);
void view_zoom_y(struct view *view, const struct view_limits *limits, double at, double factor);
void view_pan_x(struct view *view, const struct view_limits *limits, double delta);
/* Moves as little as needed for `position` to be inside, with a margin of a twentieth. */
void view_reveal_x(struct view *view, const struct view_limits *limits, double position);
bool view_is_whole_x(const struct view *view, const struct view_limits *limits);

int view_x(const struct view *view, double position, int width);
double view_position(const struct view *view, double x, int width);
/* Pixels above the bottom edge. */
int view_height_of(const struct view *view, double bytes, int height);
double view_bytes_at(const struct view *view, double above_bottom, int height);

#endif

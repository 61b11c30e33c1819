/* view.c: see view.h. */
#include "view.h"

#include <assert.h>

static double at_most(double value, double limit) {
    return value > limit ? limit : value;
}

static double at_least(double value, double limit) {
    return value < limit ? limit : value;
}

/* Rounds down, as a cast does not below zero. */
static int floor_clamped(double value) {
    if (value >= VIEW_FAR)
        return VIEW_FAR;
    if (!(value > -VIEW_FAR)) /* also: not a number */
        return -VIEW_FAR;
    int whole = (int)value;
    return whole > value ? whole - 1 : whole;
}

void view_fit_x(struct view *view, const struct view_limits *limits) {
    assert(limits->first < limits->last);
    view->x0 = limits->first;
    view->x1 = limits->last;
}

void view_fit_y(struct view *view, const struct view_limits *limits) {
    assert(limits->top > 0);
    view->y0 = 0;
    view->y1 = limits->top;
}

void view_show_x(struct view *view, const struct view_limits *limits, double x0, double x1) {
    double whole = limits->last - limits->first;
    double span = at_most(at_least(x1 - x0, at_most(limits->min_span, whole)), whole);
    double middle = x0 / 2 + x1 / 2;
    double first = x1 - x0 == span ? x0 : middle - span / 2;
    first = at_least(at_most(first, limits->last - span), limits->first);
    view->x0 = first;
    view->x1 = span == whole ? limits->last : first + span;
}

void view_zoom_x(struct view *view, const struct view_limits *limits, double at, double factor) {
    double span = (view->x1 - view->x0) * factor;
    double whole = limits->last - limits->first;
    span = at_most(at_least(span, at_most(limits->min_span, whole)), whole);
    double share = (at - view->x0) / (view->x1 - view->x0);
    double first = at - share * span;
    view_show_x(view, limits, first, first + span);
}

void view_zoom_y(struct view *view, const struct view_limits *limits, double at, double factor) {
    double span = at_least((view->y1 - view->y0) * factor, at_most(512, limits->top));
    if (span >= limits->top) {
        view_fit_y(view, limits);
        return;
    }
    double share = (at - view->y0) / (view->y1 - view->y0);
    double first = at - share * span;
    first = at_least(at_most(first, limits->top - span), 0);
    view->y0 = first;
    view->y1 = first + span;
}

void view_pan_x(struct view *view, const struct view_limits *limits, double delta) {
    double span = view->x1 - view->x0;
    double first = at_least(at_most(view->x0 + delta, limits->last - span), limits->first);
    view_show_x(view, limits, first, first + span);
}

void view_reveal_x(struct view *view, const struct view_limits *limits, double position) {
    double span = view->x1 - view->x0, margin = span / 20;
    if (position < view->x0)
        view_pan_x(view, limits, position - margin - view->x0);
    else if (position > view->x1)
        view_pan_x(view, limits, position + margin - view->x1);
}

bool view_is_whole_x(const struct view *view, const struct view_limits *limits) {
    return view->x0 <= limits->first && view->x1 >= limits->last;
}

int view_x(const struct view *view, double position, int width) {
    return floor_clamped((position - view->x0) / (view->x1 - view->x0) * width);
}

double view_position(const struct view *view, double x, int width) {
    return view->x0 + (view->x1 - view->x0) * (x / (width > 0 ? width : 1));
}

int view_height_of(const struct view *view, double bytes, int height) {
    return floor_clamped((bytes - view->y0) / (view->y1 - view->y0) * height + 0.5);
}

double view_bytes_at(const struct view *view, double above_bottom, int height) {
    return view->y0 + (view->y1 - view->y0) * (above_bottom / (height > 0 ? height : 1));
}

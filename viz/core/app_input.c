/* app_input.c: the mouse, and which key does what. */
#include "app_state.h"
#include "hit.h"
#include "input.h"
#include "timeline.h"

static double position_at(const struct app *app, int x) {
    return view_position(&app->view, x - app->layout.plot.x, app->layout.plot.w);
}

static void scrub(struct app *app, int x) {
    struct ruler ruler = app_ruler(app);
    const struct rect *plot = &app->layout.plot;
    int inside = x < plot->x ? plot->x : x >= plot->x + plot->w ? plot->x + plot->w - 1 : x;
    /* the right edge of the pixel: its column's last moment */
    app->cursor = ruler_moment(&ruler, position_at(app, inside + 1));
    app->dirty = true;
}

static double overview_position(const struct app *app, int x) {
    struct view_limits limits;
    app_limits(app, &limits);
    struct view whole;
    view_fit_x(&whole, &limits);
    return view_position(&whole, x - app->layout.plot.x, app->layout.plot.w);
}

static bool is_whole(const struct app *app) {
    struct view_limits limits;
    app_limits(app, &limits);
    return view_is_whole_x(&app->view, &limits);
}

static void press_overview(struct app *app, const struct input *in) {
    double at = overview_position(app, in->x);
    bool inside = at >= app->view.x0 && at <= app->view.x1 && !is_whole(app);
    app->drag = inside ? DRAG_MOVE_BRUSH : DRAG_BRUSH;
    app->drag_x0 = inside ? at - app->view.x0 : at;
}

/* Which row of a table the pointer is over changes what is lit: panes are told of motion too. */
static bool pane_takes(struct app *app, const struct input *in) {
    const struct pane_ops *pane = panes_at(app, in->x, in->y);
    int tab = pane ? panes_tab_index(pane) : -1;
    if (!pane || app->help)
        return false;
    if (pane->input && pane->input(app, in))
        return true;
    return tab >= 0 && pane->table &&
           table_input(app, in, pane->place(app), pane->table, &app->tables[tab]);
}

static void press_plot(struct app *app, const struct input *in) {
    uint32_t block;
    int group;
    if (in->button == BUTTON_LEFT && (in->mods & MOD_CTRL)) {
        if (app_hit(app, in->x, in->y, &block, &group))
            app_follow_band(app, group, block);
    } else if (in->button == BUTTON_RIGHT || (in->mods & MOD_SHIFT)) {
        app->drag = DRAG_RANGE;
        app->drag_x0 = position_at(app, in->x);
    } else if (in->button == BUTTON_MIDDLE) {
        app->drag = DRAG_ZOOM;
    } else if (is_whole(app)) {
        app->drag = DRAG_SCRUB;
        scrub(app, in->x);
    } else {
        app->drag = DRAG_PAN;
        app->drag_x0 = app->view.x0;
    }
}

static void press(struct app *app, const struct input *in) {
    const struct layout *layout = &app->layout;
    app->drag = DRAG_NONE;
    app->drag_from = app->drag_at = in->x;
    app->dirty = true;
    if (app->help) {
        app->help = false;
        return;
    }
    enum layout_split border = layout_border(layout, app->scale_percent, in->x, in->y);
    if (border != SPLIT_COUNT) {
        app->drag = DRAG_SPLIT;
        app->split = border;
        return;
    }
    if (pane_takes(app, in))
        return;
    if (rect_has(&layout->overview, in->x, in->y)) {
        press_overview(app, in);
    } else if (rect_has(&layout->phases, in->x, in->y) || rect_has(&layout->strip, in->x, in->y) ||
               (rect_has(&layout->timeline, in->x, in->y) &&
                in->y >= layout->plot.y + layout->plot.h)) {
        app->drag = DRAG_SCRUB;
        scrub(app, in->x);
    } else if (rect_has(&layout->timeline, in->x, in->y)) {
        if (in->clicks == 2)
            app_act(app, ACTION_WHOLE);
        else
            press_plot(app, in);
    }
}

static void drag(struct app *app, int x, int y) {
    struct view_limits limits;
    app_limits(app, &limits);
    double each = (app->view.x1 - app->view.x0) / app->layout.plot.w;
    switch (app->drag) {
    case DRAG_SCRUB:
        scrub(app, x);
        break;
    case DRAG_PAN:
        view_pan_x(&app->view, &limits, app->drag_x0 - (x - app->drag_from) * each - app->view.x0);
        break;
    case DRAG_BRUSH: {
        double at = overview_position(app, x);
        if (x - app->drag_from > 3 || app->drag_from - x > 3)
            view_show_x(&app->view, &limits, at < app->drag_x0 ? at : app->drag_x0,
                        at < app->drag_x0 ? app->drag_x0 : at);
        break;
    }
    case DRAG_MOVE_BRUSH:
        view_pan_x(&app->view, &limits, overview_position(app, x) - app->drag_x0 - app->view.x0);
        break;
    case DRAG_RANGE: {
        struct ruler ruler = app_ruler(app);
        selection_set_range(&app->selection, ruler_moment(&ruler, app->drag_x0),
                            ruler_moment(&ruler, position_at(app, x)));
        break;
    }
    case DRAG_SPLIT: {
        struct layout_wish wish;
        app_layout_wish(app, &wish);
        app->share[app->split] = layout_share(&wish, &app->layout, app->split, x, y);
        app_relayout(app);
        break;
    }
    case DRAG_ZOOM:
    case DRAG_NONE:
        break;
    }
    app->drag_at = x;
}

static bool moved(const struct app *app, int x) {
    return x - app->drag_from > 3 || app->drag_from - x > 3;
}

/* The block under the pointer; where there is none the pin stays. */
static void pin_at(struct app *app, int x, int y) {
    uint32_t block;
    int group;
    if (app_hit(app, x, y, &block, &group) && block < app->a.tl->blocks.count)
        app_pin(app, block, false);
}

static void release(struct app *app, const struct input *in) {
    enum drag_mode mode = app->drag;
    app->drag = DRAG_NONE;
    app->dirty = true;
    bool click = (mode == DRAG_PAN || mode == DRAG_SCRUB) && !moved(app, in->x);
    if (click) {
        scrub(app, in->x);
        pin_at(app, in->x, in->y);
    } else if (mode == DRAG_BRUSH && !moved(app, in->x)) {
        struct view_limits limits;
        app_limits(app, &limits);
        view_pan_x(&app->view, &limits, app->drag_x0 - (app->view.x0 + app->view.x1) / 2);
    } else if (mode == DRAG_ZOOM && moved(app, in->x)) {
        struct view_limits limits;
        app_limits(app, &limits);
        double a = position_at(app, app->drag_from), b = position_at(app, in->x);
        view_show_x(&app->view, &limits, a < b ? a : b, a < b ? b : a);
    }
}

/* Whole steps multiply, what is left of a step goes in proportion: the same on every machine,
 * unlike pow(). */
static double power(double base, double exponent) {
    double size = exponent < 0 ? -exponent : exponent, result = 1;
    size = size > 40 ? 40 : size;
    int steps = (int)size;
    for (int i = 0; i < steps; i++)
        result *= base;
    result *= 1 + (base - 1) * (size - steps);
    return exponent < 0 ? 1 / result : result;
}

static void wheel(struct app *app, const struct input *in) {
    const struct layout *layout = &app->layout;
    struct view_limits limits;
    app->dirty = true;
    if (pane_takes(app, in))
        return;
    app_limits(app, &limits);
    if (in->mods & MOD_SHIFT) {
        double above = layout->plot.y + layout->plot.h - in->y;
        view_zoom_y(&app->view, &limits, view_bytes_at(&app->view, above, layout->plot.h),
                    1 / power(1.25, in->wheel));
        return;
    }
    double at = position_at(app, in->x);
    at = at < app->view.x0 ? app->view.x0 : at > app->view.x1 ? app->view.x1 : at;
    if (in->wheel != 0)
        view_zoom_x(&app->view, &limits, at,
                    1 / power(in->mods & MOD_CTRL ? 1.06 : 1.25, in->wheel));
    if (in->wheel_x != 0)
        view_pan_x(&app->view, &limits, (app->view.x1 - app->view.x0) * in->wheel_x / 20);
}

static void tick(struct app *app, uint32_t milliseconds) {
    app_work(app, milliseconds);
    if (!app->playing)
        return;
    struct ruler ruler = app_ruler(app);
    double last = ruler_position(&ruler, app->a.lod.moments - 1);
    double end = app->view.x1 < last ? app->view.x1 : last;
    app->play_position += (app->view.x1 - app->view.x0) * app->speed * milliseconds / 10000.0;
    if (app->play_position >= end) {
        app->play_position = end;
        app->playing = false;
    }
    app->cursor = ruler_moment(&ruler, app->play_position);
    app->dirty = true;
}

static void resize(struct app *app, int width, int height) {
    app->width = width > 1 ? width : 1;
    app->height = height > 1 ? height : 1;
    app->drag = DRAG_NONE;
    app_relayout(app);
    app->dirty = true;
}

void app_input(struct app *app, const struct input *in) {
    if (find_input(app, in))
        return;
    switch (in->kind) {
    case INPUT_KEY: {
        enum action action = keys_find(in->key, in->mods);
        if (action != ACTION_NONE)
            app_act(app, action);
        break;
    }
    case INPUT_WHEEL:
        wheel(app, in);
        break;
    case INPUT_MOTION:
        app->pointer_x = in->x;
        app->pointer_y = in->y;
        app->dirty = true;
        if (app->drag != DRAG_NONE || panes_at(app, in->x, in->y) != &pane_owners)
            hover_set(app, NULL);
        if (app->drag != DRAG_NONE)
            drag(app, in->x, in->y);
        else
            pane_takes(app, in);
        break;
    case INPUT_PRESS:
        app->pointer_x = in->x;
        app->pointer_y = in->y;
        press(app, in);
        break;
    case INPUT_RELEASE:
        release(app, in);
        break;
    case INPUT_LEAVE:
        hover_set(app, NULL);
        app->drag = DRAG_NONE;
        app->pointer_x = app->pointer_y = -1;
        app->dirty = true;
        break;
    case INPUT_RESIZE:
        resize(app, in->x, in->y);
        break;
    case INPUT_TICK:
        tick(app, in->milliseconds);
        break;
    case INPUT_TEXT:
    case INPUT_EDIT: /* find_input's */
        break;
    case INPUT_QUIT:
        app->quit = true;
        break;
    }
}

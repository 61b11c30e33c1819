/* app_compare.c: the second timeline against the first: how they are aligned, where they first
 * differ. */
#include "app_state.h"
#include "error.h"
#include "timeline.h"

/* Comparing request by request takes a while: at once only where nobody will notice. */
enum { MATCH_AT_ONCE = 2000000 };

static bool find_match(struct app *app) {
    struct error err = {0};
    return app->match.is_done || request_match_find(&app->match, &app->a, &app->b, &err);
}

const struct request_match *app_match(struct app *app) {
    size_t events = app->has_b ? app->a.tl->events.count + app->b.tl->events.count : 0;
    if (app->has_b && !app->match.is_done && !app->match_failed && events <= MATCH_AT_ONCE)
        app->match_failed = !find_match(app);
    return app->match.is_done ? &app->match : NULL;
}

/* What was read of the second timeline by the old map. */
static void forget_map(struct app *app) {
    plot_cache_drop(&app->plot);
    plot_cache_drop(&app->overview);
    app->difference.valid = app->icicle.valid = false;
    strip_forget_gap(app);
    app->dirty = true;
}

void app_choose_align(struct app *app, enum align_mode mode) {
    struct error err = {0};
    if (!app->has_b || (mode == ALIGN_BY_REQUESTS && !find_match(app)))
        return;
    if (align_choose(&app->align, mode, &app->a, &app->b, &app->match, &err))
        forget_map(app);
}

static void next_mode(struct app *app) {
    int next = ((int)app->align.mode + 1) % ALIGN_MODE_COUNT;
    app_choose_align(app, (enum align_mode)next);
    if ((int)app->align.mode != next) /* that one could not be: the one after it */
        app_choose_align(app, (enum align_mode)((next + 1) % ALIGN_MODE_COUNT));
}

/* By a hundredth of what is seen, or by one event. */
static void nudge(struct app *app, int sign, bool finely) {
    uint32_t first = 0, last = app->a.lod.moments - 1;
    struct ruler ruler = app_ruler(app);
    first = ruler_lower(&ruler, app->view.x0);
    last = ruler_moment(&ruler, app->view.x1);
    double by = last > first + 100 ? (last - first) / 100 : 1;
    align_nudge(&app->align, sign * (finely ? 1 : by));
    forget_map(app);
}

static void go_to_difference(struct app *app) {
    if (app->has_b && find_match(app) && app->match.kind != ALIGNMENT_NONE_DIFFERS)
        app_go_to(app, request_match_moment(&app->match, &app->a));
}

void app_act_compare(struct app *app, enum action action) {
    if (!app->has_b)
        return;
    if (action == ACTION_ALIGN)
        next_mode(app);
    else if (action == ACTION_FIRST_DIFFERENCE)
        go_to_difference(app);
    else if (action == ACTION_NUDGE_LEFT || action == ACTION_NUDGE_LEFT_EVENT)
        nudge(app, -1, action == ACTION_NUDGE_LEFT_EVENT);
    else if (action == ACTION_NUDGE_RIGHT || action == ACTION_NUDGE_RIGHT_EVENT)
        nudge(app, 1, action == ACTION_NUDGE_RIGHT_EVENT);
    else if (action == ACTION_STRETCH_MORE || action == ACTION_STRETCH_LESS)
        align_stretch(&app->align, app->cursor, action == ACTION_STRETCH_MORE ? 1.01 : 1 / 1.01);
    else if (action == ACTION_ALIGN_RESET)
        align_reset(&app->align);
    forget_map(app);
}

/* strip.c: see strip.h. */
#include "strip.h"

#include "app_state.h"

void strip_fini(struct strip *s) {
    free_runs_fini(&s->runs);
    level_gap_fini(&s->gap);
}

void strip_next(struct app *app) {
    struct strip *s = &app->strip;
    bool *shown = &app->shown[SPLIT_STRIP];
    if (!*shown) {
        *shown = true;
        s->kind = STRIP_FRAGMENTATION;
    } else if (s->kind == STRIP_FRAGMENTATION && app->has_b) {
        s->kind = STRIP_DIFFERENCE;
    } else {
        *shown = false;
    }
    app_relayout(app);
}

void strip_next_level(struct app *app) {
    app->strip.level = (enum level)((app->strip.level + 1) % LEVEL_COUNT);
    strip_forget_gap(app);
}

void strip_forget_gap(struct app *app) {
    level_gap_fini(&app->strip.gap);
    app->strip.has_gap = false;
}

static bool shows(const struct app *app, enum strip_kind kind) {
    return app->layout.strip.h > 0 && app->strip.kind == kind;
}

bool strip_start(struct app *app) {
    struct strip *s = &app->strip;
    if (shows(app, STRIP_FRAGMENTATION) && !s->has_runs) {
        s->has_runs = true;
        return free_runs_start(&s->runs, app->a.tl, app->a.device);
    }
    if (shows(app, STRIP_DIFFERENCE) && !s->has_gap && app->has_b) {
        s->has_gap = true;
        return level_gap_start(&s->gap, &app->a, &app->b, &app->align, s->level);
    }
    return true;
}

bool strip_is_building(const struct app *app) {
    const struct strip *s = &app->strip;
    if (shows(app, STRIP_FRAGMENTATION))
        return s->has_runs && !s->runs.done && !s->runs.given_up;
    return shows(app, STRIP_DIFFERENCE) && s->has_gap && !s->gap.done && !s->gap.given_up;
}

bool strip_build(struct app *app, uint32_t events) {
    struct strip *s = &app->strip;
    if (s->kind == STRIP_FRAGMENTATION)
        return free_runs_build(&s->runs, events);
    return level_gap_build(&s->gap, events);
}

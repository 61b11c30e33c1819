/* pane_status.c: where the cursor is and what happened there. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "label.h"
#include "pane.h"
#include "text.h"
#include "timeline.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.status;
}

static const char dot[] = "  \xc2\xb7  ";

/* "step 2 / forward" */
static void add_phases(const struct app *app, struct text *out) {
    const struct timeline *tl = app->a.tl;
    const char *names[8];
    int depth = 0;
    uint32_t phase = track_phase(&app->a, app->cursor);
    for (; phase < tl->phases.count && depth < 8; phase = tl->phases.at[phase].parent)
        names[depth++] = timeline_text(tl, tl->phases.at[phase].name);
    char own[I18N_NAME_BYTES];
    for (int i = depth - 1; i >= 0; i--)
        text_format(out, "%s%s", i == depth - 1 ? dot : " / ",
                    i18n_name(app->language, names[i], own));
}

/* "alloc 172.00 MiB  aten::mm  model.layers.3.mlp.up_proj" */
static void add_event(const struct app *app, struct text *out) {
    const struct timeline *tl = app->a.tl;
    if (app->cursor == 0)
        return;
    const struct timeline_event *e = &tl->events.at[app->cursor - 1];
    char bytes[LABEL_BYTES];
    if (e->kind >= EVENT_KIND_COUNT)
        return;
    text_format(out, "%s%s", dot, event_kind_name((enum event_kind)e->kind));
    if (e->bytes > 0)
        text_format(out, " %s", label_bytes(e->bytes, bytes));
    if (e->kind <= EVENT_FREE_COMPLETED && e->ref < tl->blocks.count) {
        const struct timeline_block *b = &tl->blocks.at[e->ref];
        text_format(out, "  %s  %s", timeline_text(tl, b->op), timeline_text(tl, b->owner));
    }
}

static void describe(struct app *app, struct text *out) {
    char text[LABEL_BYTES];
    uint32_t events = app->a.lod.moments - 1;
    struct ruler time = ruler_of(&app->a.lod, RULER_TIME);
    if (events == 0) {
        text_add(out, app_text(app, TEXT_NO_EVENTS));
        return;
    }
    if (app->cursor > 0) {
        text_format(out, "%s %s ", app_text(app, TEXT_EVENT), label_count(app->cursor - 1, text));
        text_format(out, "%s %s", app_text(app, TEXT_OF), label_count(events, text));
    } else {
        text_add(out, app_text(app, TEXT_START));
    }
    if (time.mode == RULER_TIME)
        text_format(out, "%s%s", dot,
                    label_time((uint64_t)ruler_position(&time, app->cursor), text));
    else
        text_format(out, "%s%s", dot, app_text(app, TEXT_TIME_UNKNOWN));
    add_phases(app, out);
    add_event(app, out);
}

static void draw(struct app *app, struct draw_list *list) {
    const struct rect *r = &app->layout.status;
    const struct theme *theme = app_theme(app);
    int pad = app_px(app, 14), y = r->y + (r->h - app_line(app)) / 2, room = r->w - 2 * pad;
    draw_rect(list, r->x, r->y, r->w, r->h, theme->ground);
    const char *hint = app_text(app, TEXT_HINT);
    int hint_width = app_text_width(app, hint);
    if (!app->picture && room > 2 * hint_width) {
        app_draw_right(app, list, r->x + r->w - pad, y, theme->faint, hint);
        room -= hint_width + pad;
    }
    struct text text = {0};
    char shown[512];
    describe(app, &text);
    font_shorten(app->font, text_get(&text), room, app_size(app), false, shown, sizeof shown);
    app_draw_text(app, list, r->x + pad, y, theme->ink, shown);
    text_fini(&text);
}

const struct pane_ops pane_status = {.name = "status",
                                     .doc = "the cursor: event, time, phase, what happened",
                                     .place = place,
                                     .draw = draw};

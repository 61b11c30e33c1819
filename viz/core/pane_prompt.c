/* pane_prompt.c: the text field at the foot of the window: go to, or search with what it found. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "label.h"
#include "pane.h"
#include "text.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.prompt;
}

/* "matches: 1,234  5.20 GiB   at the cursor: 12  300 MiB" */
static void add_sums(struct app *app, struct text *out) {
    char count[LABEL_BYTES], bytes[LABEL_BYTES];
    const struct find *f = &app->find;
    text_format(out, "%s: %s  %s", app_text(app, TEXT_MATCHES), label_count(f->search.count, count),
                label_bytes(f->search.bytes, bytes));
    if (find_sum(app))
        text_format(out, "   %s: %s  %s", app_text(app, TEXT_HERE), label_count(f->count, count),
                    label_bytes(f->bytes, bytes));
}

static int width_of(struct app *app, const char *text, size_t length) {
    return font_width(app->font, text, length, app_size(app), false);
}

/* The text with what is being composed at the caret, moved so far that the caret is seen. */
static void draw_text_field(struct app *app, struct draw_list *list, const struct prompt *p,
                            const struct rect *room) {
    const struct theme *theme = app_theme(app);
    size_t composed = strlen(p->composed);
    char shown[PROMPT_BYTES + PROMPT_COMPOSED];
    snprintf(shown, sizeof shown, "%.*s%s%s", (int)p->caret, p->text, p->composed,
             p->text + p->caret);
    int before = width_of(app, shown, p->caret);
    int caret = before + width_of(app, shown + p->caret, composed), line = app_line(app);
    int x = room->x - (caret > room->w - app_px(app, 2) ? caret - room->w + app_px(app, 2) : 0);
    app->find.text_x = x;
    app->find.caret = (struct rect){x + caret, room->y, app_px(app, 1), line};
    draw_clip(list, room->x, room->y, room->w, room->h);
    app_draw_text(app, list, x, room->y, theme->ink, shown);
    if (composed > 0)
        draw_rect(list, x + before, room->y + line - app_px(app, 2), caret - before, app_px(app, 1),
                  theme->ink);
    if (app->find.field != FIND_NONE)
        draw_rect(list, x + caret, room->y, app_px(app, 1), line, theme->accent);
    draw_unclip(list);
}

/* What is wrong, or what was found, or what can be written; at the right, where there is room. */
static int draw_answer(struct app *app, struct draw_list *list, const struct rect *r, int y,
                       int text_width) {
    const struct find *f = &app->find;
    const struct theme *theme = app_theme(app);
    enum find_field field = find_shown(app);
    struct text text = {0};
    uint32_t color = theme->faint;
    if (f->why[0]) {
        text_add(&text, f->why);
        color = theme->warn;
    } else if (field == FIND_SEARCH && f->search.active) {
        add_sums(app, &text);
        color = theme->ink;
    } else {
        text_add(&text, app_text(app, field == FIND_GO ? TEXT_GO_TO_HINT : TEXT_SEARCH_HINT));
    }
    char shown[512];
    int least = app_px(app, 120) > r->w / 3 ? r->w / 3 : app_px(app, 120);
    int room = r->w - (text_width > least ? text_width : least) - app_px(app, 24);
    if (room < r->w / 2)
        room = r->w / 2;
    font_shorten(app->font, text_get(&text), room, app_size(app), false, shown, sizeof shown);
    text_fini(&text);
    return app_draw_right(app, list, r->x + r->w - app_px(app, 14), y, color, shown);
}

static void draw(struct app *app, struct draw_list *list) {
    const struct rect *r = place(app);
    const struct theme *theme = app_theme(app);
    enum find_field field = find_shown(app);
    const struct prompt *prompt = &app->find.prompts[field];
    int pad = app_px(app, 14), y = r->y + (r->h - app_line(app)) / 2;
    draw_rect(list, r->x, r->y, r->w, r->h, theme->raised);
    draw_rect(list, r->x, r->y, r->w, 1,
              app->find.field != FIND_NONE ? theme->accent : theme->line);
    const char *title = app_text(app, field == FIND_GO ? TEXT_GO_TO : TEXT_SEARCH);
    int left =
        r->x + pad + app_draw_text(app, list, r->x + pad, y, theme->faint, title) + app_px(app, 10);
    struct rect rest = {left, y, r->x + r->w - left, app_line(app)};
    int width = draw_answer(app, list, &rest, y, width_of(app, prompt->text, prompt->length));
    rest.w -= width + pad + app_px(app, 12);
    if (rest.w > 0)
        draw_text_field(app, list, prompt, &rest);
}

const struct pane_ops pane_prompt = {
    .name = "prompt", .doc = "go to, and search", .place = place, .draw = draw};

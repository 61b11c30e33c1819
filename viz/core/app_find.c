/* app_find.c: see find.h. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "error.h"
#include "input.h"
#include "text.h"
#include "timeline.h"

void find_init(struct app *app) {
    app->find.search.track = &app->a;
    app->find.at_once = FIND_AT_ONCE;
}

void find_fini(struct app *app) {
    search_fini(&app->find.search);
    plot_cache_fini(&app->find.columns);
    array_fini(&app->find.live.ids);
}

enum find_field find_shown(const struct app *app) {
    const struct find *f = &app->find;
    return f->field != FIND_NONE ? f->field : f->search.active ? FIND_SEARCH : FIND_NONE;
}

static struct prompt *prompt_of(struct app *app) {
    return &app->find.prompts[find_shown(app)];
}

const char *find_search_text(const struct app *app) {
    return app->find.search.active ? app->find.prompts[FIND_SEARCH].text : "";
}

static void changed(struct app *app) {
    app->find.summed = false;
    app->dirty = true;
    app_relayout(app);
}

/* While a word is not finished, the search before it stays on. */
static void apply(struct app *app) {
    struct find *f = &app->find;
    struct error err = {0};
    f->why[0] = '\0';
    f->stale = false;
    if (!search_set(&f->search, f->prompts[FIND_SEARCH].text, &err))
        snprintf(f->why, sizeof f->why, "%.290s", err.text);
    app->owners_valid = false;
    f->serial++;
    changed(app);
}

void find_search(struct app *app, const char *text) {
    prompt_set(&app->find.prompts[FIND_SEARCH], text);
    prompt_remember(&app->find.prompts[FIND_SEARCH]);
    apply(app);
}

void find_flush(struct app *app) {
    if (app->find.stale)
        apply(app);
}

/* A keystroke. */
static void typed(struct app *app) {
    struct find *f = &app->find;
    app->dirty = true;
    f->stale = f->field == FIND_SEARCH;
    f->rest_ms = 0;
    if (app->a.tl->blocks.count <= f->at_once)
        find_flush(app);
}

static void rest(struct app *app, uint32_t ms) {
    struct find *f = &app->find;
    f->rest_ms += ms < FIND_REST_MS ? ms : FIND_REST_MS;
    if (f->rest_ms >= FIND_REST_MS)
        find_flush(app);
}

void find_adopt(struct app *app, const struct app *from) {
    const char *text = from->find.prompts[FIND_SEARCH].text;
    bool same = app->find.search.active && strcmp(app->find.prompts[FIND_SEARCH].text, text) == 0;
    app->find.field = from->find.field;
    app->find.only = from->find.only;
    memcpy(app->find.prompts, from->find.prompts, sizeof app->find.prompts);
    if (from->find.search.active && !same)
        apply(app);
}

/* NAME=TEXT, whole; a quote, which cannot be said, may be any character. */
void find_add_word(struct text *out, const char *name, const char *value) {
    text_format(out, "%s%s=\"", out->length ? " " : "", name);
    for (; *value; value++)
        text_format(out, "%c", *value == '"' ? '*' : *value);
    text_add(out, "\"");
}

void find_toggle(struct app *app, const char *text) {
    bool same = strcmp(text, find_search_text(app)) == 0;
    find_search(app, same ? "" : text);
}

void find_follow(struct app *app, uint32_t block) {
    const struct timeline *tl = app->a.tl;
    struct text text = {0};
    if (block >= tl->blocks.count)
        return;
    const struct timeline_block *b = &tl->blocks.at[block];
    if (b->owner != 0)
        find_add_word(&text, "module", timeline_text(tl, b->owner));
    else if (b->op != 0)
        find_add_word(&text, "op", timeline_text(tl, b->op));
    else
        find_add_word(&text, "cat",
                      category_key(b->category < CATEGORY_COUNT ? (enum category)b->category
                                                                : CATEGORY_UNKNOWN));
    find_toggle(app, text_get(&text));
    text_fini(&text);
}

void find_open(struct app *app, enum find_field field) {
    app->find.field = field;
    app->find.why[0] = '\0';
    if (field == FIND_GO)
        prompt_set(&app->find.prompts[FIND_GO], "");
    changed(app);
}

/* The keyboard goes back to the panes. */
static void leave(struct app *app) {
    find_flush(app);
    prompt_compose(prompt_of(app), "");
    app->find.field = FIND_NONE;
    app->find.why[0] = '\0';
    changed(app);
}

void find_next(struct app *app, bool forward) {
    find_flush(app);
    uint32_t block = search_next(&app->find.search, app->selection.pin, app->cursor, forward);
    if (block != TIMELINE_NONE)
        app_pin(app, block, true);
}

static void go(struct app *app) {
    struct find *f = &app->find;
    struct error err = {0};
    if (!app_go_to_place(app, f->prompts[FIND_GO].text, &err)) {
        snprintf(f->why, sizeof f->why, "%.290s", err.text);
        changed(app);
        return;
    }
    prompt_remember(&f->prompts[FIND_GO]);
    leave(app);
}

static void enter(struct app *app, unsigned mods) {
    if (app->find.field == FIND_GO) {
        go(app);
        return;
    }
    prompt_remember(&app->find.prompts[FIND_SEARCH]);
    find_next(app, !(mods & MOD_SHIFT));
    changed(app);
}

static void escape(struct app *app) {
    if (app->find.field == FIND_SEARCH)
        find_search(app, "");
    leave(app);
}

static bool key(struct app *app, const struct input *in) {
    struct prompt *prompt = prompt_of(app);
    char before[PROMPT_BYTES];
    memcpy(before, prompt->text, sizeof before);
    if (in->key == KEY_ESCAPE) {
        escape(app);
    } else if (in->key == KEY_TAB) {
        leave(app);
    } else if (in->key == KEY_ENTER && !prompt->composed[0]) {
        enter(app, in->mods);
    } else if (in->key == 'v' && (in->mods & MOD_CTRL)) {
        app->request = APP_PASTE;
    } else if (prompt_key(prompt, in->key, in->mods)) {
        if (strcmp(before, prompt->text) != 0)
            typed(app);
        app->dirty = true;
    } else {
        return in->key < 0x80 && !(in->mods & MOD_CTRL); /* comes as text */
    }
    return true;
}

static bool press(struct app *app, const struct input *in) {
    bool inside = rect_has(&app->layout.prompt, in->x, in->y);
    if (app->find.field != FIND_NONE && !inside)
        leave(app);
    if (inside && find_shown(app) != FIND_NONE)
        find_open(app, find_shown(app));
    return inside;
}

bool find_input(struct app *app, const struct input *in) {
    if (in->kind == INPUT_PRESS && !app->help)
        return press(app, in);
    if (in->kind == INPUT_TICK && app->find.stale)
        rest(app, in->milliseconds);
    if (app->find.field == FIND_NONE)
        return in->kind == INPUT_TEXT || in->kind == INPUT_EDIT;
    switch (in->kind) {
    case INPUT_KEY:
        return key(app, in);
    case INPUT_TEXT:
        prompt_type(prompt_of(app), in->text ? in->text : "");
        typed(app);
        return true;
    case INPUT_EDIT:
        prompt_compose(prompt_of(app), in->text ? in->text : "");
        app->dirty = true;
        return true;
    default:
        return false;
    }
}

bool find_sum(struct app *app) {
    struct find *f = &app->find;
    if (!f->search.active)
        return false;
    if (f->summed && f->moment == app->cursor)
        return true;
    if (!live_at(&app->a.live, app->cursor, &f->live))
        return false;
    f->count = search_sum(&f->search, &f->live, app->cursor, &f->bytes);
    f->moment = app->cursor;
    return f->summed = true;
}

bool app_dims(const struct app *app) {
    return app->find.search.active || app->hover.on;
}

bool app_is_lit(const struct app *app, uint32_t block) {
    if (app->hover.on)
        return hover_has(app, block);
    return !app->find.search.active || search_has(&app->find.search, block, app->cursor);
}

const struct lod *app_lit_lod(struct app *app) {
    return search_lod(app->hover.on ? &app->hover.search : &app->find.search);
}

uint64_t app_lit_key(const struct app *app) {
    const struct search *search = &app->find.search;
    bool moves = search->active && search->filter.alive != 0; /* with the cursor */
    return ((uint64_t)app->find.serial + app->hover.serial) << 32 | (moves ? app->cursor : 0);
}

bool app_wants_text(const struct app *app, int *x, int *y, int *w, int *h) {
    const struct rect *caret = &app->find.caret;
    *x = caret->x;
    *y = caret->y;
    *w = caret->w;
    *h = caret->h;
    return app->find.field != FIND_NONE;
}

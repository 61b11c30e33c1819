/* pane_events.c: what happened around the cursor, event by event: a table that follows it. */
#include <stdio.h>

#include "app_state.h"
#include "label.h"
#include "pane.h"
#include "text.h"
#include "timeline.h"
#include "tip.h"

enum column_id { WHAT, EVENT, ACTION, BYTES, TIME, STREAM, PHASE, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [WHAT] = {TEXT_TAB_EVENTS, 0, false}, [EVENT] = {TEXT_EVENT, 90, false},
    [ACTION] = {TEXT_ACTION, 118, false}, [BYTES] = {TEXT_BYTES, 100, false},
    [TIME] = {TEXT_TIME, 100, false},     [STREAM] = {TEXT_STREAM, 60, false},
    [PHASE] = {TEXT_PHASE, 140, false},
};

static const struct rect *place(const struct app *app) {
    return panes_tab_place(app, &pane_events);
}

static struct table_state *state_of(struct app *app) {
    return &app->tables[panes_tab_index(&pane_events)];
}

static size_t count(struct app *app) {
    return event_list_count(app, &app->events);
}

/* Before the first frame: about as many as there will be room for. */
static size_t rows_shown(struct app *app, const struct table_state *state) {
    int rows = app->layout.tab.h / (app_line(app) + app_px(app, 3)) - 1;
    return state->shown > 0 ? (size_t)state->shown : rows > 0 ? (size_t)rows : 1;
}

/* The cursor's event is chosen, and in the middle unless it is in view already. */
static void follow(struct app *app) {
    struct table_state *state = state_of(app);
    size_t rows = count(app), shown = rows_shown(app, state);
    app->events.follows = true;
    app->events.moment = app->cursor;
    state->has_selected = app->cursor > 0 && rows > 0;
    state->selected = state->has_selected ? event_list_row(&app->events, app->cursor - 1) : 0;
    size_t at = state->selected;
    if (at < state->scroll || at >= state->scroll + shown)
        state->scroll = at > shown / 2 ? at - shown / 2 : 0;
}

static bool read(struct app *app) {
    if (!event_list_read(app, &app->events))
        return false;
    if (!app->events.follows || app->events.moment != app->cursor)
        follow(app);
    return true;
}

static const struct timeline_block *block_of(struct app *app, uint32_t event) {
    uint32_t block = event_list_block(app, event);
    return block == TIMELINE_NONE ? NULL : &app->a.tl->blocks.at[block];
}

/* "model.layers.3.mlp  weight  aten::mm", a phase's name, a segment. */
static const char *what(struct app *app, uint32_t event, char out[TABLE_CELL]) {
    const struct timeline *tl = app->a.tl;
    const struct timeline_event *e = &tl->events.at[event];
    const struct timeline_block *b = block_of(app, event);
    struct text text = {0};
    char own[I18N_NAME_BYTES];
    if (b) {
        const uint32_t strings[] = {b->owner, b->name, b->op};
        for (int i = 0; i < 3; i++)
            if (strings[i] != 0)
                text_format(&text, "%s%s", text.length ? "  " : "", timeline_text(tl, strings[i]));
    } else if (e->kind >= EVENT_SEGMENT_ALLOC && e->kind <= EVENT_SEGMENT_UNMAP) {
        text_format(&text, "%s %u", app_text(app, TEXT_SEGMENT), e->ref);
    } else if ((e->kind == EVENT_PHASE_BEGIN || e->kind == EVENT_PHASE_END) &&
               e->ref < tl->phases.count) {
        text_add(&text,
                 i18n_name(app->language, timeline_text(tl, tl->phases.at[e->ref].name), own));
    } else if (e->kind == EVENT_OOM && e->ref < tl->ooms.count) {
        text_format(&text, "%s  %s", timeline_text(tl, tl->ooms.at[e->ref].owner),
                    timeline_text(tl, tl->ooms.at[e->ref].op));
    }
    snprintf(out, TABLE_CELL, "%.*s", TABLE_CELL - 1, text_get(&text));
    text_fini(&text);
    return out;
}

static const char *time_of(struct app *app, uint32_t event, bool exact, char out[TABLE_CELL]) {
    struct ruler time = ruler_of(&app->a.lod, RULER_TIME);
    uint64_t ns = time.mode == RULER_TIME ? (uint64_t)ruler_position(&time, event + 1) : 0;
    if (time.mode != RULER_TIME)
        return "-";
    if (!exact)
        return label_time(ns, out);
    snprintf(out, TABLE_CELL, "%llu", (unsigned long long)ns);
    return out;
}

static const char *phase_of(struct app *app, uint32_t event, bool exact, char out[TABLE_CELL]) {
    const struct timeline *tl = app->a.tl;
    uint32_t phase = track_phase(&app->a, event + 1);
    char own[I18N_NAME_BYTES];
    if (phase >= tl->phases.count)
        return "-";
    const char *name = i18n_name(app->language, timeline_text(tl, tl->phases.at[phase].name), own);
    if (exact)
        snprintf(out, TABLE_CELL, "%.*s", TABLE_CELL - 1, name);
    else
        font_shorten(app->font, name, app_px(app, columns[PHASE].width - 14), app_size(app), false,
                     out, TABLE_CELL);
    return out;
}

static const char *number(uint64_t value, bool exact, char out[TABLE_CELL]) {
    if (!exact)
        return label_count(value, out);
    snprintf(out, TABLE_CELL, "%llu", (unsigned long long)value);
    return out;
}

static const char *cell(struct app *app, size_t row, int column, bool exact, char out[TABLE_CELL]) {
    uint32_t event = event_list_at(&app->events, row);
    const struct timeline_event *e = &app->a.tl->events.at[event];
    switch (column) {
    case WHAT:
        return what(app, event, out);
    case EVENT:
        return number(event, exact, out);
    case ACTION:
        return e->kind < EVENT_KIND_COUNT ? event_kind_name((enum event_kind)e->kind) : "-";
    case BYTES:
        return exact          ? number(e->bytes, true, out)
               : e->bytes > 0 ? label_bytes(e->bytes, out)
                              : "-";
    case TIME:
        return time_of(app, event, exact, out);
    case STREAM:
        return app->a.tl->has & TIMELINE_HAS_STREAM ? number(e->stream, exact, out) : "-";
    default:
        return phase_of(app, event, exact, out);
    }
}

static uint32_t swatch(struct app *app, size_t row) {
    uint32_t block = event_list_block(app, event_list_at(&app->events, row));
    return block < app->a.tl->blocks.count ? app_band_style(app, app_block_band(app, block)).color
                                           : 0;
}

static bool dim(struct app *app, size_t row) {
    uint32_t block = event_list_block(app, event_list_at(&app->events, row));
    return app_dims(app) && (block == TIMELINE_NONE || !app_is_lit(app, block));
}

static void choose(struct app *app, size_t row) {
    uint32_t event = event_list_at(&app->events, row);
    uint32_t block = event_list_block(app, event);
    app_go_to(app, event + 1);
    if (block != TIMELINE_NONE)
        app_pin(app, block, false);
}

static const struct table_ops table = {.columns = columns,
                                       .column_count = COLUMNS,
                                       .read = read,
                                       .count = count,
                                       .cell = cell,
                                       .swatch = swatch,
                                       .dim = dim,
                                       .choose = choose};

static bool tip(struct app *app, int x, int y, struct tip *out) {
    size_t row = table_row_at(app, x, y, place(app), &table, state_of(app));
    uint32_t block = row == TABLE_NO_ROW ? TIMELINE_NONE
                                         : event_list_block(app, event_list_at(&app->events, row));
    if (block != TIMELINE_NONE)
        tip_block(app, block, out);
    return block != TIMELINE_NONE;
}

static void draw(struct app *app, struct draw_list *list) {
    panes_draw_table(app, list, &pane_events);
}

const struct pane_ops pane_events = {.name = "events",
                                     .doc = "what happened around the cursor",
                                     .place = place,
                                     .draw = draw,
                                     .tip = tip,
                                     .title = TEXT_TAB_EVENTS,
                                     .table = &table};

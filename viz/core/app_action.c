/* app_action.c: what the keys do. */
#include "app_state.h"
#include "place.h"
#include "timeline.h"

void app_go_to(struct app *app, uint32_t moment) {
    struct ruler ruler = app_ruler(app);
    struct view_limits limits;
    app_limits(app, &limits);
    app->cursor = moment < app->a.lod.moments ? moment : app->a.lod.moments - 1;
    view_reveal_x(&app->view, &limits, ruler_position(&ruler, app->cursor));
    app->dirty = true;
}

bool app_go_to_place(struct app *app, const char *text, struct error *err) {
    uint32_t moment;
    const struct timeline *other = app->has_b ? app->b.tl : NULL;
    if (!place_find(app->a.tl, other, app->a.device, text, &moment, err))
        return false;
    app_go_to(app, moment);
    return true;
}

uint32_t app_peak(const struct app *app) {
    return track_peak(&app->a);
}

/* Moves the cursor by pixels, but always by at least one moment. */
static void move_cursor(struct app *app, double pixels) {
    struct ruler ruler = app_ruler(app);
    double each = (app->view.x1 - app->view.x0) / app->layout.plot.w;
    uint32_t to = ruler_moment(&ruler, ruler_position(&ruler, app->cursor) + pixels * each);
    if (pixels < 0 && to >= app->cursor)
        to = app->cursor > 0 ? app->cursor - 1 : 0;
    if (pixels > 0 && to <= app->cursor)
        to = app->cursor + 1;
    app_go_to(app, to);
}

/* The kept peak nearest to the cursor on one side; the cursor stays when there is none. */
static void go_to_local_peak(struct app *app, bool forward) {
    uint32_t best = app->cursor;
    for (size_t i = 0; i < app->a.peaks.count; i++) {
        uint32_t m = app->a.peaks.at[i].moment;
        bool beyond = forward ? m > app->cursor : m < app->cursor;
        bool nearer = best == app->cursor || (forward ? m < best : m > best);
        if (beyond && nearer)
            best = m;
    }
    app_go_to(app, best);
}

static void zoom(struct app *app, double factor) {
    struct ruler ruler = app_ruler(app);
    struct view_limits limits;
    app_limits(app, &limits);
    double at = ruler_position(&ruler, app->cursor);
    if (at < app->view.x0 || at > app->view.x1)
        at = (app->view.x0 + app->view.x1) / 2;
    view_zoom_x(&app->view, &limits, at, factor);
}

static void zoom_bytes(struct app *app, double factor) {
    struct view_limits limits;
    struct lod_state state;
    app_limits(app, &limits);
    lod_state_at(&app->a.lod, app->cursor, &state);
    double at = (double)(state.total + app_context(app));
    if (at < app->view.y0 || at > app->view.y1)
        at = app->view.y0;
    view_zoom_y(&app->view, &limits, at, factor);
}

static void pan(struct app *app, double share) {
    struct view_limits limits;
    app_limits(app, &limits);
    view_pan_x(&app->view, &limits, (app->view.x1 - app->view.x0) * share);
}

static void show_whole(struct app *app) {
    struct view_limits limits;
    app_limits(app, &limits);
    view_fit_x(&app->view, &limits);
    view_fit_y(&app->view, &limits);
}

static void fit_bytes(struct app *app) {
    if (!app_read_plot(app, &app->plot, &app->view, app->layout.plot.w))
        return;
    uint64_t top = 1;
    for (int i = 0; i < app->layout.plot.w; i++)
        if (app->plot.first.at[i].max > top)
            top = app->plot.first.at[i].max;
    app->view.y0 = 0;
    app->view.y1 = ((double)top + (double)app_context(app)) * 1.05;
}

/* The same stretch of events stays in view. */
static void change_axis(struct app *app) {
    struct ruler before = app_ruler(app);
    uint32_t first = ruler_moment(&before, app->view.x0), last = ruler_lower(&before, app->view.x1);
    bool whole;
    struct view_limits limits;
    app_limits(app, &limits);
    whole = view_is_whole_x(&app->view, &limits);
    app->mode = before.mode == RULER_TIME ? RULER_EVENTS : RULER_TIME;
    struct ruler after = app_ruler(app);
    app_limits(app, &limits);
    if (whole)
        view_fit_x(&app->view, &limits);
    else
        view_show_x(&app->view, &limits, ruler_position(&after, first),
                    ruler_position(&after, last));
}

static void isolate(struct app *app, int band) {
    int found = -1;
    for (int i = 0; i < app->bands.count; i++) { /* count only bands that exist */
        bool exists = i == CATEGORY_OUTSIDE && app_context(app) > 0;
        for (size_t k = 0; !exists && k < app->a.lod.node_count[0]; k++)
            exists = app->a.lod.buckets[k].at_max[i] > 0;
        if (exists && band-- == 0)
            found = i;
    }
    app->isolated = app->isolated == found ? -1 : found;
}

static void change_grouping(struct app *app, int by) {
    int next = ((int)app->grouping + by + OWNER_GROUPING_COUNT) % OWNER_GROUPING_COUNT;
    struct table_state *table = &app->tables[panes_tab_index(&pane_owners)];
    app->grouping = (enum owner_grouping)next;
    hover_set(app, NULL);
    table->scroll = 0;
    table->has_selected = false;
}

const struct table_ops *app_table(struct app *app, struct table_state **state) {
    const struct pane_ops *tab = panes_tabs[app->tab]->table ? panes_tabs[app->tab] : &pane_owners;
    if (state)
        *state = &app->tables[panes_tab_index(tab)];
    return tab->table;
}

/* By rows, or by pages: `pages` of the rows that are shown. */
static void move_row(struct app *app, int rows, int pages) {
    struct table_state *state;
    const struct table_ops *ops = app_table(app, &state);
    int page = state->shown > 1 ? state->shown - 1 : 1;
    table_move(app, ops, state, rows + pages * page);
}

static void sort_table(struct app *app, bool reverse) {
    struct table_state *state;
    const struct table_ops *ops = app_table(app, &state);
    if (reverse)
        table_sort_reverse(app, ops, state);
    else
        table_sort_next(app, ops, state);
}

uint32_t app_event_block(const struct app *app, uint32_t moment) {
    bool is_event = moment > 0 && moment <= app->a.tl->events.count;
    return is_event ? event_list_block(app, moment - 1) : SELECTION_NONE;
}

void app_pin(struct app *app, uint32_t block, bool go) {
    app->selection.pin = block < app->a.tl->blocks.count ? block : SELECTION_NONE;
    app_relayout(app);
    app->dirty = true;
    if (app->selection.pin == SELECTION_NONE || !go)
        return;
    uint32_t event = app->a.tl->blocks.at[block].alloc_event;
    app_go_to(app, event == TIMELINE_NONE ? 0 : event + 1);
}

static void choose(struct app *app) {
    struct table_state *state;
    const struct table_ops *ops = app_table(app, &state);
    if (state->has_selected && ops->choose)
        table_choose(app, ops, state);
    else
        app_pin(app, app_event_block(app, app->cursor), false);
}

/* The moments of the pinned block: allocated, freed. */
static void go_to_pin(struct app *app, bool freed) {
    if (app->selection.pin == SELECTION_NONE)
        return;
    const struct timeline_block *b = &app->a.tl->blocks.at[app->selection.pin];
    uint32_t event = freed ? b->free_event : b->alloc_event;
    if (event != TIMELINE_NONE)
        app_go_to(app, event + 1);
    else
        app_go_to(app, freed ? app->a.lod.moments - 1 : 0);
}

static void set_mark(struct app *app) {
    bool here = app->selection.mark == app->cursor;
    app->selection.mark = here ? SELECTION_NONE : app->cursor;
}

static void set_range(struct app *app) {
    struct selection *s = &app->selection;
    if (s->mark == SELECTION_NONE || selection_has_range(s))
        s->first = s->end = SELECTION_NONE;
    else
        selection_set_range(s, s->mark, app->cursor);
}

static void fit_moments(struct app *app, uint32_t first, uint32_t last) {
    struct ruler ruler = app_ruler(app);
    struct view_limits limits;
    app_limits(app, &limits);
    double a = ruler_position(&ruler, first), b = ruler_position(&ruler, last);
    double margin = (b - a) / 20;
    view_show_x(&app->view, &limits, a - margin, b + margin);
}

static void fit_selection(struct app *app) {
    const struct selection *s = &app->selection;
    if (selection_has_range(s)) {
        fit_moments(app, s->first, s->end);
    } else if (s->pin != SELECTION_NONE) {
        const struct timeline_block *b = &app->a.tl->blocks.at[s->pin];
        uint32_t last = app->a.lod.moments - 1;
        fit_moments(app, b->alloc_event == TIMELINE_NONE ? 0 : b->alloc_event + 1,
                    b->free_event < last ? b->free_event + 1 : last);
    }
}

void app_set_scale(struct app *app, int percent) {
    app->scale_percent = percent < 50 ? 50 : percent > 400 ? 400 : percent;
    app_relayout(app);
}

static void play(struct app *app) {
    struct ruler ruler = app_ruler(app);
    app->playing = !app->playing;
    app->play_position = ruler_position(&ruler, app->cursor);
    if (app->play_position >= app->view.x1 || app->cursor + 1 >= app->a.lod.moments)
        app->play_position = app->view.x0;
}

static void clear(struct app *app) {
    if (app->help)
        app->help = false;
    else if (app->notice.kind == NOTICE_READING)
        app->request = APP_CANCEL;
    else if (app->notice.kind != NOTICE_NONE)
        app->notice.kind = NOTICE_NONE;
    else if (app->playing)
        app->playing = false;
    else if (app->find.search.active)
        find_search(app, "");
    else if (app_icicle_up(app))
        return;
    else if (selection_clear(&app->selection))
        app_relayout(app);
    else
        app->isolated = -1;
}

static void change_theme(struct app *app) {
    app->theme_id = (enum theme_id)((app->theme_id + 1) % THEME_COUNT);
}

static void change_compare(struct app *app) {
    if (app->has_b)
        app->compare = (enum compare_mode)((app->compare + 1) % COMPARE_COUNT);
}

static void toggle(struct app *app, enum layout_split part) {
    app->shown[part] = !app->shown[part];
    app_relayout(app);
}

/* Opens a tab; when it is the open one already, closes them all. */
static void toggle_tab(struct app *app, const struct pane_ops *tab) {
    int index = panes_tab_index(tab);
    if (app->shown[SPLIT_TABS] && app->tab == index)
        toggle(app, SPLIT_TABS);
    else
        app_open_tab(app, index);
}

/* The next of the files as the first, or as the second, which the first is not. */
static void next_row(struct app *app, bool first) {
    const struct track_rows *rows = app->rows;
    if (!rows)
        return;
    size_t next = (rows->second + 1) % rows->rows.count;
    if (first)
        app_choose_rows(app, rows->first + 1, rows->second);
    else
        app_choose_rows(app, rows->first, next == rows->first ? next + 1 : next);
}

void app_act(struct app *app, enum action action) {
    double step = app->layout.plot.w / 100.0;
    app->dirty = true;
    switch (action) {
    case ACTION_PEAK:
        app_go_to(app, app_peak(app));
        break;
    case ACTION_NEXT_PEAK:
        go_to_local_peak(app, true);
        break;
    case ACTION_PREVIOUS_PEAK:
        go_to_local_peak(app, false);
        break;
    case ACTION_CURSOR_LEFT:
        if (app_step_parameter(app, PARAMETER_STEP, false))
            break;
        move_cursor(app, -step);
        break;
    case ACTION_CURSOR_RIGHT:
        if (app_step_parameter(app, PARAMETER_STEP, true))
            break;
        move_cursor(app, step);
        break;
    case ACTION_CURSOR_LEFT_PIXEL:
        move_cursor(app, -1);
        break;
    case ACTION_CURSOR_RIGHT_PIXEL:
        move_cursor(app, 1);
        break;
    case ACTION_PREVIOUS_EVENT:
        app_go_to(app, app->cursor > 0 ? app->cursor - 1 : 0);
        break;
    case ACTION_NEXT_EVENT:
        app_go_to(app, app->cursor + 1);
        break;
    case ACTION_PREVIOUS_PHASE:
        app_go_to(app, track_previous_phase(&app->a, app->cursor));
        break;
    case ACTION_NEXT_PHASE:
        app_go_to(app, track_next_phase(&app->a, app->cursor));
        break;
    case ACTION_GO_TO:
        find_open(app, FIND_GO);
        break;
    case ACTION_SEARCH:
        find_open(app, FIND_SEARCH);
        break;
    case ACTION_NEXT_MATCH:
        find_next(app, true);
        break;
    case ACTION_PREVIOUS_MATCH:
        find_next(app, false);
        break;
    case ACTION_SEARCH_NONE:
        find_search(app, "");
        break;
    case ACTION_ONLY_MATCHES:
        app->find.only = !app->find.only;
        app->owners_valid = false;
        break;
    case ACTION_PAN_LEFT:
        pan(app, -0.1);
        break;
    case ACTION_PAN_RIGHT:
        pan(app, 0.1);
        break;
    case ACTION_ZOOM_IN:
        zoom(app, 1 / 1.5);
        break;
    case ACTION_ZOOM_OUT:
        zoom(app, 1.5);
        break;
    case ACTION_ZOOM_BYTES_IN:
        zoom_bytes(app, 1 / 1.5);
        break;
    case ACTION_ZOOM_BYTES_OUT:
        zoom_bytes(app, 1.5);
        break;
    case ACTION_WHOLE:
        show_whole(app);
        break;
    case ACTION_FIT_BYTES:
        fit_bytes(app);
        break;
    case ACTION_AXIS:
        change_axis(app);
        break;
    case ACTION_COMPARE:
        change_compare(app);
        break;
    case ACTION_NEXT_SECOND:
    case ACTION_NEXT_FIRST:
        next_row(app, action == ACTION_NEXT_FIRST);
        break;
    case ACTION_ALIGN:
    case ACTION_FIRST_DIFFERENCE:
    case ACTION_NUDGE_LEFT:
    case ACTION_NUDGE_RIGHT:
    case ACTION_NUDGE_LEFT_EVENT:
    case ACTION_NUDGE_RIGHT_EVENT:
    case ACTION_STRETCH_MORE:
    case ACTION_STRETCH_LESS:
    case ACTION_ALIGN_RESET:
        app_act_compare(app, action);
        break;
    case ACTION_NEXT_GROUPING:
        change_grouping(app, 1);
        break;
    case ACTION_PREVIOUS_GROUPING:
        change_grouping(app, -1);
        break;
    case ACTION_NEXT_BANDS:
    case ACTION_PREVIOUS_BANDS:
        app_next_bands(app, action == ACTION_NEXT_BANDS ? 1 : -1);
        break;
    case ACTION_NEXT_TAB:
        app_next_tab(app, 1);
        break;
    case ACTION_PREVIOUS_TAB:
        app_next_tab(app, -1);
        break;
    case ACTION_CHOOSE:
        choose(app);
        break;
    case ACTION_PIN_ALLOC:
        go_to_pin(app, false);
        break;
    case ACTION_PIN_FREE:
        go_to_pin(app, true);
        break;
    case ACTION_MARK:
        set_mark(app);
        break;
    case ACTION_RANGE:
        set_range(app);
        break;
    case ACTION_FIT_SELECTION:
        fit_selection(app);
        break;
    case ACTION_ROW_UP:
        move_row(app, -1, 0);
        break;
    case ACTION_ROW_DOWN:
        move_row(app, 1, 0);
        break;
    case ACTION_PAGE_UP:
        move_row(app, 0, -1);
        break;
    case ACTION_PAGE_DOWN:
        move_row(app, 0, 1);
        break;
    case ACTION_SORT:
        sort_table(app, false);
        break;
    case ACTION_SORT_REVERSE:
        sort_table(app, true);
        break;
    case ACTION_ISOLATE_1:
    case ACTION_ISOLATE_2:
    case ACTION_ISOLATE_3:
    case ACTION_ISOLATE_4:
    case ACTION_ISOLATE_5:
    case ACTION_ISOLATE_6:
    case ACTION_ISOLATE_7:
    case ACTION_ISOLATE_8:
    case ACTION_ISOLATE_9:
        isolate(app, (int)(action - ACTION_ISOLATE_1));
        break;
    case ACTION_OWNERS:
        toggle_tab(app, &pane_owners);
        break;
    case ACTION_LIFETIMES:
        toggle_tab(app, &pane_lifetimes);
        break;
    case ACTION_ICICLE:
        toggle_tab(app, &pane_icicle);
        break;
    case ACTION_ICICLE_UP:
        app_icicle_up(app);
        break;
    case ACTION_PARAMETERS:
        toggle_tab(app, &pane_parameters);
        break;
    case ACTION_PARAMETER_LESS:
    case ACTION_PARAMETER_MORE:
        app_step_parameter(app, PARAMETER_ONE, action == ACTION_PARAMETER_MORE);
        break;
    case ACTION_PARAMETER_HALF:
    case ACTION_PARAMETER_TWICE:
        app_step_parameter(app, PARAMETER_TWICE, action == ACTION_PARAMETER_TWICE);
        break;
    case ACTION_PARAMETER_UNDO:
        app_undo_parameter(app);
        break;
    case ACTION_DIFFERENCE:
        toggle_tab(app, &pane_difference);
        break;
    case ACTION_EVENTS:
        toggle_tab(app, &pane_events);
        break;
    case ACTION_FOLLOW:
        find_follow(app, app->selection.pin);
        break;
    case ACTION_FOLLOW_ROW:
        app_follow_row(app);
        break;
    case ACTION_RANGE_TAB:
        toggle_tab(app, &pane_range);
        break;
    case ACTION_STRIP:
        strip_next(app);
        break;
    case ACTION_LEVEL:
        strip_next_level(app);
        break;
    case ACTION_MAP:
        toggle(app, SPLIT_MAP);
        break;
    case ACTION_MAP_UP:
        map_scroll(app, -1);
        break;
    case ACTION_MAP_DOWN:
        map_scroll(app, 1);
        break;
    case ACTION_MAP_IN:
        map_zoom(app, 1);
        break;
    case ACTION_MAP_OUT:
        map_zoom(app, -1);
        break;
    case ACTION_SIDE:
        toggle(app, SPLIT_SIDE);
        break;
    case ACTION_PLAY:
        play(app);
        break;
    case ACTION_SLOWER:
        app->speed = app->speed > 0.02 ? app->speed / 2 : app->speed;
        break;
    case ACTION_FASTER:
        app->speed = app->speed < 50 ? app->speed * 2 : app->speed;
        break;
    case ACTION_COPY:
        app->request = APP_COPY;
        break;
    case ACTION_EXPORT:
        app->request = APP_EXPORT;
        break;
    case ACTION_COPY_STATE:
        app->request = APP_COPY_STATE;
        break;
    case ACTION_SAVE_PNG:
        app->request = APP_SAVE_PNG;
        break;
    case ACTION_SAVE_SVG:
        app->request = APP_SAVE_SVG;
        break;
    case ACTION_THEME:
        change_theme(app);
        break;
    case ACTION_LANGUAGE:
        app->language = app->language == LANGUAGE_CHINESE ? LANGUAGE_ENGLISH : LANGUAGE_CHINESE;
        break;
    case ACTION_SCALE_UP:
        app_set_scale(app, app->scale_percent + 25);
        break;
    case ACTION_SCALE_DOWN:
        app_set_scale(app, app->scale_percent - 25);
        break;
    case ACTION_SCALE_RESET:
        app_set_scale(app, 100);
        break;
    case ACTION_FULL_SCREEN:
        app->request = APP_FULL_SCREEN;
        break;
    case ACTION_HELP:
        app->help = !app->help;
        break;
    case ACTION_CLEAR:
        clear(app);
        break;
    case ACTION_RELOAD:
        app->request = APP_RELOAD;
        break;
    case ACTION_QUIT:
        app->quit = true;
        break;
    case ACTION_NONE:
    case ACTION_COUNT:
        break;
    }
}

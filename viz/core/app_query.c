/* app_query.c: the state as numbers and text, for scripts, tests, the clipboard and the window's
 * title. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "file.h"
#include "label.h"
#include "text.h"
#include "timeline.h"

/* name, value (no event before the first: 2^32 - 1); `s` is the state at the cursor, `t` of the
 * second timeline there */
#define QUERIES(X)                                                                                 \
    X("cursor.moment", app->cursor)                                                                \
    X("cursor.event", app->cursor - 1)                                                             \
    X("cursor.allocated", s.total)                                                                 \
    X("cursor.bytes", s.total)                                                                     \
    X("cursor.reserved", s.reserved)                                                               \
    X("cursor.time", cursor_time(app))                                                             \
    X("cursor.blocks", app_read_owners(app) ? app->a.owners.total_count : 0)                       \
    X("cursor.owners", app_read_owners(app) ? app->a.owners.total_bytes : 0)                       \
    X("overlay.allocated", t.total)                                                                \
    X("overlay.peak", app->has_b ? app->b.lod.peak.max : 0)                                        \
    X("overlay.moment", app->has_b ? app_cursor_b(app) : 0)                                        \
    X("align", app->align.mode)                                                                    \
    X("align.moved", app->has_b &&align_is_moved(&app->align))                                     \
    X("divergence", divergence(app))                                                               \
    X("divergence.kind", app_match(app) ? app_match(app)->kind : 0)                                \
    X("peak.event", app->a.lod.peak.arg - 1)                                                       \
    X("peak.allocated", app->a.lod.peak.max)                                                       \
    X("peak.reserved", app->a.lod.peak.reserved_max)                                               \
    X("peaks", app->a.peaks.count)                                                                 \
    X("events", app->a.lod.moments - 1)                                                            \
    X("view.first", ruler_lower(&ruler, app->view.x0))                                             \
    X("view.last", ruler_moment(&ruler, app->view.x1))                                             \
    X("mark", app->selection.mark)                                                                 \
    X("pin", app->selection.pin)                                                                   \
    X("range.first", app->selection.first)                                                         \
    X("range.end", app->selection.end)                                                             \
    X("difference.groups", read_difference(app) ? app->difference.sums.rows.count : 0)             \
    X("difference.then", read_difference(app) ? app->difference.sums.total.then : 0)               \
    X("difference.now", read_difference(app) ? app->difference.sums.total.now : 0)                 \
    X("range.allocated", read_tab(app, &pane_range) ? app->range.sums.total.allocated : 0)         \
    X("range.leaked", read_tab(app, &pane_range) ? app->range.sums.total.leaked : 0)               \
    X("lifetimes", read_tab(app, &pane_lifetimes) ? app->lifetimes.list.rows.count : 0)            \
    X("icicle.depth", icicle_depth(app))                                                           \
    X("icicle.bytes", icicle_bytes(app))                                                           \
    X("field", app->find.field)                                                                    \
    X("search", app->find.search.active)                                                           \
    X("search.count", app->find.search.count)                                                      \
    X("search.bytes", app->find.search.bytes)                                                      \
    X("search.here", find_sum(app) ? app->find.count : 0)                                          \
    X("search.here_bytes", find_sum(app) ? app->find.bytes : 0)                                    \
    X("search.bad", app->find.why[0] != '\0')                                                      \
    X("only", app->find.only)                                                                      \
    X("parameters", app->parameters.rows.count)                                                    \
    X("parameters.changed", app->parameters.changes.count)                                         \
    X("rows", app->rows ? app->rows->rows.count : 0)                                               \
    X("rows.first", app->rows ? app->rows->first + 1 : 0)                                          \
    X("rows.second", app->rows ? app->rows->second + 1 : 0)                                        \
    X("tab", app->tab)                                                                             \
    X("row", app->tables[app->tab].has_selected ? app->tables[app->tab].selected + 1 : 0)          \
    X("sort", app->tables[app->tab].sort_column)                                                   \
    X("retries", app->marks.retries.count)                                                         \
    X("breaks", app->marks.breaks.count)                                                           \
    X("strip", app->shown[SPLIT_STRIP] ? app->strip.kind + 1 : 0)                                  \
    X("level", app->strip.level)                                                                   \
    X("map", app->shown[SPLIT_MAP])                                                                \
    X("map.row", app->map.scroll)                                                                  \
    X("share.tabs", app->share[SPLIT_TABS])                                                        \
    X("share.side", app->share[SPLIT_SIDE])                                                        \
    X("playing", app->playing)                                                                     \
    X("notice", app->notice.kind)                                                                  \
    X("help", app->help)                                                                           \
    X("theme", app->theme_id)                                                                      \
    X("grouping", app->grouping)                                                                   \
    X("bands", app->bands.by)                                                                      \
    X("bands.count", app->bands.count)                                                             \
    X("bands.others", app->bands.others)                                                           \
    X("isolated", app->isolated + 1)                                                               \
    X("compare", app->compare)                                                                     \
    X("axis", ruler.mode)                                                                          \
    X("language", app->language)                                                                   \
    X("scale", app->scale_percent)                                                                 \
    X("width", app->width)                                                                         \
    X("height", app->height)

/* The moment; without one 2^32 - 1. */
static uint32_t divergence(struct app *app) {
    const struct request_match *match = app_match(app);
    bool differs = match && match->kind != ALIGNMENT_NONE_DIFFERS;
    return differs ? request_match_moment(match, &app->a) : UINT32_MAX;
}

static bool read_tab(struct app *app, const struct pane_ops *tab) {
    return tab->table->read(app);
}

static bool read_difference(struct app *app) {
    return read_tab(app, &pane_difference) && app->difference.valid;
}

static const struct icicle_node *icicle_node(struct app *app) {
    const struct icicle *tree = &app->icicle.tree;
    if (!read_tab(app, &pane_icicle))
        return NULL;
    return &tree->nodes.at[icicle_find(tree, app->icicle.path.at, app->icicle.path.count)];
}

static uint64_t icicle_depth(struct app *app) {
    const struct icicle_node *node = icicle_node(app);
    return node ? node->depth : 0;
}

static uint64_t icicle_bytes(struct app *app) {
    const struct icicle_node *node = icicle_node(app);
    return node ? node->bytes : 0;
}

static uint64_t cursor_time(const struct app *app) {
    struct ruler time = ruler_of(&app->a.lod, RULER_TIME);
    return time.mode == RULER_TIME ? (uint64_t)ruler_position(&time, app->cursor) : 0;
}

bool app_query(struct app *app, const char *name, uint64_t *value) {
    find_flush(app); /* what is told is what was typed */
    struct ruler ruler = app_ruler(app);
    struct lod_state s, t = {{0}, 0, 0};
    lod_state_at(&app->a.lod, app->cursor, &s);
    if (app->has_b)
        lod_state_at(&app->b.lod, app_cursor_b(app), &t);
#define X(query, expression)                                                                       \
    if (strcmp(name, query) == 0) {                                                                \
        *value = (uint64_t)(expression);                                                           \
        return true;                                                                               \
    }
    QUERIES(X)
#undef X
    return false;
}

const char *app_query_name(unsigned index) {
    static const char *const names[] = {
#define X(query, expression) query,
        QUERIES(X)
#undef X
    };
    return index < sizeof names / sizeof names[0] ? names[index] : NULL;
}

void app_copy(struct app *app, struct text *out) {
    app_copy_pin(app, out);
    app_copy_divergence(app, out);
    if (out->length > 0)
        text_add(out, "\n");
    table_copy(app, app_table(app, NULL), out);
}

void app_export(struct app *app, struct text *out) {
    table_csv(app, app_table(app, NULL), out);
}

void app_title(struct app *app, char *out, unsigned out_bytes) {
    struct lod_state s;
    lod_state_at(&app->a.lod, app->cursor, &s);
    const char *name = timeline_text(app->a.tl, app->a.tl->title);
    if (app->notice.kind == NOTICE_READING && app->a.lod.moments == 1) {
        snprintf(out, out_bytes, "vramsim: %.80s: %.40s", file_base(name),
                 app_text(app, TEXT_READING));
        return;
    }
    snprintf(out, out_bytes, "vramsim: %.80s: %u of %u events, %llu bytes", file_base(name),
             app->cursor, app->a.lod.moments - 1, (unsigned long long)s.total);
}

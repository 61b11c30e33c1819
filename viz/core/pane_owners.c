/* pane_owners.c: who holds the memory at the cursor, the largest first, what has no room as one
 * row: rows sum to the total. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "input.h"
#include "label.h"
#include "pane.h"
#include "text.h"
#include "timeline.h"
#include "tip.h"

enum column_id { NAME, BYTES, SHARE, BLOCKS, LARGEST, AGE, KEPT, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [NAME] = {TEXT_OWNERS, 0, false},      [BYTES] = {TEXT_BYTES, 100, true},
    [SHARE] = {TEXT_SHARE, 76, false},     [BLOCKS] = {TEXT_BLOCKS, 76, true},
    [LARGEST] = {TEXT_LARGEST, 100, true}, [AGE] = {TEXT_AGE, 100, true},
    [KEPT] = {TEXT_KEPT, 100, true},
};

enum owner_order owners_order(int column) {
    switch (column) {
    case BLOCKS:
        return OWNER_COUNT;
    case LARGEST:
        return OWNER_LARGEST;
    case AGE:
        return OWNER_AGE;
    case KEPT:
        return OWNER_KEPT;
    default:
        return OWNER_BYTES;
    }
}

static const struct rect *place(const struct app *app) {
    return panes_tab_place(app, &pane_owners);
}

static size_t count(struct app *app) {
    return app->owner_tree.nodes.count;
}

static const struct owner_row *row_of(struct app *app, size_t row) {
    return row == TABLE_REST ? &app->owners_rest : &app->owner_tree.nodes.at[row].row;
}

/* How long ago the oldest block of the row was allocated: nanoseconds, or events. */
static const char *age_of(struct app *app, const struct owner_row *row, bool exact, char *out) {
    uint32_t event = app->a.tl->blocks.at[row->oldest].alloc_event;
    struct ruler time = ruler_of(&app->a.lod, RULER_TIME);
    if (event == TIMELINE_NONE)
        return app_text(app, TEXT_START);
    double age = ruler_position(&time, app->cursor) - ruler_position(&time, event + 1);
    uint64_t value = age > 0 ? (uint64_t)age : 0;
    if (!exact && time.mode == RULER_TIME)
        return label_time(value, out);
    label_count(value, out);
    if (exact)
        snprintf(out, LABEL_BYTES, "%llu", (unsigned long long)value);
    return out;
}

static const char *exact_cell(const struct owner_row *r, uint64_t total, int column,
                              char out[TABLE_CELL]) {
    uint64_t value = column == BYTES     ? r->bytes
                     : column == BLOCKS  ? r->count
                     : column == LARGEST ? r->largest
                                         : r->kept_bytes;
    if (column == SHARE)
        snprintf(out, TABLE_CELL, "%.4f", total ? (double)r->bytes / (double)total : 0);
    else
        snprintf(out, TABLE_CELL, "%llu", (unsigned long long)value);
    return out;
}

/* "+" opens; of a block what it is. */
static const char *name_of(struct app *app, const struct owner_node *node, bool exact,
                           char out[TABLE_CELL]) {
    const struct timeline *tl = app->a.tl;
    char buffer[256], figure[LABEL_BYTES];
    int in = exact ? 2 * node->level : 0;
    if (node->is_block) {
        const struct timeline_block *b = &tl->blocks.at[node->row.key];
        bool before = b->alloc_event == TIMELINE_NONE;
        snprintf(out, TABLE_CELL, "%*s%.120s%s%.60s %s", in, "", timeline_text(tl, b->name),
                 b->name ? "  " : "", app_text(app, before ? TEXT_BEFORE_START : TEXT_EVENT),
                 before ? "" : label_count(b->alloc_event, figure));
        return out;
    }
    const char *name = owners_key_name(&app->a.owners, app->owner_tree.by[node->level],
                                       node->row.key, app->language, buffer);
    bool plain = exact || app->picture; /* nothing can be opened in a picture */
    if (plain && node->level == 0)
        snprintf(out, TABLE_CELL, "%.*s", TABLE_CELL - 1, name);
    else
        snprintf(out, TABLE_CELL, "%*s%s%.*s", in, "",
                 plain           ? ""
                 : node->is_open ? "- "
                                 : "+ ",
                 TABLE_CELL - 16, name);
    return out;
}

static const char *cell(struct app *app, size_t row, int column, bool exact, char out[TABLE_CELL]) {
    const struct owner_row *r = row_of(app, row);
    if (column == NAME)
        return row == TABLE_REST ? table_rest_name(app, (size_t)app->owners_rest.key, out)
                                 : name_of(app, &app->owner_tree.nodes.at[row], exact, out);
    if (column == AGE)
        return age_of(app, r, exact, out);
    if (exact)
        return exact_cell(r, app->a.owners.total_bytes, column, out);
    switch (column) {
    case BYTES:
        return label_bytes(r->bytes, out);
    case SHARE:
        return label_share(r->bytes, app->a.owners.total_bytes, out);
    case BLOCKS:
        return label_count(r->count, out);
    case LARGEST:
        return label_bytes(r->largest, out);
    default:
        return r->kept_bytes ? label_share(r->kept_bytes, r->bytes, out) : "-";
    }
}

static const char *title(struct app *app, char out[TABLE_CELL]) {
    bool only = app->find.only && app->find.search.active;
    snprintf(out, TABLE_CELL, "%.60s: %.60s%s%.60s", app_text(app, TEXT_OWNERS),
             app_text(app, owners_title(app->grouping)), only ? ", " : "",
             only ? app_text(app, TEXT_MATCHES) : "");
    return out;
}

/* Where the bands are by the same grouping, the colour of the row's band. */
static uint32_t swatch(struct app *app, size_t row) {
    const struct owner_row *r = row_of(app, row);
    if (row != TABLE_REST && app->bands.by == app->grouping)
        return app_band_style(app, app_block_band(app, r->oldest)).color;
    return app_band(app, owners_category(r)).color;
}

static void bar(struct app *app, size_t row, uint64_t parts[TABLE_BAR], uint64_t *whole) {
    const struct owner_row *r = row_of(app, row);
    for (size_t i = 0; i < app->a.owners.rows.count; i++)
        if (app->a.owners.rows.at[i].bytes > *whole)
            *whole = app->a.owners.rows.at[i].bytes;
    memcpy(parts, r->by_category, sizeof r->by_category);
}

/* `key` of the rest is how many rows it has. Rows inside others are no part of the sum. */
static size_t rest(struct app *app, size_t first, size_t end) {
    const struct owner_tree *tree = &app->owner_tree;
    struct owner_row *sum = &app->owners_rest;
    memset(sum, 0, sizeof *sum);
    for (size_t i = 0; i < tree->nodes.count; i++) {
        const struct owner_row *row = &tree->nodes.at[i].row;
        if ((i >= first && i < end) || tree->nodes.at[i].level > 0)
            continue;
        if (sum->key == 0 || row->oldest < sum->oldest)
            sum->oldest = row->oldest;
        sum->bytes += row->bytes;
        sum->kept_bytes += row->kept_bytes;
        sum->count += row->count;
        for (int k = 0; k < CATEGORY_COUNT; k++)
            sum->by_category[k] += row->by_category[k];
        sum->largest = row->largest > sum->largest ? row->largest : sum->largest;
        sum->key++;
    }
    return (size_t)sum->key;
}

static void sort(struct app *app, int column, bool falling) {
    (void)column, (void)falling;
    app->owners_valid = false; /* read in that order */
}

static const struct owner_node *node_of(struct app *app, size_t row) {
    return &app->owner_tree.nodes.at[row];
}

static int indent(struct app *app, size_t row) {
    return node_of(app, row)->level;
}

static void follow(struct app *app, const struct owner_node *node) {
    struct text words = {0};
    owner_tree_words(&app->owner_tree, node, &words);
    find_toggle(app, text_get(&words));
    text_fini(&words);
}

void app_follow_row(struct app *app) {
    const struct table_state *state = &app->tables[panes_tab_index(&pane_owners)];
    if (app_read_owners(app) && state->has_selected && state->selected < count(app))
        follow(app, node_of(app, state->selected));
}

/* A row opens and closes; a block is pinned, and what is held for the same purpose is lit. */
static void choose(struct app *app, size_t row) {
    struct owner_node node = *node_of(app, row);
    if (node.is_block) {
        app_pin(app, (uint32_t)node.row.key, false);
        follow(app, &node);
        return;
    }
    if (owner_tree_toggle(&app->owner_tree, &node))
        app->owners_valid = false;
}

static void hover(struct app *app, size_t row) {
    hover_set(app, row == TABLE_NO_ROW ? NULL : node_of(app, row));
}

static const struct table_ops table = {.columns = columns,
                                       .column_count = COLUMNS,
                                       .read = app_read_owners,
                                       .count = count,
                                       .cell = cell,
                                       .title = title,
                                       .swatch = swatch,
                                       .bar = bar,
                                       .rest = rest,
                                       .indent = indent,
                                       .choose = choose,
                                       .hover = hover,
                                       .sort = sort};

static void draw(struct app *app, struct draw_list *list) {
    panes_draw_table(app, list, &pane_owners);
}

/* With Ctrl a click lights what the row holds. */
static bool input(struct app *app, const struct input *in) {
    struct table_state *state = &app->tables[panes_tab_index(&pane_owners)];
    if (in->kind != INPUT_PRESS || !(in->mods & MOD_CTRL))
        return false;
    size_t row = table_row_at(app, in->x, in->y, place(app), &table, state);
    if (row == TABLE_NO_ROW)
        return false;
    state->selected = row;
    state->has_selected = true;
    app_follow_row(app);
    return true;
}

/* The whole name, and exact bytes. */
static bool tip(struct app *app, int x, int y, struct tip *out) {
    size_t row =
        table_row_at(app, x, y, place(app), &table, &app->tables[panes_tab_index(&pane_owners)]);
    char text[TABLE_CELL];
    if (row == TABLE_NO_ROW)
        return false;
    const char *name = cell(app, row, NAME, true, text);
    tip_add(out, "%.230s", name + strspn(name, " "));
    tip_add(out, "%s", label_bytes_exact(row_of(app, row)->bytes, text));
    return true;
}

const struct pane_ops pane_owners = {.name = "owners",
                                     .doc = "who holds the memory at the cursor",
                                     .place = place,
                                     .draw = draw,
                                     .input = input,
                                     .tip = tip,
                                     .title = TEXT_TAB_OWNERS,
                                     .table = &table};

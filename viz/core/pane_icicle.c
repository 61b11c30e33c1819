/* pane_icicle.c: the bytes at the cursor as an icicle: a row a level, a node's width its bytes. By
 * module path, or by stack where the owners are. A click goes into a node, its ancestors stay above
 * it as whole rows; with a mark or a second file the colour says what there is more or less of. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "input.h"
#include "label.h"
#include "pane.h"
#include "text.h"
#include "timeline.h"

enum column_id { NAME, BYTES, SHARE, BLOCKS, THEN, DELTA, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [NAME] = {TEXT_BY_PATH, 0, false}, [BYTES] = {TEXT_BYTES, 100, false},
    [SHARE] = {TEXT_SHARE, 76, false}, [BLOCKS] = {TEXT_BLOCKS, 76, false},
    [THEN] = {TEXT_THEN, 100, false},  [DELTA] = {TEXT_DIFFERENCE, 100, false},
};

static const struct rect *place(const struct app *app) {
    return panes_tab_place(app, &pane_icicle);
}

static struct table_state *state_of(struct app *app) {
    return &app->tables[panes_tab_index(&pane_icicle)];
}

static bool read(struct app *app) {
    struct icicle_view *view = &app->icicle;
    struct difference_side then, now;
    view->compares = app_difference_sides(app, &then, &now);
    enum icicle_kind kind = app->grouping == OWNER_BY_STACK ? ICICLE_STACK : ICICLE_PATH;
    const struct icicle_key key = {app->cursor, view->compares ? then.moment : SELECTION_NONE,
                                   view->compares && then.track == &app->b, (uint32_t)kind};
    if (view->valid && memcmp(&view->key, &key, sizeof key) == 0)
        return true;
    if (view->key.kind != kind)
        array_clear(&view->path);
    view->valid = icicle_read(&view->tree, kind, &now, view->compares ? &then : NULL);
    view->key = key;
    return view->valid;
}

/* The node that fills the width. */
static uint32_t zoomed(const struct app *app) {
    return icicle_find(&app->icicle.tree, app->icicle.path.at, app->icicle.path.count);
}

/* Path of names from the root. */
static bool zoom_to(struct app *app, uint32_t node) {
    struct icicle_view *view = &app->icicle;
    const struct icicle_node *nodes = view->tree.nodes.at;
    size_t depth = nodes[node].depth;
    if (!array_reserve(&view->path, depth))
        return false;
    view->path.count = depth;
    for (; node != 0; node = nodes[node].parent)
        view->path.at[--depth] = nodes[node].name;
    app->dirty = true;
    return true;
}

bool app_icicle_up(struct app *app) {
    if (panes_tabs[app->tab] != &pane_icicle || app->icicle.path.count == 0)
        return false;
    app->icicle.path.count--;
    app->dirty = true;
    return true;
}

static size_t count(struct app *app) {
    return app->icicle.tree.order.count;
}

static const struct icicle_node *node_of(const struct app *app, uint32_t node) {
    return &app->icicle.tree.nodes.at[node];
}

static const char *name_of(const struct app *app, uint32_t node) {
    const char *name = icicle_name(&app->icicle.tree, node);
    return node == 0       ? app_text(app, TEXT_ALLOCATED)
           : *name == '\0' ? app_text(app, TEXT_UNKNOWN)
                           : name;
}

/* "model.layers.3.mlp", from the root. */
static void full_name(const struct app *app, uint32_t node, struct text *out) {
    uint32_t chain[256];
    int depth = 0;
    bool stack = app->icicle.key.kind == ICICLE_STACK;
    for (; node != 0 && depth < 256; node = node_of(app, node)->parent)
        chain[depth++] = node;
    if (depth == 0)
        text_add(out, app_text(app, TEXT_ALLOCATED));
    while (depth-- > 0) {
        text_add(out, name_of(app, chain[depth]));
        if (depth > 0)
            text_add(out, stack ? " > " : ".");
    }
}

static const char *name_cell(struct app *app, uint32_t node, char out[TABLE_CELL]) {
    struct text name = {0};
    full_name(app, node, &name);
    snprintf(out, TABLE_CELL, "%s", text_get(&name));
    text_fini(&name);
    return out;
}

static const char *cell(struct app *app, size_t row, int column, bool exact, char out[TABLE_CELL]) {
    uint32_t node = app->icicle.tree.order.at[row];
    const struct icicle_node *n = node_of(app, node);
    uint64_t total = node_of(app, 0)->bytes;
    (void)exact; /* it is only copied */
    switch (column) {
    case NAME:
        return name_cell(app, node, out);
    case SHARE:
        snprintf(out, TABLE_CELL, "%.4f", total ? (double)n->bytes / (double)total : 0);
        return out;
    case DELTA:
        snprintf(
            out, TABLE_CELL, "%s%llu", n->bytes < n->then ? "-" : "",
            (unsigned long long)(n->bytes < n->then ? n->then - n->bytes : n->bytes - n->then));
        return out;
    default:
        snprintf(out, TABLE_CELL, "%llu",
                 (unsigned long long)(column == BYTES  ? n->bytes
                                      : column == THEN ? n->then
                                                       : n->count));
        return out;
    }
}

static void choose(struct app *app, size_t row) {
    zoom_to(app, app->icicle.tree.order.at[row]);
}

static const struct table_ops table = {.columns = columns,
                                       .column_count = COLUMNS,
                                       .read = read,
                                       .count = count,
                                       .cell = cell,
                                       .choose = choose};

/* --- the picture --------------------------------------------------------------------------------- */

struct painter {
    struct app *app;
    struct draw_list *list; /* NULL: only look what is at the pointer */
    int x, w, y, row, bottom;
    uint32_t selected, found; /* nodes */
};

/* From what has not changed to what is new or gone: `share` of 256. */
static uint32_t mix(uint32_t from, uint32_t to, unsigned share) {
    uint32_t out = 0xff000000;
    for (int shift = 0; shift < 24; shift += 8) {
        unsigned a = from >> shift & 0xff, b = to >> shift & 0xff;
        out |= ((a * (256 - share) + b * share) / 256) << shift;
    }
    return out;
}

static uint32_t color_of(const struct app *app, const struct icicle_node *node) {
    const struct theme *theme = app_theme(app);
    if (!app->icicle.compares)
        return app_band(app, icicle_category(node)).color;
    bool more = node->bytes >= node->then;
    uint64_t by = more ? node->bytes - node->then : node->then - node->bytes;
    uint64_t most = more ? node->bytes : node->then;
    unsigned share = most ? (unsigned)((double)by / (double)most * 224) : 0;
    return mix(theme->line, more ? theme->more : theme->less, by > 0 ? share + 32 : 0);
}

/* Black or white, whichever stands out (the weights of ITU-R BT.709, in thousandths). */
static uint32_t ink_on(uint32_t color) {
    unsigned light = (color >> 16 & 0xff) * 213 + (color >> 8 & 0xff) * 715 + (color & 0xff) * 72;
    return light > 118000 ? 0xff000000 : 0xffffffff;
}

static void label_node(const struct painter *p, uint32_t node, int x, int w, uint32_t color) {
    struct app *app = p->app;
    const struct icicle_node *n = node_of(app, node);
    char shown[TABLE_CELL], text[TABLE_CELL], bytes[LABEL_BYTES];
    int pad = app_px(app, 4);
    const char *name = name_of(app, node);
    if (w < app_px(app, 26))
        return;
    snprintf(text, sizeof text, "%.200s  %s", name, label_bytes(n->bytes, bytes));
    if (app_text_width(app, text) + 2 * pad > w)
        snprintf(text, sizeof text, "%.200s", name);
    font_shorten(app->font, text, w - 2 * pad, app_size(app), false, shown, sizeof shown);
    app_draw_text(app, p->list, x + pad, p->y + (p->row - app_line(app)) / 2, color, shown);
}

static void draw_node(struct painter *p, uint32_t node, int x, int w) {
    struct app *app = p->app;
    const struct theme *theme = app_theme(app);
    struct rect r = {x, p->y, w, p->row};
    bool under = rect_has(&r, app->pointer_x, app->pointer_y);
    if (under)
        p->found = node;
    if (!p->list)
        return;
    uint32_t color = color_of(app, node_of(app, node));
    int gap = w > 2 ? 1 : 0;
    draw_rect(p->list, x, p->y, w - gap, p->row - 1, color);
    if (under || node == p->selected)
        draw_frame(p->list, x, p->y, w - gap, p->row - 1, theme->ink);
    label_node(p, node, x, w - gap, ink_on(color));
}

static uint64_t children_bytes(const struct app *app, uint32_t parent) {
    uint64_t sum = 0;
    for (uint32_t i = node_of(app, parent)->child; i != ICICLE_NONE; i = node_of(app, i)->next)
        sum += node_of(app, i)->bytes;
    return sum;
}

/* Children side by side; those without a pixel of their own together in grey. */
static void draw_children(struct painter *p, uint32_t parent, int x, int w) {
    const struct icicle_node *above = node_of(p->app, parent);
    double sum = 0, whole = above->bytes > 0 ? (double)above->bytes : 1;
    if (p->y + p->row > p->bottom)
        return;
    for (uint32_t i = above->child; i != ICICLE_NONE; i = node_of(p->app, i)->next) {
        int from = x + (int)(sum / whole * w);
        sum += (double)node_of(p->app, i)->bytes;
        int to = x + (int)(sum / whole * w);
        if (node_of(p->app, i)->bytes == 0)
            break;
        if (to - from < app_px(p->app, 2)) { /* smaller ones follow */
            int end = x + (int)((double)children_bytes(p->app, parent) / whole * w);
            if (p->list && end > from)
                draw_rect(p->list, from, p->y, end - from, p->row - 1, app_theme(p->app)->raised);
            break;
        }
        draw_node(p, i, from, to - from);
        p->y += p->row;
        draw_children(p, i, from, to - from);
        p->y -= p->row;
    }
}

/* Ancestors as whole rows, the zoomed node, what is below it. */
static void walk(struct painter *p) {
    uint32_t chain[256], node = zoomed(p->app);
    int depth = 0;
    for (uint32_t i = node; i != ICICLE_NONE && depth < 256; i = node_of(p->app, i)->parent)
        chain[depth++] = i;
    p->found = ICICLE_NONE;
    while (depth-- > 0 && p->y + p->row <= p->bottom) {
        draw_node(p, chain[depth], p->x, p->w);
        p->y += p->row;
    }
    draw_children(p, node, p->x, p->w);
}

static struct painter painter_of(struct app *app, struct draw_list *list) {
    const struct rect *r = place(app);
    const struct table_state *state = state_of(app);
    int pad = app_px(app, 14), head = app_line(app) + app_px(app, 6);
    bool selects = state->has_selected && state->selected < count(app);
    return (struct painter){.app = app,
                            .list = list,
                            .x = r->x + pad,
                            .w = r->w - 2 * pad,
                            .y = r->y + head,
                            .row = app_line(app) + app_px(app, 5),
                            .bottom = r->y + r->h,
                            .selected =
                                selects ? app->icicle.tree.order.at[state->selected] : ICICLE_NONE};
}

/* "model.layers.3: 1.20 GiB, 2.3 %, 12 blocks, +200 MiB" of the node at the pointer, the chosen or the
 * zoomed one. */
static void draw_head(struct app *app, struct draw_list *list, uint32_t node) {
    const struct rect *r = place(app);
    const struct icicle_node *n = node_of(app, node);
    struct text text = {0};
    char figure[LABEL_BYTES], shown[512];
    full_name(app, node, &text);
    text_format(&text, ":  %s", label_bytes(n->bytes, figure));
    text_format(&text, "  %s", label_share(n->bytes, node_of(app, 0)->bytes, figure));
    text_format(&text, "  %s %s", label_count(n->count, figure),
                app_text(app, n->count == 1 ? TEXT_BLOCK_OF : TEXT_BLOCKS_UNIT));
    if (app->icicle.compares)
        text_format(&text, "  %s", label_difference(n->bytes, n->then, figure));
    const char *title = app_text(app, app->icicle.key.kind == ICICLE_STACK ? TEXT_ICICLE_BY_STACK
                                                                           : TEXT_ICICLE_BY_PATH);
    int pad = app_px(app, 14), y = r->y + app_px(app, 2), right = r->x + r->w - pad;
    int width = app_draw_right(app, list, right, y, app_theme(app)->faint, title);
    font_shorten(app->font, text_get(&text), r->w - 3 * pad - width, app_size(app), true, shown,
                 sizeof shown);
    draw_text(list, r->x + pad, y, app_size(app), true, app_theme(app)->ink, shown);
    list->failed |= text.failed;
    text_fini(&text);
}

static void draw(struct app *app, struct draw_list *list) {
    const struct rect *r = place(app);
    draw_rect(list, r->x, r->y, r->w, r->h, app_theme(app)->panel);
    if (!read(app)) {
        list->failed = true;
        return;
    }
    draw_clip(list, r->x, r->y, r->w, r->h);
    struct painter p = painter_of(app, list);
    walk(&p);
    uint32_t told = p.found != ICICLE_NONE      ? p.found
                    : p.selected != ICICLE_NONE ? p.selected
                                                : zoomed(app);
    draw_head(app, list, told);
    draw_unclip(list);
}

/* The ancestor of a node one level below another, which is above it; else the node. */
static uint32_t step_down(const struct app *app, uint32_t from, uint32_t to) {
    uint32_t node = to;
    while (node != 0 && node_of(app, node)->parent != from)
        node = node_of(app, node)->parent;
    return node != 0 ? node : to;
}

/* A click goes into what is under it, on what fills the width it goes up; the wheel a level at a
 * time. */
static bool input(struct app *app, const struct input *in) {
    bool press = in->kind == INPUT_PRESS && in->button == BUTTON_LEFT;
    if ((!press && in->kind != INPUT_WHEEL) || !read(app))
        return true;
    struct painter p = painter_of(app, NULL);
    walk(&p);
    uint32_t here = zoomed(app);
    if (press ? p.found == here : in->wheel < 0)
        app_icicle_up(app);
    else if (p.found != ICICLE_NONE)
        zoom_to(app, press ? p.found : step_down(app, here, p.found));
    state_of(app)->has_selected = false;
    return true;
}

const struct pane_ops pane_icicle = {.name = "icicle",
                                     .doc = "the bytes at the cursor by module path or by stack",
                                     .place = place,
                                     .draw = draw,
                                     .input = input,
                                     .title = TEXT_TAB_ICICLE,
                                     .table = &table};

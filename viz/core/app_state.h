/* app_state.h: the inside of app.h, for its own files and the panes. */
#ifndef APP_STATE_H
#define APP_STATE_H

#include "align.h"
#include "app.h"
#include "app_bands.h"
#include "bands.h"
#include "column.h"
#include "compare_views.h"
#include "draw.h"
#include "event_list.h"
#include "find.h"
#include "font.h"
#include "hover.h"
#include "keys.h"
#include "layout.h"
#include "map_view.h"
#include "marks.h"
#include "palette.h"
#include "pane.h"
#include "parameters.h"
#include "phase_sums.h"
#include "pieces.h"
#include "plot_cache.h"
#include "plot_layer.h"
#include "request_match.h"
#include "ruler.h"
#include "selection.h"
#include "streams.h"
#include "strip.h"
#include "table.h"
#include "track.h"
#include "track_rows.h"
#include "view.h"

enum compare_mode { COMPARE_OVERLAY, COMPARE_BELOW, COMPARE_OFF, COMPARE_COUNT };
enum drag_mode {
    DRAG_NONE,
    DRAG_SCRUB,
    DRAG_PAN,
    DRAG_BRUSH,
    DRAG_MOVE_BRUSH,
    DRAG_ZOOM,
    DRAG_RANGE,
    DRAG_SPLIT /* a border between panes: app->split */
};

struct app {
    struct track a, b;
    bool has_b;
    struct track_rows *rows; /* NULL: no more than two files */
    size_t wished_first, wished_second;
    struct align align;
    struct request_match match; /* of the two; app_match() looks for it */
    bool match_failed;
    struct font *font;
    enum theme_id theme_id;
    struct palette palette;
    enum language language;
    int scale_percent, width, height;
    bool picture;

    enum ruler_mode mode; /* as wished; ruler() says what is possible */
    enum compare_mode compare;
    struct view view;
    uint32_t cursor;
    int isolated; /* band; -1: all */
    struct selection selection;
    bool help;
    struct find find;
    struct event_list events;
    struct owner_tree owner_tree;
    struct hover hover;
    struct phase_sums phase_sums; /* of the one looked at last */

    /* what is shown, and how much of the window it takes */
    bool shown[SPLIT_COUNT]; /* enum layout_split */
    int share[SPLIT_COUNT];
    enum layout_split split; /* being dragged */
    int tab;                 /* index into panes_tabs */
    struct table_state tables[PANES_TABS];

    int pointer_x, pointer_y; /* -1: outside */
    enum drag_mode drag;
    int drag_from, drag_at; /* x pixels */
    double drag_x0;         /* view.x0 or position when it began */

    struct bands bands; /* as they are shown */
    enum owner_grouping bands_wanted;
    struct bands_job bands_job; /* while bands_begun */
    bool bands_begun;
    size_t bands_at_once; /* app_bands.c */

    enum owner_grouping grouping;
    struct live_set live;
    bool owners_valid;
    uint32_t owners_moment;
    enum owner_grouping owners_grouping;
    struct owner_row owners_rest; /* the rows that have no room */

    struct parameters parameters;
    char parameter_error[256];
    struct difference_view difference;
    struct range_view range;
    struct lifetimes_view lifetimes;
    struct icicle_view icicle;

    bool playing;
    double speed; /* 1 = a visible range in ten seconds */
    double play_position;

    struct plot_cache plot, overview;
    struct streams_cursor blocks_a, blocks_b;
    struct pieces pieces; /* of the column read last */
    /* for a window: the plots as pixels, refined while time passes (app_work.c) */
    bool layered;
    struct plot_layer layers[2];
    uint64_t (*clock_ns)(void);
    struct map_view map; /* of the first timeline */
    struct strip strip;
    struct marks marks; /* of the first timeline */
    struct layout layout;
    struct app_notice notice;
    bool dirty, quit;
    enum app_request request;
};

/* Logical units to pixels, and the three sizes of text. */
int app_px(const struct app *app, int units);
int app_size(const struct app *app);
int app_small(const struct app *app);
int app_large(const struct app *app);
int app_line(struct app *app); /* height of a line of app_size */

struct ruler app_ruler(const struct app *app);
void app_limits(const struct app *app, struct view_limits *limits);
const struct theme *app_theme(const struct app *app);
struct band_style app_band(const struct app *app, enum category category);
const char *app_text(const struct app *app, enum text_id id);
void app_layout_wish(struct app *app, struct layout_wish *wish);
void app_relayout(struct app *app);
/* Reads the owners at the cursor unless they are there already. */
bool app_read_owners(struct app *app);
bool app_read_plot(struct app *app, struct plot_cache *cache, const struct view *view, int width);
/* Moves the view by less than a pixel onto the grid of its columns, which a pan keeps. */
bool app_settle_view(struct app *app);
/* Where the first timeline's bands are: the plot, or its upper half. */
struct rect app_plot_rect(const struct app *app);
/* The columns that app->plot holds, of the first or the second timeline; `rect` is borrowed. */
struct plot_frame app_plot_frame(struct app *app, const struct rect *rect, bool second);
/* What builds and refines itself, for a slice of time; `ms` have passed since the last one. */
void app_work(struct app *app, uint32_t ms);
uint32_t app_cursor_b(const struct app *app); /* the second timeline's moment under the cursor */
int app_cursor_x(const struct app *app);      /* pixels; outside the plot when not visible */
/* What bands show besides the columns: bytes below the first band. */
uint64_t app_context(const struct app *app);

void app_act(struct app *app, enum action action); /* app_action.c */
/* pane_parameters.c. The chosen row, where its tab is open; false: there is none. */
bool app_step_parameter(struct app *app, enum parameter_step step, bool up);
void app_undo_parameter(struct app *app);
/* Asks for other ones of the rows as first and second. */
void app_choose_rows(struct app *app, size_t first, size_t second);
/* app_compare.c. What the two timelines share, request by request; NULL where that is not known. */
const struct request_match *app_match(struct app *app);
void app_choose_align(struct app *app, enum align_mode mode);
void app_act_compare(struct app *app, enum action action);
/* Where they first differ, in words; nothing where they do not. */
void app_copy_divergence(struct app *app, struct text *out);
void app_open_tab(struct app *app, int tab); /* wraps around */
void app_next_tab(struct app *app, int by);  /* of those that are offered */
/* Pins a block (its details, its lifetime) and, when `go`, moves the cursor to its allocation. */
void app_pin(struct app *app, uint32_t block, bool go);
/* The first block of the event before the cursor, or the pinned one; SELECTION_NONE. */
uint32_t app_event_block(const struct app *app, uint32_t moment);
/* To a moment as place.h names it, or the divergence from the second timeline. */
bool app_go_to_place(struct app *app, const char *text, struct error *err);
/* Something is singled out by what it is: those blocks are bright, all else is dim. */
bool app_dims(const struct app *app);
bool app_is_lit(const struct app *app, uint32_t block);
/* How many bytes are lit, by category; NULL: nothing is singled out, or there is no telling. */
const struct lod *app_lit_lod(struct app *app);
uint64_t app_lit_key(const struct app *app); /* another one whenever other blocks are lit */
/* Searches for what the chosen row of the owners holds; again: no more. */
void app_follow_row(struct app *app);
/* Owners sort by a column of their table. */
enum owner_order owners_order(int column);
void app_copy_pin(struct app *app, struct text *out); /* `key: value` lines; nothing pinned: none */
/* Moves the address map by so many rows. */
void map_scroll(struct app *app, int rows);
void map_zoom(struct app *app, int steps); /* each by a quarter */
/* The table that takes row keys, is copied and exported: the open tab's, or the owners'. */
const struct table_ops *app_table(struct app *app, struct table_state **state);

/* Right- or left-aligned text in the usual size; return the width. */
int app_draw_text(struct app *app, struct draw_list *list, int x, int y, uint32_t color,
                  const char *text);
int app_draw_right(struct app *app, struct draw_list *list, int right, int y, uint32_t color,
                   const char *text);
int app_text_width(struct app *app, const char *text);

#endif

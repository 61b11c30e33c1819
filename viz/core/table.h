/* table.h: a table of a pane: a head that sorts, rows that scroll and can be chosen, what has no room
 * as one last row, so that rows sum to the total. The pane says what its rows are (table_ops); the
 * table draws them, takes keys and mouse, and copies them. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "category.h"
#include "i18n.h"

struct app;
struct draw_list;
struct input;
struct rect;
struct text;

enum { TABLE_CELL = 320, TABLE_BAR = CATEGORY_COUNT };

#define TABLE_REST SIZE_MAX /* in place of a row: those that have no room */
#define TABLE_NO_ROW SIZE_MAX

struct table_column {
    enum text_id title;
    int width;  /* logical units; 0: the name, the one column that takes what is left */
    bool sorts; /* a click on its head sorts by it */
};

/* `first` and `end`: the rows that are shown, for TABLE_REST. Functions named optional may be NULL. */
struct table_ops {
    const struct table_column *columns; /* the name first, then figures from left to right; where
                                         * there is little room the last are left out */
    int column_count;
    /* Brings the rows up to date with the application. False: host memory. */
    bool (*read)(struct app *app);
    size_t (*count)(struct app *app);
    /* A cell as it is shown, or exact for copies (bytes as a number); in `out` or static. */
    const char *(*cell)(struct app *app, size_t row, int column, bool exact, char out[TABLE_CELL]);
    /* The name of the table, in the place of the name column's title. Optional. */
    const char *(*title)(struct app *app, char out[TABLE_CELL]);
    /* The colour beside the name; 0: none. Optional. */
    uint32_t (*swatch)(struct app *app, size_t row);
    /* Parts of a bar between name and figures; `whole` is the longest bar's. Optional. */
    void (*bar)(struct app *app, size_t row, uint64_t parts[TABLE_BAR], uint64_t *whole);
    /* Instead of `bar`: one that grows from the middle, to the right when `more`. Optional. */
    void (*balance)(struct app *app, size_t row, uint64_t *size, bool *more, uint64_t *whole);
    /* Sums up the rows outside first .. end - 1 for TABLE_REST; how many they are. Optional: then
     * nothing is said of them but the count in the name. */
    size_t (*rest)(struct app *app, size_t first, size_t end);
    int (*indent)(struct app *app, size_t row);              /* levels. Optional. */
    bool (*marked)(struct app *app, size_t row);             /* drawn raised. Optional. */
    bool (*dim)(struct app *app, size_t row);                /* drawn faint. Optional. */
    void (*choose)(struct app *app, size_t row);             /* Enter, or a click. Optional. */
    void (*hover)(struct app *app, size_t row);              /* TABLE_NO_ROW: left. Optional. */
    void (*sort)(struct app *app, int column, bool falling); /* reads anew. Optional. */
};

/* Zero bytes: at the top, in the pane's own order. */
struct table_state {
    size_t scroll, selected; /* the first row shown; the chosen one */
    bool has_selected;
    int shown;       /* rows that the last frame had room for, without the rest's */
    int sort_column; /* of `falling`; 0 and not falling: the pane's own order */
    bool falling;
    int head, row; /* heights in the last frame, pixels */
};

void table_draw(struct app *app, struct draw_list *list, const struct rect *place,
                const struct table_ops *ops, struct table_state *state);
/* "others (12)": what TABLE_REST is called. */
const char *table_rest_name(struct app *app, size_t rows, char out[TABLE_CELL]);
/* A wheel, a motion, a press inside `place`. */
bool table_input(struct app *app, const struct input *in, const struct rect *place,
                 const struct table_ops *ops, struct table_state *state);
/* The row at a point of `place`; TABLE_NO_ROW: none. */
size_t table_row_at(struct app *app, int x, int y, const struct rect *place,
                    const struct table_ops *ops, const struct table_state *state);
/* Moves the chosen row (and what is shown after it) by so many rows. */
void table_move(struct app *app, const struct table_ops *ops, struct table_state *state, int by);
/* The first row that is shown of `count`. */
size_t table_first(const struct table_state *state, size_t count);
/* Where the cells of a column are; false: it has no room. */
bool table_cell_place(struct app *app, const struct rect *place, const struct table_ops *ops,
                      int column, struct rect *out);
/* As a click on the head of a column. */
void table_sort_by(struct app *app, const struct table_ops *ops, struct table_state *state,
                   int column);
/* Sorts by the next column that sorts, falling, after the last in the pane's own order; the other way
 * round. */
void table_sort_next(struct app *app, const struct table_ops *ops, struct table_state *state);
void table_sort_reverse(struct app *app, const struct table_ops *ops, struct table_state *state);
/* Calls the choose of the chosen row. */
void table_choose(struct app *app, const struct table_ops *ops, struct table_state *state);

/* All rows with exact figures: separated by tabs for the clipboard, or as CSV (RFC 4180). */
void table_copy(struct app *app, const struct table_ops *ops, struct text *out);
void table_csv(struct app *app, const struct table_ops *ops, struct text *out);

#endif

/* app.h: the viewer without its window: input in, a draw list out.
 *
 * Two timelines at most. The cursor is a moment of the first (lod.h): the state after so many
 * events. Ownership: the application borrows the timelines. Nothing moves by itself but by
 * INPUT_TICK. */
#ifndef APP_H
#define APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "i18n.h"
#include "theme.h"

struct app;
struct draw_list;
struct error;
struct font;
struct parameter;
struct parameters;
struct input;
struct palette;
struct text;
struct timeline;

struct app_options {
    int width, height; /* pixels; 0: 1280 x 800 */
    int scale_percent; /* 0: 100 */
    enum theme_id theme;
    const struct palette *palette; /* copied; NULL: the usual one */
    enum language language;
    const char *font;   /* FILE[:face]; NULL: the usual ones */
    bool embedded_font; /* only that: the same pixels everywhere */
    bool picture;       /* for a file: no hints, the cursor marks the peak */
    bool below;         /* the second timeline below the first instead of over it */
};

struct app *app_create(const struct app_options *options, const struct timeline *first,
                       const struct timeline *second, struct error *err);
void app_destroy(struct app *app);

void app_input(struct app *app, const struct input *input);
/* Draws everything. False: host memory. */
bool app_frame(struct app *app, struct draw_list *list, struct error *err);
struct font *app_font(struct app *app);
void app_set_scale(struct app *app, int percent); /* of texts and margins; 50 to 400 */

/* For a window: keeps the plots as pixels, to which INPUT_TICKs add bands of blocks, each for 6 ms at
 * most by this clock (NULL: as long as it takes). Without it each app_frame draws all anew. */
void app_use_layers(struct app *app, uint64_t (*clock_ns)(void));
bool app_is_busy(const struct app *app);  /* ticks have something to do */
bool app_is_dirty(const struct app *app); /* since the last app_frame */
bool app_is_playing(const struct app *app);
bool app_is_dragged(const struct app *app); /* a button is held */
bool app_wants_quit(const struct app *app);

/* What the window does for the application; each reading clears it. */
enum app_request {
    APP_NOTHING,
    APP_SAVE_PNG,
    APP_SAVE_SVG,
    APP_FULL_SCREEN,
    APP_COPY,
    APP_COPY_STATE,
    APP_EXPORT,
    APP_SHOW_ROWS, /* app_wished_rows() as first and second */
    APP_RUN_AGAIN, /* the scenario with the parameters as they are now */
    APP_RELOAD,    /* read the files again */
    APP_CANCEL,    /* stop reading */
    APP_PASTE      /* the clipboard, as INPUT_TEXT */
};
enum app_request app_take_request(struct app *app);
/* The table of the open tab with exact bytes: as tab-separated text, as CSV. */
void app_copy(struct app *app, struct text *out);
void app_export(struct app *app, struct text *out);

/* Over the picture until the next one: a file is being read (`done` of `total`; 0: unknown), or could
 * not be. */
enum app_notice_kind { NOTICE_NONE, NOTICE_READING, NOTICE_CANCELLED, NOTICE_FAILED };
struct app_notice {
    enum app_notice_kind kind;
    uint64_t done, total;
    char text[256]; /* the file's name, or what went wrong */
};
void app_set_notice(struct app *app, const struct app_notice *notice);
/* Looks as `from` does, whose place it takes in a window; of the same files it shows the same part
 * too; where these have only grown since, events and blocks have the numbers that they had, and what was singled out
 * stays so. */
enum app_adoption { ADOPT_OTHER_FILES, ADOPT_SAME_FILES, ADOPT_GROWN_FILES };
void app_adopt(struct app *app, struct app *from, enum app_adoption kind);
/* Beside the window, before it is shown: builds to the end what else would be built while it is shown. */
void app_build(struct app *app);
/* After app_adopt, before it is shown: a slice of what would be seen to come in by and by. True: that is all there. */
bool app_prepare(struct app *app);
/* A text field has the keyboard: letters are to come as INPUT_TEXT; an input method's window belongs
 * beside the caret, in pixels. */
bool app_wants_text(const struct app *app, int *x, int *y, int *w, int *h);

/* More than two timelines, among them the two that are shown: small rows of all. */
bool app_set_rows(struct app *app, const struct timeline *const *timelines, size_t count,
                  struct error *err);
void app_wished_rows(const struct app *app, size_t *first, size_t *second);
/* After app_adopt, in the place of `from`: has its rows now, of which these are shown. False: host
 * memory; the rows stay where they are. */
bool app_carry_rows(struct app *app, struct app *from, size_t first, size_t second,
                    struct error *err);

/* The parameters of the scenario that the first timeline is a run of: a person changes them, which asks
 * for another run (APP_RUN_AGAIN). Copies them. False: host memory. */
bool app_set_parameters(struct app *app, const struct parameter *rows, size_t count);
const struct parameters *app_parameters(const struct app *app);
/* The run that was asked for cannot be: the change is taken back, the text shown. */
void app_run_failed(struct app *app, const char *text);
/* After app_adopt, that run in the place of `from`: its parameters are those of `from` now. */
void app_carry_parameters(struct app *app, struct app *from);

void app_go_to(struct app *app, uint32_t moment); /* clamped; makes it visible */
uint32_t app_peak(const struct app *app);
/* A state value by name (app_query.c lists them); false: no such name. */
bool app_query(struct app *app, const char *name, uint64_t *value);
const char *app_query_name(unsigned index); /* NULL after the last */
/* "FILE: event N of M, B bytes": the window's title. */
void app_title(struct app *app, char *out, unsigned out_bytes);

#endif

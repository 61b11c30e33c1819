/* find.h: the two fields at the foot of the window: "go to" and "search". The search stays on when its
 * field is left; its matches are bright and all else is dim. */
#ifndef FIND_H
#define FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"
#include "live.h"
#include "plot_cache.h"
#include "prompt.h"
#include "search.h"

struct app;
struct input;
struct text;

enum { FIND_AT_ONCE = 1 << 20, FIND_REST_MS = 150 };

enum find_field { FIND_NONE, FIND_GO, FIND_SEARCH, FIND_FIELDS };

struct find {
    enum find_field field; /* the one with the keyboard */
    struct prompt prompts[FIND_FIELDS];
    struct search search;
    struct plot_cache columns; /* of the matches, as of the serial below */
    uint32_t columns_serial;
    bool only; /* tables list matches alone */
    /* of more blocks than `at_once` what is typed is searched for when typing rests */
    size_t at_once;
    bool stale;
    uint32_t rest_ms;
    uint32_t serial; /* another with each change of the search */
    char why[300];   /* what is wrong with the text of the field that is shown; "": nothing */
    struct rect caret;
    int text_x; /* where the text began in the last frame */
    /* at the cursor */
    bool summed;
    uint32_t moment, count;
    uint64_t bytes;
    struct live_set live;
};

void find_init(struct app *app);
void find_fini(struct app *app);
void find_open(struct app *app, enum find_field field);
/* Keys and text while a field has the keyboard; presses that give or take it. */
bool find_input(struct app *app, const struct input *in);
/* Searches for what was typed, if that is still to be done. */
void find_flush(struct app *app);
/* The field that is shown: the one with the keyboard, else the search that is on. */
enum find_field find_shown(const struct app *app);
/* The fields and the search of an application whose place this one takes. */
void find_adopt(struct app *app, const struct app *from);
/* Sets the search as if it had been typed. */
void find_search(struct app *app, const char *text);
const char *find_search_text(const struct app *app);
/* Searches for all blocks of a block's owner (else of its operation); when that is the search already,
 * ends it. */
void find_follow(struct app *app, uint32_t block);
/* Adds NAME="VALUE", which is the whole text of a field. */
void find_add_word(struct text *out, const char *name, const char *value);
/* Searches for the text; when that is the search already, ends it. */
void find_toggle(struct app *app, const char *text);
/* To the next match in order of allocation: the cursor there, the block pinned. */
void find_next(struct app *app, bool forward);
/* The sums of the matches at the cursor. False: no search is on, or host memory. */
bool find_sum(struct app *app);

#endif

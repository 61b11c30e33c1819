/* app_bands.h: the bands of an application: which grouping they are by, their names and looks.
 *
 * A chosen grouping is found in slices of app_work; what was shown stays until it is there. Without a
 * window, or where there is little to look at, it is there at once. */
#ifndef APP_BANDS_H
#define APP_BANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "owners.h"
#include "theme.h"

struct app;

/* By category; where the trace knows none, by stack. */
void app_bands_start(struct app *app);
void app_bands_fini(struct app *app);
/* False: host memory; the bands stay as they are. */
bool app_choose_bands(struct app *app, enum owner_grouping by);
void app_next_bands(struct app *app, int by); /* 1 or -1: of those that the trace knows */
bool app_bands_are_building(const struct app *app);
/* Looks at `count` more blocks or events. False: host memory; the bands stay as they are. */
bool app_build_bands(struct app *app, uint32_t count);
bool app_settle_bands(struct app *app); /* to the end */

struct band_style app_band_style(const struct app *app, int band);
/* In the application's language; valid until the owners change, or in `buffer`. */
const char *app_band_name(struct app *app, int band, char buffer[256]);
/* As a state names it: a category's key, else the English name. */
const char *app_band_word(struct app *app, int band, char buffer[256]);
int app_find_band(struct app *app, const char *word);      /* -1: none */
int app_block_band(const struct app *app, uint32_t block); /* of the first timeline */
/* Searches for what a band's block holds (by category: its owner), or without one the whole band; when
 * that is the search already, ends it. */
void app_follow_band(struct app *app, int band, uint32_t block);

#endif

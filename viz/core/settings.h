/* settings.h: how a person likes the viewer, apart from what is looked at: theme, scale, language,
 * which panes are there and how large, the groupings of the owners and the bands, the axis. As text, a line each:
 *
 *   theme light
 *   scale 125
 *   tabs off 34
 *
 * Pure: who keeps the text is another's business. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>

#include "i18n.h"
#include "layout.h"
#include "owners.h"
#include "ruler.h"
#include "theme.h"

struct app;
struct error;
struct text;

enum settings_field {
    SETTINGS_THEME,
    SETTINGS_LANGUAGE,
    SETTINGS_SCALE,
    SETTINGS_AXIS,
    SETTINGS_GROUPING,
    SETTINGS_BANDS,
    SETTINGS_PARTS, /* + enum layout_split */
    SETTINGS_COUNT = SETTINGS_PARTS + SPLIT_COUNT
};

struct settings {
    unsigned has; /* of the fields: 1 << enum settings_field */
    enum theme_id theme;
    enum language language;
    int scale_percent;
    enum ruler_mode axis;
    enum owner_grouping grouping, bands;
    bool shown[SPLIT_COUNT];
    int share[SPLIT_COUNT]; /* layout.h */
};

void settings_of(const struct app *app, struct settings *out); /* has all */
/* The fields that *settings has. A grouping by what the timeline does not know stays as it is. */
void settings_apply(struct app *app, const struct settings *settings);
/* The fields that differ: 1 << each. */
unsigned settings_changes(const struct settings *a, const struct settings *b);
/* Takes over some fields. */
void settings_take(struct settings *settings, const struct settings *from, unsigned fields);
/* The fields that *settings has, a line each. */
void settings_write(const struct settings *settings, struct text *out);
/* Zero bytes first. False: a line that cannot be read (ERROR_BAD_INPUT with its number); *settings is
 * then as it was. */
bool settings_read(const char *text, struct settings *settings, struct error *err);

#endif

/* settings.c: see settings.h. */
#include "settings.h"

#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "error.h"
#include "text.h"
#include "timeline.h"

static const char *const themes[] = {
#define X(id, name) name,
    THEMES(X)
#undef X
};
static const char *const languages[] = {[LANGUAGE_ENGLISH] = "en", [LANGUAGE_CHINESE] = "zh"};
static const char *const axes[] = {[RULER_EVENTS] = "events", [RULER_TIME] = "time"};
static const char *const groupings[] = {
    [OWNER_BY_MODULE] = "module", [OWNER_BY_PATH] = "path",     [OWNER_BY_CATEGORY] = "category",
    [OWNER_BY_OP] = "op",         [OWNER_BY_NAME] = "name",     [OWNER_BY_STACK] = "stack",
    [OWNER_BY_DTYPE] = "dtype",   [OWNER_BY_STREAM] = "stream", [OWNER_BY_SIZE] = "size",
};
static const char *const parts[SPLIT_COUNT] = {
    [SPLIT_TABS] = "tabs", [SPLIT_SIDE] = "side", [SPLIT_MAP] = "map", [SPLIT_STRIP] = "strip"};

static_assert(sizeof themes / sizeof themes[0] == THEME_COUNT, "a name a theme");
static_assert(sizeof groupings / sizeof groupings[0] == OWNER_GROUPING_COUNT, "and a grouping");

void settings_of(const struct app *app, struct settings *out) {
    *out = (struct settings){.has = (1u << SETTINGS_COUNT) - 1,
                             .theme = app->theme_id,
                             .language = app->language,
                             .scale_percent = app->scale_percent,
                             .axis = app->mode,
                             .grouping = app->grouping,
                             .bands = app->bands_wanted};
    memcpy(out->shown, app->shown, sizeof out->shown);
    memcpy(out->share, app->share, sizeof out->share);
}

static bool has(const struct settings *s, int field) {
    return (s->has >> field & 1) != 0;
}

void settings_take(struct settings *s, const struct settings *from, unsigned fields) {
    const struct settings old = *s;
    *s = *from;
    s->has = old.has | (fields & from->has);
    if (!(fields >> SETTINGS_THEME & 1))
        s->theme = old.theme;
    if (!(fields >> SETTINGS_LANGUAGE & 1))
        s->language = old.language;
    if (!(fields >> SETTINGS_SCALE & 1))
        s->scale_percent = old.scale_percent;
    if (!(fields >> SETTINGS_AXIS & 1))
        s->axis = old.axis;
    if (!(fields >> SETTINGS_GROUPING & 1))
        s->grouping = old.grouping;
    if (!(fields >> SETTINGS_BANDS & 1))
        s->bands = old.bands;
    for (int i = 0; i < SPLIT_COUNT; i++)
        if (!(fields >> (SETTINGS_PARTS + i) & 1)) {
            s->shown[i] = old.shown[i];
            s->share[i] = old.share[i];
        }
}

unsigned settings_changes(const struct settings *a, const struct settings *b) {
    unsigned changes = 0;
    changes |= (unsigned)(a->theme != b->theme) << SETTINGS_THEME;
    changes |= (unsigned)(a->language != b->language) << SETTINGS_LANGUAGE;
    changes |= (unsigned)(a->scale_percent != b->scale_percent) << SETTINGS_SCALE;
    changes |= (unsigned)(a->axis != b->axis) << SETTINGS_AXIS;
    changes |= (unsigned)(a->grouping != b->grouping) << SETTINGS_GROUPING;
    changes |= (unsigned)(a->bands != b->bands) << SETTINGS_BANDS;
    for (int i = 0; i < SPLIT_COUNT; i++)
        changes |= (unsigned)(a->shown[i] != b->shown[i] || a->share[i] != b->share[i])
                   << (SETTINGS_PARTS + i);
    return changes;
}

void settings_apply(struct app *app, const struct settings *settings) {
    struct settings s;
    settings_of(app, &s);
    settings_take(&s, settings, settings->has);
    app->theme_id = s.theme;
    app->language = s.language;
    app->scale_percent = s.scale_percent;
    if (owners_knows(app->a.tl, s.grouping))
        app->grouping = s.grouping;
    if (owners_knows(app->a.tl, s.bands))
        app_choose_bands(app, s.bands);
    memcpy(app->shown, s.shown, sizeof app->shown);
    memcpy(app->share, s.share, sizeof app->share);
    app_relayout(app);
    if (app->mode != s.axis)
        app_act(app, ACTION_AXIS);
    app->dirty = true;
}

void settings_write(const struct settings *s, struct text *out) {
    if (has(s, SETTINGS_THEME))
        text_format(out, "theme %s\n", themes[s->theme]);
    if (has(s, SETTINGS_LANGUAGE))
        text_format(out, "language %s\n", languages[s->language]);
    if (has(s, SETTINGS_SCALE))
        text_format(out, "scale %d\n", s->scale_percent);
    if (has(s, SETTINGS_AXIS))
        text_format(out, "axis %s\n", axes[s->axis]);
    if (has(s, SETTINGS_GROUPING))
        text_format(out, "grouping %s\n", groupings[s->grouping]);
    if (has(s, SETTINGS_BANDS))
        text_format(out, "bands %s\n", groupings[s->bands]);
    for (int i = 0; i < SPLIT_COUNT; i++)
        if (has(s, SETTINGS_PARTS + i))
            text_format(out, "%s %s %d\n", parts[i], s->shown[i] ? "on" : "off", s->share[i]);
}

static int find(const char *const *words, int count, const char *word) {
    for (int i = 0; i < count; i++)
        if (words[i] && strcmp(words[i], word) == 0)
            return i;
    return -1;
}

static bool read_part(struct settings *s, int part, const char *value, const char *more) {
    bool on = strcmp(value, "on") == 0;
    int share = 0;
    char rest;
    if ((!on && strcmp(value, "off") != 0) || sscanf(more, "%6d%c", &share, &rest) != 1 ||
        share < 1 || share > 4000)
        return false;
    s->shown[part] = on;
    s->share[part] = share;
    s->has |= 1u << (SETTINGS_PARTS + part);
    return true;
}

static bool read_scale(const char *value, int *percent) {
    char rest;
    return sscanf(value, "%6d%c", percent, &rest) == 1 && *percent >= 50 && *percent <= 400;
}

static bool read_word(const char *const *words, int count, const char *value, int *out) {
    *out = find(words, count, value);
    return *out >= 0;
}

/* "NAME VALUE [MORE]" */
static bool read_line(struct settings *s, const char *name, const char *value, const char *more) {
    static const char *const names[] = {
        [SETTINGS_THEME] = "theme", [SETTINGS_LANGUAGE] = "language", [SETTINGS_SCALE] = "scale",
        [SETTINGS_AXIS] = "axis",   [SETTINGS_GROUPING] = "grouping", [SETTINGS_BANDS] = "bands",
    };
    int at = 0, part = find(parts, SPLIT_COUNT, name), field = find(names, SETTINGS_PARTS, name);
    if (part >= 0)
        return read_part(s, part, value, more);
    if (field < 0 || *more)
        return false;
    s->has |= 1u << field;
    switch ((enum settings_field)field) {
    case SETTINGS_THEME:
        return read_word(themes, THEME_COUNT, value, &at) && (s->theme = (enum theme_id)at, true);
    case SETTINGS_LANGUAGE:
        return read_word(languages, 2, value, &at) && (s->language = (enum language)at, true);
    case SETTINGS_SCALE:
        return read_scale(value, &s->scale_percent);
    case SETTINGS_AXIS:
        return read_word(axes, 2, value, &at) && (s->axis = (enum ruler_mode)at, true);
    case SETTINGS_GROUPING:
        return read_word(groupings, OWNER_GROUPING_COUNT, value, &at) &&
               (s->grouping = (enum owner_grouping)at, true);
    case SETTINGS_BANDS:
        return read_word(groupings, OWNER_GROUPING_COUNT, value, &at) &&
               (s->bands = (enum owner_grouping)at, true);
    case SETTINGS_PARTS:
    case SETTINGS_COUNT:
        break;
    }
    return false;
}

bool settings_read(const char *text, struct settings *settings, struct error *err) {
    struct settings read = *settings;
    for (int line = 1; *text; line++) {
        size_t length = strcspn(text, "\n");
        char whole[128] = "", name[32] = "", value[32] = "", more[32] = "";
        snprintf(whole, sizeof whole, "%.*s", (int)(length < 120 ? length : 120), text);
        int words = sscanf(whole, "%31s %31s %31s", name, value, more);
        if (words > 0 && name[0] != '#' &&
            (length > 100 || words < 2 || !read_line(&read, name, value, more)))
            return error_set(err, ERROR_BAD_INPUT, "line %d: '%.60s': not a setting", line, whole);
        text += length + (text[length] == '\n');
    }
    *settings = read;
    return true;
}

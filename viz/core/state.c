/* state.c: see state.h. */
#include "state.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "app_state.h"
#include "error.h"
#include "nearest.h"
#include "place.h"
#include "text.h"
#include "timeline.h"

enum { VALUE_BYTES = 256 };

static bool wrong(const char *field, const char *value, const char *expected, struct error *err) {
    return error_set(err, ERROR_USAGE, "state: %s=%s: expected %s", field, value, expected);
}

/* The index of a word, or -1. */
static int find_word(const char *const *words, int count, const char *value) {
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], value) == 0)
            return i;
    return -1;
}

/* --- the fields: read takes a value, write adds one, or nothing where it is as at the start --- */

static const char *const axes[] = {"time", "events"};

static bool read_axis(struct app *app, const char *value, struct error *err) {
    if (find_word(axes, 2, value) < 0)
        return wrong("axis", value, "time or events", err);
    bool by_time = strcmp(value, "time") == 0;
    if (by_time != (app_ruler(app).mode == RULER_TIME))
        app_act(app, ACTION_AXIS);
    return true;
}

static void write_axis(struct app *app, struct text *out) {
    text_add(out, app_ruler(app).mode == RULER_TIME ? "time" : "events");
}

static const char *const compares[COMPARE_COUNT] = {
    [COMPARE_OVERLAY] = "overlay", [COMPARE_BELOW] = "below", [COMPARE_OFF] = "off"};

static bool read_compare(struct app *app, const char *value, struct error *err) {
    int mode = find_word(compares, COMPARE_COUNT, value);
    if (mode < 0)
        return wrong("compare", value, "overlay, below or off", err);
    app->compare = (enum compare_mode)mode;
    return true;
}

static void write_compare(struct app *app, struct text *out) {
    if (app->has_b)
        text_add(out, compares[app->compare]);
}

static bool read_tab(struct app *app, const char *value, struct error *err) {
    struct text names = {0};
    for (int i = 0; panes_tabs[i]; i++) {
        if (strcmp(panes_tabs[i]->name, value) == 0) {
            text_fini(&names);
            app_open_tab(app, i);
            return true;
        }
        text_format(&names, "%s, ", panes_tabs[i]->name);
    }
    bool off = strcmp(value, "off") == 0;
    if (off) {
        app->shown[SPLIT_TABS] = false;
        app_relayout(app);
    } else {
        text_add(&names, "off");
        wrong("tab", value, text_get(&names), err);
    }
    text_fini(&names);
    return off;
}

static void write_tab(struct app *app, struct text *out) {
    if (!app->shown[SPLIT_TABS])
        text_add(out, "off");
    else if (app->tab > 0)
        text_add(out, panes_tabs[app->tab]->name);
}

static bool read_side(struct app *app, const char *value, struct error *err) {
    bool on = strcmp(value, "on") == 0;
    if (!on && strcmp(value, "off") != 0)
        return wrong("side", value, "on or off", err);
    app->shown[SPLIT_SIDE] = on;
    app_relayout(app);
    return true;
}

static void write_side(struct app *app, struct text *out) {
    if (!app->shown[SPLIT_SIDE])
        text_add(out, "off");
}

static bool read_map(struct app *app, const char *value, struct error *err) {
    bool on = strcmp(value, "on") == 0;
    if (!on && strcmp(value, "off") != 0)
        return wrong("map", value, "on or off", err);
    app->shown[SPLIT_MAP] = on;
    app_relayout(app);
    return true;
}

static void write_map(struct app *app, struct text *out) {
    if (app->shown[SPLIT_MAP])
        text_add(out, "on");
}

static bool read_track(struct app *app, const char *value, struct error *err) {
    bool difference = strcmp(value, "difference") == 0;
    bool shown = difference || strcmp(value, "fragmentation") == 0;
    if (!shown && strcmp(value, "off") != 0)
        return wrong("track", value, "fragmentation, difference or off", err);
    if (difference && !app->has_b)
        return wrong("track", value, "fragmentation or off: there is one file", err);
    app->shown[SPLIT_STRIP] = shown;
    app->strip.kind = difference ? STRIP_DIFFERENCE : STRIP_FRAGMENTATION;
    app_relayout(app);
    return true;
}

static void write_track(struct app *app, struct text *out) {
    if (app->shown[SPLIT_STRIP])
        text_add(out, app->strip.kind == STRIP_DIFFERENCE ? "difference" : "fragmentation");
}

static const char *const level_words[LEVEL_COUNT] = {"allocated", "reserved", "device"};

static bool read_level(struct app *app, const char *value, struct error *err) {
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (strcmp(level_words[i], value) == 0) {
            app->strip.level = (enum level)i;
            strip_forget_gap(app);
            return true;
        }
    return wrong("level", value, "allocated, reserved or device", err);
}

static void write_level(struct app *app, struct text *out) {
    if (app->strip.level != LEVEL_ALLOCATED)
        text_add(out, level_words[app->strip.level]);
}

static bool read_grouping(const char *field, const char *value, enum owner_grouping *grouping,
                          struct error *err) {
    struct text names = {0};
    for (int i = 0; i < OWNER_GROUPING_COUNT; i++) {
        const char *key = owners_word((enum owner_grouping)i);
        if (strcmp(key, value) == 0) {
            text_fini(&names);
            *grouping = (enum owner_grouping)i;
            return true;
        }
        text_format(&names, "%s%s", i ? ", " : "", key);
    }
    wrong(field, value, text_get(&names), err);
    text_fini(&names);
    return false;
}

static bool read_bands(struct app *app, const char *value, struct error *err) {
    enum owner_grouping by;
    if (!read_grouping("bands", value, &by, err))
        return false;
    return app_choose_bands(app, by) || error_host_memory(err);
}

/* By category is what is meant when nothing is said, but not of a trace that knows none. */
static void write_bands(struct app *app, struct text *out) {
    if (app->bands_wanted != OWNER_BY_CATEGORY || !owners_knows(app->a.tl, OWNER_BY_CATEGORY))
        text_add(out, owners_word(app->bands_wanted));
}

static bool read_group(struct app *app, const char *value, struct error *err) {
    if (!read_grouping("group", value, &app->grouping, err))
        return false;
    app->tables[panes_tab_index(&pane_owners)].scroll = 0;
    return true;
}

static void write_group(struct app *app, struct text *out) {
    text_add(out, owners_word(app->grouping));
}

static bool read_only(struct app *app, const char *value, struct error *err) {
    if (!app_settle_bands(app))
        return error_host_memory(err);
    bool all = strcmp(value, "all") == 0, by_category = app->bands.by == OWNER_BY_CATEGORY;
    int band = all ? -1 : app_find_band(app, value);
    if (!all && band < 0)
        return wrong("only", value,
                     by_category ? "all or a category such as activation"
                                 : "all, others or a band's name, as the legend has it",
                     err);
    app->isolated = band;
    return true;
}

/* A name with what separates fields cannot be said here. */
static void write_only(struct app *app, struct text *out) {
    char buffer[256];
    const char *word = app->isolated >= 0 ? app_band_word(app, app->isolated, buffer) : "";
    if (!strchr(word, ';') && strlen(word) < VALUE_BYTES)
        text_add(out, word);
}

static bool read_place(struct app *app, const char *field, const char *value, uint32_t *moment,
                       struct error *err) {
    return place_find(app->a.tl, app->has_b ? app->b.tl : NULL, app->a.device, value, moment,
                      err) ||
           error_wrap(err, "state: %s=%s", field, value);
}

static void write_place(uint32_t moment, struct text *out) {
    if (moment == 0)
        text_add(out, "start");
    else
        text_format(out, "event %u", moment - 1);
}

static bool read_at(struct app *app, const char *value, struct error *err) {
    uint32_t moment;
    if (!read_place(app, "at", value, &moment, err))
        return false;
    app_go_to(app, moment);
    return true;
}

static void write_at(struct app *app, struct text *out) {
    write_place(app->cursor, out);
}

static bool read_mark(struct app *app, const char *value, struct error *err) {
    return read_place(app, "mark", value, &app->selection.mark, err);
}

static void write_mark(struct app *app, struct text *out) {
    if (app->selection.mark != SELECTION_NONE)
        write_place(app->selection.mark, out);
}

static bool read_pin(struct app *app, const char *value, struct error *err) {
    char *end;
    unsigned long long block = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end != '\0' || block >= app->a.tl->blocks.count)
        return wrong("pin", value, "the number of a block, as the window writes it", err);
    app_pin(app, (uint32_t)block, false);
    return true;
}

static void write_pin(struct app *app, struct text *out) {
    if (app->selection.pin != SELECTION_NONE)
        text_format(out, "%u", app->selection.pin);
}

/* "LOW..HIGH"; "whole" leaves *whole on. */
static bool parse_range(const char *value, bool *whole, double *low, double *high) {
    char *end;
    *whole = strcmp(value, "whole") == 0;
    if (*whole)
        return true;
    if (!isdigit((unsigned char)*value))
        return false;
    *low = (double)strtoull(value, &end, 10);
    if (strncmp(end, "..", 2) != 0 || !isdigit((unsigned char)end[2]))
        return false;
    *high = (double)strtoull(end + 2, &end, 10);
    return *end == '\0' && *low <= *high;
}

static bool read_view(struct app *app, const char *value, struct error *err) {
    bool whole;
    double first = 0, last = 0;
    struct ruler ruler = app_ruler(app);
    struct view_limits limits;
    app_limits(app, &limits);
    if (!parse_range(value, &whole, &first, &last) || (!whole && first == last))
        return wrong("view", value, "whole, or the first and last event, as 100..2000", err);
    double most = app->a.lod.moments - 1;
    if (whole)
        view_fit_x(&app->view, &limits);
    else
        view_show_x(&app->view, &limits,
                    ruler_position(&ruler, (uint32_t)(first < most ? first + 1 : most)),
                    ruler_position(&ruler, (uint32_t)(last < most ? last + 1 : most)));
    return true;
}

static void write_view(struct app *app, struct text *out) {
    struct ruler ruler = app_ruler(app);
    struct view_limits limits;
    app_limits(app, &limits);
    if (view_is_whole_x(&app->view, &limits))
        return;
    uint32_t first = ruler_lower(&ruler, app->view.x0), last = ruler_moment(&ruler, app->view.x1);
    first = first > 0 ? first - 1 : 0;
    last = last > 0 ? last - 1 : 0;
    if (last <= first) /* no event begins in view */
        last = first + 1;
    text_format(out, "%u..%u", first, last);
}

static bool read_bytes(struct app *app, const char *value, struct error *err) {
    bool whole;
    double low = 0, high = 0;
    struct view_limits limits;
    app_limits(app, &limits);
    if (!parse_range(value, &whole, &low, &high) || (!whole && low == high))
        return wrong("bytes", value, "whole, or the lowest and highest, as 0..85899345920", err);
    if (whole) {
        view_fit_y(&app->view, &limits);
    } else {
        app->view.y0 = low;
        app->view.y1 = high;
    }
    return true;
}

static void write_bytes(struct app *app, struct text *out) {
    struct view_limits limits;
    struct view whole = app->view;
    app_limits(app, &limits);
    view_fit_y(&whole, &limits);
    if (app->view.y0 != whole.y0 || app->view.y1 != whole.y1)
        text_format(out, "%.0f..%.0f", app->view.y0, app->view.y1);
}

static bool read_range(struct app *app, const char *value, struct error *err) {
    bool whole;
    double first = 0, last = 0, events = app->a.lod.moments - 1;
    if (!parse_range(value, &whole, &first, &last) || whole || last >= events)
        return wrong("range", value, "the first and last event, as 100..2000", err);
    selection_set_range(&app->selection, (uint32_t)first, (uint32_t)last + 1);
    return true;
}

static void write_range(struct app *app, struct text *out) {
    if (selection_has_range(&app->selection))
        text_format(out, "%u..%u", app->selection.first, app->selection.end - 1);
}

static bool read_search(struct app *app, const char *value, struct error *err) {
    find_search(app, value);
    return !app->find.why[0] ||
           error_set(err, ERROR_USAGE, "state: search=%s: %s", value, app->find.why);
}

/* A search with what separates fields cannot be said here. */
static void write_search(struct app *app, struct text *out) {
    const char *text = find_search_text(app);
    if (!strchr(text, ';') && strlen(text) < VALUE_BYTES)
        text_add(out, text);
}

/* In the order in which they are applied: what a field changes, a later one may change again (the cursor
 * moves the view). id, form, what it is */
#define FIELDS(X)                                                                                  \
    X(axis, "time|events", "the x axis")                                                           \
    X(compare, "overlay|below|off", "the second file")                                             \
    X(tab, "NAME|off", "the table below")                                                          \
    X(side, "on|off", "legend and details")                                                        \
    X(map, "on|off", "the address map")                                                            \
    X(track, "fragmentation|difference|off", "the track below the timeline")                       \
    X(level, "allocated|reserved|device", "what two files are compared by")                        \
    X(bands, "GROUPING", "of the timeline's bands: category, or as group takes them")              \
    X(group, "GROUPING",                                                                           \
      "of the owners: module, path, category, op, name, stack, dtype, stream, size")               \
    X(search, "WORDS", "what is bright, as the field of / takes it")                               \
    X(only, "BAND|all", "the one band that is shown")                                              \
    X(at, "PLACE", "the cursor: a word of --at, as event 1200, step 2 backward, time 12.5ms")      \
    X(mark, "PLACE", "the second cursor")                                                          \
    X(range, "FIRST..LAST", "the chosen events")                                                   \
    X(pin, "BLOCK", "the pinned block, by its number")                                             \
    X(view, "FIRST..LAST|whole", "events in view")                                                 \
    X(bytes, "LOW..HIGH|whole", "bytes in view")

static const struct {
    const char *name, *form, *doc;
    bool (*read)(struct app *app, const char *value, struct error *err);
    void (*write)(struct app *app, struct text *out);
} fields[] = {
#define X(id, form, doc) {#id, form, doc, read_##id, write_##id},
    FIELDS(X)
#undef X
};

enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

struct values {
    bool given[FIELD_COUNT];
    char text[FIELD_COUNT][VALUE_BYTES];
};

static bool take_field(const char *start, size_t length, struct values *values, struct error *err) {
    const char *equals = memchr(start, '=', length);
    size_t name = equals ? (size_t)(equals - start) : length, row = 0;
    while (row < FIELD_COUNT &&
           (strlen(fields[row].name) != name || strncmp(fields[row].name, start, name) != 0))
        row++;
    if (row == FIELD_COUNT) {
        struct nearest nearest = {.word = start, .length = name};
        char hint[NEAREST_HINT_BYTES];
        struct text known = {0};
        for (size_t i = 0; i < FIELD_COUNT; i++) {
            nearest_offer(&nearest, fields[i].name);
            text_format(&known, " %s", fields[i].name);
        }
        error_set(err, ERROR_USAGE, "state: unknown field '%.*s'%s; known:%s", (int)name, start,
                  nearest_hint(&nearest, hint), text_get(&known));
        text_fini(&known);
        return false;
    }
    if (!equals)
        return error_set(err, ERROR_USAGE, "state: %s: a value is expected: %s=%s",
                         fields[row].name, fields[row].name, fields[row].form);
    if (values->given[row])
        return error_set(err, ERROR_USAGE, "state: %s stands twice", fields[row].name);
    size_t value = length - name - 1;
    if (value >= VALUE_BYTES)
        return error_set(err, ERROR_USAGE, "state: %s: a value of %zu bytes, at most %d",
                         fields[row].name, value, VALUE_BYTES - 1);
    values->given[row] = true;
    memcpy(values->text[row], equals + 1, value);
    values->text[row][value] = '\0';
    return true;
}

bool state_apply(struct app *app, const char *text, struct error *err) {
    struct values values = {0};
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ";"), blank = strspn(at, " ");
        if (blank < length && !take_field(at + blank, length - blank, &values, err))
            return false;
        at += length + (at[length] == ';');
    }
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (values.given[i] && !fields[i].read(app, values.text[i], err))
            return false;
    app->dirty = true;
    return true;
}

void state_write(struct app *app, struct text *out) {
    size_t start = out->length;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        struct text value = {0};
        fields[i].write(app, &value);
        if (value.length > 0)
            text_format(out, "%s%s=%s", out->length > start ? ";" : "", fields[i].name,
                        text_get(&value));
        out->failed = out->failed || value.failed;
        text_fini(&value);
    }
}

void state_print(struct text *out) {
    for (size_t i = 0; i < FIELD_COUNT; i++)
        text_format(out, "  %s=%-*s %s\n", fields[i].name, 28 - (int)strlen(fields[i].name),
                    fields[i].form, fields[i].doc);
}

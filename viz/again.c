/* again.c: see again.h. */
#include "again.h"

#include <string.h>

#include "error.h"
#include "loader.h"
#include "parameters.h"
#include "text.h"
#include "timeline.h"
#include "xalloc.h"

static enum parameter_kind kind_of(const struct scenario_param *p) {
    if (p->type == PARAM_TEXT && p->choices)
        return PARAMETER_CHOICE;
    switch (p->type) {
    case PARAM_INTEGER:
        return PARAMETER_INTEGER;
    case PARAM_NUMBER:
        return PARAMETER_NUMBER;
    case PARAM_BOOLEAN:
        return PARAMETER_BOOLEAN;
    case PARAM_TEXT:
    case PARAM_INTEGERS:
        break;
    }
    return PARAMETER_TEXT;
}

bool again_tell(struct loaded *loaded) {
    size_t count = loaded->info.params.count;
    struct parameter *rows = xcalloc(count + 1, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct scenario_param *p = &loaded->info.params.at[i];
        rows[i] = (struct parameter){.name = p->name,
                                     .help = p->help,
                                     .value = p->value_text,
                                     .opened = p->value_text,
                                     .usual = p->default_text,
                                     .choices = p->choices,
                                     .kind = kind_of(p),
                                     .has_min = p->has_min,
                                     .has_max = p->has_max,
                                     .min = p->min,
                                     .max = p->max};
    }
    bool told = app_set_parameters(loaded->app, rows, count);
    xfree(rows);
    return told;
}

static bool is_changed(const struct parameter *p) {
    return strcmp(p->value, p->opened) != 0;
}

/* The command line's, then "name=value" of what is no longer as it was opened: later ones win. */
static bool fill_sets(const struct view_options *o, const struct parameters *now,
                      struct text *texts, const char **sets, size_t *count) {
    for (; *count < o->source.set_count; ++*count)
        sets[*count] = o->source.sets[*count];
    for (size_t i = 0; i < now->rows.count; i++) {
        if (!is_changed(&now->rows.at[i]))
            continue;
        text_format(&texts[i], "%s=%s", now->rows.at[i].name, now->rows.at[i].value);
        if (texts[i].failed)
            return false;
        sets[(*count)++] = text_get(&texts[i]);
    }
    return true;
}

/* "llama7b.lua batch=2": what the changes make of it. */
static void add_changes(const struct parameters *now, struct text *out) {
    for (size_t i = 0; i < now->rows.count; i++)
        if (is_changed(&now->rows.at[i]))
            text_format(out, " %s=%s", now->rows.at[i].name, now->rows.at[i].value);
}

/* The second file, when there is one, else the run as it was opened. */
static const struct timeline *behind_of(const struct loaded *shown) {
    if (shown->count > 1)
        return shown->timelines[shown->second > 0 ? shown->second : 1];
    return shown->base ? shown->base : shown->timelines[0];
}

struct loader *again_start(const struct loaded *shown, const char *path,
                           const struct view_options *o, struct error *err) {
    const struct parameters *now = app_parameters(shown->app);
    size_t rows = now->rows.count, count = 0;
    const char **sets = xcalloc(o->source.set_count + rows + 1, sizeof *sets);
    struct text *texts = xcalloc(rows + 1, sizeof *texts), named = {0};
    struct loader *loader = NULL;
    if (sets && texts && fill_sets(o, now, texts, sets, &count)) {
        add_changes(now, &named);
        const struct load what = {.options = o,
                                  .files = &path,
                                  .file_count = 1,
                                  .sets = sets,
                                  .set_count = count,
                                  .named = text_get(&named),
                                  .behind = behind_of(shown),
                                  .kept = shown};
        loader = loader_start(&what, err);
    } else {
        error_host_memory(err);
    }
    for (size_t i = 0; texts && i < rows; i++)
        text_fini(&texts[i]);
    text_fini(&named);
    xfree(texts);
    xfree(sets);
    return loader;
}

void again_show(struct loaded *shown, struct loaded *fresh) {
    app_carry_parameters(fresh->app, shown->app);
    fresh->second = shown->second > 0 ? shown->second : 1;
    for (int i = 1; i < shown->count; i++) {
        fresh->timelines[i] = shown->timelines[i];
        shown->timelines[i] = NULL;
    }
    if (shown->count == 1) {
        struct timeline **opened = shown->base ? &shown->base : &shown->timelines[0];
        fresh->base = *opened;
        *opened = NULL;
    }
    loaded_fini(shown);
    *shown = *fresh;
}

bool again_choose(struct loaded *shown, const struct view_options *o,
                  void (*take)(void *user, struct app *app), void *user, struct error *err) {
    size_t first, second;
    app_wished_rows(shown->app, &first, &second);
    struct app *app = app_create(&o->app, shown->timelines[first], shown->timelines[second], err);
    if (!app)
        return false;
    app_adopt(app, shown->app, true);
    if (!app_carry_rows(app, shown->app, first, second, err)) {
        app_destroy(app);
        return false;
    }
    app_carry_parameters(app, shown->app);
    if (take)
        take(user, app);
    app_destroy(shown->app);
    shown->app = app;
    shown->first = (int)first;
    shown->second = (int)second;
    return true;
}

void again_serve(struct loaded *shown, const struct view_options *o, enum app_request request) {
    struct error err = {0};
    struct loaded fresh = {0};
    if (request == APP_SHOW_ROWS && !again_choose(shown, o, NULL, NULL, &err))
        app_run_failed(shown->app, err.text);
    if (request != APP_RUN_AGAIN)
        return;
    struct loader *loader = again_start(shown, o->files[0], o, &err);
    if (!loader || !loader_take(loader, &fresh, &err)) {
        app_run_failed(shown->app, err.text);
        return;
    }
    app_adopt(fresh.app, shown->app, true);
    again_show(shown, &fresh);
}

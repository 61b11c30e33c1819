/* app_bands.c: what the timeline's bands are by: chosen, found in slices, then shown at once. */
#include "app_bands.h"

#include <string.h>

#include "app_state.h"
#include "text.h"
#include "timeline.h"

enum { AT_ONCE = 1 << 18 }; /* blocks and events: some frames at most */

void app_bands_start(struct app *app) {
    const struct timeline *tl = app->a.tl;
    bool none = !owners_knows(tl, OWNER_BY_CATEGORY) && owners_knows(tl, OWNER_BY_STACK);
    bands_start(&app->bands);
    app->bands_wanted = none ? OWNER_BY_STACK : OWNER_BY_CATEGORY;
    app->bands_at_once = AT_ONCE;
}

static void stop(struct app *app) {
    if (app->bands_begun)
        bands_job_fini(&app->bands_job);
    app->bands_begun = false;
}

void app_bands_fini(struct app *app) {
    stop(app);
    bands_fini(&app->bands);
}

bool app_bands_are_building(const struct app *app) {
    return app->bands_wanted != app->bands.by;
}

static void begin(struct app *app) {
    const struct lod *lods[BANDS_SIDES] = {&app->a.lod, app->has_b ? &app->b.lod : NULL};
    struct owners *owners[BANDS_SIDES] = {&app->a.owners, &app->b.owners};
    bands_job_start(&app->bands_job, app->bands_wanted, lods, owners);
    app->bands_begun = true;
}

static void show(struct app *app) {
    struct lod *lods[BANDS_SIDES] = {&app->a.lod, &app->b.lod};
    bands_job_take(&app->bands_job, lods, &app->bands);
    app->bands_begun = false;
    app->isolated = -1;
    before_regroup(&app->a.before, &app->a.lod); /* without memory nothing is striped */
    streams_cursor_forget(&app->blocks_a);
    if (app->has_b) {
        before_regroup(&app->b.before, &app->b.lod);
        streams_cursor_forget(&app->blocks_b);
    }
    search_forget_groups(&app->find.search);
    search_forget_groups(&app->hover.search);
    plot_cache_drop(&app->plot);
    plot_cache_drop(&app->overview);
    app->dirty = true;
}

bool app_build_bands(struct app *app, uint32_t count) {
    if (!app_bands_are_building(app))
        return true;
    if (!app->bands_begun)
        begin(app);
    if (!bands_job_more(&app->bands_job, count)) { /* what is shown stays */
        stop(app);
        app->bands_wanted = app->bands.by;
        return false;
    }
    if (app->bands_job.step == BANDS_DONE)
        show(app);
    return true;
}

bool app_settle_bands(struct app *app) {
    while (app_bands_are_building(app))
        if (!app_build_bands(app, UINT32_MAX))
            return false;
    return true;
}

static size_t size_of(const struct timeline *tl) {
    return tl->blocks.count + tl->events.count;
}

bool app_choose_bands(struct app *app, enum owner_grouping by) {
    size_t size = size_of(app->a.tl) + (app->has_b ? size_of(app->b.tl) : 0);
    stop(app);
    app->bands_wanted = by;
    app->dirty = true;
    return (app->layered && size > app->bands_at_once) || app_settle_bands(app);
}

void app_next_bands(struct app *app, int by) {
    int next = (int)app->bands_wanted;
    do {
        next = (next + by + OWNER_GROUPING_COUNT) % OWNER_GROUPING_COUNT;
    } while (next != (int)app->bands_wanted && next != OWNER_BY_CATEGORY &&
             !owners_knows(app->a.tl, (enum owner_grouping)next) &&
             !(app->has_b && owners_knows(app->b.tl, (enum owner_grouping)next)));
    app_choose_bands(app, (enum owner_grouping)next);
}

struct band_style app_band_style(const struct app *app, int band) {
    return bands_style(&app->bands, &app->palette, band);
}

static const char *name_in(struct app *app, int band, enum language language, char buffer[256]) {
    struct owners *owners[BANDS_SIDES] = {&app->a.owners, &app->b.owners};
    return bands_name(&app->bands, owners, band, language, buffer);
}

const char *app_band_name(struct app *app, int band, char buffer[256]) {
    return name_in(app, band, app->language, buffer);
}

const char *app_band_word(struct app *app, int band, char buffer[256]) {
    if (band == 0 || app->bands.by == OWNER_BY_CATEGORY)
        return category_key((enum category)band);
    return bands_is_others(&app->bands, band) ? "others"
                                              : name_in(app, band, LANGUAGE_ENGLISH, buffer);
}

int app_find_band(struct app *app, const char *word) {
    for (int i = 0; i < app->bands.count; i++) {
        char buffer[256];
        if (strcmp(app_band_word(app, i, buffer), word) == 0)
            return i;
    }
    return -1;
}

int app_block_band(const struct app *app, uint32_t block) {
    return (int)lod_group(&app->a.lod, block);
}

void app_follow_band(struct app *app, int band, uint32_t block) {
    bool is_block = block < app->a.tl->blocks.count;
    enum owner_grouping by = app->bands.by;
    struct text words = {0};
    uint64_t key = (uint64_t)band;
    if (by == OWNER_BY_CATEGORY && is_block) {
        find_follow(app, block);
        return;
    }
    if (band == 0 || (!is_block && bands_is_others(&app->bands, band)))
        return;
    if (by != OWNER_BY_CATEGORY &&
        !owners_key_of(&app->a.owners, by, is_block ? block : app->bands.at[band].block, &key))
        return;
    owner_key_words(&app->a.owners, by, key, &words);
    find_toggle(app, text_get(&words));
    text_fini(&words);
}

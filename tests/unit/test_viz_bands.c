/* The bands by any grouping: which they are and their sums against walking all events, and what of them
 * is shown, chosen, remembered. */
#include "suite.h"

#include <string.h>

#include "failing_alloc.h"
#include "hit.h"
#include "input.h"
#include "state.h"
#include "tip.h"
#include "viz_large.h"
#include "viz_session.h"

/* Something to tell apart by every grouping, some of it there before the recording. */
static struct timeline *varied(uint32_t events, uint64_t seed) {
    struct timeline *tl = large_timeline(events, 300);
    struct fixture random = {.random = seed};
    for (size_t i = 0; i < tl->blocks.count; i++) {
        struct timeline_block *b = &tl->blocks.at[i];
        char text[32];
        snprintf(text, sizeof text, "tensor %u", (unsigned)fixture_random_below(&random, 40));
        b->name = timeline_string(tl, text);
        snprintf(text, sizeof text, "op_%u", (unsigned)fixture_random_below(&random, 15));
        b->op = timeline_string(tl, text);
        snprintf(text, sizeof text, "model.%c", 'a' + (int)fixture_random_below(&random, 20));
        b->owner = i % 5 ? timeline_string(tl, text) : b->owner;
        b->stack = i % 7 ? b->stack : 0;
        b->dtype = (uint8_t)fixture_random_below(&random, DTYPE_COUNT);
        if (i < 40) {
            tl->events.at[b->alloc_event].kind = EVENT_OTHER;
            b->alloc_event = TIMELINE_NONE;
        }
    }
    return tl;
}

struct naive_group {
    char name[256];
    uint64_t now, most;
};

/* Groups by their names, as a person would sum them up. */
struct naive {
    struct owners *owners;
    enum owner_grouping by;
    struct naive_group groups[400];
    int count;
    uint16_t *of; /* by block */
};

static int naive_group(struct naive *n, uint32_t block) {
    char buffer[256];
    uint64_t key;
    assert_true(owners_key_of(n->owners, n->by, block, &key));
    const char *name = owners_key_name(n->owners, n->by, key, LANGUAGE_ENGLISH, buffer);
    for (int i = 0; i < n->count; i++)
        if (strcmp(n->groups[i].name, name) == 0)
            return i;
    assert_true(n->count < 400);
    snprintf(n->groups[n->count].name, sizeof n->groups[0].name, "%s", name);
    return n->count++;
}

static void naive_add(struct naive *n, uint32_t block, uint64_t bytes) {
    struct naive_group *g = &n->groups[n->of[block]];
    g->now += bytes;
    if (g->now > g->most && bytes < UINT64_MAX / 2)
        g->most = g->now;
}

static void naive_start(struct naive *n, const struct timeline *tl) {
    n->of = calloc(tl->blocks.count + 1, sizeof *n->of);
    assert_non_null(n->of);
    for (int i = 0; i < n->count; i++)
        n->groups[i].now = 0;
    for (uint32_t i = 0; i < tl->blocks.count; i++)
        n->of[i] = (uint16_t)naive_group(n, i);
    for (uint32_t i = 0; i < tl->blocks.count; i++)
        if (tl->blocks.at[i].alloc_event == TIMELINE_NONE)
            naive_add(n, i, tl->blocks.at[i].block_bytes);
}

static void naive_event(struct naive *n, const struct timeline *tl, uint32_t event) {
    const struct timeline_event *e = &tl->events.at[event];
    if (e->kind == EVENT_ALLOC)
        naive_add(n, e->ref, tl->blocks.at[e->ref].block_bytes);
    else if (e->kind == EVENT_FREE_REQUESTED)
        naive_add(n, e->ref, 0 - tl->blocks.at[e->ref].block_bytes);
}

static int larger_groups(const struct naive *n, uint64_t most) {
    int count = 0;
    for (int i = 0; i < n->count; i++)
        count += n->groups[i].most > most;
    return count;
}

/* The naive group that a band is; -1: the others. */
static void match_bands(struct app *app, struct naive *n, int *group_of_band) {
    int groups = 0, known = 0;
    for (int i = 0; i < n->count; i++)
        groups += n->groups[i].most > 0;
    for (int band = 1; band < app->bands.count; band++) {
        char buffer[256];
        const char *name = app_band_word(app, band, buffer);
        group_of_band[band] = -1;
        for (int i = 0; i < n->count; i++)
            if (strcmp(n->groups[i].name, name) == 0)
                group_of_band[band] = i;
        if (group_of_band[band] < 0) {
            assert_string_equal(name, "others");
            assert_int_equal(band, app->bands.count - 1);
            continue;
        }
        known++;
        assert_true(larger_groups(n, n->groups[group_of_band[band]].most) < BANDS_GROUPS);
    }
    assert_int_equal(known, groups < BANDS_GROUPS ? groups : BANDS_GROUPS);
    assert_int_equal(app->bands.others, groups - known);
}

static void check_sums(const struct app *app, const struct naive *n, const int *group_of_band,
                       const struct lod *lod, uint32_t moment) {
    struct lod_state s;
    uint64_t sum = 0, all = 0;
    lod_state_at(lod, moment, &s);
    for (int i = 0; i < n->count; i++)
        all += n->groups[i].now;
    assert_bytes_equal(s.total, all);
    for (int band = 0; band < LOD_GROUPS; band++) {
        if (band > 0 && band < app->bands.count && group_of_band[band] >= 0)
            assert_bytes_equal(s.group[band], n->groups[group_of_band[band]].now);
        sum += s.group[band];
    }
    assert_bytes_equal(s.group[0], 0); /* the context alone */
    assert_bytes_equal(sum, all);
}

static void check_columns(struct app *app) {
    app_act(app, ACTION_WHOLE);
    for (int zoom = 0; zoom < 5; zoom++) {
        assert_true(app_read_plot(app, &app->plot, &app->view, app->layout.plot.w));
        for (int i = 0; i < app->layout.plot.w; i++) {
            const struct column *c = &app->plot.first.at[i];
            uint64_t sum = 0;
            struct lod_state s;
            lod_state_at(&app->a.lod, c->arg, &s);
            for (int g = 0; g < LOD_GROUPS; g++)
                sum += c->group[g];
            assert_bytes_equal(sum, c->max);
            assert_memory_equal(c->group, s.group, sizeof s.group);
        }
        app_act(app, ACTION_ZOOM_IN);
        app_act(app, ACTION_ZOOM_IN);
    }
}

static void check_before(const struct app *app, uint32_t moment) {
    const struct timeline *tl = app->a.tl;
    uint64_t left[LOD_GROUPS] = {0};
    for (uint32_t i = 0; i < tl->blocks.count; i++)
        if (tl->blocks.at[i].alloc_event == TIMELINE_NONE && tl->blocks.at[i].free_event >= moment)
            left[app_block_band(app, i)] += tl->blocks.at[i].block_bytes;
    for (int g = 0; g < LOD_GROUPS; g++)
        assert_bytes_equal(before_left(&app->a.before, g, moment), left[g]);
}

static void check_grouping(struct session *s, enum owner_grouping by, uint32_t slice) {
    static struct naive n;
    struct app *app = s->app;
    const struct timeline *tl = app->a.tl;
    int group_of_band[LOD_GROUPS];
    app_use_layers(app, NULL);
    app->bands_at_once = 0;
    assert_true(app_choose_bands(app, by));
    while (app_bands_are_building(app))
        assert_true(app_build_bands(app, slice));
    n = (struct naive){.owners = &app->a.owners, .by = by};
    naive_start(&n, tl);
    for (uint32_t e = 0; e < tl->events.count; e++)
        naive_event(&n, tl, e);
    match_bands(app, &n, group_of_band);
    free(n.of);
    naive_start(&n, tl);
    for (uint32_t m = 0; m <= tl->events.count; m++) {
        if (m > 0)
            naive_event(&n, tl, m - 1);
        check_sums(app, &n, group_of_band, &app->a.lod, m);
        if (m % 500 == 0)
            check_before(app, m);
    }
    free(n.of);
    check_columns(app);
}

TEST(bands_of_any_grouping_equal_brute_force) {
    USE_STATE;
    struct app_options options = {.width = 900, .height = 500};
    const uint32_t slices[] = {UINT32_MAX, 1, 97};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct timeline *tl = varied(3000, seed);
        struct session s = session_open(&options, tl, NULL);
        for (int by = 0; by < OWNER_GROUPING_COUNT; by++)
            if (by != OWNER_BY_CATEGORY)
                check_grouping(&s, (enum owner_grouping)by, slices[seed - 1]);
        session_close(&s);
        timeline_destroy(tl);
    }
}

TEST(two_files_have_the_same_bands) {
    USE_STATE;
    struct app_options options = {.width = 900, .height = 500};
    struct timeline *a = varied(2000, 4), *b = varied(2600, 5);
    struct session s = session_open(&options, a, b);
    for (int by = 0; by < OWNER_GROUPING_COUNT; by++) {
        struct track *tracks[] = {&s.app->a, &s.app->b};
        assert_true(app_choose_bands(s.app, (enum owner_grouping)by));
        for (int side = 0; side < 2; side++)
            for (uint32_t i = 0; i < tracks[side]->tl->blocks.count; i++) {
                struct owners *owners = &tracks[side]->owners;
                unsigned band = lod_group(&tracks[side]->lod, i);
                char name[256], of_block[256];
                uint64_t key;
                assert_true(owners_key_of(owners, (enum owner_grouping)by, i, &key));
                const char *want = app_band_name(s.app, (int)band, name);
                const char *got = owners_key_name(owners, (enum owner_grouping)by, key,
                                                  LANGUAGE_ENGLISH, of_block);
                if (!bands_is_others(&s.app->bands, (int)band))
                    assert_string_equal(got, want);
            }
        session_frame(&s);
    }
    session_close(&s);
    timeline_destroy(a);
    timeline_destroy(b);
}

TEST(what_is_shown_stays_until_the_bands_are_there) {
    USE_STATE;
    struct app_options options = {.width = 700, .height = 400};
    struct timeline *tl = varied(3000, 6);
    struct session s = session_open(&options, tl, NULL);
    struct app *app = s.app;
    app_use_layers(app, NULL);
    app->bands_at_once = 0;
    app_choose_bands(app, OWNER_BY_NAME);
    app->isolated = 3;
    for (int i = 0; app_bands_are_building(app); i++) {
        assert_true(i < 1000 && app->bands.by == OWNER_BY_CATEGORY && app->isolated == 3);
        assert_true(app_is_busy(app));
        assert_true(app_build_bands(app, 100));
    }
    assert_true(app->bands.by == OWNER_BY_NAME && app->isolated == -1);
    app_choose_bands(app, OWNER_BY_OP); /* another wish before the first is fulfilled */
    assert_true(app_build_bands(app, 2000));
    app_choose_bands(app, OWNER_BY_CATEGORY);
    assert_true(app_build_bands(app, 10));
    app_choose_bands(app, OWNER_BY_NAME); /* what is there */
    assert_false(app_bands_are_building(app));
    session_close(&s);
    timeline_destroy(tl);
}

TEST(a_colour_is_the_names_own_and_not_its_neighbours) {
    USE_STATE;
    struct app_options options = {.width = 700, .height = 400};
    int same = 0, seen = 0;
    struct timeline *tls[2] = {varied(2000, 7), varied(3000, 8)};
    struct session s[2] = {session_open(&options, tls[0], NULL),
                           session_open(&options, tls[1], NULL)};
    for (int by = 0; by < OWNER_GROUPING_COUNT; by++) {
        for (int k = 0; k < 2; k++) {
            const struct bands *bands = &s[k].app->bands;
            assert_true(app_choose_bands(s[k].app, (enum owner_grouping)by));
            for (int i = 1; i < bands->count; i++)
                for (int other = 0; other < i; other++) {
                    struct band_style x = app_band_style(s[k].app, i);
                    struct band_style y = app_band_style(s[k].app, other);
                    bool next =
                        other == i - 1 && by != OWNER_BY_CATEGORY && !bands_is_others(bands, i);
                    assert_true(x.color != y.color || (!next && x.pattern != y.pattern));
                }
        }
        for (int i = 1; i < s[0].app->bands.count && by != OWNER_BY_CATEGORY; i++) {
            char word[256];
            int there = app_find_band(s[1].app, app_band_word(s[0].app, i, word));
            seen += there > 0;
            same += there > 0 &&
                    s[0].app->bands.at[i].hue == s[1].app->bands.at[there > 0 ? there : 0].hue;
        }
    }
    assert_true(seen > 20 && same > seen * 3 / 4); /* but for what lies beside its like */
    for (int k = 0; k < 2; k++) {
        session_close(&s[k]);
        timeline_destroy(tls[k]);
    }
}

TEST(a_trace_without_categories_begins_by_stack) {
    USE_STATE;
    struct app_options options = {.width = 700, .height = 400};
    struct timeline *tl = varied(2000, 9);
    struct session s = session_open(&options, tl, NULL);
    session_frame(&s);
    assert_int_equal(s.app->bands.by, OWNER_BY_CATEGORY);
    session_close(&s);
    tl->has &= ~(uint32_t)TIMELINE_HAS_CATEGORY;
    s = session_open(&options, tl, NULL);
    session_frame(&s);
    assert_int_equal(s.app->bands.by, OWNER_BY_STACK);
    struct text state = {0};
    state_write(s.app, &state);
    assert_non_null(strstr(text_get(&state), "bands=stack;"));
    text_fini(&state);
    session_play(&s, "state bands=category\nexpect bands 2\nkey Alt+C\nexpect bands 3\n");
    session_close(&s);
    tl->has &= ~(uint32_t)TIMELINE_HAS_STACK;
    s = session_open(&options, tl, NULL);
    session_play(&s, "expect bands 2\nkey Alt+C\nkey Alt+C\nkey Alt+C\n"
                     "expect bands 6\n"); /* there are no stacks */
    session_close(&s);
    timeline_destroy(tl);
}

TEST(the_next_run_has_the_same_bands_and_the_same_one_alone) {
    USE_STATE;
    struct app_options options = {.width = 700, .height = 400};
    struct timeline *a = varied(2000, 10), *b = varied(3000, 10);
    struct session first = session_open(&options, a, NULL), next = session_open(&options, b, NULL);
    char before[256], after[256];
    session_play(&first, "state bands=op\nkey 3\nexpect isolated 4\n");
    app_adopt(next.app, first.app, true);
    assert_int_equal(next.app->bands.by, OWNER_BY_OP);
    assert_true(next.app->isolated > 0);
    assert_string_equal(app_band_word(next.app, next.app->isolated, after),
                        app_band_word(first.app, first.app->isolated, before));
    session_close(&first);
    session_close(&next);
    timeline_destroy(a);
    timeline_destroy(b);
}

/* A pixel of the plot where a band is; of its blocks, or of what is smaller. */
static int find_pixel(struct app *app, int band, bool block, int *x) {
    struct rect r = app_plot_rect(app);
    for (*x = r.x + 1; *x < r.x + r.w; *x += 7)
        for (int y = r.y; y < r.y + r.h; y++) {
            uint32_t found;
            int group;
            if (app_hit(app, *x, y, &found, &group) && group == band &&
                (found != TIMELINE_NONE) == block)
                return y;
        }
    return -1;
}

TEST(a_click_on_a_band_with_ctrl_searches_for_it) {
    USE_STATE;
    struct app_options options = {.width = 700, .height = 400};
    struct timeline *tl = varied(2000, 11);
    struct session s = session_open(&options, tl, NULL);
    session_play(&s, "state bands=stream\n");
    int x, y = find_pixel(s.app, 2, true, &x);
    char want[32], name[256];
    assert_true(y > 0);
    struct input press = {
        .kind = INPUT_PRESS, .x = x, .y = y, .button = BUTTON_LEFT, .mods = MOD_CTRL};
    snprintf(want, sizeof want, "stream:%s", app_band_word(s.app, 2, name) + strlen("stream "));
    app_input(s.app, &press);
    assert_string_equal(find_search_text(s.app), want);
    press.y = find_pixel(s.app, 2, true, &press.x); /* the search has taken some of the room */
    app_input(s.app, &press);
    assert_string_equal(find_search_text(s.app), "");
    session_play(&s, "state bands=size\n");
    int band = app_find_band(s.app, "> 1 MiB, <= 4 MiB");
    app_follow_band(s.app, band, TIMELINE_NONE);
    assert_string_equal(find_search_text(s.app), "size>1MiB size<=4MiB");
    uint64_t bytes = 0;
    for (size_t i = 0; i < tl->blocks.count; i++)
        if (app_block_band(s.app, (uint32_t)i) == band)
            bytes += tl->blocks.at[i].block_bytes;
    assert_bytes_equal(s.app->find.search.bytes, bytes);
    session_frame(&s); /* what matches is drawn in the groups that are there now */
    session_play(&s, "key Alt+C\n");
    session_frame(&s);
    session_play(&s, "state bands=path\n");
    app_follow_band(s.app, s.app->bands.count - 1, TIMELINE_NONE); /* others: no words for them */
    assert_string_equal(find_search_text(s.app), "size>1MiB size<=4MiB");
    session_close(&s);
    timeline_destroy(tl);
}

TEST(the_legend_tells_isolates_and_changes_the_bands) {
    USE_STATE;
    struct app_options options = {.width = 900, .height = 700};
    struct timeline *tl = varied(2000, 12);
    struct session s = session_open(&options, tl, NULL);
    struct app *app = s.app;
    session_play(&s, "state bands=stack;at=peak\n");
    uint64_t sum = 0;
    int bands = 0;
    const struct rect *r = &app->layout.legend;
    char before[TIP_BYTES] = "";
    for (int y = r->y; y < r->y + r->h; y++) {
        struct tip tip = {.count = 0};
        if (!pane_legend.tip(app, r->x + 30, y, &tip) || strcmp(tip.lines[0], before) == 0)
            continue;
        snprintf(before, sizeof before, "%s", tip.lines[0]);
        struct input press = {.kind = INPUT_PRESS, .x = r->x + 30, .y = y, .button = BUTTON_LEFT};
        app_input(app, &press);
        char name[256];
        assert_true(app->isolated > 0);
        assert_string_equal(tip.lines[0], app_band_name(app, app->isolated, name));
        struct lod_state state;
        lod_state_at(&app->a.lod, app->cursor, &state);
        sum += state.group[app->isolated];
        bands++;
        app_input(app, &press);
        assert_int_equal(app->isolated, -1);
    }
    assert_bytes_equal(sum, app->a.lod.peak.max); /* its rows add up */
    assert_true(bands > 5 && bands < app->bands.count);
    struct input head = {.kind = INPUT_PRESS, .x = r->x + 30, .y = r->y + 8, .button = BUTTON_LEFT};
    app_input(app, &head);
    assert_int_equal(app->bands.by, OWNER_BY_DTYPE);
    head.mods = MOD_SHIFT;
    app_input(app, &head);
    assert_int_equal(app->bands.by, OWNER_BY_STACK);
    session_close(&s);
    timeline_destroy(tl);
}

static void check_pane(const struct timeline *a, const struct timeline *b,
                       const struct app_options *options, const char *state, const char *name) {
    struct session s = session_open(options, a, b);
    char path[64];
    session_play(&s, state);
    session_frame(&s);
    snprintf(path, sizeof path, "bands-%s.txt", name);
    session_golden(&s, &pane_legend, path);
    snprintf(path, sizeof path, "bands-timeline-%s.txt", name);
    if (!b)
        session_golden(&s, &pane_timeline, path);
    session_close(&s);
}

TEST(bands_by_a_grouping_are_drawn_as_they_were) {
    USE_STATE;
    const struct fixture_model model = {
        .layers = 3, .steps = 1, .hidden = 512, .inner = 2048, .vocab = 2000, .tokens = 4096};
    struct timeline *a = fixture_step(&model, "bands.lua"), *b = varied(1000, 13);
    struct app_options english = {.width = 700, .height = 400};
    struct app_options chinese = {.width = 700, .height = 400, .language = LANGUAGE_CHINESE};
    struct app_options large = {.width = 1000, .height = 600, .scale_percent = 150};
    check_pane(a, NULL, &english, "state bands=module;tab=off;at=peak\n", "module");
    check_pane(a, NULL, &chinese, "state bands=size;tab=off;at=peak\n", "size-chinese");
    check_pane(a, b, &large, "state bands=module;tab=off;at=peak;only=others\n", "two");
    timeline_destroy(a);
    timeline_destroy(b);
}

static struct timeline *failing_tl;
static bool session(void) {
    struct error err = {0};
    struct app_options options = {.width = 300, .height = 200, .embedded_font = true};
    struct app *app = app_create(&options, failing_tl, failing_tl, &err);
    struct draw_list list = {0};
    bool good = app != NULL;
    if (good) {
        good = app_choose_bands(app, OWNER_BY_STACK);
        assert_true(!app_bands_are_building(app)); /* there, or the old ones */
        assert_int_equal(app->bands.by, good ? OWNER_BY_STACK : OWNER_BY_CATEGORY);
        good = app_frame(app, &list, &err) && good;
    }
    draw_fini(&list);
    app_destroy(app);
    return good;
}

TEST(every_allocation_may_fail) {
    USE_STATE;
    failing_tl = varied(300, 14);
    assert_true(fail_each_allocation(session) > 10);
    timeline_destroy(failing_tl);
}

SUITE(cmocka_unit_test(bands_of_any_grouping_equal_brute_force),
      cmocka_unit_test(two_files_have_the_same_bands),
      cmocka_unit_test(what_is_shown_stays_until_the_bands_are_there),
      cmocka_unit_test(a_colour_is_the_names_own_and_not_its_neighbours),
      cmocka_unit_test(a_trace_without_categories_begins_by_stack),
      cmocka_unit_test(the_next_run_has_the_same_bands_and_the_same_one_alone),
      cmocka_unit_test(a_click_on_a_band_with_ctrl_searches_for_it),
      cmocka_unit_test(the_legend_tells_isolates_and_changes_the_bands),
      cmocka_unit_test(bands_by_a_grouping_are_drawn_as_they_were),
      cmocka_unit_test(every_allocation_may_fail))

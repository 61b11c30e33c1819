/* The table of events, what the pointer is told, what a click pins, phases by double click. */
#include "viz_session.h"

#include <string.h>

#include "event_list.h"
#include "hit.h"
#include "phase_sums.h"
#include "timeline.h"
#include "tip.h"
#include "viz_fixture.h"

static const struct app_options usual = {.width = 1280, .height = 800};

static void table_begins(struct session *s, const char *line) {
    struct text table = session_table(s);
    const char *row = strchr(text_get(&table), '\n');
    assert_non_null(row);
    if (strncmp(row + 1, line, strlen(line)) != 0)
        fail_msg("%s expected:\n%.300s", line, text_get(&table));
    text_fini(&table);
}

TEST(the_table_follows_the_cursor_and_the_cursor_the_table) {
    USE_STATE;
    struct timeline *tl = fixture_llama("made_up.lua", false);
    struct session s = session_open(&usual, tl, NULL);
    session_play(&s, "key Shift+F2\nkey p\n");
    session_frame(&s);
    assert_int_equal(session_value(&s, "row"), session_value(&s, "cursor.event") + 1);
    session_play(&s, "key Down\nkey Down\nkey Down\nkey Enter\n");
    assert_int_equal(session_value(&s, "cursor.event"), 4024);
    assert_int_equal(session_value(&s, "row"), 4025);
    session_play(&s, "goto start\n");
    session_frame(&s);
    assert_int_equal(session_value(&s, "row"), 0);
    table_begins(&s, "init,0,phase_begin,0,");
    session_play(&s, "goto event 1\nkey PgDn\nkey Enter\n");
    const struct timeline_event *e = &tl->events.at[session_value(&s, "cursor.event")];
    assert_true(session_value(&s, "cursor.event") > 2);
    if (e->kind == EVENT_ALLOC)
        assert_int_equal(session_value(&s, "pin"), e->ref);
    session_close(&s);
    timeline_destroy(tl);
}

TEST(rows_can_be_those_of_the_matches_alone) {
    USE_STATE;
    struct timeline *tl = fixture_random(3, 2000, 50);
    struct session s = session_open(&usual, tl, NULL);
    session_play(&s, "key Shift+F2\nkey /\ntype module:embed\nkey Tab\nkey l\n");
    assert_true(event_list_read(s.app, &s.app->events));
    size_t at = 0;
    for (uint32_t i = 0; i < tl->events.count; i++) {
        uint32_t block = event_list_block(s.app, i);
        if (block == TIMELINE_NONE ||
            strcmp(timeline_text(tl, tl->blocks.at[block].owner), "model.embed") != 0)
            continue;
        assert_int_equal(event_list_at(&s.app->events, at), i);
        assert_int_equal(event_list_row(&s.app->events, i), at);
        assert_int_equal(
            event_list_row(&s.app->events, i + 1), /* its own row, or this one */
            at + (at + 1 < s.app->events.rows.count && s.app->events.rows.at[at + 1] == i + 1));
        at++;
    }
    assert_int_equal(event_list_count(s.app, &s.app->events), at);
    session_frame(&s);
    session_play(&s, "key Esc\n");
    assert_true(event_list_read(s.app, &s.app->events));
    assert_int_equal(event_list_count(s.app, &s.app->events), tl->events.count);
    session_close(&s);
    timeline_destroy(tl);
}

/* A point of the plot where there is a block. */
static uint32_t find_block(struct session *s, int *x, int *y) {
    const struct rect *r = &s->app->layout.plot;
    uint32_t block;
    int group;
    for (*x = r->x + r->w / 2; *x < r->x + r->w; ++*x)
        for (*y = r->y; *y < r->y + r->h; ++*y)
            if (app_hit(s->app, *x, *y, &block, &group) && block != TIMELINE_NONE)
                return block;
    fail();
    return TIMELINE_NONE;
}

TEST(a_click_pins_what_the_pointer_is_told_of) {
    USE_STATE;
    struct timeline *tl = fixture_random(7, 400, 12);
    struct session s = session_open(&usual, tl, NULL);
    int x, y;
    session_frame(&s);
    uint32_t block = find_block(&s, &x, &y);
    struct tip tip = {.count = 0};
    assert_true(pane_timeline.tip(s.app, x, y, &tip));
    assert_true(tip.count > 3 && tip.swatch != 0);
    char line[80], bytes[64];
    snprintf(bytes, sizeof bytes, "%llu",
             (unsigned long long)tl->blocks.at[block].block_bytes % 1000);
    assert_non_null(strstr(tip.lines[0], bytes));
    snprintf(line, sizeof line, "click %d %d\n", x, y);
    session_play(&s, line);
    assert_int_equal(session_value(&s, "pin"), block);
    session_play(&s, "key Esc\nkey w\nkey w\n"); /* zoomed in a click does the same */
    session_frame(&s);
    block = find_block(&s, &x, &y);
    snprintf(line, sizeof line, "click %d %d\n", x, y);
    session_play(&s, line);
    assert_int_equal(session_value(&s, "pin"), block);
    session_play(&s, "key h\nexpect search 1\n");
    assert_true(app_is_lit(s.app, block));
    for (uint32_t i = 0; i < tl->blocks.count; i++)
        assert_int_equal(app_is_lit(s.app, i),
                         tl->blocks.at[i].owner == tl->blocks.at[block].owner &&
                             (tl->blocks.at[block].owner != 0 ||
                              tl->blocks.at[i].op == tl->blocks.at[block].op));
    session_play(&s, "key h\nexpect search 0\n");
    snprintf(line, sizeof line, "click %d %d ctrl\n", x, y);
    session_play(&s, line);
    session_play(&s, "expect search 1\n");
    session_close(&s);
    timeline_destroy(tl);
}

TEST(a_double_click_on_a_phase_chooses_it_and_its_sums_are_told) {
    USE_STATE;
    struct timeline *tl = fixture_llama("made_up.lua", false);
    struct session s = session_open(&usual, tl, NULL);
    session_frame(&s);
    const struct rect *r = &s.app->layout.phases;
    int x = s.app->layout.plot.x + s.app->layout.plot.w * 2 / 5, y = r->y + 4;
    struct tip tip = {.count = 0};
    assert_true(pane_phases.tip(s.app, x, y, &tip));
    assert_true(tip.count == 6 && strncmp(tip.lines[0], "step ", 5) == 0);
    char line[80];
    snprintf(line, sizeof line, "click %d %d double\n", x, y);
    session_play(&s, line);
    uint32_t first = (uint32_t)session_value(&s, "range.first");
    assert_int_equal(tl->events.at[first - 1].kind, EVENT_PHASE_BEGIN);
    uint32_t phase = tl->events.at[first - 1].ref;
    assert_string_equal(timeline_text(tl, tl->phases.at[phase].name), tip.lines[0]);
    const struct phase_sums *sums = phase_sums_of(s.app, phase);
    uint64_t allocated = 0, freed = 0, peak = 0;
    struct lod_state before, after;
    for (uint32_t m = sums->begin; m <= sums->end; m++) {
        lod_state_at(&s.app->a.lod, m, &after);
        peak = after.total > peak ? after.total : peak;
    }
    lod_state_at(&s.app->a.lod, sums->begin, &before);
    for (uint32_t i = sums->begin; i < sums->end; i++) {
        const struct timeline_event *e = &tl->events.at[i];
        allocated += e->kind == EVENT_ALLOC ? tl->blocks.at[e->ref].block_bytes : 0;
        freed += e->kind == EVENT_FREE_REQUESTED ? tl->blocks.at[e->ref].block_bytes : 0;
    }
    assert_bytes_equal(sums->peak, peak);
    assert_bytes_equal(sums->allocated, allocated);
    assert_bytes_equal(sums->freed, freed);
    assert_bytes_equal(before.total + allocated - freed, after.total);
    session_close(&s);
    timeline_destroy(tl);
}

static bool frame_has(struct session *s, const char *text) {
    struct draw_list list = {0};
    struct error err = {0};
    struct text dump = {0};
    assert_ok(app_frame(s->app, &list, &err), err);
    draw_dump(&list, &dump);
    bool has = strstr(text_get(&dump), text) != NULL;
    text_fini(&dump);
    draw_fini(&list);
    return has;
}

TEST(what_is_told_stays_inside_the_window) {
    USE_STATE;
    struct timeline *tl = fixture_llama("made_up.lua", false);
    static const int sizes[][2] = {{1280, 800}, {320, 200}, {200, 600}};
    for (size_t i = 0; i < 3; i++) {
        struct app_options options = {.width = sizes[i][0], .height = sizes[i][1]};
        struct session s = session_open(&options, tl, NULL);
        for (int y = 0; y < sizes[i][1]; y += 37)
            for (int x = 0; x < sizes[i][0]; x += 41) {
                struct draw_list list = {0};
                char line[64];
                snprintf(line, sizeof line, "move %d %d\n", x, y);
                session_play(&s, line);
                draw_start(&list, sizes[i][0], sizes[i][1]);
                session_frame(&s);
                if (pane_tooltip.place(s.app)->w > 0)
                    pane_tooltip.draw(s.app, &list);
                for (size_t k = 0; k < list.commands.count; k++) {
                    const struct draw_command *c = &list.commands.at[k];
                    bool frame = c->kind == DRAW_RECT && k == 0;
                    assert_true(!frame || (c->x >= 0 && c->y >= 0 && c->x + c->w <= sizes[i][0]));
                }
                draw_fini(&list);
            }
        session_close(&s);
    }
    timeline_destroy(tl);
}

TEST(events_are_drawn_as_they_were) {
    USE_STATE;
    struct timeline *tl = fixture_llama("made_up.lua", false);
    static const struct {
        const char *name;
        enum language language;
    } cases[] = {{"events-english.txt", LANGUAGE_ENGLISH},
                 {"events-chinese.txt", LANGUAGE_CHINESE}};
    for (size_t i = 0; i < 2; i++) {
        struct app_options options = {.width = 1000, .height = 600, .language = cases[i].language};
        struct session s = session_open(&options, tl, NULL);
        session_play(&s, "key p\nkey Shift+F2\nkey /\ntype module:layers.3\nkey Tab\n");
        session_frame(&s);
        session_golden(&s, &pane_events, cases[i].name);
        session_close(&s);
    }
    struct session s = session_open(&usual, tl, NULL);
    session_play(&s, "move 300 300\n");
    assert_true(frame_has(&s, "allocated  "));
    session_close(&s);
    timeline_destroy(tl);
}

SUITE(cmocka_unit_test(the_table_follows_the_cursor_and_the_cursor_the_table),
      cmocka_unit_test(rows_can_be_those_of_the_matches_alone),
      cmocka_unit_test(a_click_pins_what_the_pointer_is_told_of),
      cmocka_unit_test(a_double_click_on_a_phase_chooses_it_and_its_sums_are_told),
      cmocka_unit_test(what_is_told_stays_inside_the_window),
      cmocka_unit_test(events_are_drawn_as_they_were))

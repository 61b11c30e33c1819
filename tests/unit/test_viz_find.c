/* The text field, filters and the search: against plain walks over blocks and events. */
#include "suite.h"

#include <string.h>

#include "app_state.h"
#include "draw.h"
#include "failing_alloc.h"
#include "filter.h"
#include "input.h"
#include "prompt.h"
#include "search.h"
#include "text.h"
#include "track.h"
#include "viz_fixture.h"
#include "viz_play.h"

/* --- the field --- */

static void prompt_is(const struct prompt *p, const char *text, size_t caret) {
    assert_string_equal(p->text, text);
    assert_int_equal(p->caret, caret);
    assert_int_equal(p->length, strlen(text));
}

TEST(a_field_edits_whole_characters) {
    USE_STATE;
    struct prompt p = {0};
    prompt_type(&p, "a\xe5\xb1\x82z");
    prompt_is(&p, "a\xe5\xb1\x82z", 5);
    assert_true(prompt_key(&p, KEY_LEFT, 0));
    assert_true(prompt_key(&p, KEY_BACKSPACE, 0));
    prompt_is(&p, "az", 1);
    prompt_type(&p, "\xe5\xb1\x82");
    prompt_key(&p, KEY_LEFT, 0);
    prompt_key(&p, KEY_DELETE, 0);
    prompt_is(&p, "az", 1);
    prompt_key(&p, KEY_END, 0);
    prompt_type(&p, " two  words");
    prompt_key(&p, 'w', MOD_CTRL);
    prompt_is(&p, "az two  ", 8);
    prompt_key(&p, KEY_LEFT, MOD_CTRL);
    prompt_is(&p, "az two  ", 3);
    prompt_key(&p, 'u', MOD_CTRL);
    prompt_is(&p, "two  ", 0);
    prompt_key(&p, KEY_RIGHT, 0);
    prompt_key(&p, KEY_HOME, 0);
    prompt_is(&p, "two  ", 0);
    assert_false(prompt_key(&p, 'x', 0));
    assert_false(prompt_key(&p, KEY_F1, 0));
}

TEST(a_field_takes_no_bad_text_and_no_more_than_fits) {
    USE_STATE;
    struct prompt p = {0};
    prompt_type(&p, "a\xff\x01"
                    "b\nc\xe2\x80\xae"
                    "d\xed\xa0\x80");
    prompt_is(&p, "ab cd", 5);
    char much[2 * PROMPT_BYTES];
    memset(much, 'x', sizeof much);
    much[sizeof much - 1] = '\0';
    prompt_type(&p, much);
    assert_int_equal(p.length, PROMPT_BYTES - 1);
    prompt_type(&p, "y");
    assert_int_equal(p.length, PROMPT_BYTES - 1);
    prompt_set(&p, "");
    for (int i = 0; i < PROMPT_BYTES; i++)
        prompt_type(&p, "\xe5\xb1\x82");
    assert_int_equal(p.length, (PROMPT_BYTES - 1) / 3 * 3);
    prompt_compose(&p, much);
    assert_int_equal(strlen(p.composed), PROMPT_COMPOSED - 1);
}

TEST(a_field_looks_through_what_was_there) {
    USE_STATE;
    struct prompt p = {0};
    static const char *const texts[] = {"one", "two", "two", "", "three"};
    for (size_t i = 0; i < 5; i++) {
        prompt_set(&p, texts[i]);
        prompt_remember(&p);
    }
    assert_int_equal(p.history_count, 3);
    prompt_set(&p, "half");
    static const char *const up[] = {"three", "two", "one", "one"}, *const down[] = {"two", "three",
                                                                                     "half",
                                                                                     "half"};
    for (size_t i = 0; i < 4; i++) {
        prompt_key(&p, KEY_UP, 0);
        assert_string_equal(p.text, up[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        prompt_key(&p, KEY_DOWN, 0);
        assert_string_equal(p.text, down[i]);
    }
    for (int i = 0; i < 40; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        prompt_set(&p, text);
        prompt_remember(&p);
    }
    assert_int_equal(p.history_count, PROMPT_HISTORY);
    assert_string_equal(p.history[0], "39");
}

/* --- filters --- */

static const char *text_of(const struct timeline *tl, uint32_t id) {
    return timeline_text(tl, id);
}

static bool mlp(const struct timeline *tl, const struct timeline_block *b) {
    return strstr(text_of(tl, b->owner), "mlp") != NULL;
}

static uint64_t life(const struct timeline *tl, const struct timeline_block *b) {
    return tl->events.at[b->free_event].time_ns - tl->events.at[b->alloc_event].time_ns;
}

#define FREED (b->free_event != TIMELINE_NONE)
/* name, text, what must hold */
#define CASES(X)                                                                                   \
    X(0, "size>1MiB", b->block_bytes > (1u << 20))                                                 \
    X(1, "size>=1MiB size<4MiB", b->block_bytes >= (1u << 20) && b->block_bytes < (4u << 20))      \
    X(2, "size=512", b->block_bytes == 512)                                                        \
    X(3, "!size<=1024", b->block_bytes > 1024)                                                     \
    X(4, "life>100", !FREED || b->free_event - b->alloc_event > 100)                               \
    X(5, "life<=2us", FREED &&life(tl, b) <= 2000)                                                 \
    X(6, "cat:grad", b->category == CATEGORY_GRADIENT)                                             \
    X(7, "cat:\xe6\xbf\x80\xe6\xb4\xbb", b->category == CATEGORY_ACTIVATION)                       \
    X(8, "module:MLP", mlp(tl, b))                                                                 \
    X(9, "module=model.layers.*.mlp", mlp(tl, b))                                                  \
    X(10, "module=model.*.mlp", false)                                                             \
    X(11, "module=", b->owner == 0)                                                                \
    X(12, "op:mm !module:mlp", !mlp(tl, b))                                                        \
    X(13, "freed", FREED)                                                                          \
    X(14, "never", !FREED)                                                                         \
    X(15, "before", false)                                                                         \
    X(16, "device:0 stream:0 dtype:bf16", true)                                                    \
    X(17, "device:1", false)                                                                       \
    X(18, "~layers\\.(0|9)\\.", strstr(text_of(tl, b->owner), "layers.0.") != NULL)                \
    X(19, "module:~^lm_HEAD$", strcmp(text_of(tl, b->owner), "lm_head") == 0)                      \
    X(20, "aten::MM", true)                                                                        \
    X(21, "\"no such\"", false)                                                                    \
    X(22, "alive", true)                                                                           \
    X(23, "", true)

#define X(number, text, holds)                                                                     \
    static bool holds_##number(const struct timeline *tl, const struct timeline_block *b) {        \
        (void)tl, (void)b;                                                                         \
        return holds;                                                                              \
    }
CASES(X)
#undef X

static const struct {
    const char *text;
    bool (*holds)(const struct timeline *tl, const struct timeline_block *b);
} cases[] = {
#define X(number, text, holds) {text, holds_##number},
    CASES(X)
#undef X
};

TEST(filters_name_the_blocks_that_a_walk_finds) {
    USE_STATE;
    struct timeline *tl = fixture_random(11, 6000, 300);
    size_t words = tl->blocks.count / 64 + 1;
    uint64_t *bits = calloc(words, sizeof *bits);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct filter filter;
        struct error err = {0};
        assert_ok(filter_parse(&filter, cases[i].text, &err), err);
        assert_ok(filter_run(&filter, tl, bits, &err), err);
        for (size_t k = 0; k < tl->blocks.count; k++)
            if ((bits[k / 64] >> (k % 64) & 1) != cases[i].holds(tl, &tl->blocks.at[k]))
                fail_msg("%s: block %zu", cases[i].text, k);
        filter_fini(&filter);
    }
    free(bits);
    timeline_destroy(tl);
}

TEST(what_cannot_be_read_says_what_is_expected) {
    USE_STATE;
    static const char *const bad[][2] = {
        {"size>", "size: found '', expected a size, as size>1MiB"},
        {"size>1Mib", "size: found '1Mib', expected a size, as size>1MiB"},
        {"life<2x",
         "life: found '2x', expected a time or a count of events, as life<2ms, life>100"},
        {"sise>1MiB", "'sise>1MiB': size or life is expected before >"},
        {"cat:wheel",
         "cat: found 'wheel', expected one of outside parameter optimizer_state gradient "
         "input activation kv_cache temporary workspace communication unknown"},
        {"cat:", "cat: found '', expected one of outside parameter optimizer_state gradient input "
                 "activation kv_cache temporary workspace communication unknown"},
        {"stream:x", "stream: found 'x', expected a number"},
        {"device:9999999999", "device: found '9999999999', expected a number"},
        {"dtype:bf17", "dtype: found 'bf17', expected a data type, as bf16 or float32"},
        {"op<3", "'op<3': size and life alone are compared, op: is not"},
        {"a module:", "module:: a text is expected after it"},
        {"~", "~: a regular expression of 1 to 255 bytes is expected"},
        {"~a{9}{9}", "~a{9}{9}: one {count} at most"},
        {"op:~(a)\\1", "~(a)\\1: \\1 (back to a group) is not known"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct filter filter;
        struct error err = {0};
        assert_false(filter_parse(&filter, bad[i][0], &err));
        assert_string_equal(err.text, bad[i][1]);
        assert_int_equal(err.code, ERROR_USAGE);
    }
    struct filter filter;
    struct error err = {0};
    assert_false(filter_parse(&filter, "x ~[", &err)); /* the C library's own words */
    assert_memory_equal(err.text, "~[: ", 4);
    struct timeline *tl = fixture_random(1, 10, 3);
    uint64_t bits[1] = {0};
    tl->has &= ~(uint32_t)TIMELINE_HAS_TIME;
    assert_ok(filter_parse(&filter, "life<2ms", &err), err);
    assert_false(filter_run(&filter, tl, bits, &err));
    assert_string_equal(err.text,
                        "life: this timeline has no times; a count of events is expected, "
                        "as life>100");
    filter_fini(&filter);
    timeline_destroy(tl);
}

TEST(stacks_and_phases_are_looked_through) {
    USE_STATE;
    struct fixture f = fixture_start("stacks");
    fixture_begin(&f, "step 1");
    fixture_begin(&f, "backward");
    uint32_t a = fixture_alloc(&f, 512, CATEGORY_INPUT, "x", "y");
    fixture_end(&f);
    uint32_t b = fixture_alloc(&f, 512, CATEGORY_INPUT, "x", "y");
    fixture_end(&f);
    struct timeline_frame frame = {timeline_string(f.tl, "train_step"),
                                   timeline_string(f.tl, "run.py"), 3};
    struct timeline_stack none = {0, 0}, stack = {0, 1}, lie = {7, 9};
    fixture_need(array_push(&f.tl->frames, frame) && array_push(&f.tl->stacks, none) &&
                 array_push(&f.tl->stacks, stack) && array_push(&f.tl->stacks, lie));
    f.tl->blocks.at[b].stack = (uint32_t)f.tl->stacks.count - 2;
    static const struct {
        const char *text;
        uint64_t bits;
    } wanted[] = {{"phase:step", 3}, {"phase:back", 1}, {"stack:train", 2},
                  {"run.py", 2},     {"backward", 1},   {"!phase:backward", 2}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct filter filter;
        struct error err = {0};
        uint64_t bits[1];
        assert_ok(filter_parse(&filter, wanted[i].text, &err), err);
        assert_ok(filter_run(&filter, f.tl, bits, &err), err);
        if (bits[0] != wanted[i].bits)
            fail_msg("%s: %llu", wanted[i].text, (unsigned long long)bits[0]);
        filter_fini(&filter);
    }
    assert_int_equal(a, 0);
    timeline_destroy(f.tl);
}

/* --- the search --- */

TEST(the_matches_curve_is_exact_and_sums_are_those_of_a_walk) {
    USE_STATE;
    struct timeline *tl = fixture_random(4, 5000, 120);
    struct track track;
    struct error err = {0};
    assert_ok(track_build(&track, tl, 0, &err), err);
    struct search s = {.track = &track};
    assert_ok(search_set(&s, "module:mlp size>64KiB", &err), err);
    const struct lod *lod = search_lod(&s);
    assert_non_null(lod);
    uint64_t bytes = 0, all = 0;
    uint32_t count = 0;
    for (uint32_t m = 1; m < lod->moments; m++) {
        const struct timeline_event *e = &tl->events.at[m - 1];
        bool counts = e->kind == EVENT_ALLOC || e->kind == EVENT_FREE_REQUESTED;
        bool hit = counts && search_has(&s, e->ref, m);
        uint64_t size = hit ? tl->blocks.at[e->ref].block_bytes : 0;
        bytes += e->kind == EVENT_ALLOC ? size : 0 - size;
        all += e->kind == EVENT_ALLOC ? size : 0;
        count += hit && e->kind == EVENT_ALLOC;
        struct lod_state state;
        lod_state_at(lod, m, &state);
        assert_bytes_equal(state.total, bytes);
        if (m % 97 == 0) {
            struct live_set set = {0};
            uint64_t here = 0;
            assert_true(live_at(&track.live, m, &set));
            search_sum(&s, &set, m, &here);
            assert_bytes_equal(here, bytes);
            array_fini(&set.ids);
        }
    }
    assert_int_equal(s.count, count);
    assert_bytes_equal(s.bytes, all);
    search_fini(&s);
    track_fini(&track);
    timeline_destroy(tl);
}

TEST(next_and_previous_visit_each_match_once) {
    USE_STATE;
    struct timeline *tl = fixture_random(8, 3000, 60);
    struct track track;
    struct error err = {0};
    assert_ok(track_build(&track, tl, 0, &err), err);
    struct search s = {.track = &track};
    assert_int_equal(search_next(&s, TIMELINE_NONE, 0, true), TIMELINE_NONE);
    assert_ok(search_set(&s, "module:embed", &err), err);
    uint32_t first = search_next(&s, TIMELINE_NONE, 0, true), at = first, visited = 0, last = 0;
    do {
        uint32_t next = search_next(&s, at, 77, true);
        assert_true(search_has(&s, next, 0));
        assert_int_equal(search_next(&s, next, 5, false), at);
        assert_true(next == first ||
                    tl->blocks.at[next].alloc_event > tl->blocks.at[at].alloc_event);
        last = at;
        at = next;
        visited++;
    } while (at != first);
    assert_int_equal(visited, s.count);
    uint32_t event = tl->blocks.at[last].alloc_event;
    assert_int_equal(search_next(&s, TIMELINE_NONE, event + 1, true), last); /* the cursor's own */
    assert_int_equal(search_next(&s, TIMELINE_NONE, event + 1, false), last);
    assert_int_equal(search_next(&s, TIMELINE_NONE, event + 2, true), first);
    assert_ok(search_set(&s, "module:nothing", &err), err);
    assert_int_equal(search_next(&s, TIMELINE_NONE, 0, true), TIMELINE_NONE);
    assert_ok(search_set(&s, "  ", &err), err);
    assert_false(s.active);
    search_fini(&s);
    track_fini(&track);
    timeline_destroy(tl);
}

/* --- in the application --- */

struct session {
    struct timeline *tl;
    struct app *app;
};

static struct session session_open(void) {
    struct session s = {.tl = fixture_llama("made_up.lua", false)};
    struct error err = {0};
    struct app_options options = {.width = 1280, .height = 800, .embedded_font = true};
    s.app = app_create(&options, s.tl, NULL, &err);
    assert_non_null(s.app);
    return s;
}

static void session_close(struct session *s) {
    app_destroy(s->app);
    timeline_destroy(s->tl);
}

static uint64_t value(struct session *s, const char *name) {
    uint64_t v = 0;
    assert_true(app_query(s->app, name, &v));
    return v;
}

static void play(struct session *s, const char *commands) {
    viz_play(s->app, commands);
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

TEST(a_search_is_typed_visited_left_and_cleared) {
    USE_STATE;
    struct session s = session_open();
    play(&s, "goto start\nkey /\nexpect field 2\ntype module:layers.3.mlp cat:gradient\nexpect "
             "search 1\n"
             "expect search.bad 0\nexpect search.here 0\nkey a\nexpect field 2\nkey Enter\n");
    uint64_t first = value(&s, "pin"), count = value(&s, "search.count");
    assert_true(count > 1 && first < s.tl->blocks.count);
    assert_int_equal(s.tl->blocks.at[first].alloc_event, value(&s, "cursor.event"));
    assert_int_equal(value(&s, "search.here"), 1);
    assert_bytes_equal(value(&s, "search.here_bytes"), s.tl->blocks.at[first].block_bytes);
    play(&s, "key Enter\n");
    assert_true(value(&s, "pin") != first);
    play(&s, "key Shift+Enter\n");
    assert_int_equal(value(&s, "pin"), first);
    assert_true(frame_has(&s, "module:layers.3.mlp cat:gradient\n"));
    play(&s, "key Tab\nexpect field 0\nexpect search 1\nkey j\n");
    assert_true(value(&s, "pin") != first);
    play(&s, "key k\n");
    assert_int_equal(value(&s, "pin"), first);
    uint64_t all = value(&s, "cursor.owners");
    play(&s, "key l\nexpect only 1\n");
    assert_bytes_equal(value(&s, "cursor.owners"), value(&s, "search.here_bytes"));
    play(&s, "key l\n");
    assert_bytes_equal(value(&s, "cursor.owners"), all);
    play(&s,
         "key Esc\nexpect search 0\nkey Ctrl+F\ntype size>\nexpect search.bad 1\nexpect search 0\n"
         "type 1MiB\nexpect search.bad 0\nkey Esc\nexpect field 0\nexpect search 0\n"
         "key /\ntype op:mm\nclick 300 400\nexpect field 0\nexpect search 1\nkey Ctrl+A\nexpect "
         "search 0\n");
    session_close(&s);
}

/* A band of this category's own colour is in the picture. */
static bool is_bright(struct session *s, enum category category) {
    struct draw_list list = {0};
    struct error err = {0};
    bool found = false;
    assert_ok(app_frame(s->app, &list, &err), err);
    for (size_t i = 0; i < list.commands.count; i++) {
        const struct draw_command *c = &list.commands.at[i];
        for (int k = 0; k < c->count && c->kind == DRAW_BANDS; k++)
            found = found || list.styles.at[c->size + k].color == theme_band(category).color;
        for (int x = 0; x < c->w && c->kind == DRAW_BLOCKS; x++) {
            size_t count;
            const struct piece *pieces = draw_blocks_at(&list, c, x, &count);
            for (size_t k = 0; k < count; k++)
                found = found || list.styles.at[c->size + pieces[k].group].color ==
                                     theme_band(category).color;
        }
    }
    draw_fini(&list);
    return found;
}

TEST(matches_are_bright_and_the_rest_is_dim) {
    USE_STATE;
    struct session s = session_open();
    play(&s, "key F2\nkey F6\n"); /* bars and swatches keep their colours */
    assert_true(is_bright(&s, CATEGORY_PARAMETER) && is_bright(&s, CATEGORY_ACTIVATION));
    play(&s, "key /\ntype cat:parameter\n");
    assert_true(is_bright(&s, CATEGORY_PARAMETER) && !is_bright(&s, CATEGORY_ACTIVATION));
    play(&s, "key Ctrl+U\ntype !cat:parameter\n");
    assert_true(!is_bright(&s, CATEGORY_PARAMETER) && is_bright(&s, CATEGORY_ACTIVATION));
    play(&s, "key Ctrl+U\ntype size>1TiB\n");
    assert_true(!is_bright(&s, CATEGORY_PARAMETER) && !is_bright(&s, CATEGORY_ACTIVATION));
    play(&s, "key Esc\n");
    assert_true(is_bright(&s, CATEGORY_PARAMETER) && is_bright(&s, CATEGORY_ACTIVATION));
    session_close(&s);
}

TEST(go_to_finds_moments_and_says_what_is_wrong) {
    USE_STATE;
    struct session s = session_open();
    play(&s,
         "key g\nexpect field 1\ntype peak\nkey Enter\nexpect field 0\nexpect cursor.event 4021\n"
         "key g\ntype 1200\nkey Enter\nexpect cursor.event 1200\nkey g\ntype start\nkey Enter\n"
         "expect cursor.moment 0\nkey g\ntype step 2 backward\nkey Enter\n");
    uint64_t event = value(&s, "cursor.event");
    assert_int_equal(s.tl->events.at[event].kind, EVENT_PHASE_BEGIN);
    const struct timeline_phase *p = &s.tl->phases.at[s.tl->events.at[event].ref];
    assert_string_equal(timeline_text(s.tl, p->name), "backward");
    assert_string_equal(timeline_text(s.tl, s.tl->phases.at[p->parent].name), "step 2");
    play(&s, "key g\ntype 40 ms\nkey Enter\nexpect field 0\n");
    assert_int_equal(value(&s, "cursor.time") / 1000000,
                     39 + (value(&s, "cursor.time") == 40000000));
    event = value(&s, "cursor.event");
    play(&s, "key g\ntype moon\nkey Enter\nexpect field 1\nexpect search.bad 1\n");
    assert_true(frame_has(&s, "no such moment"));
    assert_int_equal(value(&s, "cursor.event"), event);
    play(&s, "key Esc\nexpect field 0\nkey g\nkey Up\nkey Up\nkey Enter\n");
    assert_int_equal(s.tl->events.at[value(&s, "cursor.event")].kind, EVENT_PHASE_BEGIN);
    play(&s, "key g\ntype divergence\nkey Enter\nexpect search.bad 1\nkey Esc\n");
    session_close(&s);
}

TEST(of_many_blocks_what_is_typed_is_searched_for_when_typing_rests) {
    USE_STATE;
    struct timeline *tl = fixture_llama("made_up.lua", false);
    struct error err = {0};
    struct app_options options = {.width = 800, .height = 600, .embedded_font = true};
    struct app *app = app_create(&options, tl, NULL, &err);
    assert_non_null(app);
    struct session s = {tl, app};
    app->find.at_once = 0;
    struct input tick = {.kind = INPUT_TICK, .milliseconds = 100};
    play(&s, "key /\ntype cat:grad\n");
    assert_true(app_is_busy(app) && !app->find.search.active);
    app_input(app, &tick);
    assert_false(app->find.search.active);
    play(&s, "type i\n");
    app_input(app, &tick);
    assert_false(app->find.search.active);
    app_input(app, &tick);
    assert_true(app->find.search.active && !app->find.stale);
    play(&s, "type x\n"); /* Enter does not wait */
    play(&s, "key Backspace\nkey Enter\n");
    assert_true(app->selection.pin < tl->blocks.count && !app->find.stale);
    play(&s, "key Ctrl+U\ntype size>1TiB\nkey Tab\n");
    assert_int_equal(app->find.search.count, 0);
    play(&s, "key /\nkey Ctrl+U\nkey Esc\n");
    assert_false(app->find.stale || app->find.search.active);
    session_close(&s);
}

TEST(what_is_composed_is_underlined_and_not_yet_there) {
    USE_STATE;
    struct session s = session_open();
    struct input edit = {.kind = INPUT_EDIT, .text = "\xe5\xb1\x82"};
    int x, y, w, h, moved;
    app_input(s.app, &edit); /* no field: nothing */
    assert_false(app_wants_text(s.app, &x, &y, &w, &h));
    play(&s, "key /\ntype layers\n");
    assert_true(frame_has(&s, " layers\n"));
    assert_true(app_wants_text(s.app, &x, &y, &w, &h));
    assert_true(y > 700 && h > 8);
    app_input(s.app, &edit);
    assert_true(frame_has(&s, " layers\xe5\xb1\x82\n"));
    assert_true(app_wants_text(s.app, &moved, &y, &w, &h) && moved > x);
    assert_int_equal(value(&s, "search.count") > 0, 1);
    play(&s, "key Enter\nexpect field 2\n"); /* the input method's */
    struct input none = {.kind = INPUT_TEXT};
    app_input(s.app, &none);
    edit.text = NULL;
    app_input(s.app, &edit);
    assert_true(frame_has(&s, " layers\n"));
    session_close(&s);
}

TEST(a_search_survives_any_failed_allocation) {
    USE_STATE;
    struct timeline *tl = fixture_random(9, 200, 20);
    struct track track;
    struct error err = {0};
    assert_ok(track_build(&track, tl, 0, &err), err);
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        struct failing_alloc f = {.fail_at = n};
        struct search s = {.track = &track};
        xalloc_set_hook(failing_alloc_hook, &f);
        bool good = search_set(&s, "mlp ~a.*b size>1KiB", &err) && search_lod(&s) != NULL;
        search_fini(&s);
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        failures += !good;
        if (f.seen < n)
            break;
    }
    assert_true(failures > 8);
    track_fini(&track);
    timeline_destroy(tl);
}

SUITE(cmocka_unit_test(a_field_edits_whole_characters),
      cmocka_unit_test(a_field_takes_no_bad_text_and_no_more_than_fits),
      cmocka_unit_test(a_field_looks_through_what_was_there),
      cmocka_unit_test(filters_name_the_blocks_that_a_walk_finds),
      cmocka_unit_test(what_cannot_be_read_says_what_is_expected),
      cmocka_unit_test(stacks_and_phases_are_looked_through),
      cmocka_unit_test(the_matches_curve_is_exact_and_sums_are_those_of_a_walk),
      cmocka_unit_test(next_and_previous_visit_each_match_once),
      cmocka_unit_test(a_search_is_typed_visited_left_and_cleared),
      cmocka_unit_test(matches_are_bright_and_the_rest_is_dim),
      cmocka_unit_test(go_to_finds_moments_and_says_what_is_wrong),
      cmocka_unit_test(of_many_blocks_what_is_typed_is_searched_for_when_typing_rests),
      cmocka_unit_test(what_is_composed_is_underlined_and_not_yet_there),
      cmocka_unit_test(a_search_survives_any_failed_allocation))

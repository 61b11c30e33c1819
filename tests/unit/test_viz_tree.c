/* The owners as a tree: sums at every level, what opens, what is lit. */
#include "viz_session.h"

#include <string.h>

#include "failing_alloc.h"
#include "filter.h"
#include "hover.h"
#include "owner_tree.h"
#include "timeline.h"
#include "viz_fixture.h"

static const struct app_options usual = {.width = 1280, .height = 800};

static struct owner_tree *tree_of(struct session *s) {
    assert_true(app_read_owners(s->app));
    return &s->app->owner_tree;
}

/* Opens rows from the top until no row is closed, or there are many. */
static void open_all(struct session *s) {
    bool opened = true;
    while (opened) {
        struct owner_tree *tree = tree_of(s);
        opened = false;
        for (size_t i = 0; i < tree->nodes.count && !opened && tree->nodes.count < 4000; i++)
            if (!tree->nodes.at[i].is_block && !tree->nodes.at[i].is_open) {
                assert_true(owner_tree_toggle(tree, &tree->nodes.at[i]));
                opened = true;
            }
        s->app->owners_valid = false;
    }
}

static void check_sums(const struct owner_tree *tree, uint64_t total) {
    uint64_t outermost = 0;
    for (size_t i = 0; i < tree->nodes.count; i++) {
        const struct owner_node *node = &tree->nodes.at[i];
        uint64_t inside = 0, count = 0;
        outermost += node->level == 0 ? node->row.bytes : 0;
        for (size_t k = i + 1; k < tree->nodes.count && tree->nodes.at[k].level > node->level; k++)
            if (tree->nodes.at[k].level == node->level + 1) {
                inside += tree->nodes.at[k].row.bytes;
                count += tree->nodes.at[k].row.count;
            }
        if (node->is_open) {
            assert_bytes_equal(inside, node->row.bytes);
            assert_int_equal(count, node->row.count);
        }
    }
    assert_bytes_equal(outermost, total);
}

/* What the row's words find, and what is lit under the pointer: the row's blocks and no others. */
static void check_words(struct session *s, const struct owner_node *node) {
    const struct timeline *tl = s->app->a.tl;
    struct text words = {0};
    struct filter filter;
    struct error err = {0};
    uint64_t *bits = calloc(tl->blocks.count / 64 + 1, sizeof *bits);
    owner_tree_words(&s->app->owner_tree, node, &words);
    assert_ok(filter_parse(&filter, text_get(&words), &err), err);
    assert_ok(filter_run(&filter, tl, bits, &err), err);
    hover_set(s->app, node);
    for (uint32_t i = 0; i < tl->blocks.count; i++) {
        bool has = owner_tree_has(&s->app->owner_tree, node, i);
        assert_int_equal(app_is_lit(s->app, i), has);
        if (!node->is_block && (bits[i / 64] >> (i % 64) & 1) != has)
            fail_msg("%s: block %u", text_get(&words), i);
    }
    hover_set(s->app, NULL);
    filter_fini(&filter);
    text_fini(&words);
    free(bits);
}

TEST(rows_sum_at_every_level_and_their_words_name_their_blocks) {
    USE_STATE;
    struct timeline *tl = fixture_random(21, 3000, 60);
    struct session s = session_open(&usual, tl, NULL);
    session_play(&s, "key p\n");
    for (int grouping = 0; grouping < OWNER_GROUPING_COUNT; grouping++) {
        if (grouping ==
            OWNER_BY_STACK) { /* none here; a row's words are its innermost function alone */
            session_play(&s, "key c\n");
            continue;
        }
        open_all(&s);
        struct owner_tree *tree = tree_of(&s);
        check_sums(tree, session_value(&s, "cursor.owners"));
        assert_true(tree->nodes.count > s.app->a.owners.rows.count);
        for (size_t i = 0; i < tree->nodes.count; i += 7)
            check_words(&s, &tree->nodes.at[i]);
        session_frame(&s);
        session_play(&s, "key c\n");
    }
    session_close(&s);
    timeline_destroy(tl);
}

static size_t count_open(const struct owner_tree *tree) {
    size_t open = 0;
    for (size_t i = 0; i < tree->nodes.count; i++)
        open += tree->nodes.at[i].is_open;
    return open;
}

TEST(enter_opens_and_closes_and_a_block_is_pinned_and_followed) {
    USE_STATE;
    struct timeline *tl = fixture_llama("made_up.lua", false);
    struct session s = session_open(&usual, tl, NULL);
    session_play(&s, "key p\nkey Down\nkey Enter\n");
    size_t closed = s.app->a.owners.rows.count;
    struct owner_tree *tree = tree_of(&s);
    assert_true(tree->nodes.count > closed && tree->nodes.at[0].is_open);
    session_play(&s, "key Enter\n");
    assert_int_equal(tree_of(&s)->nodes.count, closed);
    session_play(&s, "key Enter\nkey Down\nkey Enter\nkey Down\nkey Enter\nkey Down\nkey Enter\n");
    tree = tree_of(&s);
    uint64_t pin = session_value(&s, "pin");
    assert_true(pin < tl->blocks.count && tree->nodes.at[3].is_block);
    assert_int_equal(tree->nodes.at[3].row.key, pin);
    assert_int_equal(session_value(&s, "search"), 1);
    assert_true(app_is_lit(s.app, (uint32_t)pin));
    session_play(&s, "key ,\nkey .\n"); /* a row that is gone and comes back is still open */
    assert_int_equal(count_open(tree_of(&s)), 3);
    session_play(&s,
                 "key Esc\nkey Up\nkey Shift+H\nexpect search 1\nkey Shift+H\nexpect search 0\n");
    session_play(&s, "key c\n");
    assert_int_equal(count_open(tree_of(&s)), 0);
    session_close(&s);
    timeline_destroy(tl);
}

TEST(the_row_under_the_pointer_is_lit_until_it_is_left) {
    USE_STATE;
    struct timeline *tl = fixture_llama("made_up.lua", false);
    struct session s = session_open(&usual, tl, NULL);
    char line[80];
    session_play(&s, "key p\n");
    session_frame(&s);
    const struct rect *r = &s.app->layout.tab;
    int y = r->y + s.app->tables[0].head + 5;
    snprintf(line, sizeof line, "move %d %d\n", r->x + 40, y);
    session_play(&s, line);
    assert_true(app_dims(s.app));
    const struct owner_node *node = &tree_of(&s)->nodes.at[0];
    uint64_t lit = 0;
    for (size_t i = 0; i < s.app->live.ids.count; i++)
        if (app_is_lit(s.app, s.app->live.ids.at[i]))
            lit += tl->blocks.at[s.app->live.ids.at[i]].block_bytes;
    assert_bytes_equal(lit, node->row.bytes);
    assert_bytes_equal(session_value(&s, "cursor.owners"), session_value(&s, "cursor.allocated"));
    session_frame(&s);
    snprintf(line, sizeof line, "move %d %d\n", s.app->layout.plot.x + 30,
             s.app->layout.plot.y + 30);
    session_play(&s, line);
    assert_false(app_dims(s.app));
    snprintf(line, sizeof line, "click %d %d ctrl\n", r->x + 40, y);
    session_play(&s, line);
    assert_int_equal(session_value(&s, "search"), 1);
    session_close(&s);
    timeline_destroy(tl);
}

TEST(the_tree_and_what_is_told_are_drawn_as_they_were) {
    USE_STATE;
    struct timeline *tl = fixture_llama("made_up.lua", false);
    static const struct {
        enum language language;
        const char *tree, *told;
    } cases[] = {{LANGUAGE_ENGLISH, "tree-english.txt", "told-english.txt"},
                 {LANGUAGE_CHINESE, "tree-chinese.txt", "told-chinese.txt"}};
    for (size_t i = 0; i < 2; i++) {
        struct app_options options = {.width = 1000, .height = 700, .language = cases[i].language};
        struct session s = session_open(&options, tl, NULL);
        session_play(&s, "key p\nkey Down\nkey Down\nkey Enter\nkey Down\nkey Enter\nkey Down\n"
                         "key Enter\nmove 300 118\n");
        session_frame(&s);
        session_golden(&s, &pane_owners, cases[i].tree);
        session_golden(&s, &pane_tooltip, cases[i].told);
        session_close(&s);
    }
    timeline_destroy(tl);
}

static struct timeline *shared; /* made where allocations do not fail */

static bool grown(void) {
    struct owners owners;
    struct owner_tree tree = {0};
    struct live live;
    struct live_set set = {0};
    struct error err = {0};
    bool built = live_build(&live, shared, 0, &err);
    bool named = built && owners_init(&owners, shared, &err);
    bool good = named && live_at(&live, 90, &set) && owners_read(&owners, OWNER_BY_MODULE, &set);
    for (int i = 0; i < 4 && good; i++) {
        good = owner_tree_read(&tree, &owners, &set, OWNER_BYTES, true);
        for (size_t k = 0; good && k < tree.nodes.count; k++)
            if (!tree.nodes.at[k].is_open && !tree.nodes.at[k].is_block)
                good = owner_tree_toggle(&tree, &tree.nodes.at[k]);
    }
    owner_tree_fini(&tree);
    if (named)
        owners_fini(&owners);
    if (built)
        live_fini(&live);
    array_fini(&set.ids);
    return good;
}

TEST(any_allocation_may_fail) {
    USE_STATE;
    shared = fixture_random(2, 200, 20);
    assert_true(fail_each_allocation(grown) > 10);
    timeline_destroy(shared);
}

SUITE(cmocka_unit_test(rows_sum_at_every_level_and_their_words_name_their_blocks),
      cmocka_unit_test(enter_opens_and_closes_and_a_block_is_pinned_and_followed),
      cmocka_unit_test(the_row_under_the_pointer_is_lit_until_it_is_left),
      cmocka_unit_test(the_tree_and_what_is_told_are_drawn_as_they_were),
      cmocka_unit_test(any_allocation_may_fail))

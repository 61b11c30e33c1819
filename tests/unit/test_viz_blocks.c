/* Bands of blocks: live lists of every size, the pieces of a column and what is under a pixel,
 * against walking all events. */
#include "suite.h"

#include "app_state.h"
#include "failing_alloc.h"
#include "hit.h"
#include "input.h"
#include "plot.h"
#include "viz_fixture.h"

/* The blocks alive after `moment` events, in the order of their allocation. */
struct alive {
    uint32_t *ids;
    size_t count;
};

static void alive_remove(struct alive *a, uint32_t block) {
    size_t kept = 0;
    for (size_t i = 0; i < a->count; i++)
        if (a->ids[i] != block)
            a->ids[kept++] = a->ids[i];
    a->count = kept;
}

static void alive_apply(struct alive *a, const struct timeline *tl, uint32_t event) {
    const struct timeline_event *e = &tl->events.at[event];
    if (e->kind == EVENT_ALLOC)
        a->ids[a->count++] = e->ref;
    else if (e->kind == EVENT_FREE_REQUESTED)
        alive_remove(a, e->ref);
}

static struct alive alive_at(const struct timeline *tl, uint32_t moment) {
    struct alive a = {.ids = malloc((tl->blocks.count + 1) * sizeof *a.ids)};
    assert_non_null(a.ids);
    for (uint32_t i = 0; i < tl->blocks.count; i++)
        if (tl->blocks.at[i].alloc_event == TIMELINE_NONE && !tl->blocks.at[i].pending_at_start)
            a.ids[a.count++] = i;
    for (uint32_t event = 0; event < moment; event++)
        alive_apply(&a, tl, event);
    return a;
}

static const uint64_t least[] = {0, 64 << 10, 1 << 20, 16 << 20, 256 << 20};

/* Each group's list is the group's part of `a`, without what is too small. */
static void assert_list(const struct streams_cursor *cursor, const struct alive *a, int tier) {
    const struct timeline *tl = cursor->streams->lod->tl;
    for (unsigned g = 0; g < LOD_GROUPS; g++) {
        size_t at = 0;
        for (size_t i = 0; i < a->count; i++) {
            const struct timeline_block *b = &tl->blocks.at[a->ids[i]];
            if (b->category != g || b->block_bytes < least[tier])
                continue;
            assert_true(at < cursor->groups[g].list.count);
            const struct streams_block *s = &cursor->groups[g].list.at[at++];
            assert_int_equal(s->block, a->ids[i]);
            assert_bytes_equal(s->bytes, b->block_bytes);
        }
        assert_int_equal(at, cursor->groups[g].list.count);
    }
}

struct built {
    struct timeline *tl;
    struct track track;
    struct streams_cursor cursor;
};

static void build(struct built *b, struct timeline *tl, uint32_t slice) {
    struct error err = {0};
    b->tl = tl;
    assert_ok(track_build(&b->track, tl, 0, &err), err);
    while (!b->track.streams.done)
        assert_ok(streams_build(&b->track.streams, slice, &err), err);
    streams_cursor_init(&b->cursor, &b->track.streams);
}

static void destroy(struct built *b) {
    streams_cursor_fini(&b->cursor);
    track_fini(&b->track);
    timeline_destroy(b->tl);
}

static void check_streams(struct timeline *tl, uint32_t slice) {
    struct built b;
    struct fixture random = {.random = slice};
    build(&b, tl, slice);
    for (int i = 0; i < 200; i++) {
        /* far away, or a few steps on, as the columns of a plot are */
        uint32_t moment = (uint32_t)fixture_random_below(&random, b.track.lod.moments);
        if (i % 4)
            moment = b.cursor.moment + (uint32_t)fixture_random_below(&random, 40);
        int tier = i % 4 == 0 ? (int)fixture_random_below(&random, STREAMS_TIERS) : b.cursor.tier;
        assert_true(streams_seek(&b.cursor, tier, moment));
        struct alive alive = alive_at(tl, b.cursor.moment);
        assert_list(&b.cursor, &alive, tier);
        free(alive.ids);
    }
    destroy(&b);
}

TEST(live_lists_of_every_size_equal_brute_force) {
    USE_STATE;
    const uint32_t events[] = {1, 2, 700, 5000, 30000}, slices[] = {1, 7, 64, 1000, UINT32_MAX};
    for (uint64_t i = 0; i < 5; i++)
        check_streams(fixture_random(i + 1, events[i], i % 2 ? 40 : 6000), slices[i]);
}

TEST(a_half_built_index_answers_with_all_blocks) {
    USE_STATE;
    struct timeline *tl = fixture_random(3, 9000, 200);
    struct track track;
    struct error err = {0};
    assert_ok(track_build(&track, tl, 0, &err), err);
    assert_ok(streams_build(&track.streams, 5000, &err), err);
    assert_false(track.streams.done);
    assert_int_equal(streams_tier_of(&track.streams, 1e12), 0);
    assert_ok(streams_build(&track.streams, UINT32_MAX, &err), err);
    assert_true(track.streams.done);
    for (int tier = 0; tier < STREAMS_TIERS; tier++) {
        assert_int_equal(streams_tier_of(&track.streams, (double)least[tier] + 0.5), tier);
        if (tier > 0)
            assert_int_equal(streams_tier_of(&track.streams, (double)least[tier] - 1), tier - 1);
    }
    track_fini(&track);
    timeline_destroy(tl);
}

/* What the pieces of a column must be, written without the lists. */
static void expect_pieces(const struct plot_frame *frame, const struct column *column,
                          struct pieces *want) {
    const struct timeline *tl = frame->track->tl;
    const struct rect *r = frame->rect;
    double pixel = (frame->view->y1 - frame->view->y0) / r->h;
    struct alive alive = alive_at(tl, column->arg);
    uint64_t below = frame->track->context_bytes;
    struct piece first = {.block = TIMELINE_NONE, .bottom = plot_y(frame, 0)};
    first.top = plot_y(frame, (double)below);
    array_clear(&want->list);
    assert_true(array_push(&want->list, first));
    for (unsigned g = 0; g < LOD_GROUPS; g++) {
        uint64_t start = below;
        for (size_t i = 0; i < alive.count; i++) {
            const struct timeline_block *b = &tl->blocks.at[alive.ids[i]];
            bool is_its = lod_group(&frame->track->lod, alive.ids[i]) == g;
            if (!is_its || (double)b->block_bytes < pixel)
                continue;
            struct piece p = {.top = plot_y(frame, (double)(below + b->block_bytes)),
                              .bottom = plot_y(frame, (double)below),
                              .block = alive.ids[i],
                              .group = (uint8_t)g};
            assert_true(array_push(&want->list, p));
            below += b->block_bytes;
        }
        struct piece rest = {.top = plot_y(frame, (double)(start + column->group[g])),
                             .bottom = plot_y(frame, (double)below),
                             .block = TIMELINE_NONE,
                             .group = (uint8_t)g};
        assert_true(array_push(&want->list, rest));
        below = start + column->group[g];
    }
    size_t kept = 0;
    for (size_t i = 0; i < want->list.count; i++) {
        struct piece p = want->list.at[i];
        p.top = p.top < r->y ? r->y : p.top;
        p.bottom = p.bottom > r->y + r->h ? r->y + r->h : p.bottom;
        if (p.top < p.bottom)
            want->list.at[kept++] = p;
    }
    want->list.count = kept;
    free(alive.ids);
}

static void assert_pieces(const struct pieces *got, const struct pieces *want) {
    assert_int_equal(got->list.count, want->list.count);
    for (size_t i = 0; i < want->list.count; i++) {
        const struct piece *a = &got->list.at[i], *b = &want->list.at[i];
        assert_int_equal(a->top, b->top);
        assert_int_equal(a->bottom, b->bottom);
        assert_int_equal(a->block, b->block);
        assert_int_equal(a->group, b->group);
    }
}

static struct app *open_app(const struct timeline *tl, bool below) {
    struct error err = {0};
    struct app_options options = {
        .width = 800, .height = 600, .embedded_font = true, .below = below};
    struct app *app = app_create(&options, tl, below ? tl : NULL, &err);
    assert_non_null(app);
    return app;
}

/* Every pixel of a column hits what is drawn there. */
static size_t check_hits(struct app *app, int x, const struct pieces *want) {
    struct rect r = app_plot_rect(app);
    size_t blocks = 0;
    for (int y = r.y - 2; y < r.y + r.h + 2; y++) {
        const struct piece *piece = y < r.y || y >= r.y + r.h ? NULL : pieces_at(want, y);
        uint32_t block = 77;
        int group = 78;
        assert_int_equal(app_hit(app, x, y, &block, &group), piece != NULL);
        assert_int_equal(block, piece ? piece->block : 77);
        assert_int_equal(group, piece ? piece->group : 78);
        blocks += piece && piece->block != TIMELINE_NONE;
    }
    return blocks;
}

static size_t check_columns(struct app *app, struct pieces *want) {
    struct rect r = app_plot_rect(app);
    size_t blocks = 0;
    assert_true(app_read_plot(app, &app->plot, &app->view, r.w));
    struct plot_frame frame = app_plot_frame(app, &r, false);
    for (int x = 0; x < r.w; x += 149) {
        expect_pieces(&frame, &frame.columns[x], want);
        assert_true(pieces_read(&app->blocks_a, &frame, &frame.columns[x], &app->pieces));
        assert_pieces(&app->pieces, want);
        blocks += check_hits(app, r.x + x, want);
    }
    return blocks;
}

static void check_app(struct timeline *tl, bool below, enum owner_grouping bands) {
    struct app *app = open_app(tl, below);
    assert_true(app_choose_bands(app, bands));
    struct pieces want = {0};
    struct error err = {0};
    size_t blocks = 0;
    for (int i = 0; i < 18; i++) {
        struct input in = {.kind = INPUT_WHEEL, .x = 300, .y = 350, .wheel = 2};
        in.mods = i % 2 ? MOD_SHIFT : 0;
        blocks += check_columns(app, &want);
        app_input(app, &in);
        if (i == 4)
            assert_ok(streams_build(&app->a.streams, UINT32_MAX, &err), err);
    }
    assert_true(blocks > 500);
    uint32_t block;
    int group;
    assert_false(app_hit(app, -5, 100, &block, &group));
    array_fini(&want.list);
    app_destroy(app);
    timeline_destroy(tl);
}

TEST(pieces_and_hits_equal_brute_force) {
    USE_STATE;
    check_app(fixture_random(11, 6000, 60), false, OWNER_BY_CATEGORY);
    check_app(fixture_random(12, 3000, 500), true, OWNER_BY_CATEGORY);
    check_app(fixture_random(13, 3000, 60), false, OWNER_BY_SIZE);
    check_app(fixture_random(14, 3000, 300), true, OWNER_BY_PATH);
    struct fixture f = fixture_start("context");
    fixture_device(&f, "a card", UINT64_C(8) << 30, 400 << 20);
    for (int i = 0; i < 40; i++) {
        f.time_ns += 1000;
        uint32_t b = fixture_alloc(&f, UINT64_C(40) << 20, (enum category)(i % 4), "a", "op");
        if (i % 3 == 0)
            fixture_free(&f, b);
    }
    check_app(f.tl, false, OWNER_BY_CATEGORY);
}

TEST(lying_blocks_stay_inside_their_group) {
    USE_STATE;
    struct fixture f = fixture_start("lies");
    for (int i = 0; i < 20; i++) {
        f.time_ns += 10;
        fixture_alloc(&f, 1 << 20, CATEGORY_ACTIVATION, "a", "op");
    }
    fixture_event(&f, EVENT_FREE_REQUESTED, 3, 1 << 20); /* twice */
    fixture_event(&f, EVENT_FREE_REQUESTED, 3, 1 << 20);
    fixture_event(&f, EVENT_FREE_REQUESTED, 999, 1);
    fixture_event(&f, EVENT_ALLOC, 5, 1 << 20); /* again */
    struct app *app = open_app(f.tl, false);
    struct rect r = app_plot_rect(app);
    for (int x = r.x; x < r.x + r.w; x += 7) {
        uint32_t block = 0;
        int group = 0;
        for (int y = r.y; y < r.y + r.h; y += 5)
            if (app_hit(app, x, y, &block, &group))
                assert_int_equal(group, CATEGORY_ACTIVATION);
    }
    app_destroy(app);
    timeline_destroy(f.tl);
}

static bool session(void) {
    static const struct timeline *tl;
    if (!tl)
        tl = fixture_random(1, 9000, 900); /* first called without the hook */
    struct track track;
    struct error err = {0};
    if (!track_build(&track, tl, 0, &err))
        return false;
    struct streams_cursor cursor;
    streams_cursor_init(&cursor, &track.streams);
    bool built = streams_build(&track.streams, UINT32_MAX, &err);
    bool good = built && streams_seek(&cursor, 0, 8000) && streams_seek(&cursor, 2, 5000);
    if (good) {
        struct alive alive = alive_at(tl, 5000);
        assert_list(&cursor, &alive, 2);
        free(alive.ids);
    }
    streams_cursor_fini(&cursor);
    track_fini(&track);
    return good;
}

/* A build that failed for want of memory is gone on with, and nothing is missing then. */
TEST(a_build_without_memory_can_be_gone_on_with) {
    USE_STATE;
    struct timeline *tl = fixture_random(1, 9000, 900);
    struct built b = {.tl = tl};
    struct error err = {0};
    assert_ok(track_build(&b.track, tl, 0, &err), err);
    for (size_t n = 1; !b.track.streams.done; n++) {
        struct failing_alloc f = {.fail_at = 1 + n % 3};
        xalloc_set_hook(failing_alloc_hook, &f);
        streams_build(&b.track.streams, 300, &err);
        xalloc_set_hook(NULL, NULL);
        assert_true(n < 10000);
    }
    streams_cursor_init(&b.cursor, &b.track.streams);
    for (uint32_t moment = 0; moment < 9000; moment += 997)
        for (int tier = 0; tier < STREAMS_TIERS; tier++) {
            assert_true(streams_seek(&b.cursor, tier, moment));
            struct alive alive = alive_at(tl, moment);
            assert_list(&b.cursor, &alive, tier);
            free(alive.ids);
        }
    destroy(&b);
}

TEST(every_allocation_may_fail) {
    USE_STATE;
    session();
    assert_true(fail_each_allocation(session) > 10);
}

SUITE(cmocka_unit_test(live_lists_of_every_size_equal_brute_force),
      cmocka_unit_test(a_half_built_index_answers_with_all_blocks),
      cmocka_unit_test(pieces_and_hits_equal_brute_force),
      cmocka_unit_test(lying_blocks_stay_inside_their_group),
      cmocka_unit_test(a_build_without_memory_can_be_gone_on_with),
      cmocka_unit_test(every_allocation_may_fail))

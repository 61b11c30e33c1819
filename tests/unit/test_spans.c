/* Spans against an array of cells: random additions and cuts, in any order. */
#include "suite.h"

#include <stdlib.h>

#include "failing_alloc.h"
#include "spans.h"

enum { CELLS = 4096, UNIT = 16 };

/* One cell is UNIT addresses: 0 free, else value + 1. */
static uint8_t cells[CELLS];

static uint32_t next_random(uint32_t *seed, uint32_t below) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static void check_find(const struct spans *spans, uint32_t cell) {
    const struct span *span = spans_find(spans, (uint64_t)cell * UNIT + UNIT - 1);
    if (cells[cell] == 0) {
        assert_null(span);
        return;
    }
    assert_non_null(span);
    assert_int_equal(span->value + 1, cells[cell]);
}

/* In order, disjoint, and nothing else than the cells. */
static void check_all(const struct spans *spans) {
    uint64_t at = 0;
    struct spans_cursor cursor = {0};
    for (const struct span *s; (s = spans_next(spans, &cursor)) != NULL;) {
        assert_true(s->start >= at && s->end > s->start);
        for (; at < s->start; at += UNIT)
            assert_int_equal(cells[at / UNIT], 0);
        for (; at < s->end; at += UNIT)
            assert_int_equal(cells[at / UNIT], s->value + 1);
    }
    for (; at < (uint64_t)CELLS * UNIT; at += UNIT)
        assert_int_equal(cells[at / UNIT], 0);
}

static void change(struct spans *spans, uint32_t *seed, bool joins) {
    uint32_t first = next_random(seed, CELLS), count = 1 + next_random(seed, 8);
    uint64_t start = (uint64_t)first * UNIT;
    if (count > CELLS - first)
        count = CELLS - first;
    if (next_random(seed, 5) == 0) {
        assert_true(spans_cut(spans, start, start + (uint64_t)count * UNIT));
        memset(cells + first, 0, count);
        return;
    }
    bool is_free = spans_overlap(spans, start, start + (uint64_t)count * UNIT) == NULL;
    bool expected = true;
    for (uint32_t i = 0; i < count; i++)
        expected = expected && cells[first + i] == 0;
    assert_int_equal(is_free, expected);
    if (!is_free)
        return;
    uint32_t value = next_random(seed, 3);
    const struct span span = {
        .start = start, .end = start + (uint64_t)count * UNIT, .value = value, .joins = joins};
    assert_true(spans_add(spans, span));
    memset(cells + first, (int)value + 1, count);
}

static void run_random(uint32_t seed, bool joins) {
    struct spans spans = {0};
    memset(cells, 0, sizeof cells);
    for (int i = 0; i < 40000; i++) {
        change(&spans, &seed, joins);
        check_find(&spans, next_random(&seed, CELLS));
        if (i % 1000 == 0)
            check_all(&spans);
    }
    check_all(&spans);
    assert_true(spans_cut(&spans, 0, (uint64_t)CELLS * UNIT));
    assert_true(spans_is_empty(&spans));
    spans_fini(&spans);
}

TEST(random_changes_are_those_of_cells) {
    USE_STATE;
    run_random(1, false);
    run_random(2, true);
}

TEST(touching_parts_of_one_value_become_one) {
    USE_STATE;
    struct spans spans = {0};
    assert_true(spans_add(&spans, (struct span){0, 10, 7, true}));
    assert_true(spans_add(&spans, (struct span){20, 30, 7, true}));
    assert_true(spans_add(&spans, (struct span){10, 20, 7, true}));
    struct spans_cursor cursor = {0};
    const struct span *whole = spans_next(&spans, &cursor);
    assert_bytes_equal(whole->end, 30);
    assert_null(spans_next(&spans, &cursor));
    assert_true(spans_cut(&spans, 12, 14));
    assert_bytes_equal(spans_find(&spans, 11)->end, 12);
    assert_bytes_equal(spans_find(&spans, 14)->start, 14);
    assert_null(spans_find(&spans, 13));
    spans_fini(&spans);
}

/* Adds every other cell in no order; runs are split on the way. True: no allocation failed. */
static bool add_scattered(struct spans *spans) {
    bool all = true;
    for (uint32_t i = 0; i < CELLS; i += 2) {
        uint32_t cell = (i * 1021) % CELLS;
        const struct span span = {.start = (uint64_t)cell * UNIT,
                                  .end = (uint64_t)(cell + 1) * UNIT};
        bool added = spans_add(spans, span);
        cells[cell] = added;
        all = all && added;
    }
    return all;
}

TEST(a_failed_change_leaves_the_set_as_it_was) {
    USE_STATE;
    bool all = false;
    for (size_t fail_at = 1; !all; fail_at++) {
        struct failing_alloc failing = {.fail_at = fail_at};
        struct spans spans = {0};
        memset(cells, 0, sizeof cells);
        xalloc_set_hook(failing_alloc_hook, &failing);
        all = add_scattered(&spans);
        check_all(&spans);
        spans_fini(&spans);
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(failing.live, 0);
    }
}

SUITE(cmocka_unit_test(random_changes_are_those_of_cells),
      cmocka_unit_test(touching_parts_of_one_value_become_one),
      cmocka_unit_test(a_failed_change_leaves_the_set_as_it_was))

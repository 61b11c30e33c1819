/* The ordered map of addresses against a plain array. */
#include "suite.h"

#include <stdlib.h>

#include "addrmap.h"
#include "failing_alloc.h"

enum { KEYS = 3000 };

static uint64_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* `there` is the whole truth: the value + 1 of each key, 0 when it is not in. */
static void check_against(const struct addrmap *map, const uint32_t *there) {
    struct addrmap_at at;
    bool more = addrmap_first(map, &at);
    size_t count = 0;
    for (uint32_t key = 0; key < KEYS; key++) {
        if (!there[key])
            continue;
        assert_true(more);
        assert_bytes_equal(addrmap_key(map, at), key);
        assert_bytes_equal(addrmap_value(map, at) + 1, there[key]);
        more = addrmap_next(map, &at);
        count++;
    }
    assert_false(more);
    assert_int_equal(map->count, count);
}

static void check_floor(const struct addrmap *map, const uint32_t *there, uint32_t key) {
    struct addrmap_at at;
    bool found = addrmap_floor(map, key, &at);
    uint32_t k = key + 1;
    while (k > 0 && !there[k - 1])
        k--;
    assert_int_equal(found, k > 0);
    if (found)
        assert_bytes_equal(addrmap_key(map, at), k - 1);
}

TEST(random_steps_agree_with_an_array) {
    USE_STATE;
    struct addrmap map = {0};
    uint32_t *there = calloc(KEYS, sizeof *there);
    assert_non_null(there);
    uint64_t seed = 1;
    for (uint32_t step = 0; step < 40000; step++) {
        uint32_t key = (uint32_t)(next_random(&seed) % KEYS), value;
        uint32_t bias = step / 10000 % 2 ? 1 : 3; /* grows, shrinks, grows, shrinks */
        if (next_random(&seed) % 4 < bias) {
            assert_true(addrmap_put(&map, key, step));
            there[key] = step + 1;
        } else {
            assert_int_equal(addrmap_take(&map, key, &value), there[key] != 0);
            there[key] = 0;
        }
        check_floor(&map, there, (uint32_t)(next_random(&seed) % KEYS));
        if (step % 1000 == 0)
            check_against(&map, there);
    }
    check_against(&map, there);
    addrmap_fini(&map);
    free(there);
}

TEST(keys_in_order_and_against_it) {
    USE_STATE;
    uint32_t *there = calloc(KEYS, sizeof *there);
    assert_non_null(there);
    for (int down = 0; down < 2; down++) {
        struct addrmap map = {0};
        for (uint32_t i = 0; i < KEYS; i++) {
            uint32_t key = down ? KEYS - 1 - i : i;
            assert_true(addrmap_put(&map, key, key));
            there[key] = key + 1;
        }
        check_against(&map, there);
        addrmap_fini(&map);
    }
    free(there);
}

TEST(remove_wants_the_value) {
    USE_STATE;
    struct addrmap map = {0};
    uint32_t value;
    assert_true(addrmap_put(&map, UINT64_MAX, 7));
    assert_false(addrmap_remove(&map, UINT64_MAX, 8));
    assert_true(addrmap_find(&map, UINT64_MAX, &value));
    assert_int_equal(value, 7);
    assert_true(addrmap_remove(&map, UINT64_MAX, 7));
    assert_false(addrmap_find(&map, UINT64_MAX, &value));
    addrmap_fini(&map);
}

TEST(a_failed_put_leaves_the_map_as_it_was) {
    USE_STATE;
    struct failing_alloc f = {.fail_at = 0};
    for (f.fail_at = 1;; f.fail_at++) {
        struct addrmap map = {0};
        f.seen = 0;
        xalloc_set_hook(failing_alloc_hook, &f);
        uint32_t done = 0, value;
        while (done < 1000 && addrmap_put(&map, done * 7u % 1000, done))
            done++;
        assert_int_equal(map.count, done);
        for (uint32_t i = 0; i < done; i++)
            assert_true(addrmap_find(&map, i * 7u % 1000, &value) && value == i);
        addrmap_fini(&map);
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        if (done == 1000)
            break;
    }
}

SUITE(cmocka_unit_test(random_steps_agree_with_an_array),
      cmocka_unit_test(keys_in_order_and_against_it), cmocka_unit_test(remove_wants_the_value),
      cmocka_unit_test(a_failed_put_leaves_the_map_as_it_was))

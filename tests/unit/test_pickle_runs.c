/* Lists that are known again by their bytes hold what they would hold if each item were read: random
 * pickles are read by a handler that shares and by one that does not. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "pickle.h"
#include "text.h"

enum { MAX_HELD = 1 << 16, SLOTS = 12, BEFORE = 6, STACKS = 6, LONGEST = 40 };

/* Every list's items as the handler learned them, in order of arrival. */
struct lists {
    struct {
        uint32_t list;
        uint64_t bits;
    } items[MAX_HELD];
    size_t count, shared;
};

static bool add_items(void *user, struct pickle *p, uint32_t list, const struct pickle_value *items,
                      size_t count, struct error *err) {
    struct lists *l = user;
    (void)p, (void)err;
    for (size_t i = 0; i < count; i++) {
        assert_true(l->count < MAX_HELD);
        l->items[l->count].list = list;
        l->items[l->count++].bits = items[i].bits;
    }
    return true;
}

static size_t count_of(const struct lists *l, uint32_t list) {
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++)
        count += l->items[i].list == list;
    return count;
}

/* As the contract says: only when the other list holds just that. */
static bool add_same(void *user, struct pickle *p, uint32_t list, uint32_t like, uint32_t count) {
    struct lists *l = user;
    (void)p;
    assert_int_equal(count_of(l, list), 0);
    if (count_of(l, like) != count)
        return false;
    size_t before = l->count;
    for (size_t i = 0; i < before; i++)
        if (l->items[i].list == like) {
            assert_true(l->count < MAX_HELD);
            l->items[l->count].list = list;
            l->items[l->count++].bits = l->items[i].bits;
        }
    l->shared++;
    return true;
}

static bool skip_pairs(void *user, struct pickle *p, uint32_t dict,
                       const struct pickle_value *items, size_t count, struct error *err) {
    (void)user, (void)p, (void)dict, (void)items, (void)count, (void)err;
    return true;
}

static bool read_all(const struct text *bytes, bool share, struct lists *l, uint64_t *opcodes) {
    struct pickle p;
    struct error err = {0};
    struct pickle_value root;
    const struct pickle_handler handler = {.user = l,
                                           .set_items = skip_pairs,
                                           .append = add_items,
                                           .fill_tuple = skip_pairs,
                                           .append_same = share ? add_same : NULL};
    memset(l, 0, sizeof *l);
    assert_true(pickle_init(&p, text_get(bytes), bytes->length, &handler, 64 << 20, &err));
    bool ok = pickle_read(&p, &root);
    *opcodes = p.opcode_count;
    pickle_fini(&p);
    return ok;
}

static uint32_t next(uint64_t *seed, uint32_t limit) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % limit;
}

static void add_op(struct text *t, const char *bytes, size_t length) {
    text_add_bytes(t, bytes, length);
}
#define OP(t, bytes) add_op((t), (bytes), sizeof(bytes) - 1)

static void add_get(struct text *t, uint32_t slot, bool wide) {
    const char narrow[2] = {'h', (char)slot}, broad[5] = {'j', (char)slot, 0, 0, 0};
    if (wide)
        text_add_bytes(t, broad, sizeof broad);
    else
        text_add_bytes(t, narrow, sizeof narrow);
}

/* A list of lists, each of them gets of the first SLOTS values; now and then a list goes on after
 * its first APPENDS, a value stands between gets, and (if asked) a slot is written again. */
static void write_pickle(struct text *t, uint64_t seed, bool rewrite) {
    uint32_t stacks[STACKS][LONGEST], lengths[STACKS];
    OP(t, "\x80\x04](");
    for (uint32_t i = 0; i < SLOTS; i++) {
        const char dict[] = {'}', 'q', (char)i};
        text_add_bytes(t, dict, sizeof dict);
    }
    for (uint32_t s = 0; s < STACKS; s++) {
        lengths[s] = 1 + next(&seed, LONGEST);
        for (uint32_t i = 0; i < lengths[s]; i++)
            stacks[s][i] = s > 0 && i < 12 ? stacks[s - 1][i % lengths[s - 1]] : next(&seed, SLOTS);
    }
    for (uint32_t n = 0; n < 300; n++) {
        uint32_t s = next(&seed, STACKS), parts = next(&seed, 9) == 0 ? 2 : 1;
        if (rewrite && next(&seed, 40) == 0) {
            const char again[] = {'}', 'q', (char)next(&seed, SLOTS)};
            text_add_bytes(t, again, sizeof again);
        }
        OP(t, "]");
        while (parts-- > 0) {
            OP(t, "(");
            for (uint32_t i = 0; i < lengths[s]; i++) {
                add_get(t, stacks[s][i], s % 2 == 1 && i % 3 == 0);
                if (next(&seed, 400) == 0)
                    OP(t, "K\x07");
            }
            OP(t, "e");
        }
    }
    OP(t, "e.");
}

static void check_equal(const struct text *bytes, struct lists *shared, struct lists *plain) {
    uint64_t opcodes_shared, opcodes_plain;
    assert_true(read_all(bytes, true, shared, &opcodes_shared));
    assert_true(read_all(bytes, false, plain, &opcodes_plain));
    assert_int_equal(opcodes_shared, opcodes_plain);
    assert_int_equal(shared->count, plain->count);
    assert_memory_equal(shared->items, plain->items, plain->count * sizeof *plain->items);
}

TEST(shared_lists_hold_what_reading_would_give) {
    USE_STATE;
    struct lists *shared = malloc(sizeof *shared), *plain = malloc(sizeof *plain);
    assert_non_null(shared);
    assert_non_null(plain);
    size_t all = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct text t = {0};
        write_pickle(&t, seed, seed % 3 == 0);
        check_equal(&t, shared, plain);
        all += shared->shared;
        text_fini(&t);
    }
    assert_true(all > 4000);
    free(shared);
    free(plain);
}

TEST(a_memo_slot_written_again_ends_the_sharing) {
    USE_STATE;
    static const char run[] = "](h\0h\0h\0h\0h\0h\0h\0h\0h\0e";
    struct lists *shared = malloc(sizeof *shared), *plain = malloc(sizeof *plain);
    struct text t = {0};
    OP(&t, "\x80\x04](}q\0");
    for (size_t i = 0; i < BEFORE; i++)
        add_op(&t, run, sizeof run - 1);
    OP(&t, "}q\0");
    add_op(&t, run, sizeof run - 1);
    OP(&t, "e.");
    check_equal(&t, shared, plain);
    /* the first ones make room on the stack, and tell what follows what */
    assert_true(shared->shared > 0 && shared->shared < BEFORE);
    assert_true(plain->items[0].bits != plain->items[BEFORE * 9].bits); /* nine to a list */
    text_fini(&t);
    free(shared);
    free(plain);
}

TEST(a_cut_anywhere_is_an_error_in_both) {
    USE_STATE;
    struct lists *l = malloc(sizeof *l);
    struct text t = {0};
    uint64_t opcodes;
    write_pickle(&t, 7, false);
    for (size_t length = t.length - 1; length > t.length - 200; length--) {
        struct text cut = {0};
        text_add_bytes(&cut, text_get(&t), length);
        assert_false(read_all(&cut, true, l, &opcodes));
        text_fini(&cut);
    }
    text_fini(&t);
    free(l);
}

SUITE(cmocka_unit_test(shared_lists_hold_what_reading_would_give),
      cmocka_unit_test(a_memo_slot_written_again_ends_the_sharing),
      cmocka_unit_test(a_cut_anywhere_is_an_error_in_both))

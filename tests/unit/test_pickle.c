/* The pickle reader: data is read, everything else is refused by name and place, and nothing
 * hostile hurts. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "failing_alloc.h"
#include "pickle.h"

/* What the handler saw, as counts; containers are not walked. */
struct seen {
    size_t pairs, items, tuples;
    struct pickle_value last;
};

static bool see_pairs(void *user, struct pickle *p, uint32_t dict, const struct pickle_value *items,
                      size_t count, struct error *err) {
    struct seen *seen = user;
    (void)p, (void)dict, (void)err;
    seen->pairs += count;
    seen->last = items[2 * count - 1];
    return true;
}

static bool see_items(void *user, struct pickle *p, uint32_t list, const struct pickle_value *items,
                      size_t count, struct error *err) {
    struct seen *seen = user;
    (void)p, (void)list, (void)err;
    seen->items += count;
    seen->last = items[count - 1];
    return true;
}

static bool see_tuple(void *user, struct pickle *p, uint32_t tuple,
                      const struct pickle_value *items, size_t count, struct error *err) {
    struct seen *seen = user;
    (void)p, (void)tuple, (void)err, (void)items;
    seen->tuples += count;
    return true;
}

static const size_t budget = 16 << 20;

static bool read_bytes(const void *data, size_t length, struct pickle *p, struct seen *seen,
                       struct pickle_value *root, struct error *err) {
    memset(seen, 0, sizeof *seen);
    const struct pickle_handler handler = {
        .user = seen, .set_items = see_pairs, .append = see_items, .fill_tuple = see_tuple};
    return pickle_init(p, data, length, &handler, budget, err) && pickle_read(p, root);
}

#define READ(bytes) read_bytes((bytes), sizeof(bytes) - 1, &p, &seen, &root, &err)

static void check_integer(const char *bytes, size_t length, enum pickle_integer sign,
                          uint64_t expected) {
    struct pickle p;
    struct seen seen;
    struct pickle_value root = {0};
    struct error err;
    uint64_t value = 42;
    assert_ok(read_bytes(bytes, length, &p, &seen, &root, &err), err);
    assert_int_equal(pickle_get_integer(&p, root, &value), sign);
    assert_bytes_equal(value, expected);
    pickle_fini(&p);
}

#define INTEGER(bytes, sign, value) check_integer((bytes), sizeof(bytes) - 1, (sign), (value))

TEST(integers_of_every_width_keep_sign_and_value) {
    USE_STATE;
    INTEGER("\x80\x04K\xff.", PICKLE_NON_NEGATIVE, 255);
    INTEGER("\x80\x04M\x34\x12.", PICKLE_NON_NEGATIVE, 0x1234);
    INTEGER("\x80\x04J\xff\xff\xff\xff.", PICKLE_NEGATIVE, UINT64_MAX);
    INTEGER("\x80\x04J\0\0\0\x80.", PICKLE_NEGATIVE, (uint64_t)INT32_MIN);
    INTEGER("\x80\x04\x8a\0.", PICKLE_NON_NEGATIVE, 0);
    INTEGER("\x80\x04\x8a\x06\0\0\0\0\x30\x7f.", PICKLE_NON_NEGATIVE, 0x7f3000000000);
    INTEGER("\x80\x04\x8a\x08\0\0\0\0\0\0\0\x80.", PICKLE_NEGATIVE, UINT64_C(1) << 63);
    INTEGER("\x80\x04\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f.", PICKLE_NON_NEGATIVE, INT64_MAX);
    INTEGER("\x80\x04\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0.", PICKLE_NON_NEGATIVE, UINT64_MAX);
    INTEGER("\x80\x04\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\xff.", PICKLE_NEGATIVE, UINT64_MAX);
    INTEGER("\x80\x04\x8b\x02\0\0\0\x01\x02.", PICKLE_NON_NEGATIVE, 0x201);
    INTEGER("\x80\x02\x88.", PICKLE_NON_NEGATIVE, 1);
    INTEGER("I-12\n.", PICKLE_NEGATIVE, (uint64_t)-12);
    INTEGER("L18446744073709551615L\n.", PICKLE_NON_NEGATIVE, UINT64_MAX);
    INTEGER("I01\n.", PICKLE_NON_NEGATIVE, 1);
}

TEST(sixty_bit_border_is_exact) {
    USE_STATE;
    INTEGER("\x80\x04\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x07.", PICKLE_NON_NEGATIVE,
            0x07ffffffffffffff);
    INTEGER("\x80\x04\x8a\x08\0\0\0\0\0\0\0\x08.", PICKLE_NON_NEGATIVE, 0x0800000000000000);
    INTEGER("\x80\x04\x8a\x08\0\0\0\0\0\0\0\xf8.", PICKLE_NEGATIVE, 0xf800000000000000);
    INTEGER("\x80\x04\x8a\x08\xff\xff\xff\xff\xff\xff\xff\xf7.", PICKLE_NEGATIVE,
            0xf7ffffffffffffff);
}

TEST(an_integer_beyond_64_bits_is_unknown_not_an_error) {
    USE_STATE;
    struct pickle p;
    struct seen seen;
    struct pickle_value root = {0};
    struct error err;
    uint64_t value;
    assert_ok(READ("\x80\x04\x8a\x0a\1\1\1\1\1\1\1\1\1\1."), err);
    assert_int_equal(pickle_tag(root), PICKLE_UNKNOWN);
    assert_int_equal(pickle_get_integer(&p, root, &value), PICKLE_NOT_INTEGER);
    assert_int_equal(p.warnings, 1);
    pickle_fini(&p);
}

TEST(floats_are_big_endian) {
    USE_STATE;
    struct pickle p;
    struct seen seen;
    struct pickle_value root = {0};
    struct error err;
    double value = 0;
    assert_ok(READ("\x80\x04G\xbf\xf8\0\0\0\0\0\0."), err);
    assert_true(pickle_get_double(&p, root, &value));
    assert_true(value == -1.5);
    pickle_fini(&p);
}

TEST(texts_of_all_protocols_are_interned_by_content) {
    USE_STATE;
    static const char *const forms[] = {"\x80\x04\x8c\x02hi.", "\x80\x02X\x02\0\0\0hi.", "U\x02hi.",
                                        "Vhi\n.", "S'hi'\n."};
    static const size_t lengths[] = {7, 10, 5, 5, 7};
    for (size_t i = 0; i < 5; i++) {
        struct pickle p;
        struct seen seen;
        struct pickle_value root = {0};
        struct error err;
        assert_ok(read_bytes(forms[i], lengths[i], &p, &seen, &root, &err), err);
        assert_int_equal(pickle_tag(root), PICKLE_STRING);
        assert_string_equal(strtab_text(&p.strings, (uint32_t)pickle_payload(root)), "hi");
        pickle_fini(&p);
    }
}

TEST(a_container_grows_in_batches_after_it_was_stored) {
    USE_STATE;
    struct pickle p;
    struct seen seen;
    struct pickle_value root = {0};
    struct error err;
    /* l = []; memo; l += [1, 2]; l += [3]; l is pushed once more into itself: cyclic */
    assert_ok(READ("\x80\x04]\x94(K\1K\2eK\3ah\0a."), err);
    assert_int_equal(seen.items, 4);
    assert_int_equal(p.containers.count, 1);
    assert_int_equal(p.containers.at[0].count, 4);
    pickle_fini(&p);
}

TEST(pop_and_dup_and_sets_are_data_too) {
    USE_STATE;
    struct pickle p;
    struct seen seen;
    struct pickle_value root = {0};
    struct error err;
    assert_ok(READ("\x80\x04(K\1K\2"
                   "1K\7"
                   "20(0\x8f(K\1\x90"
                   "0."),
              err);
    assert_bytes_equal(pickle_payload(root), 7);
    pickle_fini(&p);
}

static void check_refused(const char *bytes, size_t length, enum error_code code,
                          const char *part) {
    struct pickle p;
    struct seen seen;
    struct pickle_value root = {0};
    struct error err = {0};
    assert_false(read_bytes(bytes, length, &p, &seen, &root, &err));
    assert_int_equal(err.code, code);
    if (!strstr(err.text, part))
        fail_msg("'%s' does not say '%s'", err.text, part);
    pickle_fini(&p);
}

#define REFUSED(bytes, code, part) check_refused((bytes), sizeof(bytes) - 1, (code), (part))

TEST(code_is_refused_by_name_and_offset) {
    USE_STATE;
    REFUSED("\x80\x04\x8c\x02os\x8c\x06system\x93.", ERROR_BAD_INPUT,
            "STACK_GLOBAL (0x93) at byte 14");
    REFUSED("cos\nsystem\n(S'id'\ntR.", ERROR_BAD_INPUT, "GLOBAL (0x63) at byte 0");
    REFUSED("\x80\x02K\1)R.", ERROR_BAD_INPUT, "REDUCE (0x52) at byte 5");
    REFUSED("\x80\x02K\1)\x81.", ERROR_BAD_INPUT, "NEWOBJ");
    REFUSED("\x80\x02K\1}b.", ERROR_BAD_INPUT, "BUILD");
    REFUSED("\x80\x02(K\1o.", ERROR_BAD_INPUT, "OBJ");
    REFUSED("\x80\x02(ios\nsystem\n.", ERROR_BAD_INPUT, "INST");
    REFUSED("\x80\x02\x82\1.", ERROR_BAD_INPUT, "EXT1");
    REFUSED("\x80\x02P1\n.", ERROR_BAD_INPUT, "PERSID");
    REFUSED("\x80\x02K\1Q.", ERROR_BAD_INPUT, "BINPERSID");
    REFUSED("\x80\x05\x97.", ERROR_BAD_INPUT, "NEXT_BUFFER");
    REFUSED("\x80\x04\xff.", ERROR_BAD_INPUT, "unknown (0xff) at byte 2");
}

TEST(broken_structure_is_told_apart) {
    USE_STATE;
    REFUSED("\x80\x06N.", ERROR_BAD_INPUT, "protocol 6");
    REFUSED("\x80\x04\x95\xff\0\0\0\0\0\0\0N.", ERROR_BAD_INPUT, "a frame of 255 bytes");
    REFUSED("\x80\x04\x8c\xff"
            "abc.",
            ERROR_BAD_INPUT, "needs 255 more bytes");
    REFUSED("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", ERROR_BAD_INPUT, "truncated");
    REFUSED("\x80\x04X\xff\xff\xff\xff.", ERROR_BAD_INPUT, "truncated");
    REFUSED("\x80\x04.", ERROR_BAD_INPUT, "underflow");
    REFUSED("\x80\x04K\1K\2.", ERROR_BAD_INPUT, "2 values");
    REFUSED("\x80\x04}K\1u.", ERROR_BAD_INPUT, "no MARK");
    REFUSED("\x80\x04}(K\1u.", ERROR_BAD_INPUT, "expected pairs");
    REFUSED("\x80\x04](K\1K\2u.", ERROR_BAD_INPUT, "not a dict");
    REFUSED("\x80\x04}(K\1e.", ERROR_BAD_INPUT, "not a list");
    REFUSED("\x80\x04(K\1a.", ERROR_BAD_INPUT, "underflow");
    REFUSED("\x80\x04K\1(a.", ERROR_BAD_INPUT, "underflow");
    REFUSED("\x80\x04K\1(\x85.", ERROR_BAD_INPUT, "underflow");
    REFUSED("\x80\x04(e.", ERROR_BAD_INPUT, "underflow");
    REFUSED("\x80\x04h\0.", ERROR_BAD_INPUT, "memo index 0 was never set");
    REFUSED("\x80\x04\x94.", ERROR_BAD_INPUT, "underflow");
    REFUSED("\x80\x02Nr\xff\xff\xff\xff.", ERROR_BAD_INPUT,
            "memo index 4294967295 after 3 opcodes");
    REFUSED("\x80\x04N", ERROR_BAD_INPUT, "without STOP");
    REFUSED("\x80", ERROR_BAD_INPUT, "truncated");
    REFUSED("I12", ERROR_BAD_INPUT, "line without end");
    REFUSED("Sx\n.", ERROR_BAD_INPUT, "quotes");
}

/* `count` times `unit`, between a head and a tail. */
static char *repeat(const char *head, const char *unit, size_t count, const char *tail,
                    size_t *length) {
    size_t h = strlen(head), u = strlen(unit), t = strlen(tail);
    char *out = malloc(h + u * count + t);
    assert_non_null(out);
    size_t used = 0;
    for (size_t i = 0; i < h; i++)
        out[used++] = head[i];
    for (size_t i = 0; i < u * count; i++)
        out[used++] = unit[i % u];
    for (size_t i = 0; i < t; i++)
        out[used++] = tail[i];
    *length = h + u * count + t;
    return out;
}

TEST(deep_nesting_needs_no_recursion) {
    USE_STATE;
    struct pickle p;
    struct seen seen;
    struct pickle_value root = {0};
    struct error err;
    size_t length;
    char *deep = repeat("N", "\x85", 500000, ".", &length);
    assert_ok(read_bytes(deep, length, &p, &seen, &root, &err), err);
    assert_int_equal(pickle_tag(root), PICKLE_TUPLE);
    pickle_fini(&p);
    free(deep);
}

TEST(bombs_run_into_the_memory_budget) {
    USE_STATE;
    size_t length;
    char *memo = repeat("N", "\x94", 4000000, ".", &length);
    check_refused(memo, length, ERROR_LIMIT, "host memory");
    free(memo);
    char *marks = repeat("", "(", 8000000, ".", &length);
    check_refused(marks, length, ERROR_LIMIT, "host memory");
    free(marks);
    char *lists = repeat("", "]", 3000000, ".", &length);
    check_refused(lists, length, ERROR_LIMIT, "host memory");
    free(lists);
}

static bool cancel(void *user, uint64_t done, uint64_t total) {
    (void)user, (void)done, (void)total;
    return false;
}

TEST(progress_can_cancel) {
    USE_STATE;
    struct pickle p;
    struct pickle_value root = {0};
    struct error err;
    const struct pickle_handler handler = {.progress = cancel};
    assert_true(pickle_init(&p, "N.", 2, &handler, budget, &err));
    assert_false(pickle_read(&p, &root));
    assert_int_equal(err.code, ERROR_INTERRUPTED);
    pickle_fini(&p);
}

TEST(every_failing_allocation_is_handed_up) {
    USE_STATE;
    static const char bytes[] =
        "\x80\x04]\x94(}(\x8c\1aK\1uh\0K\1K\2\x86\x8a\x08\0\0\0\0\0\0\0\x7fG?\xf8\0\0\0\0\0\0e.";
    struct failing_alloc f = {.fail_at = 0};
    for (f.fail_at = 1;; f.fail_at++) {
        struct pickle p;
        struct seen seen;
        struct pickle_value root = {0};
        struct error err = {0};
        f.seen = 0;
        xalloc_set_hook(failing_alloc_hook, &f);
        bool ok = READ(bytes);
        pickle_fini(&p);
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        if (ok)
            break;
        assert_int_equal(err.code, ERROR_HOST_MEMORY);
    }
    assert_true(f.fail_at > 5);
}

SUITE(cmocka_unit_test(integers_of_every_width_keep_sign_and_value),
      cmocka_unit_test(sixty_bit_border_is_exact),
      cmocka_unit_test(an_integer_beyond_64_bits_is_unknown_not_an_error),
      cmocka_unit_test(floats_are_big_endian),
      cmocka_unit_test(texts_of_all_protocols_are_interned_by_content),
      cmocka_unit_test(a_container_grows_in_batches_after_it_was_stored),
      cmocka_unit_test(pop_and_dup_and_sets_are_data_too),
      cmocka_unit_test(code_is_refused_by_name_and_offset),
      cmocka_unit_test(broken_structure_is_told_apart),
      cmocka_unit_test(deep_nesting_needs_no_recursion),
      cmocka_unit_test(bombs_run_into_the_memory_budget), cmocka_unit_test(progress_can_cancel),
      cmocka_unit_test(every_failing_allocation_is_handed_up))

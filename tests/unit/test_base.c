#include "suite.h"

#include <string.h>

#include "arena.h"
#include "array.h"
#include "checked.h"
#include "strtab.h"
#include "text.h"
#include "units.h"

TEST(error_wrap_puts_context_first) {
    USE_STATE;
    struct error err = {0};
    assert_false(error_set(&err, ERROR_BAD_INPUT, "opcode 0x%02x", 0x95));
    assert_false(error_wrap(&err, "%s", "oom.pickle"));
    assert_string_equal(err.text, "oom.pickle: opcode 0x95");
    assert_int_equal(err.code, ERROR_BAD_INPUT);
}

TEST(sizes_are_read_as_people_write_them) {
    USE_STATE;
    uint64_t n = 0;
    assert_true(units_parse_bytes("24GiB", &n));
    assert_bytes_equal(n, 24 * GIB);
    assert_true(units_parse_bytes("500 MiB", &n));
    assert_bytes_equal(n, 500 * MIB);
    assert_true(units_parse_bytes("1.5GB", &n));
    assert_bytes_equal(n, 1500000000);
    assert_false(units_parse_bytes("-1", &n));
    assert_false(units_parse_bytes("1.", &n));
    assert_false(units_parse_bytes("1.GiB", &n));
    assert_false(units_parse_bytes("24 gigs", &n));
    assert_false(units_parse_bytes("99999999999999999999", &n));
    assert_false(units_parse_bytes("17179869184GiB", &n));
}

TEST(pytorch_sizes_are_worded_as_in_its_messages) {
    USE_STATE;
    char out[UNITS_TEXT_BYTES];
    assert_string_equal(units_format_pytorch(512, out), "512 bytes");
    assert_string_equal(units_format_pytorch(20 * MIB, out), "20.00 MiB");
    assert_string_equal(units_format_pytorch(GIB, out), "1024.00 MiB");
    assert_string_equal(units_format_pytorch(5 * GIB, out), "5.00 GiB");
    assert_string_equal(units_format_grouped(13476831232, out), "13,476,831,232");
}

TEST(overflow_is_reported) {
    USE_STATE;
    uint64_t n = 7;
    assert_false(checked_mul(UINT64_MAX, 2, &n));
    assert_false(checked_add(UINT64_MAX, 1, &n));
    assert_false(checked_round_up(UINT64_MAX, 512, &n));
    assert_bytes_equal(n, 7);
}

TEST(equal_strings_have_equal_ids) {
    USE_STATE;
    struct strtab table;
    assert_true(strtab_init(&table));
    uint32_t first = 0, id = 0;
    assert_true(strtab_add(&table, "alloc", 5, &first));
    for (int i = 0; i < 1000; i++) {
        char text[16];
        int n = snprintf(text, sizeof text, "s%d", i);
        assert_true(strtab_add(&table, text, (size_t)n, &id));
    }
    assert_true(strtab_add(&table, "alloc", 5, &id));
    assert_int_equal(id, first);
    assert_string_equal(strtab_text(&table, id), "alloc");
    assert_int_equal(strtab_find(&table, "s999", 4), id + 1000);
    assert_int_equal(strtab_find(&table, "never", 5), 0);
    strtab_fini(&table);
}

TEST(arrays_and_texts_grow) {
    USE_STATE;
    ARRAY(int) a = {0};
    for (int i = 0; i < 100; i++)
        assert_true(array_push(&a, i));
    assert_int_equal(*array_at(&a, 99), 99);
    array_fini(&a);
    struct text t = {0};
    for (int i = 0; i < 200; i++)
        text_format(&t, "%d,", i % 10);
    assert_int_equal(t.length, 400);
    text_fini(&t);
}

TEST(characters_of_utf8_are_measured) {
    USE_STATE;
    static const struct {
        const char *text;
        size_t left, length;
    } cases[] = {
        {"a", 1, 1},
        {"\xc3\xa9", 2, 2},
        {"\xe4\xb8\xad", SIZE_MAX, 3},
        {"\xe4\xb8", 3, 0},
        {"\xf0\x9f\x98\x80", 4, 4},
        {"\xf0\x9f\x98\x80", 3, 0},
        {"\xc0\xaf", 2, 0},
        {"\xed\xa0\x80", 3, 0},
        {"\xf4\x90\x80\x80", 4, 0},
        {"\xff", 1, 0},
        {"", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(text_utf8_length(cases[i].text, cases[i].left), cases[i].length);
}

SUITE(cmocka_unit_test(error_wrap_puts_context_first),
      cmocka_unit_test(sizes_are_read_as_people_write_them),
      cmocka_unit_test(pytorch_sizes_are_worded_as_in_its_messages),
      cmocka_unit_test(overflow_is_reported), cmocka_unit_test(equal_strings_have_equal_ids),
      cmocka_unit_test(arrays_and_texts_grow), cmocka_unit_test(characters_of_utf8_are_measured))

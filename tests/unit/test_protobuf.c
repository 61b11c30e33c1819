/* The wire format of protocol buffers, within its bounds. */
#include "suite.h"

#include "protobuf.h"

TEST(fields_of_all_kinds_come_in_order) {
    USE_STATE;
    static const uint8_t bytes[] = {0x08, 0x96, 0x01,                        /* 1: 150 */
                                    0x12, 0x02, 'h',  'i',                   /* 2: "hi" */
                                    0x1d, 1,    0,    0,    2,               /* 3: fixed 32 */
                                    0x21, 1,    0,    0,    0,   0, 0, 0, 3, /* 4: fixed 64 */
                                    0x2a, 0x03, 0x01, 0x80, 0x01};           /* 5: packed 1, 128 */
    struct protobuf p = protobuf_of(bytes, sizeof bytes);
    struct protobuf_field f;
    uint64_t n;
    assert_true(protobuf_next(&p, &f) && f.number == 1 && f.value == 150 && !f.is_bytes);
    assert_true(protobuf_next(&p, &f) && f.number == 2 && f.is_bytes);
    assert_true(protobuf_left(&f.bytes) == 2 && f.bytes.at[1] == 'i');
    assert_true(protobuf_next(&p, &f) && f.value == 0x02000001);
    assert_true(protobuf_next(&p, &f) && f.value == UINT64_C(0x0300000000000001));
    assert_true(protobuf_next(&p, &f) && f.number == 5);
    assert_true(protobuf_number(&f.bytes, &n) && n == 1);
    assert_true(protobuf_number(&f.bytes, &n) && n == 128);
    assert_false(protobuf_number(&f.bytes, &n) || f.bytes.failed);
    assert_false(protobuf_next(&p, &f) || p.failed);
}

TEST(what_leaves_its_bounds_is_damage) {
    USE_STATE;
    static const struct {
        uint8_t bytes[12];
        size_t length;
    } bad[] = {
        {{0x08}, 1},            /* no value */
        {{0x08, 0x80}, 2},      /* an unended number */
        {{0x12, 0x05, 'a'}, 3}, /* longer than the file */
        {{0x1d, 1, 2}, 3},      /* a cut fixed number */
        {{0x0b}, 1},            /* a group */
        {{0x00, 0x01}, 2},      /* the field 0 */
        {{0x0f, 0x01}, 2},      /* an unknown kind */
        {{0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 12}, /* too long */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct protobuf p = protobuf_of(bad[i].bytes, bad[i].length);
        struct protobuf_field f;
        assert_false(protobuf_next(&p, &f));
        assert_true(p.failed);
        assert_false(protobuf_next(&p, &f)); /* and stays so */
    }
}

SUITE(cmocka_unit_test(fields_of_all_kinds_come_in_order),
      cmocka_unit_test(what_leaves_its_bounds_is_damage))

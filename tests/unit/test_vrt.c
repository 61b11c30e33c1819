/* `.vrt` files: what is written is read, as far as it is there and undamaged. */
#include "suite.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "failing_alloc.h"
#include "importer.h"
#include "tl_build.h"
#include "tl_random.h"
#include "tl_samples.h"
#include "vrt_column.h"
#include "vrt_fixture.h"
#include "vrt_follow.h"

/* --- parts --- */

TEST(checksums_are_those_of_zlib) {
    USE_STATE;
    struct vrt_crc crc;
    uint8_t bytes[1000];
    vrt_crc_init(&crc);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 37 + i / 7);
    assert_int_equal(vrt_crc_of(&crc, 0, "123456789", 9), 0xcbf43926u);
    for (size_t n = 0; n < sizeof bytes; n += 13)
        assert_int_equal(vrt_crc_of(&crc, 0, bytes, n), crc32(0, bytes, (uInt)n));
    uint32_t half = vrt_crc_of(&crc, 0, bytes, 501);
    assert_int_equal(vrt_crc_of(&crc, half, bytes + 501, 499), crc32(0, bytes, 1000));
}

static void check_column(const uint64_t *values, size_t count, unsigned width) {
    uint8_t packed[8 * 64 + 8];
    uint64_t back[64], before;
    struct vrt_column c = vrt_column_plan(values, count), read;
    uint8_t description[VRT_COLUMN_BYTES];
    assert_int_equal(c.width, width);
    vrt_column_pack(&c, values, count, packed);
    vrt_column_put(&c, description);
    read = vrt_column_get(description);
    assert_true(vrt_column_is_known(&read, count));
    assert_false(vrt_column_is_known(&read, count + 64) && width > 0);
    before = read.base;
    for (size_t i = 0; i < count; i += 5) /* in pieces, which must join */
        vrt_column_unpack(&read, packed, i, count - i < 5 ? count - i : 5, &before, back + i);
    assert_memory_equal(back, values, count * sizeof *values);
}

TEST(columns_are_as_narrow_as_their_numbers_and_lose_none) {
    USE_STATE;
    uint64_t v[64];
    for (size_t i = 0; i < 64; i++)
        v[i] = 77;
    check_column(v, 64, 0);
    for (size_t i = 0; i < 64; i++)
        v[i] = UINT64_C(1) << 40 | i * 512;
    check_column(v, 64, 0); /* rising evenly */
    for (size_t i = 0; i < 64; i++)
        v[i] = 1000000 + i * 1000 + i % 3;
    check_column(v, 64, 1);
    for (size_t i = 0; i < 64; i++)
        v[i] = i % 2 ? 3 : UINT64_MAX; /* 3 and -1 */
    check_column(v, 64, 1);
    for (size_t i = 0; i < 64; i++)
        v[i] = i * i * i * UINT64_C(0x9e3779b97f4a7c15);
    check_column(v, 64, 8);
    v[0] = UINT64_MAX;
    check_column(v, 1, 0);
}

/* --- whole files --- */

static void check_round_trip(const struct timeline *tl) {
    struct error err = {0};
    struct vrt_reader r;
    struct vrt_bytes bytes = vrt_bytes_of(tl);
    struct timeline *back = vrt_bytes_read(bytes.at, bytes.count, &r, &err);
    assert_ok(back != NULL, err);
    assert_true(r.has_ended);
    assert_int_equal(r.offset, bytes.count);
    assert_ok(timeline_equal(tl, back, &err), err);
    assert_ok(timeline_check(back, &err), err);
    timeline_destroy(back);
    free(bytes.at);
}

TEST(nothing_of_a_timeline_is_lost) {
    USE_STATE;
    const char *const samples[] = {"", tl_training,
                                   "device 100GiB 500MiB NVIDIA\nstart segment s 20MiB\nstart "
                                   "block a 10MiB at=s+0\nfree a\noom 50GiB no",
                                   "segment s 2MiB\nalloc a 512 at=s+0 param owner=model.w "
                                   "op=aten::mm name=weight\nrequest a\ncomplete a\nfree_segment s",
                                   "map r 20MiB\nalloc a 5MiB at=r+0\nfree a\nunmap r 0+20MiB\nmap "
                                   "r 0+20MiB\nunmap r 0+20MiB"};
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        struct timeline *tl = tl_build(samples[i]);
        check_round_trip(tl);
        timeline_destroy(tl);
    }
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct timeline *tl = tl_random(seed, 2000);
        check_round_trip(tl);
        timeline_destroy(tl);
    }
}

static struct timeline *load(const char *name) {
    char path[1024];
    struct timeline *tl = NULL;
    struct error err = {0};
    snprintf(path, sizeof path, "%s/traces/%s.pickle.zst", TEST_DATA, name);
    assert_ok(trace_import(path, NULL, &tl, NULL, &err), err);
    return tl;
}

/* Cut anywhere: what is left is a timeline, of all but the last group of blocks. */
TEST(a_torn_end_costs_the_last_blocks_alone) {
    USE_STATE;
    struct error err = {0};
    struct timeline *tl = load("pytorch-2.15/mlp_sgd");
    struct vrt_bytes bytes = {0};
    struct vrt_out out = {.write = vrt_bytes_write, .user = &bytes};
    struct vrt_writer w;
    const struct vrt_header header = {.producer = VRT_CAPTURE};
    assert_ok(vrt_writer_begin(&w, &out, &header, false, &err), err);
    size_t events = tl->events.count, most = 0;
    for (tl->events.count = 0; tl->events.count < events; tl->events.count += 64)
        assert_ok(vrt_writer_add(&w, tl, &err), err);
    tl->events.count = events;
    assert_ok(vrt_writer_end(&w, tl, &err), err);
    vrt_writer_fini(&w);
    for (size_t n = 0; n <= bytes.count; n += n % 97 + 1) {
        struct vrt_reader r;
        uint8_t *copy = malloc(n + 1); /* of just these bytes: a read behind them is seen */
        memcpy(copy, bytes.at, n);
        struct timeline *back = vrt_bytes_read(copy, n, &r, &err);
        assert_ok(back != NULL, err);
        assert_true(back->events.count >= most && r.damaged_at == VRT_UNKNOWN);
        most = back->events.count;
        assert_true(n - r.offset < 16384);
        for (size_t i = 0; i < most; i++)
            assert_memory_equal(&tl->events.at[i], &back->events.at[i], sizeof *tl->events.at);
        timeline_destroy(back);
        free(copy);
    }
    assert_int_equal(most, events);
    timeline_destroy(tl);
    free(bytes.at);
}

/* A bit that fell over: what comes before the block is there, and the damage is told. */
TEST(damage_is_told_and_costs_what_follows) {
    USE_STATE;
    struct error err = {0};
    struct timeline *tl = tl_random(7, 3000);
    struct vrt_bytes bytes = vrt_bytes_of(tl);
    for (size_t at = VRT_HEADER_BYTES + 24; at < bytes.count; at += 61) {
        struct vrt_reader r;
        bytes.at[at] ^= 16;
        struct timeline *back = vrt_bytes_read(bytes.at, bytes.count, &r, &err);
        assert_ok(back != NULL, err);
        bool is_padding = r.damaged_at == VRT_UNKNOWN;
        assert_true(is_padding ? r.has_ended : r.damaged_at <= at && !r.has_ended);
        timeline_destroy(back);
        bytes.at[at] ^= 16;
    }
    timeline_destroy(tl);
    free(bytes.at);
}

static void seal(uint8_t *head) {
    struct vrt_crc crc;
    vrt_crc_init(&crc);
    vrt_put32(head + 44, vrt_crc_of(&crc, 0, head, 44));
}

TEST(a_newer_major_version_is_refused_by_name) {
    USE_STATE;
    struct error err = {0};
    struct vrt_reader r;
    struct timeline *tl = tl_build(tl_training);
    struct vrt_bytes bytes = vrt_bytes_of(tl);
    vrt_put16(bytes.at + 16, 2);
    assert_null(vrt_bytes_read(bytes.at, bytes.count, &r, &err));
    assert_string_equal(err.text, "a .vrt file of version 2.0; this program reads up to 1, a newer "
                                  "one is needed");
    timeline_destroy(tl);
    free(bytes.at);
}

TEST(unknown_blocks_and_columns_are_passed_over) {
    USE_STATE;
    struct error err = {0};
    struct vrt_reader r;
    struct timeline *tl = tl_build(tl_training);
    struct vrt_bytes bytes = {0};
    struct vrt_out out = {.write = vrt_bytes_write, .user = &bytes};
    struct vrt_writer w;
    const struct vrt_header header = {.producer = VRT_CONVERTER};
    const struct vrt_block strange = {
        .type = 999, .rows = 3, .stored = "whatever!", .stored_bytes = 9, .raw_bytes = 9};
    assert_ok(vrt_writer_begin(&w, &out, &header, true, &err), err);
    w.packs = false;
    assert_ok(vrt_out_block(&out, &strange, &err), err);
    size_t at = bytes.count;
    assert_ok(vrt_writer_end(&w, tl, &err), err);
    vrt_writer_fini(&w);
    struct timeline *back = vrt_bytes_read(bytes.at, bytes.count, &r, &err);
    assert_ok(back != NULL && timeline_equal(tl, back, &err), err);
    timeline_destroy(back);
    /* The title's column (field 2 of the run, the second block from here) becomes one of tomorrow. */
    uint8_t *block = bytes.at + at + VRT_BLOCK_BYTES + vrt_padded(vrt_get32(bytes.at + at + 4));
    assert_int_equal(vrt_get16(block + 14), VRT_TABLE);
    uint8_t *column = block + VRT_BLOCK_BYTES + 16 + VRT_COLUMN_BYTES;
    assert_int_equal(vrt_get16(column), 2);
    vrt_put16(column, 777);
    struct vrt_crc crc;
    vrt_crc_init(&crc);
    vrt_put32(block + 40, vrt_crc_of(&crc, 0, block + VRT_BLOCK_BYTES, vrt_get32(block + 4)));
    seal(block);
    back = vrt_bytes_read(bytes.at, bytes.count, &r, &err);
    assert_ok(back != NULL, err);
    assert_int_equal(back->title, 0);
    back->title = tl->title;
    assert_ok(timeline_equal(tl, back, &err), err);
    timeline_destroy(back);
    timeline_destroy(tl);
    free(bytes.at);
}

/* Numbers of kinds, categories and types are those of the file's own list. */
TEST(names_outlive_their_numbers) {
    USE_STATE;
    struct error err = {0};
    struct vrt_reader r;
    struct timeline *tl = tl_build("segment s 2MiB\nalloc a 512 at=s+0 parameter");
    struct vrt_bytes bytes = vrt_bytes_of(tl);
    struct vrt_bytes plain = {0};
    struct vrt_out out = {.write = vrt_bytes_write, .user = &plain};
    struct vrt_writer w;
    const struct vrt_header header = {.producer = VRT_CONVERTER};
    /* As if a program with other numbers had written it: "parameter" is 9, and 1 something new. */
    static const uint8_t names[] = {2,   9,   9,   'p', 'a', 'r', 'a', 'm', 'e',
                                    't', 'e', 'r', 2,   1,   3,   'n', 'e', 'w'};
    const struct vrt_block block = {.type = VRT_NAMES,
                                    .rows = 2,
                                    .stored = names,
                                    .stored_bytes = sizeof names,
                                    .raw_bytes = sizeof names};
    assert_ok(vrt_writer_begin(&w, &out, &header, true, &err), err);
    assert_ok(vrt_out_block(&out, &block, &err), err);
    assert_ok(vrt_writer_end(&w, tl, &err), err);
    vrt_writer_fini(&w);
    struct timeline *back = vrt_bytes_read(plain.at, plain.count, &r, &err);
    assert_ok(back != NULL, err);
    assert_int_equal(tl->blocks.at[0].category, CATEGORY_PARAMETER);
    assert_int_equal(back->blocks.at[0].category, CATEGORY_UNKNOWN);
    timeline_destroy(back);
    timeline_destroy(tl);
    free(bytes.at);
    free(plain.at);
}

/* --- files that grow --- */

/* A timeline as it comes into being, written as it grows and followed: what changes of rows that are
 * there already arrives too. */
TEST(a_follower_sees_what_is_there_and_at_the_end_all) {
    USE_STATE;
    char path[] = "/tmp/vrt-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    struct error err = {0};
    struct tl_builder b;
    struct vrt_bytes bytes = {0};
    struct vrt_out out = {.write = vrt_bytes_write, .user = &bytes};
    struct vrt_writer w;
    const struct vrt_header header = {.producer = VRT_CAPTURE};
    struct vrt_follow *f = vrt_follow_open(path, 0, &err);
    bool more;
    assert_ok(f != NULL && vrt_follow_more(f, &more, &err), err);
    tl_begin_build(&b);
    assert_ok(vrt_writer_begin(&w, &out, &header, false, &err), err);
    const char *const lines[] = {
        "begin step_1\nmap r 20MiB\nalloc a 5MiB at=r+0 param owner=model.a",
        "alloc b 1MiB at=r+5MiB",
        "map r 40MiB\nfree a\nend",
        "begin step_2\nrequest b\noom 90GiB no",
        "complete b\nalloc c 512 at=r+0",
        "free c\nend"};
    size_t sent = 0;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        tl_add(&b, lines[i]);
        if (i == 3)
            b.tl->phases.at[0].name = timeline_string(b.tl, "step one");
        assert_ok(vrt_writer_add(&w, b.tl, &err), err);
        /* In two halves, the first of which ends anywhere. */
        size_t half = sent + (bytes.count - sent) / 2 + i % 5;
        assert_int_equal(write(file, bytes.at + sent, half - sent), half - sent);
        assert_ok(vrt_follow_more(f, &more, &err), err);
        assert_ok(timeline_check(vrt_follow_timeline(f), &err), err);
        assert_int_equal(write(file, bytes.at + half, bytes.count - half), bytes.count - half);
        sent = bytes.count;
        assert_ok(vrt_follow_more(f, &more, &err), err);
        assert_int_equal(vrt_follow_timeline(f)->events.count, b.tl->events.count);
        assert_ok(timeline_check(vrt_follow_timeline(f), &err), err);
    }
    assert_false(vrt_follow_has_ended(f));
    b.tl->blocks.at[0].category = CATEGORY_ACTIVATION;
    assert_ok(vrt_writer_end(&w, b.tl, &err), err);
    assert_int_equal(write(file, bytes.at + sent, bytes.count - sent), bytes.count - sent);
    assert_ok(vrt_follow_more(f, &more, &err), err);
    assert_true(vrt_follow_has_ended(f) && !more);
    assert_int_equal(vrt_follow_offset(f), bytes.count);
    assert_ok(timeline_equal(vrt_follow_timeline(f), b.tl, &err), err);
    vrt_follow_close(f);
    vrt_writer_fini(&w);
    timeline_destroy(tl_end_build(&b));
    free(bytes.at);
    close(file);
    unlink(path);
}

/* --- this machine --- */

static struct timeline *sample;
static struct vrt_bytes sample_bytes;

static bool write_and_read(void) {
    struct error err = {0};
    struct vrt_bytes bytes = {0};
    struct vrt_out out = {.write = vrt_bytes_write, .user = &bytes};
    struct timeline *tl = NULL;
    bool ok = vrt_write_all(&out, VRT_CONVERTER, sample, &err) &&
              trace_import_bytes("x", sample_bytes.at, sample_bytes.count, NULL, &tl, NULL, &err);
    assert_true(ok || err.code == ERROR_HOST_MEMORY);
    timeline_destroy(tl);
    free(bytes.at);
    return ok;
}

TEST(each_failed_host_allocation_is_an_error) {
    USE_STATE;
    sample = tl_build(tl_training);
    sample_bytes = vrt_bytes_of(sample);
    assert_true(fail_each_allocation(write_and_read) > 10);
    timeline_destroy(sample);
    free(sample_bytes.at);
}

TEST(a_failed_write_is_an_error) {
    USE_STATE;
    struct timeline *tl = tl_build(tl_training);
    struct vrt_bytes whole = vrt_bytes_of(tl);
    for (size_t limit = 1; limit < whole.count; limit += 7) {
        struct error err = {0};
        struct vrt_bytes bytes = {.limit = limit};
        struct vrt_out out = {.write = vrt_bytes_write, .user = &bytes};
        assert_false(vrt_write_all(&out, VRT_CONVERTER, tl, &err));
        assert_int_equal(err.code, ERROR_IO_WRITE);
        free(bytes.at);
    }
    timeline_destroy(tl);
    free(whole.at);
}

TEST(more_than_the_import_may_take_is_a_limit) {
    USE_STATE;
    struct error err = {0};
    struct timeline *tl = tl_random(3, 5000), *back = NULL;
    struct vrt_bytes bytes = vrt_bytes_of(tl);
    const struct trace_options options = {.max_memory_bytes = 4096};
    assert_false(trace_import_bytes("x", bytes.at, bytes.count, &options, &back, NULL, &err));
    assert_int_equal(err.code, ERROR_LIMIT);
    timeline_destroy(tl);
    free(bytes.at);
}

SUITE(cmocka_unit_test(checksums_are_those_of_zlib),
      cmocka_unit_test(columns_are_as_narrow_as_their_numbers_and_lose_none),
      cmocka_unit_test(nothing_of_a_timeline_is_lost),
      cmocka_unit_test(a_torn_end_costs_the_last_blocks_alone),
      cmocka_unit_test(damage_is_told_and_costs_what_follows),
      cmocka_unit_test(a_newer_major_version_is_refused_by_name),
      cmocka_unit_test(unknown_blocks_and_columns_are_passed_over),
      cmocka_unit_test(names_outlive_their_numbers),
      cmocka_unit_test(a_follower_sees_what_is_there_and_at_the_end_all),
      cmocka_unit_test(each_failed_host_allocation_is_an_error),
      cmocka_unit_test(a_failed_write_is_an_error),
      cmocka_unit_test(more_than_the_import_may_take_is_a_limit))

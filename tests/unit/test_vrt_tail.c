/* A `.vrt` file that grows, now and then as a timeline: what an import of all that is there would make, of the bytes that
 * are new alone. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failing_alloc.h"
#include "file.h"
#include "importer.h"
#include "records.h"
#include "timeline_fields.h"
#include "tl_build.h"
#include "tl_random.h"
#include "tl_samples.h"
#include "vrt_fixture.h"
#include "vrt_tail.h"

static char path[] = "/tmp/vrt-tail-XXXXXX";

/* A name of its own, and nothing in it. */
static void open_path(void) {
    strcpy(path, "/tmp/vrt-tail-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

/* An import says of a file without an end that it has none. */
static void assert_as_imported(struct vrt_tail *tail, bool ended) {
    struct error err = {0};
    struct timeline *got = vrt_tail_read(tail, NULL, NULL, &err), *want = NULL;
    assert_ok(got != NULL, err);
    assert_ok(trace_import(path, NULL, &want, NULL, &err), err);
    if (!ended) {
        assert_int_equal(want->warnings--, got->warnings + 1);
        want->first_warning = got->warnings ? want->first_warning : 0;
    }
    assert_ok(timeline_equal(got, want, &err), err);
    timeline_destroy(got);
    timeline_destroy(want);
}

/* --- tables --- */

TEST(each_reading_is_what_an_import_would_make) {
    USE_STATE;
    struct error err = {0};
    struct tl_builder b;
    struct vrt_bytes bytes = {0};
    struct vrt_out out = {.write = vrt_bytes_write, .user = &bytes};
    struct vrt_writer w;
    const struct vrt_header header = {.producer = VRT_SIMULATOR};
    const char *const lines[] = {
        "begin step_1\nmap r 20MiB\nalloc a 5MiB at=r+0 param owner=model.a",
        "alloc b 1MiB at=r+5MiB", "free a\nend", "begin step_2\nfree b\nend"};
    size_t sent = 0;
    open_path();
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    tl_begin_build(&b);
    assert_ok(vrt_writer_begin(&w, &out, &header, false, &err), err);
    struct vrt_tail *tail = vrt_tail_open(path, 0, &err);
    assert_ok(tail != NULL, err);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        tl_add(&b, lines[i]);
        assert_ok(vrt_writer_add(&w, b.tl, &err), err);
        assert_int_equal(fwrite(bytes.at + sent, 1, bytes.count - sent, file), bytes.count - sent);
        fflush(file);
        sent = bytes.count;
        assert_as_imported(tail, false);
    }
    assert_ok(vrt_writer_end(&w, b.tl, &err), err);
    vrt_writer_fini(&w);
    vrt_tail_close(tail);
    fclose(file);
    timeline_destroy(tl_end_build(&b));
    free(bytes.at);
    unlink(path);
}

/* --- a capture's records --- */

struct capture {
    struct vrt_bytes bytes;
    struct vrt_out out;
    uint8_t block[4096];
    uint32_t used, rows;
    size_t sent;
    FILE *file;
};

static void add(struct capture *c, const void *record, size_t size) {
    memcpy(c->block + c->used, record, size);
    c->used += (uint32_t)size;
    c->rows++;
}

static void add_memory(struct capture *c, bool alloc, uint64_t t, uint32_t tid, uint64_t address) {
    struct record_memory m = {
        .head = RECORD_HEAD(struct record_memory, alloc ? RECORD_ALLOC : RECORD_FREE, t),
        .address = address,
        .bytes = 2 << 20,
        .kind = MEMORY_DEVICE};
    m.head.tid = tid;
    add(c, &m, sizeof m);
}

static void add_text(struct capture *c, uint32_t id, const char *text) {
    union {
        struct record_string record;
        uint8_t bytes[sizeof(struct record_string) + 8];
    } s = {.record = {.head = {.type = RECORD_STRING, .len8 = sizeof s / 8, .t = RECORD_UNKNOWN64},
                      .id = id,
                      .bytes = (uint32_t)strlen(text)}};
    memcpy(s.bytes + sizeof s.record, text, strlen(text));
    add(c, &s, sizeof s);
}

static void add_phase(struct capture *c, bool push, uint64_t t, uint32_t name) {
    struct record_push begin = {.head = RECORD_HEAD(struct record_push, RECORD_PHASE_PUSH, t),
                                .name = name};
    struct record_pop end = {.head = RECORD_HEAD(struct record_pop, RECORD_PHASE_POP, t)};
    if (push)
        add(c, &begin, sizeof begin);
    else
        add(c, &end, sizeof end);
}

/* What has gathered, as a block; what has been made, into the file. */
static void flush(struct capture *c, bool end) {
    struct error err = {0};
    const struct vrt_block block = {.type = end ? VRT_END : VRT_RECORDS,
                                    .flags = (uint8_t)(VRT_FLAG_WHOLE | (end ? VRT_FLAG_END : 0)),
                                    .rows = c->rows,
                                    .stored_bytes = c->used,
                                    .raw_bytes = c->used,
                                    .first_ns = VRT_UNKNOWN,
                                    .last_ns = VRT_UNKNOWN,
                                    .stored = c->block};
    assert_ok(vrt_out_block(&c->out, &block, &err), err);
    c->used = c->rows = 0;
    assert_int_equal(fwrite(c->bytes.at + c->sent, 1, c->bytes.count - c->sent, c->file),
                     c->bytes.count - c->sent);
    fflush(c->file);
    c->sent = c->bytes.count;
}

static void begin(struct capture *c) {
    struct error err = {0};
    const struct vrt_header header = {.producer = VRT_CAPTURE};
    memset(c, 0, sizeof *c);
    open_path();
    c->file = fopen(path, "wb");
    assert_non_null(c->file);
    c->out = (struct vrt_out){.write = vrt_bytes_write, .user = &c->bytes};
    assert_ok(vrt_out_begin(&c->out, &header, &err), err);
}

static void end(struct capture *c) {
    fclose(c->file);
    free(c->bytes.at);
    unlink(path);
}

/* Threads hand their records over one after another: what comes later may have been earlier. */
TEST(records_that_come_late_take_their_place) {
    USE_STATE;
    struct error err = {0};
    struct capture c;
    begin(&c);
    struct vrt_tail *tail = vrt_tail_open(path, 0, &err);
    assert_ok(tail != NULL, err);
    for (uint32_t i = 0; i < 20; i++) {
        uint64_t t = 1000 + i * 100;
        if (i == 0)
            add_text(&c, 1, "step");
        add_phase(&c, true, t + 1, 1);
        add_memory(&c, true, t + 50, 2, 0x7f0000000000 + ((uint64_t)i << 24));
        flush(&c, false);
        if (i > 0)
            add_memory(&c, false, t + 20, 3, 0x7f0000000000 + ((uint64_t)(i - 1) << 24));
        add_phase(&c, false, t + 60, 0);
        flush(&c, false);
        assert_as_imported(tail, false);
        assert_false(vrt_tail_has_ended(tail));
    }
    flush(&c, true);
    assert_as_imported(tail, true);
    assert_true(vrt_tail_has_ended(tail));
    /* a few bytes of a block's head are read again, and the file's at each time */
    assert_in_range(vrt_tail_bytes_read(tail), c.bytes.count,
                    c.bytes.count + 21 * VRT_HEADER_BYTES);
    vrt_tail_close(tail);
    end(&c);
}

TEST(a_block_that_is_half_there_is_waited_for) {
    USE_STATE;
    struct error err = {0};
    struct capture c;
    begin(&c);
    add_memory(&c, true, 10, 1, 0x7f0000000000);
    flush(&c, false);
    long whole = ftell(c.file);
    add_memory(&c, true, 20, 1, 0x7f0001000000);
    flush(&c, false);
    assert_int_equal(ftruncate(fileno(c.file), whole + 60), 0);
    struct vrt_tail *tail = vrt_tail_open(path, 0, &err);
    assert_ok(tail != NULL, err);
    struct timeline *tl = vrt_tail_read(tail, NULL, NULL, &err);
    assert_ok(tl != NULL, err);
    assert_int_equal(tl->blocks.count, 1);
    timeline_destroy(tl);
    assert_int_equal(
        pwrite(fileno(c.file), c.bytes.at + whole, c.bytes.count - (size_t)whole, whole),
        c.bytes.count - (size_t)whole);
    tl = vrt_tail_read(tail, NULL, NULL, &err);
    assert_ok(tl != NULL, err);
    assert_int_equal(tl->blocks.count, 2);
    timeline_destroy(tl);
    vrt_tail_close(tail);
    end(&c);
}

/* Written over in its place: what was read of it is not of this recording. */
TEST(another_recording_in_the_same_file_is_told) {
    USE_STATE;
    struct error err = {0};
    struct capture c;
    begin(&c);
    add_memory(&c, true, 10, 1, 0x7f0000000000);
    flush(&c, false);
    struct vrt_tail *tail = vrt_tail_open(path, 0, &err);
    struct timeline *tl = tail ? vrt_tail_read(tail, NULL, NULL, &err) : NULL;
    assert_ok(tl != NULL, err);
    timeline_destroy(tl);
    struct vrt_bytes other = vrt_bytes_of(tl = tl_build(tl_training));
    assert_int_equal(pwrite(fileno(c.file), other.at, other.count, 0), other.count);
    assert_null(vrt_tail_read(tail, NULL, NULL, &err));
    assert_int_equal(err.code, ERROR_BAD_INPUT);
    assert_non_null(strstr(err.text, "another file than before"));
    timeline_destroy(tl);
    free(other.at);
    vrt_tail_close(tail);
    end(&c);
}

/* What was lost is for an import to say. */
TEST(damage_between_records_ends_it) {
    USE_STATE;
    struct error err = {0};
    struct capture c;
    begin(&c);
    for (uint32_t i = 0; i < 3; i++) {
        add_memory(&c, true, 10 + i, 1, 0x7f0000000000 + ((uint64_t)i << 24));
        flush(&c, false);
    }
    uint8_t other = (uint8_t)~c.bytes.at[c.bytes.count / 2];
    assert_int_equal(pwrite(fileno(c.file), &other, 1, (off_t)(c.bytes.count / 2)), 1);
    struct vrt_tail *tail = vrt_tail_open(path, 0, &err);
    assert_ok(tail != NULL, err);
    assert_null(vrt_tail_read(tail, NULL, NULL, &err));
    assert_int_equal(err.code, ERROR_BAD_INPUT);
    vrt_tail_close(tail);
    end(&c);
}

/* --- this machine --- */

static bool follow(void) {
    struct error err = {0};
    struct vrt_tail *tail = vrt_tail_open(path, 0, &err);
    struct timeline *tl = tail ? vrt_tail_read(tail, NULL, NULL, &err) : NULL;
    bool ok = tl != NULL;
    assert_true(ok || err.code == ERROR_HOST_MEMORY);
    timeline_destroy(tl);
    vrt_tail_close(tail);
    return ok;
}

TEST(each_failed_host_allocation_is_an_error) {
    USE_STATE;
    struct error err = {0};
    struct capture c;
    begin(&c);
    add_text(&c, 1, "step");
    add_phase(&c, true, 1, 1);
    add_memory(&c, true, 10, 1, 0x7f0000000000);
    flush(&c, false);
    assert_true(fail_each_allocation(follow) > 10);
    end(&c);
    struct timeline *tl = tl_build(tl_training);
    struct vrt_bytes bytes = vrt_bytes_of(tl);
    open_path();
    assert_ok(file_write(path, bytes.at, bytes.count, &err), err);
    assert_true(fail_each_allocation(follow) > 10);
    timeline_destroy(tl);
    free(bytes.at);
    unlink(path);
}

TEST(a_copy_is_equal) {
    USE_STATE;
    struct error err = {0};
    struct timeline *all[] = {tl_build(tl_training), tl_random(4, 4000), timeline_create()};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct timeline *copy = timeline_copy(all[i]);
        assert_non_null(copy);
        assert_ok(timeline_equal(all[i], copy, &err), err);
        timeline_destroy(all[i]);
        timeline_destroy(copy);
    }
}

SUITE(cmocka_unit_test(each_reading_is_what_an_import_would_make),
      cmocka_unit_test(records_that_come_late_take_their_place),
      cmocka_unit_test(a_block_that_is_half_there_is_waited_for),
      cmocka_unit_test(another_recording_in_the_same_file_is_told),
      cmocka_unit_test(damage_between_records_ends_it),
      cmocka_unit_test(each_failed_host_allocation_is_an_error), cmocka_unit_test(a_copy_is_equal))

/* Formats that are written: their bytes, what they say they lose, and that this machine's memory may run out. */
#include "suite.h"

#include <string.h>

#include "failing_alloc.h"
#include "importer.h"
#include "pickle_out.h"
#include "text.h"
#include "timeline_fields.h"
#include "tl_build.h"
#include "tl_samples.h"
#include "writer.h"

static void write_as(const char *format, const struct timeline *tl, struct text *out,
                     struct text *losses) {
    struct error err = {0};
    const struct writer *w = writer_find(format, "", &err);
    assert_ok(w != NULL && w->write(tl, out, losses, &err), err);
}

static void check_written(const char *format, const char *source, const char *want,
                          const char *lost) {
    struct text out = {0}, losses = {0};
    struct timeline *tl = tl_build(source);
    write_as(format, tl, &out, &losses);
    assert_string_equal(text_get(&out), want);
    assert_string_equal(text_get(&losses), lost);
    text_fini(&out);
    text_fini(&losses);
    timeline_destroy(tl);
}

static const char small[] = "t=1000\n"
                            "segment s 2MiB\n"
                            "t=2000\n"
                            "begin step_1\n"
                            "alloc a 100 at=s+0 parameter owner=model.a op=aten::mm name=weight\n"
                            "t=3500\n"
                            "free a\n"
                            "end\n"
                            "oom 50GiB too much, \"really\"\n";

TEST(csv_has_a_row_an_event_and_empty_fields_for_what_is_unknown) {
    USE_STATE;
    check_written(
        "csv", small,
        "event,time_ns,device,stream,kind,bytes,address,block,block_bytes,segment,category,dtype,"
        "op,"
        "owner,name,phase,stack,allocated,active,requested,reserved\n"
        "0,1000,0,0,segment_alloc,2097152,1073741824,,,0,,,,,,,,0,0,0,2097152\n"
        "1,2000,0,0,phase_begin,0,0,,,,,,,,,step 1,,0,0,0,2097152\n"
        "2,2001,0,0,alloc,100,1073741824,0,512,0,parameter,,aten::mm,model.a,weight,step "
        "1,,512,512,100,2097152\n"
        "3,3500,0,0,free_requested,100,1073741824,0,512,0,parameter,,aten::mm,model.a,weight,step "
        "1,,0,512,100,2097152\n"
        "4,3501,0,0,free_completed,100,1073741824,0,512,0,parameter,,aten::mm,model.a,weight,step "
        "1,,0,0,0,2097152\n"
        "5,3502,0,0,phase_end,0,0,,,,,,,,,step 1,,0,0,0,2097152\n"
        "6,3503,0,0,oom,53687091200,0,,,,,,,,,,,0,0,0,2097152\n",
        "what 1 out-of-memory messages said\n");
}

TEST(perfetto_has_counters_slices_and_instants) {
    USE_STATE;
    check_written(
        "perfetto", small,
        "{\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"ts\":1.000,\"name\":\"process_name\",\"args\":{"
        "\"name\":"
        "\"device 0\"}},\n"
        "{\"ph\":\"C\",\"pid\":1,\"tid\":1,\"ts\":1.000,\"name\":\"allocated\",\"args\":{\"bytes\":"
        "0}},"
        "\n"
        "{\"ph\":\"C\",\"pid\":1,\"tid\":1,\"ts\":1.000,\"name\":\"active\",\"args\":{\"bytes\":0}}"
        ",\n"
        "{\"ph\":\"C\",\"pid\":1,\"tid\":1,\"ts\":1.000,\"name\":\"reserved\",\"args\":{\"bytes\":"
        "0}},"
        "\n"
        "{\"ph\":\"C\",\"pid\":1,\"tid\":1,\"ts\":1.000,\"name\":\"reserved\",\"args\":{\"bytes\":"
        "2097152}},\n"
        "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":2.000,\"name\":\"step 1\"},\n"
        "{\"ph\":\"C\",\"pid\":1,\"tid\":1,\"ts\":2.001,\"name\":\"allocated\",\"args\":{\"bytes\":"
        "512}"
        "},\n"
        "{\"ph\":\"C\",\"pid\":1,\"tid\":1,\"ts\":2.001,\"name\":\"active\",\"args\":{\"bytes\":"
        "512}},"
        "\n"
        "{\"ph\":\"C\",\"pid\":1,\"tid\":1,\"ts\":3.500,\"name\":\"allocated\",\"args\":{\"bytes\":"
        "0}},"
        "\n"
        "{\"ph\":\"C\",\"pid\":1,\"tid\":1,\"ts\":3.501,\"name\":\"active\",\"args\":{\"bytes\":0}}"
        ",\n"
        "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":3.502,\"name\":\"step 1\"},\n"
        "{\"ph\":\"i\",\"pid\":1,\"tid\":1,\"ts\":3.503,\"s\":\"p\",\"name\":\"out of "
        "memory\",\"args\":{\"requested\":53687091200,\"message\":\"too much, \\\"really\\\"\"}}\n"
        "],\"otherData\":{\"source\":\"\"}}\n",
        "1 blocks, their addresses, owners and stacks (only sums are written)\n"
        "1 segments (only their sum is written)\n");
}

TEST(a_snapshot_tells_what_it_cannot_hold) {
    USE_STATE;
    struct text out = {0}, losses = {0};
    struct timeline *tl = tl_build(small);
    write_as("pickle", tl, &out, &losses);
    assert_string_equal(
        text_get(&losses),
        "tensors' names, modules and ops (they stand in the frames)\n"
        "types of blocks (what they are for stands in the entries of their allocation)\n"
        "of an out-of-memory more than its rounded size and the memory left\n"
        "times finer than a microsecond\n"
        "exact times (up to 1 us late, so that phases stay between their events)\n");
    text_fini(&out);
    text_fini(&losses);
    timeline_destroy(tl);
}

TEST(a_snapshot_needs_addresses) {
    USE_STATE;
    struct error err = {0};
    struct text out = {0}, losses = {0};
    struct timeline *tl = tl_build("alloc a 512\nfree a");
    assert_false(writer_pickle.write(tl, &out, &losses, &err));
    assert_string_equal(err.text, "a snapshot is made of addresses, blocks and segments, and this "
                                  "source does not tell its addresses; .vrt, .json, .csv and "
                                  ".perfetto need none of them");
    timeline_destroy(tl);
}

/* Phases stay where they were although a snapshot knows only their times. */
TEST(phases_of_a_snapshot_stay_between_their_events) {
    USE_STATE;
    struct error err = {0};
    struct text out = {0}, losses = {0};
    struct timeline *back = NULL, *tl = tl_build("t=5\nsegment s 2MiB\nbegin a\nend\nalloc x 512 "
                                                 "at=s+0\nbegin b\nfree x\nend\nbegin c\nend");
    write_as("pickle", tl, &out, &losses);
    assert_ok(trace_import_bytes("x", out.at, out.length, NULL, &back, NULL, &err), err);
    assert_int_equal(back->events.count, tl->events.count);
    for (size_t i = 0; i < tl->events.count; i++)
        assert_int_equal(back->events.at[i].kind, tl->events.at[i].kind);
    text_fini(&out);
    text_fini(&losses);
    timeline_destroy(back);
    timeline_destroy(tl);
}

static void check_pickled(void (*put)(struct pickle_out *), const char *want, size_t length) {
    struct text out = {0};
    struct pickle_out p;
    pickle_out_begin(&p, &out);
    put(&p);
    pickle_out_end(&p);
    assert_int_equal(out.length, length + 3);
    assert_memory_equal(out.at + 2, want, length);
    text_fini(&out);
}

static void put_numbers(struct pickle_out *p) {
    const uint64_t numbers[] = {0,
                                255,
                                256,
                                65536,
                                INT32_MAX,
                                UINT32_MAX,
                                UINT64_MAX,
                                UINT64_C(1) << 39,
                                UINT64_C(1) << 40};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        pickle_out_u64(p, numbers[i]);
    pickle_out_i64(p, -1);
    pickle_out_i64(p, INT64_MIN);
}

static void put_texts(struct pickle_out *p) {
    uint32_t kept = PICKLE_UNKNOWN;
    pickle_out_shared(p, "a\xff", &kept);
    pickle_out_shared(p, "a\xff", &kept);
}

TEST(pickles_are_those_of_python) {
    USE_STATE;
    check_pickled(
        put_numbers,
        "K\0K\xffM\0\1J\0\0\1\0J\xff\xff\xff\x7f\x8a\5\xff\xff\xff\xff\0\x8a\x09\xff\xff\xff"
        "\xff\xff\xff\xff\xff\0\x8a\6\0\0\0\0\x80\0\x8a\6\0\0\0\0\0\1"
        "J\xff\xff\xff\xff\x8a\x08\0\0\0\0\0\0\0\x80",
        66);
    check_pickled(put_texts, "\x8c\4a\xef\xbf\xbd\x94h\0", 9);
}

static struct timeline *sample;
static const struct writer *sample_writer;

static bool write_sample(void) {
    struct error err = {0};
    struct text out = {0}, losses = {0};
    bool ok = sample_writer->write(sample, &out, &losses, &err);
    assert_true(ok || err.code == ERROR_HOST_MEMORY);
    text_fini(&out);
    text_fini(&losses);
    return ok;
}

TEST(each_failed_host_allocation_is_an_error) {
    USE_STATE;
    sample = tl_build(small);
    for (const struct writer *const *w = writers; *w; w++) {
        sample_writer = *w;
        assert_true(fail_each_allocation(write_sample) > 1);
    }
    timeline_destroy(sample);
}

SUITE(cmocka_unit_test(csv_has_a_row_an_event_and_empty_fields_for_what_is_unknown),
      cmocka_unit_test(perfetto_has_counters_slices_and_instants),
      cmocka_unit_test(a_snapshot_tells_what_it_cannot_hold),
      cmocka_unit_test(a_snapshot_needs_addresses),
      cmocka_unit_test(phases_of_a_snapshot_stay_between_their_events),
      cmocka_unit_test(pickles_are_those_of_python),
      cmocka_unit_test(each_failed_host_allocation_is_an_error))

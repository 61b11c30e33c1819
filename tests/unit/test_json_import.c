/* Timelines as JSON: what is not as it must be is told with its place. */
#include "suite.h"

#include <string.h>

#include "failing_alloc.h"
#include "importer.h"
#include "text.h"
#include "timeline.h"
#include "timeline_fields.h"
#include "tl_build.h"
#include "tl_random.h"
#include "writer.h"

static bool read_json(const char *json, struct timeline **tl, struct error *err) {
    return trace_import_bytes("x", json, strlen(json), NULL, tl, NULL, err);
}

static void check_refused(const char *json, const char *why) {
    struct error err = {0};
    struct timeline *tl = NULL;
    assert_false(read_json(json, &tl, &err));
    assert_string_equal(err.text, why);
}

#define HEAD "{\"format\":\"vramsim timeline\",\"version\":1,"

TEST(what_is_wrong_is_told_with_its_place) {
    USE_STATE;
    check_refused("{\"format\":\"vramsim timeline\",\"version\":2}",
                  "x: a timeline of version 2; this program reads up to 1, a newer one is needed");
    check_refused(HEAD "\"events\":{\"columns\":[\"kind\",\"ref\"],\"rows\":[[\"alloc\"]]}}",
                  "x: events, row 0: 1 values for 2 columns");
    check_refused(HEAD "\"events\":{\"columns\":[\"kind\"],\"rows\":[[\"alloc\",3]]}}",
                  "x: events, row 0: more than 1 values");
    check_refused(HEAD "\"events\":{\"columns\":[\"kind\"],\"rows\":[[\"snapshot\"],[\"take\"]]}}",
                  "x: events, row 1: kind is a text take, expected a kind of event");
    check_refused(HEAD "\"events\":{\"columns\":[\"device\"],\"rows\":[[256]]}}",
                  "x: events, row 0: device is a number 256, expected a whole number that fits");
    check_refused(HEAD "\"segments\":{\"columns\":[\"expandable\"],\"rows\":[[1]]}}",
                  "x: segments, row 0: expandable is a number 1, expected true or false");
    check_refused(HEAD "\"events\":{\"rows\":[[1]],\"columns\":[\"ref\"]}}",
                  "x: events: rows before their columns, or twice");
    check_refused(HEAD "\"devices\":{\"columns\":[\"name\"],\"rows\":[[\"a\"]]},"
                       "\"devices\":{\"columns\":[\"name\"],\"rows\":[[\"a\"]]}}",
                  "x: devices: stands twice");
    check_refused(HEAD "\"run\":{\"warnings\":true}}",
                  "x: run, row 0: warnings is true or false, expected a whole number that fits");
    check_refused(HEAD "\"events\":{\"columns\":[\"kind\",\"ref\"],\"rows\":[[\"alloc\",7]]}}",
                  "x: the file lies: event 0: alloc refers to 7 of 0");
    check_refused("{\"other\":\"vramsim timeline\"}",
                  "x: no format is named; expected 'vramsim timeline'");
    check_refused(HEAD "\"streams\":{\"columns\":[\"handle\"],\"rows\":[[5]]}}",
                  "x: streams, row 0: the first stream is 0, the first stack is empty");
}

TEST(unknown_tables_columns_and_members_are_passed_over) {
    USE_STATE;
    struct error err = {0};
    struct timeline *tl = NULL;
    assert_ok(
        read_json(HEAD
                  "\"more\":[1,{\"a\":[]}],\"run\":{\"later\":[{}],\"has\":[\"time\",\"smell\"],"
                  "\"framework\":\"pytorch-3\"},\"events\":{\"note\":\"x\",\"columns\":[\"kind\","
                  "\"taste\",\"time_ns\"],\"rows\":[[\"empty_cache\",[1,[2]],5],"
                  "[\"snapshot\",null,6]]}}",
                  &tl, &err),
        err);
    assert_int_equal(tl->events.count, 2);
    assert_bytes_equal(tl->events.at[1].time_ns, 6);
    assert_int_equal(tl->has, TIMELINE_HAS_TIME);
    assert_string_equal(timeline_text(tl, tl->framework), "pytorch-3");
    timeline_destroy(tl);
}

TEST(nothing_of_a_timeline_is_lost) {
    USE_STATE;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct error err = {0};
        struct text out = {0}, losses = {0};
        struct timeline *tl = tl_random(seed, 500), *back = NULL;
        tl->title = timeline_string(tl, "a \"quoted\" \\ \n \x01 \xc3\xa9");
        tl->framework = timeline_string(tl, "x");
        assert_ok(writer_json.write(tl, &out, &losses, &err), err);
        assert_int_equal(losses.length, 0);
        assert_ok(trace_import_bytes(timeline_text(tl, tl->title), out.at, out.length, NULL, &back,
                                     NULL, &err),
                  err);
        assert_ok(timeline_equal(tl, back, &err), err);
        timeline_destroy(back);
        timeline_destroy(tl);
        text_fini(&out);
    }
}

TEST(texts_that_are_no_utf8_are_told_to_be_lost) {
    USE_STATE;
    struct error err = {0};
    struct text out = {0}, losses = {0};
    struct timeline *tl = tl_build("alloc a 512 op=\xff");
    assert_ok(writer_json.write(tl, &out, &losses, &err), err);
    assert_string_equal(text_get(&losses), "1 texts as they are (they are no UTF-8)\n");
    timeline_destroy(tl);
    text_fini(&out);
    text_fini(&losses);
}

static struct text sample;

static bool read_sample(void) {
    struct error err = {0};
    struct timeline *tl = NULL;
    bool ok = trace_import_bytes("x", sample.at, sample.length, NULL, &tl, NULL, &err);
    assert_true(ok || err.code == ERROR_HOST_MEMORY);
    timeline_destroy(tl);
    return ok;
}

TEST(each_failed_host_allocation_is_an_error) {
    USE_STATE;
    struct error err = {0};
    struct text losses = {0};
    struct timeline *tl =
        tl_build("segment s 2MiB\nbegin x\nalloc a 512 at=s+0 owner=m\nend\nfree a");
    assert_ok(writer_json.write(tl, &sample, &losses, &err), err);
    assert_true(fail_each_allocation(read_sample) > 10);
    timeline_destroy(tl);
    text_fini(&sample);
}

SUITE(cmocka_unit_test(what_is_wrong_is_told_with_its_place),
      cmocka_unit_test(unknown_tables_columns_and_members_are_passed_over),
      cmocka_unit_test(nothing_of_a_timeline_is_lost),
      cmocka_unit_test(texts_that_are_no_utf8_are_told_to_be_lost),
      cmocka_unit_test(each_failed_host_allocation_is_an_error))

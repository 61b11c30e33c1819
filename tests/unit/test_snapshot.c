/* Snapshots -> timelines: real ones agree with what PyTorch said of itself, made-up ones with their
 * dump, hostile ones are refused or repaired. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counters.h"
#include "failing_alloc.h"
#include "importer.h"
#include "input.h"
#include "text.h"
#include "timeline.h"

#define TRACE(name) TEST_DATA "/traces/" name ".pickle.zst"
#define MADE(name) TEST_DATA "/snapshots/" name ".pickle.zst"

static struct timeline *import(const char *path, struct trace_facts *facts) {
    struct timeline *tl = NULL;
    struct error err;
    assert_ok(trace_import(path, NULL, &tl, facts, &err), err);
    assert_ok(timeline_check(tl, &err), err);
    return tl;
}

/* Computed by an exact replay, independently of this code (tests/data/traces/README.md). */
static const struct {
    const char *path;
    uint64_t events, start_active, start_blocks, start_reserved, peak_active, peak_reserved,
        end_active, end_reserved;
    uint64_t segments, blocks, requested, largest_free, depth;
} real[] = {
    {TRACE("recorded_from_empty"), 97, 0, 0, 0, 3249144832, 3781165056, 31719936, 3781165056, 9, 20,
     31719428, 536870912, 48},
    {TRACE("forward_autocast_bf16_128"), 2811, 525286400, 137, 861929472, 815783936, 861929472,
     525286400, 861929472, 43, 178, 523811840, 20971520, 69},
    {TRACE("transformer_medium_128_training"), 19136, 5101219840, 664, 7235174400, 7026606592,
     7235174400, 6816891392, 7235174400, 377, 918, 6808535044, 41943040, 88},
    {TRACE("state_only_torch23"), 1, 16397578752, 840, 17133731840, 16397578752, 17133731840,
     16397578240, 17133731840, 259, 868, 16380108168, 452984832, 19},
    {TRACE("oom_torch20"), 1, 11840159744, 460, 11844714496, 11840159744, 11844714496, 11840159744,
     11844714496, 176, 463, 11840159744, 2080768, 10},
};

TEST(real_traces_give_the_figures_of_an_exact_replay) {
    USE_STATE;
    for (size_t i = 0; i < sizeof real / sizeof real[0]; i++) {
        struct trace_facts f;
        struct timeline *tl = import(real[i].path, &f);
        assert_int_equal(tl->warnings, 0);
        assert_int_equal(f.devices.count, 1);
        const struct trace_device_facts *d = &f.devices.at[0];
        assert_bytes_equal(d->events, real[i].events);
        assert_bytes_equal(d->start_active, real[i].start_active);
        assert_bytes_equal(d->start_blocks, real[i].start_blocks);
        assert_bytes_equal(d->start_reserved, real[i].start_reserved);
        assert_bytes_equal(d->peak_active, real[i].peak_active);
        assert_bytes_equal(d->peak_reserved, real[i].peak_reserved);
        assert_bytes_equal(d->end_active, real[i].end_active);
        assert_bytes_equal(d->end_reserved, real[i].end_reserved);
        assert_bytes_equal(f.segments, real[i].segments);
        assert_bytes_equal(f.blocks, real[i].blocks);
        assert_bytes_equal(f.requested, real[i].requested);
        assert_bytes_equal(f.largest_free_block, real[i].largest_free);
        assert_bytes_equal(f.stack_depth_max, real[i].depth);
        assert_bytes_equal(f.protocol, 4);
        timeline_destroy(tl);
        trace_facts_fini(&f);
    }
}

/* Peaks as torch.cuda.memory_stats() read them at the last mark of NAME.json. */
static const struct {
    const char *path;
    uint64_t allocated, active, reserved, requested;
} stats[] = {
    {TRACE("pytorch-2.15/llama_tiny_bf16_sdpa"), 351806976, 351806976, 450887680, 350230200},
    {TRACE("pytorch-2.15/llama_tiny_expandable"), 1077464576, 1077464576, 0, 0},
    {TRACE("pytorch-2.15/streams_record_stream"), 21571584, 21571584, 67108864, 21080000},
    {TRACE("pytorch-2.15/llama_tiny_retry_then_oom"), 0, 0, 790626304, 0},
};

TEST(peaks_are_those_of_memory_stats) {
    USE_STATE;
    for (size_t i = 0; i < sizeof stats / sizeof stats[0]; i++) {
        struct trace_facts f;
        struct timeline *tl = import(stats[i].path, &f);
        const struct trace_device_facts *d = &f.devices.at[0];
        assert_int_equal(tl->warnings, 0);
        if (stats[i].allocated) {
            assert_bytes_equal(d->peak_allocated, stats[i].allocated);
            assert_bytes_equal(d->peak_active, stats[i].active);
        }
        if (stats[i].requested)
            assert_bytes_equal(d->peak_requested, stats[i].requested);
        if (stats[i].reserved)
            assert_bytes_equal(d->peak_reserved, stats[i].reserved);
        timeline_destroy(tl);
        trace_facts_fini(&f);
    }
}

TEST(an_oom_keeps_the_state_it_met) {
    USE_STATE;
    struct timeline *tl = import(TRACE("pytorch-2.15/llama7b_bf16_on_24gb"), NULL);
    assert_int_equal(tl->ooms.count, 1);
    const struct timeline_oom *oom = &tl->ooms.at[0];
    assert_bytes_equal(oom->rounded_bytes, 43 << 20);
    assert_bytes_equal(oom->segment_bytes, 44 << 20);
    assert_bytes_equal(oom->device_free_bytes, 42 << 20); /* "of which 42.00 MiB is free" */
    /* "248.46 MiB is reserved by PyTorch but unallocated" */
    assert_bytes_equal((oom->reserved_bytes - oom->allocated_bytes) * 100 / (1 << 20), 24846);
    timeline_destroy(tl);
}

TEST(no_history_is_a_state_not_an_empty_device) {
    USE_STATE;
    struct trace_facts f;
    struct timeline *tl = import(TRACE("no_history"), &f);
    struct counters c;
    counters_start(tl, 0, &c);
    assert_bytes_equal(c.active, 90861056);
    assert_bytes_equal(c.reserved, 109051904);
    assert_false(tl->has & TIMELINE_HAS_HISTORY);
    assert_int_equal(f.devices.count, 0);
    assert_bytes_equal(f.segments, 12);
    timeline_destroy(tl);
    trace_facts_fini(&f);
}

TEST(facts_name_what_the_file_is_made_of) {
    USE_STATE;
    struct trace_facts f;
    struct timeline *tl = import(TRACE("recorded_from_empty"), &f);
    assert_string_equal(f.kind, "snapshot");
    assert_string_equal(f.packing, "zstd");
    assert_bytes_equal(f.bytes_unpacked, 66458);
    assert_int_equal(f.opcodes.list.count, 21);
    assert_string_equal(f.opcodes.list.at[0].name, "APPEND");
    assert_int_equal(f.top_keys.list.count, 4);
    assert_string_equal(f.top_keys.list.at[2].name, "allocator_settings");
    assert_bytes_equal(trace_counts_get(&f.devices.at[0].actions, "segment_alloc"), 9);
    assert_bytes_equal(trace_counts_get(&f.blocks_by_state, "inactive"), 10);
    assert_bytes_equal(trace_counts_get(&f.segments_by_type, "large"), 8);
    assert_bytes_equal(f.devices.at[0].alloc_bytes_total, 8091861260);
    assert_bytes_equal(f.time_us_first, 1772688692031317);
    assert_true(f.has & TRACE_FACTS_ANNOTATIONS);
    timeline_destroy(tl);
    trace_facts_fini(&f);
}

TEST(the_digest_is_that_of_the_file) {
    USE_STATE;
    struct input in;
    struct error err;
    uint8_t digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    assert_ok(input_open(&in, TRACE("recorded_from_empty"), 1 << 20, &err), err);
    sha256_bytes(in.data, in.length, digest);
    sha256_hex(digest, hex);
    assert_string_equal(hex, "3a450217bfb4c5dde4793b980bdc83f63aad4b4bac038bad56a58f4c37c7f96c");
    input_close(&in);
    sha256_bytes("", 0, digest);
    sha256_hex(digest, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, digest);
    sha256_hex(digest, hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void check_dump(const char *path, uint32_t warnings, const char *expected) {
    struct timeline *tl = import(path, NULL);
    struct text text = {0};
    timeline_dump(tl, false, &text);
    assert_string_equal(text_get(&text), expected);
    assert_int_equal(tl->warnings, warnings);
    text_fini(&text);
    timeline_destroy(tl);
}

static const char two_devices[] =
    "0 t=95000 phase_begin step\n"
    "1 t=100000 segment_alloc 20971520\n"
    "2 t=105000 segment_alloc 20971520 stream 1\n"
    "3 t=110000 phase_begin forward\n"
    "4 t=110000 alloc b0 4194304 block 4194304 @s0+0 unknown -  - -\n"
    "5 t=115000 phase_begin other\n"
    "6 t=120000 alloc b1 2097052 block 2097152 @s1+0 unknown -  - - stream 1\n"
    "7 t=130000 alloc b2 6291456 block 6291456 @s0+4194304 unknown -  - -\n"
    "8 t=140000 phase_end forward\n"
    "9 t=140000 free_requested b1 2097052 block 2097152 @s1+0 stream 1\n"
    "10 t=150000 free_requested b2 6291456 block 6291456 @s0+4194304\n"
    "11 t=150000 free_completed b2 6291456 block 6291456 @s0+4194304\n"
    "12 t=160000 phase_end step\n"
    "13 t=170000 phase_begin open\n";

TEST(devices_and_annotations_merge_by_time_in_every_protocol) {
    USE_STATE;
    static const char *const paths[] = {
        MADE("two_devices_0"), MADE("two_devices_1"), MADE("two_devices_2"),  MADE("two_devices_3"),
        MADE("two_devices_4"), MADE("two_devices_5"), MADE("two_devices_cpp")};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        check_dump(paths[i], 1, two_devices);
}

TEST(phases_nest_on_their_device) {
    USE_STATE;
    struct timeline *tl = import(MADE("two_devices_4"), NULL);
    assert_int_equal(tl->phases.count, 4);
    assert_string_equal(timeline_text(tl, tl->phases.at[1].name), "forward");
    assert_int_equal(tl->phases.at[1].parent, 0);
    assert_int_equal(tl->phases.at[1].depth, 1);
    assert_int_equal(tl->phases.at[2].device, 1);
    assert_int_equal(tl->phases.at[2].parent, TIMELINE_NONE);
    assert_int_equal(tl->phases.at[3].end_event, TIMELINE_NONE);
    assert_int_equal(tl->blocks.at[0].phase, 1);
    assert_int_equal(tl->blocks.at[1].phase, 2);
    assert_int_equal(tl->streams.at[1], 7);
    timeline_destroy(tl);
}

TEST(stacks_share_their_frames_by_content) {
    USE_STATE;
    struct timeline *tl = import(MADE("two_devices_2"), NULL);
    assert_int_equal(tl->stacks.count, 3); /* none, two frames, one frame */
    const struct timeline_stack *stack = &tl->stacks.at[tl->blocks.at[0].stack];
    assert_int_equal(stack->count, 2);
    assert_string_equal(timeline_text(tl, tl->frames.at[stack->first].function), "forward");
    assert_int_equal(tl->frames.at[stack->first + 1].line, 20);
    assert_int_equal(tl->segments.at[0].stack, tl->blocks.at[0].stack);
    timeline_destroy(tl);
}

TEST(what_was_mapped_at_the_start_is_found_backwards) {
    USE_STATE;
    struct trace_facts f;
    struct timeline *tl = import(MADE("expandable"), &f);
    assert_int_equal(tl->warnings, 0);
    assert_bytes_equal(f.devices.at[0].start_reserved, 20 << 20);
    assert_bytes_equal(f.devices.at[0].peak_reserved, 60 << 20);
    assert_bytes_equal(f.devices.at[0].end_reserved, 40 << 20);
    assert_bytes_equal(f.devices.at[0].start_active, 8 << 20);
    assert_bytes_equal(f.devices.at[0].peak_active, 58 << 20);
    assert_int_equal(tl->segments.count, 1);
    timeline_destroy(tl);
    trace_facts_fini(&f);
}

TEST(a_rest_that_was_not_split_off_shows_when_the_next_block_begins) {
    USE_STATE;
    check_dump(MADE("started_late"), 0,
               "0 t=1000 alloc b2 6291456 block 6291456 @s0+9175040 unknown -  - -\n"
               "1 t=2000 free_completed b0 3145728 block 3670016 @s0+0\n"
               "2 t=3000 free_requested b1 5242880 block 5505024 @s0+3670016\n"
               "3 t=4000 free_completed b1 5242880 block 5505024 @s0+3670016\n"
               "4 t=5000 free_requested b2 6291456 block 6291456 @s0+9175040\n"
               "5 t=6000 free_completed b2 6291456 block 6291456 @s0+9175040\n");
}

TEST(lost_and_absurd_records_are_repaired_and_counted) {
    USE_STATE;
    check_dump(MADE("damaged"), 6,
               "0 t=1000 segment_alloc 20971520\n"
               "1 t=2000 alloc b0 4194304 block 4194304 @s1+0 unknown -  - -\n"
               "2 t=3000 free_requested b0 4194304 block 4194304 @s1+0\n"
               "3 t=3000 free_completed b0 4194304 block 4194304 @s1+0\n"
               "4 t=3000 alloc b1 4194304 block 4194304 @s1+0 unknown -  - -\n"
               "5 t=4000 free_requested b1 4194304 block 4194304 @s1+0\n"
               "6 t=4000 other 4194304\n"
               "7 t=5000 free_completed b1 4194304 block 4194304 @s1+0\n"
               "8 t=6000 alloc b2 4194304 block 4194304 @s1+0 unknown -  - -\n"
               "9 t=7000 alloc b3 2097152 block 2097152 @s1+4194304 unknown -  - -\n"
               "10 t=8000 free_requested b3 2097152 block 2097152 @s1+4194304\n"
               "11 t=8000 free_completed b3 2097152 block 2097152 @s1+4194304\n"
               "12 t=9000 alloc b4 2097152 block 2097152 @s1+4194304 unknown -  - -\n"
               "13 t=9000 free_requested b4 2097152 block 2097152 @s1+4194304\n"
               "14 t=9000 free_completed b4 2097152 block 2097152 @s1+4194304\n"
               "15 t=10000 other 0\n"
               "16 t=11000 other 1152921504606846976\n"
               "17 t=12000 other 0\n"
               "18 t=13000 oom 46137344\n"
               "19 t=14000 snapshot 4194304\n"
               "20 t=15000 segment_unmap 1048576\n");
}

TEST(a_block_over_a_live_one_ends_it_and_clocks_do_not_go_back) {
    USE_STATE;
    check_dump(MADE("overlaps"), 12,
               "0 t=1000 free_requested b0 8388608 block 2097152 @s0+0\n"
               "1 t=2000 free_completed b0 8388608 block 2097152 @s0+0\n"
               "2 t=3000 free_requested b1 4194304 block 4194304 @s0+2097152\n"
               "3 t=4000 free_completed b1 4194304 block 4194304 @s0+2097152\n"
               "4 t=10000 segment_alloc 20971520\n"
               "5 t=11000 alloc b2 2097152 block 2097152 @s1+0 unknown -  - -\n"
               "6 t=12000 alloc b3 4194304 block 4194304 @s1+2097152 unknown -  - -\n"
               "7 t=12000 free_requested b2 2097152 block 2097152 @s1+0\n"
               "8 t=12000 free_completed b2 2097152 block 2097152 @s1+0\n"
               "9 t=12000 free_requested b3 4194304 block 4194304 @s1+2097152\n"
               "10 t=12000 free_completed b3 4194304 block 4194304 @s1+2097152\n"
               "11 t=12000 alloc b4 12582912 block 12582912 @s1+1048576 unknown -  - -\n"
               "12 t=13000 free_requested b4 12582912 block 12582912 @s1+1048576\n"
               "13 t=14000 free_completed b4 12582912 block 12582912 @s1+1048576\n"
               "14 t=15000 alloc b5 12582912 block 12582912 @s1+0 unknown -  - -\n");
}

TEST(a_bare_list_of_1_13_reads_the_newest_history) {
    USE_STATE;
    struct trace_facts f;
    struct timeline *tl = import(MADE("bare_list"), &f);
    assert_int_equal(tl->blocks.count, 1);
    assert_bytes_equal(tl->blocks.at[0].requested_bytes, (4 << 20) - 5);
    assert_bytes_equal(tl->blocks.at[0].block_bytes, 4 << 20);
    const struct timeline_stack *stack = &tl->stacks.at[tl->blocks.at[0].stack];
    assert_string_equal(timeline_text(tl, tl->frames.at[stack->first].function), "new");
    assert_int_equal(f.top_keys.list.count, 0);
    assert_true(tl->has & TIMELINE_HAS_REQUESTED);
    timeline_destroy(tl);
    trace_facts_fini(&f);
}

static void load(const char *path, struct input *in) {
    struct error err;
    assert_ok(input_open(in, path, 1 << 26, &err), err);
}

/* Any result is right as long as it is a checked timeline or an error that says something. */
static bool survive(const void *data, size_t length) {
    struct timeline *tl = NULL;
    struct error err = {0};
    if (!trace_import_bytes("x", data, length, NULL, &tl, NULL, &err)) {
        assert_true(err.code != ERROR_NONE && strlen(err.text) > 0);
        return false;
    }
    assert_ok(timeline_check(tl, &err), err);
    timeline_destroy(tl);
    return true;
}

TEST(truncation_at_every_byte_is_an_error) {
    USE_STATE;
    static const char *const paths[] = {MADE("two_devices_0"), MADE("two_devices_cpp"),
                                        MADE("damaged"), MADE("expandable")};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct input in;
        load(paths[i], &in);
        for (size_t length = 0; length < in.length; length++)
            assert_false(survive(in.data, length));
        assert_true(survive(in.data, in.length));
        input_close(&in);
    }
}

TEST(every_byte_changed_is_survived) {
    USE_STATE;
    static const char *const paths[] = {MADE("two_devices_4"), MADE("damaged"),
                                        MADE("started_late")};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct input in;
        load(paths[i], &in);
        uint8_t *copy = malloc(in.length);
        assert_non_null(copy);
        memcpy(copy, in.data, in.length);
        for (size_t at = 0; at < in.length; at++) {
            static const uint8_t flips[] = {0x01, 0x80, 0xff, 0x10};
            for (size_t k = 0; k < sizeof flips; k++) {
                copy[at] ^= flips[k];
                (void)survive(copy, in.length);
                copy[at] = in.data[at];
            }
        }
        free(copy);
        input_close(&in);
    }
}

/* A trace list that holds itself, and one that stands in the list of traces many thousand times. */
TEST(cyclic_and_multiplied_lists_end) {
    USE_STATE;
    static const char cyclic[] = "\x80\x04}(\x8c\x08segments]\x94h\0a\x8c\x0d"
                                 "device_tracesh\0u.";
    (void)survive(cyclic, sizeof cyclic - 1);
    struct text many = {0};
    static const char head[] = "\x80\x04}\x8c\x0d"
                               "device_traces]\x94(]\x94(",
                      entry[] = "}\x8c\x06"
                                "action\x8c\x05"
                                "alloc"
                                "s";
    text_add_bytes(&many, head, sizeof head - 1);
    for (int i = 0; i < 200; i++)
        text_add_bytes(&many, entry, sizeof entry - 1);
    text_add_bytes(&many, "e", 1);
    for (int i = 0; i < 20000; i++)
        text_add_bytes(&many, "h\1", 2);
    text_add_bytes(&many, "es.", 3);
    struct timeline *tl;
    struct error err;
    assert_false(trace_import_bytes("x", many.at, many.length, NULL, &tl, NULL, &err));
    text_fini(&many);
}

static void check_error(const char *path, enum error_code code, const char *part) {
    struct timeline *tl = NULL;
    struct error err = {0};
    assert_false(trace_import(path, NULL, &tl, NULL, &err));
    assert_null(tl);
    assert_int_equal(err.code, code);
    if (!strstr(err.text, part) || !strstr(err.text, path))
        fail_msg("'%s' does not say '%s' of %s", err.text, part, path);
}

static void check_content(const void *data, size_t length, enum error_code code, const char *part) {
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/vramsim-test-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, length), length);
    close(fd);
    check_error(path, code, part);
    unlink(path);
}

TEST(files_that_are_no_trace_are_named_for_what_they_are) {
    USE_STATE;
    check_error(TEST_DATA, ERROR_IO_READ, "is a directory");
    check_error(TEST_DATA "/missing.pickle", ERROR_IO_READ, "No such file");
    check_content("", 0, ERROR_BAD_INPUT, "is empty");
    check_content("PK\3\4....", 8, ERROR_BAD_INPUT, "zip archive");
    check_content("{\"a\": 1}", 8, ERROR_BAD_INPUT, "JSON");
    check_content("hello, world", 12, ERROR_BAD_INPUT, "not a known kind of trace");
    check_content("\x80\x04K\1.", 5, ERROR_BAD_INPUT, "not of a memory snapshot");
    check_content("\x80\x04\x8c\x02os\x8c\x06system\x93.", 16, ERROR_BAD_INPUT,
                  "STACK_GLOBAL (0x93) at byte 14");
    check_content("\x1f\x8b\x08\0\0\0\0\0\0\0\x03", 11, ERROR_BAD_INPUT, "gzip");
    check_content("\x28\xb5\x2f\xfd\x04", 5, ERROR_BAD_INPUT, "zstd");
}

TEST(a_small_memory_limit_is_kept) {
    USE_STATE;
    struct timeline *tl = NULL;
    struct error err = {0};
    const struct trace_options small = {.max_memory_bytes = 200000},
                               short_file = {.max_file_bytes = 1000};
    assert_false(trace_import(TRACE("recorded_from_empty"), &small, &tl, NULL, &err));
    assert_int_equal(err.code, ERROR_LIMIT);
    assert_false(trace_import(TRACE("recorded_from_empty"), &short_file, &tl, NULL, &err));
    assert_int_equal(err.code, ERROR_LIMIT);
}

static bool stop(void *user, uint64_t done, uint64_t total) {
    (void)done, (void)total;
    return --*(int *)user > 0;
}

TEST(an_import_can_be_cancelled) {
    USE_STATE;
    struct timeline *tl = NULL;
    struct error err = {0};
    int calls = 2;
    const struct trace_options options = {.progress = stop, .user = &calls};
    assert_false(trace_import(TRACE("forward_autocast_bf16_128"), &options, &tl, NULL, &err));
    assert_int_equal(err.code, ERROR_INTERRUPTED);
    assert_int_equal(calls, 0);
}

TEST(every_failing_allocation_is_handed_up) {
    USE_STATE;
    static const char *const paths[] = {MADE("two_devices_4"), MADE("expandable"), MADE("damaged"),
                                        MADE("bare_list")};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct failing_alloc f = {.fail_at = 0};
        for (f.fail_at = 1;; f.fail_at++) {
            struct timeline *tl = NULL;
            struct trace_facts facts = {0};
            struct error err = {0};
            f.seen = 0;
            xalloc_set_hook(failing_alloc_hook, &f);
            bool ok = trace_import(paths[i], NULL, &tl, &facts, &err);
            timeline_destroy(tl);
            trace_facts_fini(&facts);
            xalloc_set_hook(NULL, NULL);
            assert_int_equal(f.live, 0);
            if (ok)
                break;
            assert_int_equal(err.code, ERROR_HOST_MEMORY);
        }
        assert_true(f.fail_at > 20);
    }
}

SUITE(cmocka_unit_test(real_traces_give_the_figures_of_an_exact_replay),
      cmocka_unit_test(peaks_are_those_of_memory_stats),
      cmocka_unit_test(an_oom_keeps_the_state_it_met),
      cmocka_unit_test(no_history_is_a_state_not_an_empty_device),
      cmocka_unit_test(facts_name_what_the_file_is_made_of),
      cmocka_unit_test(the_digest_is_that_of_the_file),
      cmocka_unit_test(devices_and_annotations_merge_by_time_in_every_protocol),
      cmocka_unit_test(phases_nest_on_their_device),
      cmocka_unit_test(stacks_share_their_frames_by_content),
      cmocka_unit_test(what_was_mapped_at_the_start_is_found_backwards),
      cmocka_unit_test(a_rest_that_was_not_split_off_shows_when_the_next_block_begins),
      cmocka_unit_test(lost_and_absurd_records_are_repaired_and_counted),
      cmocka_unit_test(a_block_over_a_live_one_ends_it_and_clocks_do_not_go_back),
      cmocka_unit_test(a_bare_list_of_1_13_reads_the_newest_history),
      cmocka_unit_test(truncation_at_every_byte_is_an_error),
      cmocka_unit_test(every_byte_changed_is_survived),
      cmocka_unit_test(cyclic_and_multiplied_lists_end),
      cmocka_unit_test(files_that_are_no_trace_are_named_for_what_they_are),
      cmocka_unit_test(a_small_memory_limit_is_kept), cmocka_unit_test(an_import_can_be_cancelled),
      cmocka_unit_test(every_failing_allocation_is_handed_up))

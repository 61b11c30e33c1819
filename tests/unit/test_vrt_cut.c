/* `.vrt` files of every kind of source, cut off and damaged at every byte: whole groups of blocks are always there, with
 * the sums that they had; what is lost is said. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "importer.h"
#include "source.h"
#include "timeline_order.h"
#include "tl_random.h"
#include "vrt_fixture.h"

#include "records.h"

enum { GROUP_EVENTS = 24, MOST_BLOCKS = 4096, NEAR_BYTES = 1, STEP_BYTES = 1009 };

/* --- files --- */

struct file {
    const char *name;
    struct timeline *tl; /* what it holds; NULL: a capture's records */
    struct vrt_bytes bytes;
    size_t blocks;
    size_t at[MOST_BLOCKS + 1]; /* where they begin; the last is the end */
};

static void find_blocks(struct file *f) {
    size_t at = vrt_get32(f->bytes.at + 8);
    for (f->blocks = 0; at < f->bytes.count; f->blocks++) {
        assert_true(f->blocks < MOST_BLOCKS);
        f->at[f->blocks] = at;
        at += VRT_BLOCK_BYTES + vrt_padded(vrt_get32(f->bytes.at + at + 4));
    }
    f->at[f->blocks] = at;
    assert_int_equal(at, f->bytes.count);
}

static void write_groups(struct file *f) {
    struct error err = {0};
    struct vrt_out out = {.write = vrt_bytes_write, .user = &f->bytes};
    struct vrt_writer w;
    const struct vrt_header header = {.producer = VRT_CONVERTER, .json = "{}"};
    assert_ok(vrt_writer_begin(&w, &out, &header, true, &err), err);
    w.group_events = GROUP_EVENTS;
    assert_ok(vrt_writer_end(&w, f->tl, &err), err);
    vrt_writer_fini(&w);
    find_blocks(f);
}

static struct file import_file(const char *name) {
    char path[1024];
    struct error err = {0};
    struct file f = {.name = name};
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
    assert_ok(trace_import(path, NULL, &f.tl, NULL, &err), err);
    write_groups(&f);
    return f;
}

static struct file simulate(const char *scenario, const char *settings) {
    char path[1024];
    struct error err = {0};
    struct file f = {.name = scenario};
    struct source_result result;
    const struct source_options options = {.alloc_settings = settings,
                                           .library_dir = SOURCE_DIR "/scenarios/lib"};
    snprintf(path, sizeof path, "%s/scenarios/%s", SOURCE_DIR, scenario);
    assert_ok(source_run(path, &options, &result, &err), err);
    f.tl = result.timeline;
    result.timeline = NULL;
    source_result_fini(&result);
    write_groups(&f);
    return f;
}

static void free_file(struct file *f) {
    timeline_destroy(f->tl);
    free(f->bytes.at);
}

/* --- what is left of one --- */

/* Events of the groups that lie whole before `end`. */
static size_t whole_events(const struct file *f, size_t end) {
    size_t events = 0, whole = 0;
    for (size_t i = 0; i < f->blocks && f->at[i + 1] <= end; i++) {
        const uint8_t *head = f->bytes.at + f->at[i];
        if (vrt_get16(head + 14) == VRT_TABLE + TIMELINE_TABLE_EVENTS)
            events += vrt_get32(head + 16);
        if (head[13] & VRT_FLAG_WHOLE)
            whole = events;
    }
    return whole;
}

static void check_start(const struct timeline *tl, const struct timeline *part) {
    for (unsigned d = 0; d < 3; d++) {
        struct counters whole, some;
        counters_start(tl, (uint8_t)d, &whole);
        counters_start(part, (uint8_t)d, &some);
        assert_bytes_equal(some.allocated, whole.allocated);
        assert_bytes_equal(some.active, whole.active);
        assert_bytes_equal(some.reserved, whole.reserved);
    }
}

/* The import checks the timeline too. */
static void check_part(const struct file *f, const uint8_t *at, size_t count, size_t events) {
    struct error err = {0};
    struct timeline *part = NULL;
    uint8_t *copy = malloc(count + 1); /* of just these bytes: a read behind them is seen */
    memcpy(copy, at, count);
    bool ok = trace_import_bytes(f->name, copy, count, NULL, &part, NULL, &err);
    free(copy);
    if (!ok) {
        if (events > 0 || !strstr(err.text, "byte "))
            fail_msg("%zu of %zu bytes: %s", count, f->bytes.count, err.text);
        return;
    }
    assert_int_equal(part->events.count, events);
    for (size_t i = 0; i < events; i++)
        assert_memory_equal(&f->tl->events.at[i], &part->events.at[i], sizeof *part->events.at);
    check_start(f->tl, part);
    assert_true(part->warnings > f->tl->warnings || count == f->bytes.count);
    timeline_destroy(part);
}

/* Near where blocks begin, and now and then elsewhere. */
static bool is_looked_at(const struct file *f, size_t at, size_t *block) {
    while (*block < f->blocks && f->at[*block + 1] <= at)
        ++*block;
    return f->bytes.count < 5000 || at < f->at[*block] + NEAR_BYTES ||
           at + NEAR_BYTES >= f->at[*block + 1] || at % STEP_BYTES == 0;
}

static void cut_everywhere(const struct file *f) {
    struct error err = {0};
    struct timeline *back = NULL;
    assert_ok(trace_import_bytes(f->name, f->bytes.at, f->bytes.count, NULL, &back, NULL, &err),
              err);
    back->title = timeline_string(back, timeline_text(f->tl, f->tl->title));
    assert_ok(timeline_equal(f->tl, back, &err), err);
    timeline_destroy(back);
    for (size_t n = 8, block = 0; n < f->bytes.count; n++)
        if (is_looked_at(f, n, &block))
            check_part(f, f->bytes.at, n, whole_events(f, n));
}

/* A byte that stands nowhere: padding. */
static bool is_padding(const struct file *f, size_t at, size_t block) {
    return at >= f->at[block] + VRT_BLOCK_BYTES + vrt_get32(f->bytes.at + f->at[block] + 4);
}

static void damage_everywhere(struct file *f) {
    for (size_t at = f->at[0], block = 0; at < f->bytes.count; at++) {
        if (!is_looked_at(f, at, &block) || is_padding(f, at, block))
            continue;
        f->bytes.at[at] ^= (uint8_t)(1 << at % 8);
        check_part(f, f->bytes.at, f->bytes.count, whole_events(f, at));
        f->bytes.at[at] ^= (uint8_t)(1 << at % 8);
    }
}

static void cut_and_damage(struct file f) {
    assert_true(f.tl->events.count > 0);
    cut_everywhere(&f);
    damage_everywhere(&f);
    free_file(&f);
}

TEST(snapshots_lose_their_last_group_alone) {
    USE_STATE;
    static const char *const names[] = {
        "snapshots/started_late.pickle.zst", "snapshots/expandable.pickle.zst",
        "snapshots/damaged.pickle.zst",      "snapshots/overlaps.pickle.zst",
        "snapshots/two_devices.pickle.zst",  "traces/real-gpu/forward_fp32_128.pickle.zst"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        cut_and_damage(import_file(names[i]));
}

TEST(profiles_that_begin_late_lose_their_last_group_alone) {
    USE_STATE;
    cut_and_damage(import_file("profiles/mlp_late.json.zst"));
    cut_and_damage(import_file("profiles/mlp_late_2021.json.zst"));
    cut_and_damage(import_file("profiles/mlp.timeline.raw.json.gz"));
    cut_and_damage(import_file("profiles/samples.csv"));
}

TEST(simulated_runs_lose_their_last_group_alone) {
    USE_STATE;
    cut_and_damage(simulate("mlp.lua", NULL));
    cut_and_damage(simulate("mlp.lua", "expandable_segments:True"));
    struct file f = {.name = "random", .tl = tl_random(11, 600)};
    write_groups(&f);
    cut_and_damage(f);
}

/* --- captures --- */

static uint32_t next_random(uint64_t *state, uint32_t limit) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % limit;
}

struct payload {
    uint8_t at[4096];
    uint32_t bytes, records;
};

static void add_record(struct payload *p, const void *record, size_t bytes) {
    assert_true(p->bytes + bytes <= sizeof p->at);
    memcpy(p->at + p->bytes, record, bytes);
    p->bytes += (uint32_t)bytes;
    p->records++;
}

static void add_text(struct payload *p, uint32_t id) {
    struct {
        struct record_string string;
        char text[8];
    } record = {.string = {.head = RECORD_HEAD(record, RECORD_STRING, RECORD_UNKNOWN64),
                           .id = id,
                           .bytes = 8}};
    char text[16];
    snprintf(text, sizeof text, "name%04u", id % 10000);
    memcpy(record.text, text, sizeof record.text);
    add_record(p, &record, sizeof record);
}

/* Allocations, frees, ranges, pieces of a reservation, in no good order. */
static void add_random(struct payload *p, uint64_t *seed, uint64_t t, uint32_t texts) {
    uint32_t what = next_random(seed, 10), slot = next_random(seed, 12);
    struct record_memory m = {.head = RECORD_HEAD(m, what < 5 ? RECORD_ALLOC : RECORD_FREE, t),
                              .address = 0x7f0000000000u + slot * UINT64_C(0x1000000),
                              .bytes = 512 * (1 + next_random(seed, 4096)),
                              .stream = next_random(seed, 3),
                              .kind = slot == 11 ? MEMORY_PINNED : MEMORY_DEVICE,
                              .name = texts > 0 ? next_random(seed, texts) + 1 : 0};
    struct record_push push = {.head = RECORD_HEAD(push, RECORD_PHASE_PUSH, t), .name = m.name};
    struct record_pop pop = {.head = RECORD_HEAD(pop, RECORD_PHASE_POP, t)};
    struct record_vmm v = {.head = RECORD_HEAD(v, slot % 2 ? RECORD_VMM_MAP : RECORD_VMM_UNMAP, t),
                           .address = UINT64_C(0x600000000000) + (slot / 2) * UINT64_C(0x200000),
                           .bytes = 0x200000,
                           .handle = slot};
    if (what < 8)
        add_record(p, &m, sizeof m);
    else if (what == 8 && slot % 2)
        add_record(p, &push, sizeof push);
    else if (what == 8)
        add_record(p, &pop, sizeof pop);
    else
        add_record(p, &v, sizeof v);
}

static struct file make_capture(void) {
    struct file f = {.name = "capture"};
    struct error err = {0};
    struct vrt_out out = {.write = vrt_bytes_write, .user = &f.bytes};
    const struct vrt_header header = {.producer = VRT_CAPTURE, .json = "{}"};
    uint64_t seed = 5, t = 1000;
    assert_ok(vrt_out_begin(&out, &header, &err), err);
    for (uint32_t i = 0; i < 12; i++) {
        struct payload p = {.bytes = 0};
        add_text(&p, 2 * i + 1);
        add_text(&p, 2 * i + 2);
        for (unsigned n = 0; n < 10; n++)
            add_random(&p, &seed, t += 100, 2 * i + 2);
        const struct vrt_block block = {.type = VRT_RECORDS,
                                        .flags = VRT_FLAG_WHOLE | (i == 11 ? VRT_FLAG_END : 0),
                                        .rows = p.records,
                                        .stored = p.at,
                                        .stored_bytes = p.bytes,
                                        .raw_bytes = p.bytes};
        assert_ok(vrt_out_block(&out, &block, &err), err);
    }
    find_blocks(&f);
    return f;
}

static bool count_bytes(void *user, const uint8_t *bytes, size_t length, struct error *err) {
    (void)bytes, (void)err;
    *(uint64_t *)user += length;
    return true;
}

/* How many bytes of records are read of these. */
static uint64_t record_bytes(const uint8_t *at, size_t count, struct vrt_reader *r) {
    uint64_t bytes = 0;
    struct error err = {0};
    struct timeline *tl = timeline_create();
    assert_non_null(tl);
    vrt_reader_init(r, tl);
    r->take_records = count_bytes;
    r->records_user = &bytes;
    assert_ok(vrt_reader_take(r, at, count, &err), err);
    vrt_reader_fini(r);
    timeline_destroy(tl);
    return bytes;
}

static void check_import(const struct file *f, const uint8_t *at, size_t count, bool warns) {
    struct error err = {0};
    struct timeline *tl = NULL;
    bool ok = trace_import_bytes(f->name, at, count, NULL, &tl, NULL, &err);
    if (!ok && !strstr(err.text, "byte "))
        fail_msg("%zu of %zu bytes: %s", count, f->bytes.count, err.text);
    assert_true(!ok || !warns || tl->warnings > 0);
    timeline_destroy(tl);
}

TEST(a_capture_loses_the_damaged_block_alone) {
    USE_STATE;
    struct file f = make_capture();
    struct vrt_reader r;
    uint64_t all = record_bytes(f.bytes.at, f.bytes.count, &r);
    for (size_t at = f.at[0], block = 0; at < f.bytes.count; at++) {
        while (f.at[block + 1] <= at)
            block++;
        uint64_t own = vrt_get32(f.bytes.at + f.at[block] + 4);
        bool is_last = block + 1 == f.blocks;
        f.bytes.at[at] ^= (uint8_t)(1 << at % 8);
        assert_bytes_equal(record_bytes(f.bytes.at, f.bytes.count, &r), all - own);
        assert_int_equal(r.lost_blocks, is_last ? 0 : 1);
        assert_int_equal(r.damaged_at, is_last ? f.at[block] : VRT_UNKNOWN);
        if (!is_last)
            assert_int_equal(r.lost_bytes, f.at[block + 1] - f.at[block]);
        check_import(&f, f.bytes.at, f.bytes.count, true);
        f.bytes.at[at] ^= (uint8_t)(1 << at % 8);
    }
    free_file(&f);
}

/* Bytes that are missing or were put in: what follows lies elsewhere. */
TEST(a_capture_is_found_again_wherever_it_goes_on) {
    USE_STATE;
    struct file f = make_capture();
    struct vrt_reader r;
    uint64_t all = record_bytes(f.bytes.at, f.bytes.count, &r), seed = 3;
    uint8_t *copy = malloc(2 * f.bytes.count);
    for (unsigned i = 0; i < 3000; i++) {
        size_t block = next_random(&seed, (uint32_t)f.blocks - 1);
        size_t at =
            f.at[block] + 1 + next_random(&seed, (uint32_t)(f.at[block + 1] - f.at[block]) - 1);
        size_t gone = i % 2 ? 1 + next_random(&seed, (uint32_t)(f.at[block + 1] - at)) : 0;
        size_t put = i % 2 ? 0 : 1 + next_random(&seed, 300);
        memcpy(copy, f.bytes.at, at);
        memset(copy + at, i % 3 ? 'V' : 0, put);
        memcpy(copy + at + put, f.bytes.at + at + gone, f.bytes.count - at - gone);
        size_t count = f.bytes.count + put - gone;
        uint64_t own = vrt_get32(f.bytes.at + f.at[block] + 4);
        uint64_t got = record_bytes(copy, count, &r);
        assert_true(got == all - own || got == all); /* padding */
        assert_true(r.has_ended);
        check_import(&f, copy, count, true);
    }
    free(copy);
    free_file(&f);
}

TEST(a_capture_that_is_cut_off_has_every_block_before) {
    USE_STATE;
    struct file f = make_capture();
    struct vrt_reader r;
    uint64_t whole = 0;
    for (size_t n = f.at[0], block = 0; n < f.bytes.count; n++) {
        if (n == f.at[block + 1])
            whole += vrt_get32(f.bytes.at + f.at[block++] + 4);
        assert_bytes_equal(record_bytes(f.bytes.at, n, &r), whole);
        assert_true(r.damaged_at == VRT_UNKNOWN && r.lost_blocks == 0);
        check_import(&f, f.bytes.at, n, true);
    }
    free_file(&f);
}

/* A head may be of a block that is not there, again and again: the search is no longer than a walk or two. */
TEST(heads_without_blocks_cost_no_time) {
    USE_STATE;
    enum { HEADS = 40000 };
    struct file f = make_capture();
    struct vrt_crc crc;
    size_t count = f.at[1] + HEADS * (size_t)VRT_BLOCK_BYTES;
    uint8_t *bytes = malloc(count);
    struct vrt_reader r;
    vrt_crc_init(&crc);
    memcpy(bytes, f.bytes.at, f.at[1]);
    for (size_t at = f.at[1]; at < count; at += VRT_BLOCK_BYTES) {
        memcpy(bytes + at, f.bytes.at + f.at[1], VRT_BLOCK_BYTES);
        vrt_put32(bytes + at + 4, (uint32_t)(count - at - VRT_BLOCK_BYTES) / 8 * 8);
        vrt_put32(bytes + at + 44, vrt_crc_of(&crc, 0, bytes + at, 44));
    }
    (void)record_bytes(bytes, count, &r); /* the test's time limit */
    assert_int_equal(r.damaged_at, f.at[1]);
    free(bytes);
    free_file(&f);
}

SUITE(cmocka_unit_test(snapshots_lose_their_last_group_alone),
      cmocka_unit_test(profiles_that_begin_late_lose_their_last_group_alone),
      cmocka_unit_test(simulated_runs_lose_their_last_group_alone),
      cmocka_unit_test(a_capture_loses_the_damaged_block_alone),
      cmocka_unit_test(a_capture_is_found_again_wherever_it_goes_on),
      cmocka_unit_test(a_capture_that_is_cut_off_has_every_block_before),
      cmocka_unit_test(heads_without_blocks_cost_no_time))

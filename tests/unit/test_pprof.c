/* The importer of JAX' device memory profile: a state, by stack, device and kind. */
#include "import_text.h"

#include "counters.h"

/* A message is written field by field into a buffer. */
struct writer {
    uint8_t at[2048];
    size_t length;
};

static void put_number(struct writer *w, uint64_t value) {
    do {
        assert_true(w->length < sizeof w->at);
        w->at[w->length++] = (uint8_t)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
        value >>= 7;
    } while (value > 0);
}

static void put_field(struct writer *w, uint32_t number, uint64_t value) {
    put_number(w, number << 3);
    put_number(w, value);
}

static void put_bytes(struct writer *w, uint32_t number, const void *bytes, size_t length) {
    put_number(w, number << 3 | 2);
    put_number(w, length);
    assert_true(w->length + length <= sizeof w->at);
    memcpy(w->at + w->length, bytes, length);
    w->length += length;
}

static void put_message(struct writer *w, uint32_t number, const struct writer *inner) {
    put_bytes(w, number, inner->at, inner->length);
}

/* The strings, by their place in the table. */
enum {
    NONE,
    ALLOCATIONS,
    COUNT,
    SPACE,
    BYTES,
    KIND,
    BUFFER,
    EXECUTABLE,
    DEVICE,
    CUDA1,
    MAIN,
    FILE_PY
};
static const char *const strings[] = {"",       "allocations", "count",  "space",  "bytes", "kind",
                                      "buffer", "executable",  "device", "cuda:1", "main",  "a.py"};

static void put_type(struct writer *w, uint64_t type, uint64_t unit) {
    struct writer t = {.length = 0};
    put_field(&t, 1, type);
    put_field(&t, 2, unit);
    put_message(w, 1, &t);
}

static void put_label(struct writer *w, uint64_t key, uint64_t text) {
    struct writer l = {.length = 0};
    put_field(&l, 1, key);
    put_field(&l, 2, text);
    put_message(w, 3, &l);
}

static void put_sample(struct writer *w, uint64_t kind, uint64_t count, uint64_t bytes) {
    struct writer s = {.length = 0}, packed = {.length = 0};
    put_field(&s, 1, 77); /* a location, unpacked */
    put_number(&packed, count);
    put_number(&packed, bytes);
    put_message(&s, 2, &packed);
    put_label(&s, KIND, kind);
    put_label(&s, DEVICE, CUDA1);
    put_message(w, 2, &s);
}

static struct writer make(uint64_t bytes_type) {
    struct writer w = {.length = 0}, line = {.length = 0}, location = {.length = 0},
                  function = {.length = 0};
    put_type(&w, ALLOCATIONS, COUNT);
    put_type(&w, bytes_type, BYTES);
    put_sample(&w, BUFFER, 3, 3000);
    put_sample(&w, EXECUTABLE, 1, 500);
    put_field(&line, 1, 9);
    put_field(&line, 2, 42);
    put_field(&location, 1, 77);
    put_message(&location, 4, &line);
    put_message(&w, 4, &location);
    put_field(&function, 1, 9);
    put_field(&function, 2, MAIN);
    put_field(&function, 4, FILE_PY);
    put_message(&w, 5, &function);
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        put_bytes(&w, 6, strings[i], strlen(strings[i]));
    return w;
}

static bool import(const struct writer *w, struct imported *in, struct error *err) {
    *in = (struct imported){0};
    *err = (struct error){0};
    return trace_import_bytes("pprof", w->at, w->length, NULL, &in->tl, &in->facts, err);
}

TEST(samples_are_blocks_of_a_state_with_their_stack) {
    USE_STATE;
    struct writer w = make(SPACE);
    struct imported in;
    struct error err;
    assert_ok(import(&w, &in, &err), err);
    assert_ok(timeline_check(in.tl, &err), err);
    struct counters now;
    counters_start(in.tl, 1, &now);
    assert_bytes_equal(now.allocated, 3500);
    assert_false(in.tl->has & TIMELINE_HAS_HISTORY);
    assert_true(in.tl->has & TIMELINE_SUMS_BLOCKS);
    const struct timeline_block *b = &in.tl->blocks.at[0];
    assert_int_equal(in.tl->stacks.at[b->stack].count, 1);
    const struct timeline_frame *f = &in.tl->frames.at[in.tl->stacks.at[b->stack].first];
    assert_string_equal(timeline_text(in.tl, f->function), "main");
    assert_string_equal(timeline_text(in.tl, f->file), "a.py");
    assert_int_equal(f->line, 42);
    assert_bytes_equal(figure(&in, "devices", "1", "buffers"), 3);
    assert_bytes_equal(figure(&in, "devices", "1", "executables"), 1);
    imported_fini(&in);
}

TEST(a_profile_of_time_is_refused) {
    USE_STATE;
    struct writer w = make(MAIN);
    struct imported in;
    struct error err;
    assert_false(import(&w, &in, &err));
    assert_non_null(strstr(err.text, "save_device_memory_profile"));
}

TEST(every_byte_changed_or_cut_off_is_survived) {
    USE_STATE;
    const struct writer whole = make(SPACE);
    for (size_t i = 0; i < 2 * whole.length; i++) {
        struct writer w = whole;
        struct imported in;
        struct error err;
        if (i < whole.length)
            w.at[i] ^= 0xff;
        else
            w.length = i - whole.length;
        if (!import(&w, &in, &err))
            continue;
        assert_ok(timeline_check(in.tl, &err), err);
        imported_fini(&in);
    }
}

TEST(every_failing_allocation_is_handed_up) {
    USE_STATE;
    struct writer w = make(SPACE);
    struct failing_alloc f = {.fail_at = 1};
    for (bool done = false; !done; f.fail_at++) {
        struct imported in;
        struct error err;
        f.seen = 0;
        xalloc_set_hook(failing_alloc_hook, &f);
        done = import(&w, &in, &err);
        timeline_destroy(in.tl);
        trace_facts_fini(&in.facts);
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        assert_int_equal(err.code, done ? ERROR_NONE : ERROR_HOST_MEMORY);
    }
    assert_true(f.fail_at > 20);
}

SUITE(cmocka_unit_test(samples_are_blocks_of_a_state_with_their_stack),
      cmocka_unit_test(a_profile_of_time_is_refused),
      cmocka_unit_test(every_byte_changed_or_cut_off_is_survived),
      cmocka_unit_test(every_failing_allocation_is_handed_up))

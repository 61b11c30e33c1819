/* A window and its files, under SDL's dummy driver: read beside it, again, others, what grows. */
#include "suite.h"

#include <SDL.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app.h"
#include "file.h"
#include "sdl_window.h"
#include "session.h"
#include "view_options.h"
#include "viz_fixture.h"
#include "vrt_format.h"
#include "vrt_write.h"
#include "xalloc.h"

/* A scenario of so many tensors: read again it is another run. */
static void write_scenario(const char *path, int tensors) {
    char text[400];
    struct error err = {0};
    snprintf(text, sizeof text,
             "local t = {}\nfor i = 1, %d do t[i] = torch.empty({ 1024, 1024 }) end\n", tensors);
    assert_ok(file_write(path, text, strlen(text), &err), err);
}

/* Longer than anyone waits; the limit of instructions ends it if nothing else does. */
static const char endless[] = "local t = {}\nfor i = 1, 1e15 do t[i % 7] = i end\n";

struct test {
    char folder[64], a[96], b[96];
    struct view_options options;
    struct session *session;
};

static void test_start(struct test *t) {
    memset(t, 0, sizeof *t);
    snprintf(t->folder, sizeof t->folder, "/tmp/vramsim-session-XXXXXX");
    assert_non_null(mkdtemp(t->folder));
    snprintf(t->a, sizeof t->a, "%s/a.lua", t->folder);
    snprintf(t->b, sizeof t->b, "%s/b.lua", t->folder);
    SDL_setenv("SDL_VIDEODRIVER", "dummy", 1);
    t->options.files[0] = t->a;
    t->options.file_count = 1;
    t->options.app = (struct app_options){.width = 640, .height = 400, .embedded_font = true};
    t->options.source.sets = t->options.sets;
}

static void test_end(struct test *t) {
    session_destroy(t->session);
    unlink(t->a);
    unlink(t->b);
    rmdir(t->folder);
}

static void open_session(struct test *t) {
    struct error err = {0};
    t->session = session_create(&t->options, NULL, &err);
    if (!t->session)
        fail_msg("%s", err.text);
    assert_ok(session_load(t->session, &err), err);
}

static uint64_t value(struct test *t, const char *name) {
    uint64_t v = 0;
    assert_true(app_query(session_app(t->session), name, &v));
    return v;
}

static void step(struct test *t) {
    struct error err = {0};
    assert_ok(session_step(t->session, 5, &err), err);
}

static void until_loaded(struct test *t) {
    for (int i = 0; session_is_loading(t->session); i++) {
        step(t);
        assert_true(i < 4000);
    }
}

static void press(SDL_Keycode sym) {
    SDL_Event e = {.key = {.type = SDL_KEYDOWN, .state = SDL_PRESSED}};
    e.key.keysym.sym = sym;
    SDL_PushEvent(&e);
}

static void drop(const char *path) {
    SDL_Event e = {.drop = {.type = SDL_DROPFILE, .file = SDL_strdup(path)}};
    SDL_PushEvent(&e);
}

TEST(a_file_is_read_and_read_again_in_its_place) {
    USE_STATE;
    struct test t;
    test_start(&t);
    write_scenario(t.a, 20);
    open_session(&t);
    uint64_t events = value(&t, "events");
    assert_true(events > 20);
    press(SDLK_t);
    press(SDLK_COMMA);
    for (int i = 0; i < 4; i++)
        press(SDLK_w);
    step(&t);
    uint64_t moment = value(&t, "cursor.moment"), first = value(&t, "view.first");
    assert_int_equal(value(&t, "theme"), 1);
    assert_int_equal(moment, events - 1);
    press(SDLK_F5);
    step(&t);
    until_loaded(&t);
    step(&t);
    assert_int_equal(value(&t, "events"), events);
    assert_int_equal(value(&t, "cursor.moment"), moment);
    assert_int_equal(value(&t, "view.first"), first);
    assert_int_equal(value(&t, "theme"), 1);
    assert_int_equal(value(&t, "notice"), NOTICE_NONE);
    test_end(&t);
}

TEST(a_dropped_file_takes_its_place_unless_it_cannot_be_read) {
    USE_STATE;
    struct test t;
    struct error err = {0};
    test_start(&t);
    write_scenario(t.a, 20);
    write_scenario(t.b, 300);
    open_session(&t);
    uint64_t events = value(&t, "events");
    drop(t.b);
    step(&t);
    until_loaded(&t);
    assert_true(value(&t, "events") > events + 200);
    events = value(&t, "events");
    assert_ok(file_write(t.a, "local t = {", 11, &err), err);
    drop(t.a);
    step(&t);
    until_loaded(&t);
    assert_int_equal(value(&t, "notice"), NOTICE_FAILED);
    assert_int_equal(value(&t, "events"), events);
    press(SDLK_ESCAPE);
    step(&t);
    assert_int_equal(value(&t, "notice"), NOTICE_NONE);
    drop(t.b); /* both */
    drop(t.b);
    drop(t.b);
    step(&t);
    until_loaded(&t);
    assert_true(value(&t, "overlay.peak") > 0);
    test_end(&t);
}

TEST(escape_cancels_a_reading) {
    USE_STATE;
    struct test t;
    struct error err = {0};
    test_start(&t);
    assert_ok(file_write(t.a, endless, strlen(endless), &err), err);
    t.session = session_create(&t.options, NULL, &err);
    assert_non_null(t.session);
    step(&t);
    assert_true(session_is_loading(t.session));
    assert_int_equal(value(&t, "notice"), NOTICE_READING);
    assert_int_equal(value(&t, "events"), 0);
    press(SDLK_ESCAPE);
    until_loaded(&t);
    assert_int_equal(value(&t, "notice"), NOTICE_CANCELLED);
    write_scenario(t.a, 5);
    press(SDLK_F5);
    step(&t);
    until_loaded(&t);
    assert_true(value(&t, "events") > 5);
    assert_ok(file_write(t.a, endless, strlen(endless), &err), err);
    press(SDLK_F5);
    step(&t);
    test_end(&t); /* while it reads */
}

TEST(a_file_that_changes_is_followed) {
    USE_STATE;
    struct test t;
    test_start(&t);
    write_scenario(t.a, 20);
    open_session(&t);
    uint64_t events = value(&t, "events");
    write_scenario(t.a, 500);
    for (int i = 0; value(&t, "events") == events; i++) {
        step(&t);
        assert_true(i < 2000);
    }
    assert_true(value(&t, "events") > events + 400);
    assert_int_equal(value(&t, "cursor.moment"), value(&t, "events")); /* it was at the end */
    struct error err = {0};
    events = value(&t, "events");
    assert_ok(file_write(t.a, "local t = {", 11, &err), err); /* half written: nothing is said */
    for (int i = 0; i < 300; i++)
        step(&t);
    assert_int_equal(value(&t, "events"), events);
    assert_int_equal(value(&t, "notice"), NOTICE_NONE);
    test_end(&t);
}

static bool append(void *user, const void *bytes, size_t count, struct error *err) {
    (void)err;
    return fwrite(bytes, 1, count, user) == count && fflush(user) == 0;
}

static void grow(struct fixture *f, struct vrt_writer *writer, int blocks) {
    struct error err = {0};
    for (int i = 0; i < blocks; i++) {
        f->time_ns += 1000;
        fixture_alloc(f, 1 << 20, CATEGORY_ACTIVATION, "model", "aten::mm");
    }
    assert_ok(vrt_writer_add(writer, f->tl, &err), err);
}

/* What is whole of it is shown, though it changes between any two looks at it. */
TEST(a_recording_that_is_being_written_is_followed) {
    USE_STATE;
    struct test t;
    struct error err = {0};
    test_start(&t);
    snprintf(t.a, sizeof t.a, "%s/a.vrt", t.folder);
    struct fixture f = fixture_start("recorded");
    struct vrt_out out = {.write = append, .user = fopen(t.a, "wb")};
    struct vrt_header header = {.producer = VRT_CAPTURE};
    struct vrt_writer writer;
    assert_non_null(out.user);
    assert_ok(vrt_writer_begin(&writer, &out, &header, false, &err), err);
    grow(&f, &writer, 50);
    open_session(&t);
    uint64_t events = value(&t, "events");
    assert_true(events >= 50);
    for (int i = 0; value(&t, "events") < events + 200; i++) {
        grow(&f, &writer, 3);
        step(&t);
        assert_true(i < 4000);
    }
    assert_int_equal(value(&t, "cursor.moment"), value(&t, "events")); /* it was at the end */
    assert_ok(vrt_writer_end(&writer, f.tl, &err), err);
    vrt_writer_fini(&writer);
    fclose(out.user);
    for (int i = 0; value(&t, "events") < f.tl->events.count; i++) {
        step(&t);
        assert_true(i < 4000);
    }
    timeline_destroy(f.tl);
    test_end(&t);
}

static long long size_of(const char *path) {
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    return (long long)s.st_size;
}

/* Whatever was there before is neither read nor decoded again: 40 looks at a file that grows by a fortieth read
 * little more than the file. What was chosen stays chosen. */
TEST(only_what_is_new_of_a_growing_recording_is_read) {
    USE_STATE;
    struct test t;
    struct error err = {0};
    test_start(&t);
    snprintf(t.a, sizeof t.a, "%s/a.vrt", t.folder);
    struct fixture f = fixture_start("recorded");
    struct vrt_out out = {.write = append, .user = fopen(t.a, "wb")};
    struct vrt_header header = {.producer = VRT_CAPTURE};
    struct vrt_writer writer;
    assert_non_null(out.user);
    assert_ok(vrt_writer_begin(&writer, &out, &header, false, &err), err);
    grow(&f, &writer, 2000);
    open_session(&t);
    press(SDLK_RETURN); /* pins the block of the event at the cursor */
    for (int i = 0; i < 6; i++)
        press(SDLK_w);
    press(SDLK_a);
    press(SDLK_COMMA);
    step(&t);
    uint64_t pin = value(&t, "pin"), first = value(&t, "view.first"), looks = 0;
    uint64_t moment = value(&t, "cursor.moment");
    assert_true(pin < 2000 && first > 0);
    for (int i = 0; looks < 12; i++) {
        uint64_t events = value(&t, "events");
        if (!session_is_loading(t.session))
            grow(&f, &writer, 100);
        for (int k = 0; k < 100 && value(&t, "events") == events; k++)
            step(&t);
        looks += value(&t, "events") > events;
        assert_true(i < 400);
    }
    until_loaded(&t);
    uint64_t read = session_bytes_followed(t.session);
    assert_in_range(read, size_of(t.a) / 2, size_of(t.a) + size_of(t.a) / 4);
    assert_int_equal(value(&t, "pin"), pin);
    assert_int_equal(value(&t, "view.first"), first);
    assert_int_equal(value(&t, "cursor.moment"), moment);
    assert_ok(vrt_writer_end(&writer, f.tl, &err), err);
    vrt_writer_fini(&writer);
    fclose(out.user);
    /* the end is read: nothing more is expected */
    for (int i = 0; session_bytes_followed(t.session) > 0 || session_is_loading(t.session); i++) {
        step(&t);
        assert_true(i < 4000);
    }
    assert_int_equal(value(&t, "events"), f.tl->events.count);
    timeline_destroy(f.tl);
    test_end(&t);
}

/* A window may be opened before anything has happened. */
TEST(a_recording_that_has_only_begun_is_waited_for) {
    USE_STATE;
    struct test t;
    struct error err = {0};
    test_start(&t);
    snprintf(t.a, sizeof t.a, "%s/a.vrt", t.folder);
    struct fixture f = fixture_start("recorded");
    struct vrt_out out = {.write = append, .user = fopen(t.a, "wb")};
    struct vrt_header header = {.producer = VRT_CAPTURE};
    struct vrt_writer writer;
    assert_non_null(out.user);
    assert_ok(vrt_writer_begin(&writer, &out, &header, false, &err), err);
    open_session(&t);
    assert_int_equal(value(&t, "events"), 0);
    grow(&f, &writer, 30);
    for (int i = 0; value(&t, "events") < 30; i++) {
        step(&t);
        assert_true(i < 4000);
    }
    assert_int_equal(value(&t, "cursor.moment"), value(&t, "events"));
    vrt_writer_fini(&writer);
    fclose(out.user);
    timeline_destroy(f.tl);
    test_end(&t);
}

TEST(what_cannot_be_read_at_first_opens_no_window) {
    USE_STATE;
    struct test t;
    struct error err = {0};
    test_start(&t);
    t.session = session_create(&t.options, NULL, &err);
    assert_null(t.session);
    assert_true(err.code == ERROR_BAD_SCENARIO || err.code == ERROR_IO_READ);
    test_end(&t);
}

SUITE(cmocka_unit_test(a_file_is_read_and_read_again_in_its_place),
      cmocka_unit_test(a_dropped_file_takes_its_place_unless_it_cannot_be_read),
      cmocka_unit_test(escape_cancels_a_reading), cmocka_unit_test(a_file_that_changes_is_followed),
      cmocka_unit_test(a_recording_that_is_being_written_is_followed),
      cmocka_unit_test(only_what_is_new_of_a_growing_recording_is_read),
      cmocka_unit_test(a_recording_that_has_only_begun_is_waited_for),
      cmocka_unit_test(what_cannot_be_read_at_first_opens_no_window))

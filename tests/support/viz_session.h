/* viz_session.h: the application without a window, driven by the commands of script.h; its panes one by
 * one as draw_dump text. */
#ifndef VIZ_SESSION_H
#define VIZ_SESSION_H

#include "suite.h"

#include "app_state.h"
#include "golden.h"
#include "text.h"
#include "viz_play.h"

struct session {
    struct app *app;
};

static inline struct session session_open(const struct app_options *options,
                                          const struct timeline *a, const struct timeline *b) {
    struct error err = {0};
    struct app_options own = *options;
    own.embedded_font = true;
    struct session s = {app_create(&own, a, b, &err)};
    if (!s.app)
        fail_msg("%s", err.text);
    return s;
}

static inline void session_close(struct session *s) {
    app_destroy(s->app);
}

static inline uint64_t session_value(struct session *s, const char *name) {
    uint64_t v = 0;
    if (!app_query(s->app, name, &v))
        fail_msg("%s: no such value", name);
    return v;
}

static inline void session_play(struct session *s, const char *commands) {
    viz_play(s->app, commands);
}

static inline void session_frame(struct session *s) {
    struct draw_list list = {0};
    struct error err = {0};
    assert_ok(app_frame(s->app, &list, &err), err);
    draw_fini(&list);
}

/* One pane's part of the frame, with a file in tests/viz/golden. */
static inline void session_golden(struct session *s, const struct pane_ops *pane,
                                  const char *name) {
    struct draw_list list = {0};
    struct text out = {0};
    char path[256];
    draw_start(&list, s->app->width, s->app->height);
    pane->draw(s->app, &list);
    assert_false(list.failed);
    draw_dump(&list, &out);
    assert_false(out.failed);
    snprintf(path, sizeof path, "tests/viz/golden/%s", name);
    assert_golden(text_get(&out), path);
    text_fini(&out);
    draw_fini(&list);
}

/* The open table as CSV; the caller frees the text. */
static inline struct text session_table(struct session *s) {
    struct text out = {0};
    app_export(s->app, &out);
    assert_false(out.failed);
    return out;
}

#endif

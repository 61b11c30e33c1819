/* replay_fixture.h: replays of small timelines, for tests: run, checked and held with what they were made of. */
#ifndef REPLAY_FIXTURE_H
#define REPLAY_FIXTURE_H

#include "suite.h"

#include <string.h>

#include "framework.h"
#include "importer.h"
#include "replay.h"
#include "tl_build.h"

/* A replay that must come to a result, and what it was made of. */
struct outcome {
    struct timeline *real;
    struct replay_result result;
    const struct replay_device_result *device; /* the first */
};

static inline struct outcome replay_timeline(struct timeline *real,
                                             const struct replay_config *config) {
    struct outcome o = {.real = real};
    struct error err = {0};
    assert_ok(replay_run(real, config, &o.result, &err), err);
    assert_ok(timeline_check(o.result.timeline, &err), err);
    assert_true(o.result.devices.count > 0);
    o.device = &o.result.devices.at[0];
    return o;
}

static inline struct outcome reproduce(const char *text) {
    static const struct replay_config config = {.reproduce = true};
    return replay_timeline(tl_build(text), &config);
}

static inline void end(struct outcome *o) {
    replay_result_fini(&o->result);
    timeline_destroy(o->real);
}

static inline void check_equal(struct outcome *o) {
    if (!o->result.equal)
        fail_msg("event %u: the trace says %s, the model %s", o->device->first.event,
                 o->device->first.recorded, o->device->first.model);
}

static inline void reproduces(const char *text) {
    struct outcome o = reproduce(text);
    check_equal(&o);
    end(&o);
}

static inline void refuses(struct timeline *tl, const struct replay_config *config,
                           const char *why) {
    struct replay_result result;
    struct error err = {0};
    assert_false(replay_run(tl, config, &result, &err));
    if (!strstr(err.text, why))
        fail_msg("'%s' is not in '%s'", why, err.text);
    timeline_destroy(tl);
}

static inline struct timeline *load(const char *name) {
    char path[1024];
    struct timeline *tl = NULL;
    struct error err = {0};
    snprintf(path, sizeof path, "%s/traces/%s.pickle.zst", TEST_DATA, name);
    assert_ok(trace_import(path, NULL, &tl, NULL, &err), err);
    return tl;
}

static inline struct alloc_settings settings(const char *text) {
    struct alloc_settings s;
    struct error err = {0};
    assert_ok(alloc_settings_parse(text, framework_row(0), &s, &err), err);
    return s;
}

#endif

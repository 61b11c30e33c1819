/* scenario_run.h: runs a scenario file on a tape with a log as its sink. */
#ifndef SCENARIO_RUN_H
#define SCENARIO_RUN_H

#include "device.h"
#include "framework.h"
#include "log_sink.h"
#include "scenario.h"

struct scenario_case {
    struct log_sink sink;
    struct tape tape;
    struct scenario_info info;
    struct error error;
    struct device device;
    bool ok, ran;
};

/* `options` may be NULL. False: the run failed; c->error says how. The caller ends with
 * scenario_case_fini. */
static inline bool scenario_case_run(struct scenario_case *c, const char *path,
                                     const struct scenario_options *options) {
    static const struct scenario_options plain = {.max_instructions = 0};
    struct scenario_options o = options ? *options : plain;
    const struct tape_sink sink = log_sink_of(&c->sink);
    if (!o.library_dir)
        o.library_dir = SOURCE_DIR "/scenarios/lib";
    c->ran =
        device_parse("A100-80GB", &c->device, &c->error) &&
        (tape_init(&c->tape, &sink, framework_row(0), &c->device) || error_host_memory(&c->error));
    c->ok = c->ran && scenario_run(path, &o, &c->tape, &c->info, &c->error);
    return c->ok;
}

static inline void scenario_case_fini(struct scenario_case *c) {
    if (c->device.multiprocessors > 0)
        tape_fini(&c->tape);
    scenario_info_fini(&c->info);
    log_sink_fini(&c->sink);
}

/* A message without the folders of this machine (SOURCE_DIR/ is cut out) and without the library's
 * line numbers, which change: scenarios/lib/nn.lua:LINE. */
static inline void scenario_case_relative(char *text) {
    static const char root[] = SOURCE_DIR "/", library[] = "scenarios/lib/";
    for (char *at = strstr(text, root); at; at = strstr(at, root))
        memmove(at, at + sizeof root - 1, strlen(at + sizeof root - 1) + 1);
    for (char *at = strstr(text, library); at; at = strstr(at + 1, library)) {
        char *colon = at + strcspn(at, ": ");
        size_t digits = *colon == ':' ? strspn(colon + 1, "0123456789") : 0;
        if (digits < 1 || strlen(text) + 4 >= sizeof((struct error *)0)->text)
            continue;
        memmove(colon + 5, colon + 1 + digits, strlen(colon + 1 + digits) + 1);
        memcpy(colon + 1, "LINE", 4);
    }
}

#endif

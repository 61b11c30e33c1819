/* viz_play.h: the commands of script.h, played to an application. */
#ifndef VIZ_PLAY_H
#define VIZ_PLAY_H

#include "suite.h"

#include "app.h"
#include "script.h"
#include "text.h"

/* False: a command failed; `err` says which and why. */
static inline bool viz_try(struct app *app, const char *commands, struct error *err) {
    struct script script;
    struct text out = {0};
    bool good = true;
    script_start(&script, "test", commands);
    while (good && !script_is_done(&script))
        good = script_step(&script, app, &out, err);
    text_fini(&out);
    return good;
}

static inline void viz_play(struct app *app, const char *commands) {
    struct error err = {0};
    if (!viz_try(app, commands, &err))
        fail_msg("%s", err.text);
}

#endif

/* loader.c: see loader.h. */
#include "loader.h"

#include <pthread.h> /* not <threads.h>, which gcc's thread sanitizer does not know */
#include <stdatomic.h>
#include <string.h>

#include "again.h"
#include "app.h"
#include "error.h"
#include "place.h"
#include "state.h"
#include "text.h"
#include "timeline.h"
#include "view_options.h"
#include "vrt_tail.h"
#include "what_if.h"
#include "xalloc.h"

struct loader {
    const struct view_options *options;
    const struct timeline *behind;
    const struct loaded *kept;
    char **sets; /* NULL: the options' */
    size_t set_count;
    char *named;
    char *files[VIEW_FILES_MAX];
    int file_count;
    bool replay;
    struct vrt_tail **tails;
    bool grown[VIEW_FILES_MAX];
    pthread_t thread;
    /* shared with the thread while it runs */
    atomic_bool finished, cancelled;
    atomic_ullong done, total;
    volatile sig_atomic_t interrupted; /* what scenarios look at, set as a signal handler does */
    /* the thread's until it has finished */
    int file; /* being read */
    bool good;
    struct loaded loaded;
    struct error err;
};

/* Each file is an equal part of the whole. */
static bool on_progress(void *user, uint64_t bytes_done, uint64_t bytes_total) {
    struct loader *l = user;
    double share = bytes_total > 0 ? (double)bytes_done / (double)bytes_total : 0;
    share = (l->file + (share < 1 ? share : 1)) / l->file_count;
    atomic_store(&l->done, (unsigned long long)(share * 1000));
    atomic_store(&l->total, 1000);
    return !atomic_load(&l->cancelled);
}

/* As `vramsim replay` does it: the card alone is the change, beside other settings it is of both. */
static bool read_replay(struct loader *l, struct source_options *options, struct error *err) {
    const struct what_if change = {.settings = options->alloc_settings,
                                   .allocator = options->allocator,
                                   .device = options->device};
    struct source_options base_options = *options;
    struct source_result base;
    struct replay_result result;
    if (!change.settings && !change.allocator)
        base_options.device = NULL;
    if (!what_if_base(l->files[0], &base_options, &base, err))
        return false;
    bool ok = what_if_run(l->files[0], options, &base, &change, &result, err);
    if (ok) {
        l->loaded.timelines[0] = base.timeline;
        l->loaded.timelines[1] = result.timeline;
        base.timeline = result.timeline = NULL;
        replay_result_fini(&result);
    }
    source_result_fini(&base);
    return ok;
}

/* What has grown, from where it was read up to. What cannot be read so is read as ever, which says why. */
static bool read_on(struct loader *l, int file, const struct source_options *options) {
    struct error ignored = {0};
    struct vrt_tail **tail = l->tails ? &l->tails[file] : NULL;
    if (!tail || !l->grown[file])
        return false;
    if (!*tail)
        *tail = vrt_tail_open(l->files[file], options->max_memory_bytes, &ignored);
    if (*tail)
        l->loaded.timelines[file] = vrt_tail_read(*tail, on_progress, l, &ignored);
    if (l->loaded.timelines[file])
        return true;
    vrt_tail_close(*tail);
    *tail = NULL;
    return false;
}

/* A recording that has not come to its first events is an empty one to somebody who watches it. */
static bool has_only_begun(struct loader *l, int file, const struct source_options *options,
                           struct error *err) {
    struct error ignored = {0};
    bool watched = l->tails && err->code == ERROR_BAD_INPUT;
    struct vrt_tail *tail =
        watched ? vrt_tail_open(l->files[file], options->max_memory_bytes, &ignored) : NULL;
    struct timeline *tl = tail ? vrt_tail_read(tail, on_progress, l, &ignored) : NULL;
    bool empty = tl && !vrt_tail_has_ended(tail) && tl->events.count == 0 && tl->blocks.count == 0;
    vrt_tail_close(tail);
    if (!empty) {
        timeline_destroy(tl);
        return false;
    }
    l->loaded.timelines[file] = tl;
    *err = (struct error){0};
    return true;
}

static bool read_trace(struct loader *l, int file, const struct source_options *options,
                       struct error *err) {
    return read_on(l, file, options) ||
           source_open(l->files[file], options, &l->loaded.timelines[file], err) ||
           has_only_begun(l, file, options, err);
}

/* A scenario keeps its parameters; of a trace only the timeline is wanted. */
static bool read_first(struct loader *l, const struct source_options *options, struct error *err) {
    struct source_result result;
    if (!source_is_scenario(l->files[0]))
        return read_trace(l, 0, options, err);
    if (!source_run(l->files[0], options, &result, err))
        return false;
    l->loaded.timelines[0] = result.timeline;
    l->loaded.info = result.info;
    result.timeline = NULL;
    memset(&result.info, 0, sizeof result.info);
    source_result_fini(&result);
    return true;
}

static bool name_first(struct loader *l, struct error *err) {
    struct timeline *tl = l->loaded.timelines[0];
    struct text title = {0};
    if (!l->named)
        return true;
    text_format(&title, "%s%s", timeline_text(tl, tl->title), l->named);
    uint32_t named = title.failed ? 0 : timeline_string(tl, text_get(&title));
    text_fini(&title);
    tl->title = named ? named : tl->title;
    return named != 0 || error_host_memory(err);
}

static bool read_files(struct loader *l, struct error *err) {
    struct source_options options = l->options->source;
    options.progress = on_progress;
    options.user = l;
    options.interrupted = &l->interrupted;
    if (l->sets) {
        options.sets = (const char *const *)l->sets;
        options.set_count = l->set_count;
    }
    if (l->replay)
        return read_replay(l, &options, err);
    if (!read_first(l, &options, err) || !name_first(l, err))
        return false;
    for (l->file = 1; l->file < l->file_count; l->file++)
        if (!read_trace(l, l->file, &options, err))
            return false;
    return true;
}

/* All files, those that are kept among them. */
static bool set_rows(struct loader *l, struct error *err) {
    const struct timeline *all[VIEW_FILES_MAX];
    for (int i = 0; i < l->loaded.count; i++)
        all[i] = i > 0 && l->kept ? l->kept->timelines[i] : l->loaded.timelines[i];
    return l->loaded.count < 3 || app_set_rows(l->loaded.app, all, (size_t)l->loaded.count, err);
}

static bool has_grown(const struct loader *l) {
    for (int i = 0; i < l->file_count; i++)
        if (l->grown[i])
            return true;
    return false;
}

/* What grows is shown again and again: its indexes are built here, not beside each picture. */
static bool make_app(struct loader *l, struct error *err) {
    const struct timeline *second = l->behind ? l->behind : l->loaded.timelines[1];
    l->loaded.count = l->kept ? l->kept->count : l->replay ? 2 : l->file_count;
    l->loaded.second = 1;
    l->loaded.app = app_create(&l->options->app, l->loaded.timelines[0], second, err);
    if (l->loaded.app && has_grown(l))
        app_build(l->loaded.app);
    return l->loaded.app && (again_tell(&l->loaded) || error_host_memory(err)) && set_rows(l, err);
}

static void *run(void *user) {
    struct loader *l = user;
    l->good = read_files(l, &l->err) && make_app(l, &l->err);
    atomic_store(&l->finished, true);
    return NULL;
}

static void destroy(struct loader *l) {
    loaded_fini(&l->loaded);
    for (int i = 0; i < VIEW_FILES_MAX; i++)
        xfree(l->files[i]);
    for (size_t i = 0; l->sets && i < l->set_count; i++)
        xfree(l->sets[i]);
    xfree(l->sets);
    xfree(l->named);
    xfree(l);
}

static bool copy_texts(struct loader *l, const struct load *what) {
    for (int i = 0; i < what->file_count; i++)
        if (!(l->files[i] = xstrdup(what->files[i])))
            return false;
    if (what->named && !(l->named = xstrdup(what->named)))
        return false;
    if (!what->sets)
        return true;
    l->sets = xcalloc(what->set_count + 1, sizeof *l->sets);
    if (!l->sets)
        return false;
    for (; l->set_count < what->set_count; l->set_count++)
        if (!(l->sets[l->set_count] = xstrdup(what->sets[l->set_count])))
            return false;
    return true;
}

struct loader *loader_start(const struct load *what, struct error *err) {
    struct loader *l = xcalloc(1, sizeof *l);
    if (!l) {
        error_host_memory(err);
        return NULL;
    }
    l->options = what->options;
    l->behind = what->behind;
    l->kept = what->kept;
    l->file_count = what->file_count;
    l->replay = what->replay;
    l->tails = what->tails;
    memcpy(l->grown, what->grown, sizeof l->grown);
    if (copy_texts(l, what) && pthread_create(&l->thread, NULL, run, l) == 0)
        return l;
    error_host_memory(err);
    destroy(l);
    return NULL;
}

bool loader_progress(struct loader *l, uint64_t *done, uint64_t *total) {
    *done = atomic_load(&l->done);
    *total = atomic_load(&l->total);
    return atomic_load(&l->finished);
}

void loader_cancel(struct loader *l) {
    atomic_store(&l->cancelled, true);
    l->interrupted = 1;
}

bool loader_take(struct loader *l, struct loaded *out, struct error *err) {
    pthread_join(l->thread, NULL);
    bool good = l->good;
    if (good)
        *out = l->loaded;
    else
        *err = l->err;
    if (good)
        memset(&l->loaded, 0, sizeof l->loaded);
    destroy(l);
    return good;
}

bool loaded_start(struct loaded *loaded, const struct view_options *o, struct error *err) {
    uint32_t moment;
    if (o->at) {
        uint8_t device = timeline_main_device(loaded->timelines[0]);
        if (!place_find(loaded->timelines[0], loaded->timelines[1], device, o->at, &moment, err))
            return error_wrap(err, "--at %s", o->at);
        app_go_to(loaded->app, moment);
    }
    return !o->state || state_apply(loaded->app, o->state, err);
}

void loaded_fini(struct loaded *loaded) {
    app_destroy(loaded->app);
    scenario_info_fini(&loaded->info);
    for (int i = 0; i < VIEW_FILES_MAX; i++)
        timeline_destroy(loaded->timelines[i]);
    timeline_destroy(loaded->base);
    memset(loaded, 0, sizeof *loaded);
}

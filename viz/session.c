/* session.c: see session.h. */
#include "session.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "again.h"
#include "app.h"
#include "error.h"
#include "file.h"
#include "loader.h"
#include "sdl_window.h"
#include "timeline.h"
#include "view_options.h"
#include "vrt_tail.h"
#include "xalloc.h"

enum {
    LOOK_MS = 400,     /* between two looks at the files */
    PROGRESS_MS = 30,  /* between two at the progress */
    PATIENCE_MS = 120, /* for a file so small that no progress need be shown */
    /* a file that goes on changing is read all the same, so often that reading takes a quarter of the
     * time at most */
    GROWING_MS = 400,
    GROWING_PART = 4,
    PREPARE_MS = 300 /* for what would be seen to come in, before a run that has grown is shown */
};

/* What a file looks like from outside. */
struct stamp {
    long long size, seconds;
    long nanoseconds;
    unsigned long long inode;
};

struct files {
    char *path[VIEW_FILES_MAX];
    int count;
    bool replay;
};

struct session {
    const struct view_options *options;
    struct session_hooks hooks;
    struct window *window;
    struct loaded shown;
    struct files files; /* of what is shown, or of the attempt that failed */
    bool has_run;       /* something has been read */
    struct loader *loader;
    bool same, quiet; /* what it reads: the same files again, and unasked */
    bool again;       /* or another run of the first */
    struct stamp read[VIEW_FILES_MAX], seen[VIEW_FILES_MAX];
    struct vrt_tail *tails[VIEW_FILES_MAX]; /* the loader's while there is one */
    bool grown;         /* what it reads are files that have grown, and no more */
    struct loaded next; /* such a run, before it is shown; no app: none */
    uint64_t next_ms;   /* since when */
    uint64_t looked_ms, started_ms, took_ms; /* the latter two: of the last reading */
};

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void files_fini(struct files *files) {
    for (int i = 0; i < VIEW_FILES_MAX; i++)
        xfree(files->path[i]);
    memset(files, 0, sizeof *files);
}

static bool files_copy(struct files *files, const char *const *paths, int count, bool replay) {
    memset(files, 0, sizeof *files);
    files->replay = replay;
    for (; files->count < count; files->count++)
        if (!(files->path[files->count] = xstrdup(paths[files->count]))) {
            files_fini(files);
            return false;
        }
    return true;
}

/* Missing, or no regular file (nothing to follow): all zero. */
static struct stamp stamp_of(const char *path) {
    struct stat s;
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode))
        return (struct stamp){0};
    return (struct stamp){(long long)s.st_size, (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec,
                          (unsigned long long)s.st_ino};
}

static bool same_stamp(const struct stamp *a, const struct stamp *b) {
    return a->size == b->size && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds &&
           a->inode == b->inode;
}

/* Of what was read: written on, for all that can be seen from outside. */
static bool has_grown(const struct stamp *read, const struct stamp *now) {
    return read->inode == now->inode && read->size > 0 && now->size >= read->size;
}

static void tell(struct session *s, enum app_notice_kind kind, const char *text) {
    struct app_notice notice = {.kind = kind};
    snprintf(notice.text, sizeof notice.text, "%.255s", text);
    if (kind == NOTICE_READING)
        loader_progress(s->loader, &notice.done, &notice.total);
    app_set_notice(s->shown.app, &notice);
}

/* What is still being read, or was read and is not shown yet, is given up. */
static void give_up(struct session *s) {
    struct loaded dropped = {0};
    struct error ignored = {0};
    loaded_fini(&s->next);
    if (!s->loader)
        return;
    loader_cancel(s->loader);
    if (loader_take(s->loader, &dropped, &ignored))
        loaded_fini(&dropped);
    s->loader = NULL;
}

/* Files of which one was followed by another are followed no more. */
static void forget_tails(struct session *s, const bool *kept) {
    for (int i = 0; i < VIEW_FILES_MAX; i++)
        if (!kept || !kept[i]) {
            vrt_tail_close(s->tails[i]);
            s->tails[i] = NULL;
        }
}

/* Which of the files may be read on from where they were read up to; a replay reads them otherwise. */
static void look_for_growth(struct session *s, bool quiet, struct load *what) {
    s->grown = quiet && !s->files.replay;
    for (int i = 0; i < s->files.count; i++) {
        struct stamp now = stamp_of(s->files.path[i]);
        what->grown[i] = quiet && !s->files.replay && has_grown(&s->read[i], &now);
        s->grown = s->grown && (what->grown[i] || same_stamp(&s->read[i], &now));
        s->read[i] = s->seen[i] = now;
    }
    forget_tails(s, what->grown);
    what->tails = s->tails;
}

/* Reads session->files. */
static bool start(struct session *s, bool same, bool quiet, struct error *err) {
    give_up(s);
    s->started_ms = now_ms();
    s->same = same;
    s->quiet = quiet;
    s->again = false;
    struct load what = {.options = s->options,
                        .files = (const char *const *)s->files.path,
                        .file_count = s->files.count,
                        .replay = s->files.replay};
    look_for_growth(s, same && quiet, &what);
    s->loader = loader_start(&what, err);
    return s->loader != NULL;
}

static void start_or_tell(struct session *s, bool same, bool quiet) {
    struct error err = {0};
    if (!start(s, same, quiet, &err))
        tell(s, NOTICE_FAILED, err.text);
}

static bool look_at_loader(struct session *s, struct error *err);

/* Mostly done before anybody notices. A script goes on when it is. */
static void run_again(struct session *s) {
    struct error err = {0};
    const struct timespec nap = {0, 2000000};
    uint64_t done, total, end_ms = now_ms() + PATIENCE_MS;
    give_up(s);
    s->loader = again_start(&s->shown, s->files.path[0], s->options, &err);
    if (!s->loader) {
        app_run_failed(s->shown.app, err.text);
        return;
    }
    s->again = s->same = true;
    s->quiet = false;
    while (!loader_progress(s->loader, &done, &total)) {
        if (!s->options->script && now_ms() > end_ms)
            return;
        nanosleep(&nap, NULL);
    }
    look_at_loader(s, &err);
}

static void take(void *user, struct app *app) {
    struct session *s = user;
    if (s->window)
        window_set_app(s->window, app);
}

static void choose_rows(struct session *s) {
    struct error err = {0};
    give_up(s);
    if (!again_choose(&s->shown, s->options, take, s, &err))
        tell(s, NOTICE_FAILED, err.text);
}

static void on_request(void *user, enum app_request request) {
    struct session *s = user;
    if (request == APP_RUN_AGAIN)
        run_again(s);
    else if (request == APP_SHOW_ROWS)
        choose_rows(s);
    else if (request == APP_RELOAD)
        start_or_tell(s, true, false);
    else if (request == APP_CANCEL && s->loader)
        loader_cancel(s->loader);
}

static void on_drop(void *user, const char *const *paths, int count) {
    struct session *s = user;
    struct files files;
    if (!files_copy(&files, paths, count, false))
        return;
    files_fini(&s->files);
    s->files = files;
    start_or_tell(s, false, false);
}

/* Shown until the first file is there: a run of nothing. */
static bool make_empty(struct session *s, struct error *err) {
    struct timeline *tl = timeline_create();
    if (!tl)
        return error_host_memory(err);
    s->shown.timelines[0] = tl;
    tl->title = timeline_string(tl, s->files.path[0]);
    s->shown.app = app_create(&s->options->app, tl, NULL, err);
    if (s->shown.app && s->hooks.fresh)
        s->hooks.fresh(s->hooks.user, s->shown.app);
    return s->shown.app != NULL;
}

static bool begin(struct session *s, struct loaded *loaded, struct error *err) {
    if (s->hooks.fresh)
        s->hooks.fresh(s->hooks.user, loaded->app);
    if (!loaded_start(loaded, s->options, err))
        return false;
    if (s->hooks.begun)
        s->hooks.begun(s->hooks.user, loaded->app);
    return true;
}

static enum app_adoption adoption(const struct session *s) {
    return !s->same                            ? ADOPT_OTHER_FILES
           : s->grown && s->quiet && !s->again ? ADOPT_GROWN_FILES
                                               : ADOPT_SAME_FILES;
}

static bool show(struct session *s, struct loaded *loaded, struct error *err) {
    app_adopt(loaded->app, s->shown.app, adoption(s));
    if (!s->has_run && !begin(s, loaded, err)) {
        loaded_fini(loaded);
        return false;
    }
    if (s->window)
        window_set_app(s->window, loaded->app);
    if (s->again) {
        again_show(&s->shown, loaded);
        return true;
    }
    loaded_fini(&s->shown);
    s->shown = *loaded;
    return s->has_run = true;
}

/* What is read at once, or cannot be, needs no window to wait in. */
static bool be_patient(struct session *s, struct error *err) {
    uint64_t done, total, end_ms = now_ms() + PATIENCE_MS;
    const struct timespec nap = {0, 2000000};
    struct loaded loaded = {0};
    while (!loader_progress(s->loader, &done, &total)) {
        if (now_ms() > end_ms)
            return true;
        nanosleep(&nap, NULL);
    }
    struct loader *finished = s->loader;
    s->loader = NULL;
    return loader_take(finished, &loaded, err) && show(s, &loaded, err);
}

/* What neither the command line nor the last window said is the display's to say. */
static void scale(struct session *s) {
    int percent = window_scale_percent(s->window);
    uint64_t now = 100;
    app_query(s->shown.app, "scale", &now);
    if (s->options->app.scale_percent > 0 || now != 100 || percent == 100)
        return;
    app_set_scale(s->shown.app, percent);
    if (s->has_run && s->hooks.begun) /* nobody chose it */
        s->hooks.begun(s->hooks.user, s->shown.app);
}

struct session *session_create(const struct view_options *options,
                               const struct session_hooks *hooks, struct error *err) {
    struct session *s = xcalloc(1, sizeof *s);
    if (!s) {
        error_host_memory(err);
        return NULL;
    }
    s->options = options;
    if (hooks)
        s->hooks = *hooks;
    bool copied = files_copy(&s->files, options->files, options->file_count, options->replay);
    if (!copied)
        error_host_memory(err);
    if (copied && make_empty(s, err) && start(s, false, false, err) && be_patient(s, err)) {
        const struct window_host host = {s, on_request, on_drop};
        s->window = window_create(s->shown.app, options->app.width, options->app.height, err);
        if (s->window) {
            window_set_host(s->window, &host);
            scale(s);
            return s;
        }
    }
    session_destroy(s);
    return NULL;
}

void session_destroy(struct session *s) {
    if (!s)
        return;
    window_destroy(s->window);
    give_up(s);
    forget_tails(s, NULL);
    loaded_fini(&s->shown);
    files_fini(&s->files);
    xfree(s);
}

/* A file that cannot be read now may be written just now: unasked nothing is said. */
static bool fail(struct session *s, const struct error *failed, struct error *err) {
    if (s->again) {
        app_run_failed(s->shown.app, failed->text);
        return true;
    }
    if (failed->code == ERROR_INTERRUPTED) {
        tell(s, NOTICE_CANCELLED, file_base(s->files.path[0]));
        return true;
    }
    if (!s->has_run && !s->quiet) {
        *err = *failed;
        return false;
    }
    if (!s->quiet)
        tell(s, NOTICE_FAILED, failed->text);
    return true;
}

/* A run that has grown is shown once it has all that is seen of it, and no drag is cut short: what is shown
 * meanwhile is nearly the same, and nothing flickers. */
static bool look_at_next(struct session *s, struct error *err) {
    bool ready = app_prepare(s->next.app) || now_ms() - s->next_ms >= PREPARE_MS;
    if (!ready || app_is_dragged(s->shown.app))
        return true;
    struct loaded loaded = s->next;
    memset(&s->next, 0, sizeof s->next);
    return show(s, &loaded, err);
}

static bool look_at_loader(struct session *s, struct error *err) {
    uint64_t done, total;
    if (!loader_progress(s->loader, &done, &total)) {
        if (!s->quiet)
            tell(s, NOTICE_READING, file_base(s->files.path[0]));
        return true;
    }
    struct loaded loaded = {0};
    struct error failed = {0};
    bool good = loader_take(s->loader, &loaded, &failed);
    s->loader = NULL;
    s->took_ms = now_ms() - s->started_ms;
    for (int i = 0; i < s->files.count; i++)
        if (s->tails[i] && vrt_tail_has_ended(s->tails[i])) {
            vrt_tail_close(s->tails[i]);
            s->tails[i] = NULL;
        }
    if (!good)
        return fail(s, &failed, err);
    if (adoption(s) != ADOPT_GROWN_FILES || !s->window)
        return show(s, &loaded, err);
    s->next = loaded;
    s->next_ms = now_ms();
    app_adopt(s->next.app, s->shown.app, ADOPT_GROWN_FILES);
    return true;
}

/* Read again once a change has come to rest, or has gone on for long. */
static void look_at_files(struct session *s) {
    bool changed = false, rests = true;
    s->looked_ms = now_ms();
    for (int i = 0; i < s->files.count; i++) {
        struct stamp now = stamp_of(s->files.path[i]);
        rests = rests && same_stamp(&now, &s->seen[i]);
        changed = changed || (now.size > 0 && !same_stamp(&now, &s->read[i]));
        s->seen[i] = now;
    }
    uint64_t pause_ms = GROWING_PART * s->took_ms;
    pause_ms = pause_ms > GROWING_MS ? pause_ms : GROWING_MS;
    if (changed && (rests || s->looked_ms - s->started_ms >= pause_ms))
        start_or_tell(s, true, true);
}

static int wait_of(const struct session *s) {
    int wait = window_wait_ms(s->window);
    int most = s->next.app ? 1 : s->loader ? PROGRESS_MS : LOOK_MS;
    return wait < most ? wait : most;
}

bool session_step(struct session *s, int wait_ms, struct error *err) {
    if (!window_step(s->window, wait_ms < 0 ? wait_of(s) : wait_ms, err))
        return false;
    if (s->loader)
        return look_at_loader(s, err);
    if (s->next.app)
        return look_at_next(s, err);
    if (now_ms() - s->looked_ms >= LOOK_MS)
        look_at_files(s);
    return true;
}

bool session_load(struct session *s, struct error *err) {
    while (s->loader && !app_wants_quit(s->shown.app))
        if (!session_step(s, PROGRESS_MS, err))
            return false;
    return true;
}

bool session_run(struct session *s, struct error *err) {
    if (!session_load(s, err))
        return false;
    while (!app_wants_quit(s->shown.app))
        if (!session_step(s, -1, err))
            return false;
    return true;
}

struct app *session_app(struct session *s) {
    return s->shown.app;
}

struct window *session_window(struct session *s) {
    return s->window;
}

bool session_is_loading(const struct session *s) {
    return s->loader != NULL || s->next.app != NULL;
}

uint64_t session_bytes_followed(const struct session *s) {
    uint64_t bytes = 0;
    for (int i = 0; i < s->files.count && !s->loader; i++)
        bytes += s->tails[i] ? vrt_tail_bytes_read(s->tails[i]) : 0;
    return bytes;
}

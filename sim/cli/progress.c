/* progress.c: see cli.h. */
#include <stdio.h>
#include <unistd.h>

#include "cli.h"

enum { BAR_WIDTH = 40, FIRST_BYTES = 16 * 1024 * 1024 };

bool progress_show(void *user, uint64_t done, uint64_t total) {
    struct progress *p = user;
    if (p->interrupted && *p->interrupted)
        return false;
    if (total < FIRST_BYTES || !isatty(STDERR_FILENO))
        return true;
    uint64_t per_mille = total ? done * 1000 / total : 0;
    if (p->drawn && per_mille < p->last_drawn + 5)
        return true;
    unsigned filled = (unsigned)(per_mille * BAR_WIDTH / 1000);
    fprintf(stderr, "\r%s [", p->what);
    for (unsigned i = 0; i < BAR_WIDTH; i++)
        fputc(i < filled ? '#' : '.', stderr);
    fprintf(stderr, "] %3u %%", (unsigned)(per_mille / 10));
    fflush(stderr);
    p->last_drawn = per_mille;
    p->drawn = true;
    return true;
}

void progress_clear(struct progress *progress) {
    if (progress->drawn)
        fprintf(stderr, "\r%*s\r", BAR_WIDTH + 40, "");
}

bool cli_source_run(const struct cli *cli, const char *path, const struct source_options *options,
                    struct source_result *result, struct error *err) {
    struct progress progress = {.what = "reading", .interrupted = cli->interrupted};
    struct source_options watched = *options;
    watched.progress = progress_show;
    watched.user = &progress;
    bool ok = source_run(path, &watched, result, err);
    progress_clear(&progress);
    return ok;
}

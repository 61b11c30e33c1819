/* log_sink.h: a tape's sink that writes what it is told as lines of text, and can be out of memory
 * at the n-th request.
 *
 *   take 3 4096 aten::mm layers.0.mlp        a request: its number (from 1), bytes, op, owner when
 * there is one free 3 phase forward { ... phase forward } sync, use 3 stream 7
 *
 * With `gaps` on, only what lifetimes are about: "t3" for a request, "-- NAME" where a phase
 * begins, and before each such line "free t1 t2": what was let go since the line before, by number,
 * since the order inside a gap is nobody's promise. */
#ifndef LOG_SINK_H
#define LOG_SINK_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "tape.h"
#include "text.h"

struct log_block {
    uint64_t bytes;
    bool live;
    enum category category;
};

struct log_sink {
    struct text log;
    bool gaps, quiet;
    uint64_t fail_at; /* the n-th request is out of memory; 0: never */
    uint64_t request_count, live_count, live_bytes, peak_bytes, kernel_count;
    uint32_t phase_depth;
    ARRAY(struct log_block) blocks; /* block n is at n - 1 */
    ARRAY(uint32_t) gap;
    bool
        /* a block was let go twice, a phase ended that had not begun, this machine's memory was
           short */
        broken;
};

static inline int log_sink_compare(const void *a, const void *b) {
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static inline void log_sink_end_gap(struct log_sink *s) {
    if (s->gap.count == 0)
        return;
    qsort(s->gap.at, s->gap.count, sizeof *s->gap.at, log_sink_compare);
    text_add(&s->log, "free");
    for (size_t i = 0; i < s->gap.count; i++)
        text_format(&s->log, " t%u", s->gap.at[i]);
    text_add(&s->log, "\n");
    array_clear(&s->gap);
}

static inline bool log_sink_request(void *user, const struct tape_request *r, uint32_t *block) {
    struct log_sink *s = user;
    bool fails = ++s->request_count == s->fail_at;
    struct log_block b = {.bytes = r->bytes, .live = !fails, .category = r->category};
    s->broken |= !array_push(&s->blocks, b);
    if (fails)
        return false;
    *block = (uint32_t)s->request_count;
    s->live_count++;
    s->live_bytes += r->bytes;
    if (s->live_bytes > s->peak_bytes)
        s->peak_bytes = s->live_bytes;
    if (s->gaps) {
        log_sink_end_gap(s);
        text_format(&s->log, "t%u\n", *block);
    } else if (!s->quiet) {
        text_format(&s->log, "take %u %llu %s%s%s\n", *block, (unsigned long long)r->bytes, r->op,
                    r->owner[0] ? " " : "", r->owner);
    }
    return true;
}

static inline void log_sink_release(void *user, uint32_t block) {
    struct log_sink *s = user;
    if (block == 0 || block > s->blocks.count || !s->blocks.at[block - 1].live) {
        s->broken = true;
        return;
    }
    s->blocks.at[block - 1].live = false;
    s->live_count--;
    s->live_bytes -= s->blocks.at[block - 1].bytes;
    if (s->gaps)
        s->broken |= !array_push(&s->gap, block);
    else if (!s->quiet)
        text_format(&s->log, "free %u\n", block);
}

static inline void log_sink_label(void *user, uint32_t block, enum category category,
                                  const char *owner, const char *name) {
    struct log_sink *s = user;
    (void)owner;
    (void)name;
    if (block == 0 || block > s->blocks.count)
        s->broken = true;
    else
        s->blocks.at[block - 1].category = category;
}

static inline void log_sink_kernel(void *user, const struct tape_kernel *kernel) {
    struct log_sink *s = user;
    (void)kernel;
    s->kernel_count++;
}

static inline void log_sink_phase(void *user, const char *name, bool begin) {
    struct log_sink *s = user;
    if (!begin && s->phase_depth-- == 0)
        s->broken = true;
    if (begin)
        s->phase_depth++;
    if (s->gaps && begin) {
        log_sink_end_gap(s);
        text_format(&s->log, "-- %s\n", name);
    } else if (!s->gaps && !s->quiet) {
        text_format(&s->log, "phase %s %s\n", name, begin ? "{" : "}");
    }
}

static inline void log_sink_synchronize(void *user) {
    struct log_sink *s = user;
    if (!s->quiet && !s->gaps)
        text_add(&s->log, "sync\n");
}

static inline struct tape_sink log_sink_of(struct log_sink *s) {
    return (struct tape_sink){.user = s,
                              .request = log_sink_request,
                              .release = log_sink_release,
                              .label = log_sink_label,
                              .kernel = log_sink_kernel,
                              .phase = log_sink_phase,
                              .synchronize = log_sink_synchronize};
}

static inline uint64_t log_sink_category_bytes(const struct log_sink *s, enum category category) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->blocks.count; i++)
        if (s->blocks.at[i].live && s->blocks.at[i].category == category)
            bytes += s->blocks.at[i].bytes;
    return bytes;
}

static inline void log_sink_fini(struct log_sink *s) {
    text_fini(&s->log);
    array_fini(&s->blocks);
    array_fini(&s->gap);
}

#endif

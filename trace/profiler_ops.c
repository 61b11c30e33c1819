/* profiler_ops.c: which op each memory event stands in: those of its thread that began before and
 * have not ended nest; the innermost counts that is not one of those which only take memory. */
#include <stdlib.h>
#include <string.h>

#include "profiler.h"

/* A memory event by its thread; `position`: in `memory`, which is in order of time. */
struct seat {
    uint64_t thread;
    uint32_t position;
};

static int by_thread(const void *a, const void *b) {
    const struct seat *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

/* The outer of two that begin together is the longer one. */
static int by_thread_and_begin(const void *a, const void *b) {
    const struct profiler_span *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

static bool only_takes_memory(const char *name) {
    static const char *const prefixes[] = {"aten::empty", "aten::resize_", "aten::new_empty"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

struct open_spans {
    ARRAY(uint32_t) list; /* the innermost is last */
};

static uint32_t find_op(const struct profiler *p, struct open_spans *open, uint64_t time_ns) {
    while (open->list.count > 0 && p->spans.at[*array_last(&open->list)].end_ns < time_ns)
        open->list.count--;
    uint32_t found = 0;
    for (size_t i = open->list.count; i-- > 0;) {
        const struct profiler_span *s = &p->spans.at[open->list.at[i]];
        if (s->is_annotation || s->end_ns < time_ns)
            continue;
        found = s->name;
        if (!only_takes_memory(strtab_text(&p->names, found)))
            break;
    }
    return found;
}

static bool sweep(struct profiler *p, const struct seat *seats, size_t count,
                  struct open_spans *open) {
    size_t span = 0;
    uint64_t thread = 0;
    for (size_t i = 0; i < count; i++) {
        struct profiler_memory *m = &p->memory.at[seats[i].position];
        if (i == 0 || m->thread != thread)
            open->list.count = 0;
        thread = m->thread;
        for (; span < p->spans.count; span++) {
            const struct profiler_span *s = &p->spans.at[span];
            if (s->thread > thread || (s->thread == thread && s->begin_ns > m->time_ns))
                break;
            if (s->thread != thread || s->end_ns < m->time_ns)
                continue;
            while (open->list.count > 0 &&
                   p->spans.at[*array_last(&open->list)].end_ns < s->begin_ns)
                open->list.count--;
            enum { MOST_OPEN = 1024 };
            if (open->list.count < MOST_OPEN && !array_push(&open->list, (uint32_t)span))
                return false;
        }
        m->op = find_op(p, open, m->time_ns);
    }
    return true;
}

bool profiler_find_ops(struct profiler *p) {
    if (p->memory.count == 0 || p->spans.count == 0 || p->spans.count > UINT32_MAX)
        return true;
    struct seat *seats = xalloc(p->memory.count * sizeof *seats);
    if (!seats)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < p->memory.count; i++)
        if (profiler_is_device(&p->memory.at[i]))
            seats[count++] =
                (struct seat){.thread = p->memory.at[i].thread, .position = (uint32_t)i};
    if (count > 0)
        qsort(seats, count, sizeof *seats, by_thread);
    qsort(p->spans.at, p->spans.count, sizeof *p->spans.at, by_thread_and_begin);
    struct open_spans open = {0};
    bool ok = sweep(p, seats, count, &open);
    array_fini(&open.list);
    xfree(seats);
    return ok;
}

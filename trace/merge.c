/* merge.c: see merge.h. */
#include "merge.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "xalloc.h"

/* Equal times: what ends makes room, what begins holds what happens then. */
enum rank { RANK_END, RANK_BEGIN, RANK_EVENT, RANK_END_AT_ONCE };

void merge_fini(struct merge *m) {
    array_fini(&m->marks);
    array_fini(&m->labels);
}

static bool add(struct merge *m, uint64_t time_ns, enum rank rank, uint32_t ref, uint64_t longer) {
    struct merge_mark mark = {
        .time_ns = time_ns, .rank = (uint8_t)rank, .ref = ref, .longer = longer};
    return array_push(&m->marks, mark);
}

bool merge_event(struct merge *m, uint64_t time_ns, uint32_t ref) {
    return add(m, time_ns, RANK_EVENT, ref, m->marks.count);
}

bool merge_label(struct merge *m, uint64_t begin_ns, uint64_t end_ns, uint32_t name) {
    uint64_t length = end_ns > begin_ns ? end_ns - begin_ns : 0;
    uint32_t label = (uint32_t)m->labels.count;
    return m->labels.count < UINT32_MAX && array_push(&m->labels, name) &&
           add(m, begin_ns, RANK_BEGIN, label, UINT64_MAX - length) &&
           add(m, begin_ns + length, length > 0 ? RANK_END : RANK_END_AT_ONCE, label, length);
}

static int by_time(const void *a, const void *b) {
    const struct merge_mark *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank - y->rank;
    if (x->longer != y->longer)
        return x->longer < y->longer ? -1 : 1;
    return (x->ref > y->ref) - (x->ref < y->ref);
}

/* `phases`: label * device_count + device -> phase; TIMELINE_NONE: not open. */
static bool emit_label(struct merge *m, const struct merge_sink *sink,
                       const struct merge_mark *mark, uint32_t *phases) {
    uint32_t *of = phases + mark->ref * sink->device_count;
    for (size_t i = 0; i < sink->device_count; i++) {
        bool ok = true;
        if (mark->rank == RANK_BEGIN)
            ok = emit_phase_begin(sink->emit, mark->time_ns, sink->devices[i],
                                  m->labels.at[mark->ref], &of[i]);
        else if (of[i] != TIMELINE_NONE)
            ok = emit_phase_end(sink->emit, mark->time_ns, of[i]);
        if (!ok)
            return false;
    }
    return true;
}

static bool run(struct merge *m, const struct merge_sink *sink, uint32_t *phases) {
    for (size_t i = 0; i < m->marks.count; i++) {
        const struct merge_mark *mark = &m->marks.at[i];
        if (mark->rank == RANK_EVENT ? !sink->event(sink->user, mark->ref, mark->time_ns)
                                     : !emit_label(m, sink, mark, phases))
            return false;
    }
    return true;
}

bool merge_run(struct merge *m, const struct merge_sink *sink) {
    size_t count = m->labels.count * sink->device_count;
    uint32_t *phases = xcalloc(count + 1, sizeof *phases);
    if (!phases)
        return error_host_memory(sink->emit->err);
    for (size_t i = 0; i < count; i++)
        phases[i] = TIMELINE_NONE;
    if (m->marks.count > 0)
        qsort(m->marks.at, m->marks.count, sizeof *m->marks.at, by_time);
    bool ok = run(m, sink, phases);
    xfree(phases);
    return ok;
}

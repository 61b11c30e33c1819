/* profiler_import.c: the importer of torch.profiler's Chrome traces; see profiler.h. */
#include <string.h>

#include "emit.h"
#include "error.h"
#include "importer.h"
#include "probe.h"
#include "profiler.h"
#include "timeline.h"

/* The object that torch.profiler writes, or the bare list of events that Chrome knows too. */
static bool probe_profiler(const uint8_t *head, size_t length) {
    size_t at = probe_blanks(head, length, 0);
    if (at < length && head[at] == '{')
        return probe_has(head, length, "\"traceEvents\"") ||
               probe_has(head, length, "\"schemaVersion\"") ||
               probe_has(head, length, "\"deviceProperties\"");
    if (at >= length || head[at] != '[')
        return false;
    at = probe_blanks(head, length, at + 1);
    return at < length && head[at] == '{' && probe_has(head, length, "\"ph\"");
}

static bool build(struct profiler *p, struct timeline *tl, struct trace_facts *facts,
                  struct error *err) {
    bool was_sorted = true;
    for (size_t i = 1; i < p->memory.count && was_sorted; i++)
        was_sorted = p->memory.at[i - 1].time_ns <= p->memory.at[i].time_ns;
    profiler_sort(p);
    if (p->skipped > 0)
        emit_warn(tl, "%llu memory events without usable numbers are skipped",
                  (unsigned long long)p->skipped);
    tl->source_kind = timeline_string(tl, "profiler trace");
    if (!profiler_facts(p, was_sorted, facts) || !profiler_find_ops(p))
        return error_host_memory(err);
    return profiler_build(p, tl, err);
}

static bool import_profiler(const uint8_t *data, size_t length, const struct trace_options *options,
                            struct timeline *tl, struct trace_facts *facts, struct error *err) {
    struct profiler p;
    bool ok = profiler_read(&p, data, length, options, err) && build(&p, tl, facts, err);
    profiler_fini(&p);
    return ok;
}

const struct importer importer_profiler = {
    .name = "pytorch profiler",
    .doc = "a Chrome trace of torch.profiler with profile_memory=True, JSON",
    .probe = probe_profiler,
    .import = import_profiler,
};

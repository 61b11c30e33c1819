/* nsight_import.c: the importer of SQLite exports of Nsight Systems; see nsight.h. */
#include <string.h>

#include "error.h"
#include "importer.h"
#include "nsight.h"
#include "timeline.h"

static bool probe_nsight(const uint8_t *head, size_t length) {
    return length >= 16 && memcmp(head, "SQLite format 3", 16) == 0;
}

static bool import_nsight(const uint8_t *data, size_t length, const struct trace_options *options,
                          struct timeline *tl, struct trace_facts *facts, struct error *err) {
    struct nsight n;
    bool ok = nsight_read(&n, data, length, options, err);
    if (ok) {
        nsight_sort(&n);
        tl->source_kind = timeline_string(tl, "Nsight Systems");
        ok = (nsight_facts(&n, facts) || error_host_memory(err)) && nsight_build(&n, tl, err);
    }
    nsight_fini(&n);
    return ok;
}

const struct importer importer_nsight = {
    .name = "Nsight Systems",
    .doc = "nsys export --type sqlite of nsys profile --cuda-memory-usage=true",
    .probe = probe_nsight,
    .import = import_nsight,
};

/* fuzz_snapshot.c: any bytes as a trace file. What is imported must be a timeline that passes
 * timeline_check. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "fuzz.h"
#include "importer.h"
#include "timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct timeline *tl = NULL;
    struct trace_facts facts;
    struct error err = {0};
    const struct trace_options options = {.max_memory_bytes = 32 << 20};
    if (!trace_import_bytes("fuzz", data, size, &options, &tl, &facts, &err)) {
        if (err.code == ERROR_NONE || strlen(err.text) == 0)
            abort();
        return 0;
    }
    if (!timeline_check(tl, &err)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    timeline_destroy(tl);
    trace_facts_fini(&facts);
    return 0;
}

/* fuzz_importer.c: any bytes for one importer (the macro IMPORTER), whatever its probe says of them.
 * What is imported must be a timeline that passes timeline_check; what is not must say why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "fuzz.h"
#include "importer.h"
#include "timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct trace_options options = {.max_memory_bytes = 32 << 20};
    struct timeline *tl = timeline_create();
    struct trace_facts facts = {0};
    struct error err = {0};
    if (!tl)
        return 0;
    (void)IMPORTER.probe(data, size < 4096 ? size : 4096);
    if (!IMPORTER.import(data, size, &options, tl, &facts, &err)) {
        if (err.code == ERROR_NONE || strlen(err.text) == 0)
            abort();
    } else if (!timeline_check(tl, &err)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    timeline_destroy(tl);
    trace_facts_fini(&facts);
    return 0;
}

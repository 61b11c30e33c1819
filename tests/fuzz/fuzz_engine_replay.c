/* fuzz_engine_replay.c: any bytes as a trace file; what is imported is replayed, to reproduce it and
 * as what-ifs. Every new timeline must pass timeline_check. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "framework.h"
#include "fuzz.h"
#include "importer.h"
#include "replay.h"

static void replay(const struct timeline *tl, const struct replay_config *config) {
    struct replay_result result;
    struct error err = {0};
    if (!replay_run(tl, config, &result, &err)) {
        if (err.code == ERROR_NONE || strlen(err.text) == 0)
            abort();
        return;
    }
    if (!timeline_check(result.timeline, &err)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    replay_result_fini(&result);
}

static void replay_with(const struct timeline *tl, const char *text, uint64_t total_bytes) {
    struct alloc_settings settings;
    struct error err;
    if (!alloc_settings_parse(text, framework_row(0), &settings, &err))
        abort();
    replay(tl, &(struct replay_config){.settings = &settings, .total_bytes = total_bytes});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct timeline *tl = NULL;
    struct error err = {0};
    const struct trace_options options = {.max_memory_bytes = 32 << 20};
    if (!trace_import_bytes("fuzz", data, size, &options, &tl, NULL, &err))
        return 0;
    replay(tl, &(struct replay_config){.reproduce = true});
    replay(tl, &(struct replay_config){.reproduce = true, .total_bytes = UINT64_C(1) << 30});
    replay_with(tl, "", 0);
    replay_with(tl, "expandable_segments:True", UINT64_C(1) << 30);
    replay_with(tl, "garbage_collection_threshold:0.5,max_split_size_mb:32", UINT64_C(1) << 28);
    for (size_t i = 1; alloc_row(i); i++)
        replay(tl, &(struct replay_config){.allocator = alloc_row(i), .total_bytes = 1 << 28});
    timeline_destroy(tl);
    return 0;
}

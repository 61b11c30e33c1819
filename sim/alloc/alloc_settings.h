/* alloc_settings.h: PYTORCH_ALLOC_CONF, parsed. "key:value,key:value"; unknown keys are an error
 * that lists the known. */
#ifndef ALLOC_SETTINGS_H
#define ALLOC_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "caching_sizes.h"

struct error;
struct framework;

enum { ALLOC_DIVISION_SLOTS = CACHING_DIVISION_SLOTS };

enum alloc_backend { ALLOC_BACKEND_NATIVE, ALLOC_BACKEND_CUDA_MALLOC_ASYNC };

struct alloc_settings {
    uint64_t max_split_bytes; /* UINT64_MAX: unlimited */
    uint64_t max_non_split_rounding_bytes;
    uint64_t large_segment_bytes;
    uint64_t expandable_reserve_bytes;        /* 0: 9/8 of total */
    double expandable_reserve_fraction;       /* 0: unset */
    double garbage_collection_threshold;      /* 0: off */
    double memory_fraction;                   /* per_process_memory_fraction; 1: no limit */
    uint32_t divisions[ALLOC_DIVISION_SLOTS]; /* roundup_power2_divisions; 0 and 1: off */
    bool expandable_segments;
    bool throw_on_cudamalloc_oom;
    bool graph_capture_record_stream_reuse;
    bool max_non_split_rounding_set; /* off: max_non_split_rounding_bytes follows
                                        large_segment_bytes */
    enum alloc_backend backend;
};

void alloc_settings_default(struct alloc_settings *settings);
/* `text` as users write it; empty is the default. Keys that the release does not know are errors.
 */
bool alloc_settings_parse(const char *text, const struct framework *framework,
                          struct alloc_settings *out, struct error *err);

/* What PyTorch does with new settings at run time: max_split, the rounding table and the gc
 * threshold go back to their defaults unless named; the rest stays as it is. *settings is untouched
 * on an error. */
bool alloc_settings_change(const char *text, const struct framework *framework,
                           struct alloc_settings *settings, struct error *err);

#endif

/* cupti.c: activity records of CUPTI: finding the library, arming it, its buffers. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "clock.h"
#include "cupti_abi.h"
#include "decode.h"
#include "vmm.h"

enum {
    BUFFER_BYTES = 256 << 10,
    BUFFERS = 64,
    USUAL_BYTES = 128 /* of a record, to guess their count */
};

static struct {
#define X(name, type) __typeof__((type)0) name; /* NOLINT(bugprone-macro-parentheses) */
    CUPTI_REQUIRED(X)
    CUPTI_OPTIONAL(X)
#undef X
} api;

static struct {
    uint32_t version;
    void *subscriber;
    atomic_bool armed;
    uint8_t *buffers; /* BUFFERS of them */
    atomic_bool taken[BUFFERS];
    uint8_t *emergency; /* written by all, read by nobody: older CUPTI cannot do without one */
} the;

/* --- buffers --- */

static void request(uint8_t **buffer, size_t *bytes, size_t *most_records) {
    *most_records = 0;
    *bytes = BUFFER_BYTES;
    for (size_t i = 0; i < BUFFERS; i++)
        if (!atomic_exchange(&the.taken[i], true)) {
            *buffer = the.buffers + i * BUFFER_BYTES;
            return;
        }
    *buffer = the.version >= VERSION_NULL_BUFFER ? NULL : the.emergency;
    *bytes = *buffer ? BUFFER_BYTES : 0;
    capture_lost(CAPTURE_MEMORY, 1); /* at least */
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid) {
    (void)context;
    (void)stream;
    (void)bytes;
    struct decoded decoded = {0};
    if (!buffer || buffer == the.emergency)
        return;
    if (valid > 0 && capture_is_on())
        decode_buffer(buffer, valid, the.version, api.cuptiActivityGetNextRecord, capture_text,
                      &decoded);
    if (decoded.bytes > 0)
        capture_add(decoded.records, decoded.bytes);
    if (decoded.lost_bytes + decoded.lost > 0)
        capture_lost(CAPTURE_MEMORY, decoded.lost + decoded.lost_bytes / USUAL_BYTES + 1);
    free(decoded.records);
    atomic_store(&the.taken[(size_t)(buffer - the.buffers) / BUFFER_BYTES], false);
}

void cupti_flush(bool forced) {
    size_t dropped = 0;
    if (!atomic_load(&the.armed))
        return;
    api.cuptiActivityFlushAll(forced ? CUPTI_FLUSH_FORCED : 0);
    if (api.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_DONE && dropped > 0)
        capture_lost(CAPTURE_MEMORY, dropped);
}

void cupti_forget(void) {
    atomic_store(&the.armed, false);
}

/* --- arming --- */

/* The copy that the process has already, else the newest. */
static void *find_library(void) {
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12"};
    const char *path = getenv("VRAMSIM_CUPTI_LIB");
    void *library = NULL;
    if (path && *path)
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < 2 && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    for (int i = 0; i < 2 && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static bool off(const char *why, int code) {
    const char *words = NULL;
    if (code != 0 && api.cuptiGetResultString)
        api.cuptiGetResultString(code, &words);
    if (code != 0)
        capture_note(NOTE_WARNING, "CUPTI is not used: %s, error %d%s%s%s", why, code,
                     words ? " (" : "", words ? words : "", words ? ")" : "");
    else
        capture_note(NOTE_WARNING, "CUPTI is not used: %s", why);
    return false;
}

static bool load(void) {
    void *library = find_library();
    if (!library) {
        const char *why = dlerror();
        return off(why ? why : "no libcupti.so.13 or .12 is found", 0);
    }
#define X(name, type) *(void **)&api.name = dlsym(library, #name);
    CUPTI_OPTIONAL(X)
    CUPTI_REQUIRED(X)
#undef X
#define X(name, type)                                                                              \
    if (!api.name)                                                                                 \
        return off("it has no " #name, 0);
    CUPTI_REQUIRED(X)
#undef X
    int code = api.cuptiGetVersion(&the.version);
    return code == CUPTI_DONE || off("cuptiGetVersion", code);
}

static bool subscribe(void) {
    char old[64] = "", why[128];
    struct cupti_subscriber_params params = {sizeof params, "vramsim", old, sizeof old};
    const char *wish = getenv("VRAMSIM_SUBSCRIBE");
    if (wish && strcmp(wish, "0") == 0)
        return true; /* records alone, no calls of the driver */
    int code = api.cuptiSubscribe_v2
                   ? api.cuptiSubscribe_v2(&the.subscriber, vmm_callback, NULL, &params)
                   : api.cuptiSubscribe(&the.subscriber, vmm_callback, NULL);
    if (code == CUPTI_DONE)
        return true;
    the.subscriber = NULL;
    snprintf(why, sizeof why,
             code == CUPTI_TAKEN ? "another tool holds it%s%s" : "cuptiSubscribe%s%s",
             old[0] ? ": " : "", old);
    return off(why, code);
}

static bool wants(const char *word) {
    const char *kinds = getenv("VRAMSIM_KINDS");
    return kinds && (strstr(kinds, word) || strcmp(kinds, "all") == 0);
}

static uint64_t enable(int kind, uint64_t source) {
    int code = api.cuptiActivityEnable(kind);
    if (code != CUPTI_DONE)
        capture_note(NOTE_WARNING, "CUPTI records of kind %d cannot be had: error %d", kind, code);
    return code == CUPTI_DONE ? source : 0;
}

static uint64_t enable_kinds(void) {
    uint64_t sources = 0;
    uint8_t pinned = 1;
    size_t bytes = sizeof pinned;
    bool kernels = wants("kernel"), copies = wants("copy");
    if ((kernels || copies) && api.cuptiActivitySetAttribute) /* else its buffers take VRAM */
        api.cuptiActivitySetAttribute(CUPTI_ATTRIBUTE_PINNED, &bytes, &pinned);
    enable(KIND_DEVICE, 0);
    enable(KIND_CONTEXT, 0);
    sources |= enable(KIND_MEMORY2, CAPTURE_MEMORY);
    sources |= enable(KIND_MEMORY_POOL, CAPTURE_POOL);
    if (kernels)
        sources |= enable(KIND_CONCURRENT_KERNEL, CAPTURE_KERNEL);
    if (copies)
        sources |= enable(KIND_MEMCPY, CAPTURE_KERNEL) | enable(KIND_MEMSET, CAPTURE_KERNEL) |
                   enable(KIND_MEMCPY2, CAPTURE_KERNEL);
    if (wants("overhead"))
        enable(KIND_OVERHEAD, 0);
    return sources;
}

static uint64_t enable_calls(void) {
    uint64_t any = 0;
    for (size_t i = 0; the.subscriber && vmm_call(i) != 0; i++)
        if (api.cuptiEnableCallback(1, the.subscriber, CUPTI_DRIVER_API, vmm_call(i)) == CUPTI_DONE)
            any = CAPTURE_VMM;
    return any;
}

bool cupti_arm(void) {
    if (!load() || !subscribe())
        return false;
    the.buffers = calloc(BUFFERS, BUFFER_BYTES);
    the.emergency = calloc(1, BUFFER_BYTES);
    if (!the.buffers || !the.emergency)
        return off("no memory for its buffers", 0);
    int code = api.cuptiActivityRegisterCallbacks(request, complete);
    if (code != CUPTI_DONE)
        return off("cuptiActivityRegisterCallbacks", code);
    uint64_t sources = enable_kinds();
    if (sources == 0)
        return off("it gives no memory records", 0);
    capture_armed(sources | enable_calls());
    capture_note(NOTE_INFO, "CUPTI %u", the.version);
    atomic_store(&the.armed, true);
    return true;
}

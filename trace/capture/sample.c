/* sample.c: how much of each device is in use, by NVIDIA's management library where the machine has it: what no record
 * tells of (contexts, code, other processes) is the difference. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "capture.h"
#include "clock.h"

enum { DEVICES = 64 };

/* nvmlMemory_t */
struct nvml_memory {
    unsigned long long total, free, used;
};

static struct {
    int (*get_memory)(void *, struct nvml_memory *);
    void *devices[DEVICES];
    unsigned count;
} the;

void sample_start(void) {
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*init)(void), (*get_count)(unsigned *), (*get_device)(unsigned, void **);
    if (!library)
        return;
    *(void **)&init = dlsym(library, "nvmlInit_v2");
    *(void **)&get_count = dlsym(library, "nvmlDeviceGetCount_v2");
    *(void **)&get_device = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&the.get_memory = dlsym(library, "nvmlDeviceGetMemoryInfo");
    if (!init || !get_count || !get_device || !the.get_memory || init() != 0 ||
        get_count(&the.count) != 0)
        return;
    the.count = the.count < DEVICES ? the.count : DEVICES;
    for (unsigned i = 0; i < the.count; i++)
        if (get_device(i, &the.devices[i]) != 0)
            the.devices[i] = NULL;
    if (the.count > 0)
        capture_armed(CAPTURE_SAMPLE);
}

void sample_take(void) {
    for (unsigned i = 0; i < the.count; i++) {
        struct nvml_memory memory;
        if (!the.devices[i] || the.get_memory(the.devices[i], &memory) != 0)
            continue;
        struct record_sample sample = {.head = CAPTURE_HEAD(sample, RECORD_SAMPLE),
                                       .device = i,
                                       .source = SAMPLE_NVML,
                                       .free_bytes = memory.free,
                                       .total_bytes = memory.total,
                                       .process_bytes = RECORD_UNKNOWN64};
        capture_put(&sample.head);
    }
}

/* clocks.c: see clocks.h. */
#include "clocks.h"

#include <string.h>

#include "device.h"
#include "tape.h"

/* Host time to dispatch one eager op and the least time of a kernel: nominal values of the size
 * that PyTorch's profiler shows for small ops on current hosts and cards; estimates, see the
 * header. */
enum { DISPATCH_NS = 6000, KERNEL_MIN_NS = 3000 };

void clocks_init(struct clocks *clocks, const struct device *device) {
    memset(clocks, 0, sizeof *clocks);
    clocks->device = device;
}

void clocks_fini(struct clocks *clocks) {
    array_fini(&clocks->streams);
}

static struct stream_clock *find_stream(struct clocks *clocks, uint64_t stream) {
    for (size_t i = 0; i < clocks->streams.count; i++)
        if (clocks->streams.at[i].stream == stream)
            return &clocks->streams.at[i];
    struct stream_clock fresh = {.stream = stream};
    if (!array_push(&clocks->streams, fresh))
        return NULL;
    return array_last(&clocks->streams);
}

static uint64_t duration_ns(const struct device *device, const struct tape_kernel *kernel) {
    if (kernel->over_link)
        return KERNEL_MIN_NS +
               (uint64_t)((double)kernel->bytes / (double)device_transfer_rate(device) * 1e9);
    uint64_t rate =
        dtype_bytes(kernel->dtype) == 2 ? device->flops_16bit_per_s : device->flops_fp32_per_s;
    double compute = (double)kernel->flops / (double)rate;
    double memory = (double)kernel->bytes / (double)device->bandwidth_bytes_per_s;
    double seconds = compute > memory ? compute : memory;
    return KERNEL_MIN_NS + (uint64_t)(seconds * 1e9);
}

bool clocks_kernel(struct clocks *clocks, const struct tape_kernel *kernel,
                   struct kernel_times *times) {
    struct stream_clock *stream = find_stream(clocks, kernel->stream);
    if (!stream)
        return false;
    clocks->host_ns += DISPATCH_NS;
    uint64_t *slot = &stream->ends[stream->launched++ % CLOCKS_QUEUE];
    clocks_wait_until(clocks, *slot); /* of the kernel a queue's length ago; 0 at first */
    times->dispatched_ns = clocks->host_ns;
    times->start_ns =
        stream->busy_until_ns > clocks->host_ns ? stream->busy_until_ns : clocks->host_ns;
    times->end_ns = times->start_ns + duration_ns(clocks->device, kernel);
    stream->busy_until_ns = times->end_ns;
    *slot = times->end_ns;
    return true;
}

uint64_t clocks_stream_done(const struct clocks *clocks, uint64_t stream) {
    for (size_t i = 0; i < clocks->streams.count; i++)
        if (clocks->streams.at[i].stream == stream)
            return clocks->streams.at[i].busy_until_ns;
    return 0;
}

bool clocks_stream_wait(struct clocks *clocks, uint64_t stream, uint64_t time_ns) {
    struct stream_clock *clock = find_stream(clocks, stream);
    if (clock && clock->busy_until_ns < time_ns)
        clock->busy_until_ns = time_ns;
    return clock != NULL;
}

void clocks_synchronize(struct clocks *clocks) {
    for (size_t i = 0; i < clocks->streams.count; i++)
        clocks_wait_until(clocks, clocks->streams.at[i].busy_until_ns);
}

void clocks_wait_until(struct clocks *clocks, uint64_t time_ns) {
    if (time_ns > clocks->host_ns)
        clocks->host_ns = time_ns;
}

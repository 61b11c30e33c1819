/* clocks.h: two kinds of time. The host clock moves as the program dispatches kernels; each
 * stream's clock says until when the device is busy with what is queued there. Memory is taken and
 * returned on the host clock (design: a host that runs ahead of the device changes the peak when
 * several streams share blocks).
 *
 * The times are an estimate and marked so: a kernel lasts as long as the slower of its arithmetic
 * and its memory traffic at the device's nominal rates, and dispatch costs a fixed time; a host
 * that is a full launch queue ahead waits. They never change a request or its order on one stream.
 */
#ifndef CLOCKS_H
#define CLOCKS_H

#include <stdint.h>

#include "array.h"

struct device;
struct tape_kernel;

enum { CLOCKS_QUEUE = 1024 }; /* launches that a stream holds before the host must wait */

struct stream_clock {
    uint64_t stream; /* raw handle */
    uint64_t busy_until_ns;
    uint64_t launched;           /* kernels so far */
    uint64_t ends[CLOCKS_QUEUE]; /* completion times of the last ones, a ring */
};

struct clocks {
    const struct device *device;
    uint64_t host_ns;
    ARRAY(struct stream_clock) streams;
};

struct kernel_times {
    uint64_t dispatched_ns, start_ns, end_ns;
};

void clocks_init(struct clocks *clocks, const struct device *device);
void clocks_fini(struct clocks *clocks);
/* Queues a kernel; the host goes on after its dispatch. False: host memory exhausted. */
bool clocks_kernel(struct clocks *clocks, const struct tape_kernel *kernel,
                   struct kernel_times *times);
/* When everything queued on `stream` so far will be done. */
uint64_t clocks_stream_done(const struct clocks *clocks, uint64_t stream);
/* What is queued on `stream` from now on starts no earlier than `time_ns`. False: host memory exhausted. */
bool clocks_stream_wait(struct clocks *clocks, uint64_t stream, uint64_t time_ns);
/* The host waits for the device. */
void clocks_synchronize(struct clocks *clocks);
void clocks_wait_until(struct clocks *clocks, uint64_t time_ns);

#endif

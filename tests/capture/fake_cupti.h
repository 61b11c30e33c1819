/* fake_cupti.h: what the stand-in for libcupti has beside CUPTI's own functions: records that a test puts in. */
#ifndef FAKE_CUPTI_H
#define FAKE_CUPTI_H

#include <stdint.h>

/* Each puts one record into the calling thread's buffer; a full one goes out at once. */
void fake_memory(uint32_t operation, uint32_t kind, uint32_t device, uint64_t address,
                 uint64_t bytes, uint32_t stream, uint64_t pool, uint64_t pool_bytes,
                 const char *name);
void fake_pool(uint32_t operation, uint32_t device, uint64_t pool, uint64_t bytes);
void fake_device(uint32_t device, uint64_t total_bytes, const char *name);
void fake_kernel(uint32_t device, const char *name);
void fake_unknown_kind(void); /* which CUPTI cannot step over */
/* A call of the driver as a callback sees it: id, its parameters, what it returned. */
void fake_call(uint32_t id, const void *params, int result);
void fake_drop(uint64_t count); /* the next question for dropped records says so */
void fake_hold(int held);       /* unforced flushes give nothing back */

#endif

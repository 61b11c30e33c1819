/* capture.h: the capture library inside a traced program: what its sources share.
 *
 *   nvtx.c    ranges of the program           \
 *   vmm.c     the driver's virtual memory      |  capture_put: a ring a thread
 *   torch.c   PyTorch's pluggable allocator    |       |  every VRAMSIM_FLUSH_MS
 *   call.c    the runtime's own entry points  /     sink.c -> the file
 *   cupti.c   activity buffers, decoded ------------->
 *
 * Nothing here may stop the program: what fails switches off what it was for, with one line on standard error. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records.h"

struct strings;

/* Everything is started at the first call, whoever calls first. False: it is off, in this process. */
bool capture_start(void);
bool capture_is_on(void);
/* head.type, .len8 and .t are set; any thread. */
void capture_put(struct record_head *record);
/* Whole records from a thread of CUPTI's. */
void capture_add(const uint8_t *records, size_t bytes);
uint32_t capture_text(const char *text);
uint32_t capture_text_wide(const void *wide);
void capture_note(enum note_severity severity, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void capture_lost(uint32_t source, uint64_t count); /* a DROPPED record */
/* Sources that came up (enum capture_source). */
void capture_armed(uint64_t sources);
bool capture_has(uint64_t sources); /* any of them is up */

/* The head of a record of this type. */
#define CAPTURE_HEAD(record, number) RECORD_HEAD(record, number, clock_realtime())

/* cupti.c. False: off, and said why. */
bool cupti_arm(void);
void cupti_flush(bool forced); /* no lock of ours is held */
void cupti_forget(void);       /* in a forked child */
/* sample.c: the device's used memory, where the driver's own library can be asked. */
void sample_start(void);
void sample_take(void);

#endif

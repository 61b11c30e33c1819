/* ring.h: records on their way from a program's threads to the file. Each thread has a ring of its own that it alone
 * fills and the flush thread alone empties: no lock, no call of the system, never a wait. What does not fit is counted. */
#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rings;
struct record_head;

/* NULL: no memory. At most `thread_max` threads have a ring at a time. */
struct rings *rings_create(size_t ring_bytes, size_t thread_max);
/* Copies the record (head.len8 * 8 bytes) into the calling thread's ring; head.tid is set here. False: dropped.
 * *pressing: the ring is half full, the flush thread is wanted now. */
bool rings_put(struct rings *rings, struct record_head *record, bool *pressing);
/* For the flush thread: what was there at rings_mark is taken by rings_drain, and nothing that came since: ring by ring,
 * in pieces, which end within a record where a ring wraps around. */
void rings_mark(struct rings *rings);
void rings_drain(struct rings *rings, void (*take)(void *user, const uint8_t *bytes, size_t count),
                 void *user);
uint64_t rings_take_dropped(struct rings *rings); /* since the last call */
uint32_t rings_tid(void);                         /* of the calling thread, the system's */

#endif

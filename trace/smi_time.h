/* smi_time.h: points in time as logs write them. */
#ifndef SMI_TIME_H
#define SMI_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "2024/05/01 12:00:00.123", with "-" in the date and "T" or a blank before the time too, its zone
 * left out of account; or seconds since 1970 (or any start) with a fraction. Nanoseconds, those of
 * dates since 1970 as if the clock showed UTC. False: neither. */
bool smi_time_parse(const char *text, size_t length, uint64_t *time_ns);

#endif

/* recorded_place.h: where requests and frees of a simulated and a real run are equal: the allocator over
 * them, from the state in which the recording begins and with the addresses that its driver gave. */
#ifndef RECORDED_PLACE_H
#define RECORDED_PLACE_H

#include <stdbool.h>

struct comparison;
struct error;
struct source_result;

/* By the rules and settings of the simulated run. Does nothing where it is not wanted, or where the
 * recording lacks what it takes; false: host memory. */
bool recorded_place_find(const struct source_result *simulated, struct comparison *comparison,
                         struct error *err);

#endif

/* axis.h: ticks at round values, and their texts. Pure. */
#ifndef AXIS_H
#define AXIS_H

#include <stdint.h>

enum { AXIS_TEXT_BYTES = 40 };

enum axis_unit { AXIS_EVENT, AXIS_NS, AXIS_BYTES };

struct axis {
    enum axis_unit unit;
    double first, step; /* ticks at first, first + step, ...; step > 0 */
    int count;
};

/* At most `most` (>= 1) ticks inside low .. high (low < high). Steps are 1, 2, 5 times a power of
 * ten; for bytes powers of two times 1, 2, 4 ...; whole numbers only. */
struct axis axis_ticks(enum axis_unit unit, double low, double high, int most);
/* As exact as the step needs, with a unit: "1.25 ms", "12 GiB", "15,000". */
const char *axis_text(enum axis_unit unit, double value, double step, char out[AXIS_TEXT_BYTES]);

#endif

/* axis.c: see axis.h. */
#include "axis.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "units.h"

/* The smallest round step >= `wanted`. */
static double decimal_step(double wanted) {
    static const double rounds[] = {1, 2, 5};
    double power = 1;
    for (;; power *= 10)
        for (int i = 0; i < 3; i++)
            if (rounds[i] * power >= wanted)
                return rounds[i] * power;
}

/* Round in the unit they are told in: 1 to 100 as people count, then quarters of the next unit. */
static double byte_step(double wanted) {
    static const double rounds[] = {1, 2, 5, 10, 20, 50, 100, 256, 512};
    double unit = 1;
    for (;; unit *= 1024)
        for (int i = 0; i < 9; i++)
            if (rounds[i] * unit >= wanted)
                return rounds[i] * unit;
}

struct axis axis_ticks(enum axis_unit unit, double low, double high, int most) {
    struct axis axis = {unit, 0, 1, 0};
    double wanted = (high - low) / (most > 0 ? most : 1);
    if (!(wanted > 0) || wanted > 1e30)
        return axis;
    axis.step = unit == AXIS_BYTES ? byte_step(wanted) : decimal_step(wanted);
    axis.first = ceil(low / axis.step) * axis.step;
    while (axis.count < most && axis.first + axis.count * axis.step <= high)
        axis.count++;
    return axis;
}

static const char *scaled_text(double value, double step, double factor, const char *unit,
                               char out[AXIS_TEXT_BYTES]) {
    int decimals = 0;
    double shown_step = step / factor;
    while (decimals < 6 && fabs(shown_step - nearbyint(shown_step)) > 1e-9 * shown_step) {
        shown_step *= 10;
        decimals++;
    }
    snprintf(out, AXIS_TEXT_BYTES, "%.*f %s", decimals, value / factor, unit);
    return out;
}

/* In the largest unit that tells it exactly in quarters: 1.25 GiB, but 1100 MiB. */
static const char *bytes_text(double value, char out[AXIS_TEXT_BYTES]) {
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double factor = 1;
    int i = 0;
    while (i < 6 && value >= factor * 1024) {
        double quarters = value / (factor * 1024) * 4;
        if (quarters != nearbyint(quarters))
            break;
        factor *= 1024;
        i++;
    }
    double shown = value / factor;
    int decimals = shown == nearbyint(shown) ? 0 : 2 * shown == nearbyint(2 * shown) ? 1 : 2;
    snprintf(out, AXIS_TEXT_BYTES, "%.*f %s", decimals, shown, names[i]);
    return out;
}

const char *axis_text(enum axis_unit unit, double value, double step, char out[AXIS_TEXT_BYTES]) {
    if (unit == AXIS_EVENT)
        return units_format_grouped(value > 0 ? (uint64_t)value : 0, out);
    if (value == 0) {
        snprintf(out, AXIS_TEXT_BYTES, "0");
        return out;
    }
    if (unit == AXIS_NS) {
        static const char *const names[] = {"ns", "us", "ms", "s"};
        double factor = 1;
        int i = 0;
        for (; i < 3 && value >= factor * 1000; i++)
            factor *= 1000;
        return scaled_text(value, step, factor, names[i], out);
    }
    return bytes_text(value, out);
}

static_assert((int)UNITS_TEXT_BYTES <= (int)AXIS_TEXT_BYTES, "units write into an axis text");

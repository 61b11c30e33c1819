/* label.c: see label.h. */
#include "label.h"

#include <stdio.h>

#include "units.h"

const char *label_bytes(uint64_t bytes, char out[LABEL_BYTES]) {
    return units_format_bytes(bytes, out);
}

const char *label_bytes_or_dash(uint64_t bytes, char out[LABEL_BYTES]) {
    return bytes ? label_bytes(bytes, out) : "-";
}

const char *label_bytes_short(uint64_t bytes, char out[LABEL_BYTES]) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1023.5; value /= 1024)
        unit++;
    snprintf(out, LABEL_BYTES, value < 99.95 && unit > 0 ? "%.1f %s" : "%.0f %s", value,
             units[unit]);
    return out;
}

const char *label_count(uint64_t count, char out[LABEL_BYTES]) {
    return units_format_grouped(count, out);
}

const char *label_bytes_exact(uint64_t bytes, char out[LABEL_BYTES]) {
    char rounded[UNITS_TEXT_BYTES], exact[UNITS_TEXT_BYTES];
    if (bytes < 1024)
        return units_format_bytes(bytes, out);
    snprintf(out, LABEL_BYTES, "%.24s (%.28s)", units_format_bytes(bytes, rounded),
             units_format_grouped(bytes, exact));
    return out;
}

const char *label_difference(uint64_t a, uint64_t b, char out[LABEL_BYTES]) {
    char rounded[UNITS_TEXT_BYTES];
    uint64_t distance = a > b ? a - b : b - a;
    snprintf(out, LABEL_BYTES, "%s%.30s",
             a > b   ? "+"
             : a < b ? "-"
                     : "",
             units_format_bytes(distance, rounded));
    return out;
}

const char *label_time(uint64_t ns, char out[LABEL_BYTES]) {
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{UINT64_C(1000000000), "s"}, {1000000, "ms"}, {1000, "us"}};
    for (int i = 0; i < 3; i++)
        if (ns >= units[i].ns) {
            uint64_t thousandths = ns / (units[i].ns / 1000);
            snprintf(out, LABEL_BYTES, "%llu.%03u %s", (unsigned long long)(thousandths / 1000),
                     (unsigned)(thousandths % 1000), units[i].name);
            return out;
        }
    snprintf(out, LABEL_BYTES, "%u ns", (unsigned)ns);
    return out;
}

const char *label_share(uint64_t part, uint64_t whole, char out[LABEL_BYTES]) {
    if (whole == 0)
        snprintf(out, LABEL_BYTES, "-");
    else
        snprintf(out, LABEL_BYTES, "%.1f %%", 100.0 * (double)part / (double)whole);
    return out;
}

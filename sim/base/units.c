/* units.c: see units.h. */
#include "units.h"

#include <stdio.h>
#include <string.h>

#include "checked.h"

struct suffix {
    const char *name;
    uint64_t factor;
};

static const struct suffix suffixes[] = {{"", 1},
                                         {"B", 1},
                                         {"KiB", KIB},
                                         {"MiB", MIB},
                                         {"GiB", GIB},
                                         {"TiB", GIB * 1024},
                                         {"KB", 1000},
                                         {"MB", 1000000},
                                         {"GB", 1000000000},
                                         {"TB", UINT64_C(1000000000000)},
                                         {NULL, 0}};

static const struct suffix times[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};

/* Digits, perhaps with a fraction, then one of the suffixes. */
static bool parse(const char *text, const struct suffix *suffix, uint64_t *value) {
    const char *p = text;
    uint64_t whole = 0, fraction = 0, scale = 1;
    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++)
        if (!checked_mul(whole, 10, &whole) || !checked_add(whole, (uint64_t)(*p - '0'), &whole))
            return false;
    if (*p == '.' && (p[1] < '0' || p[1] > '9'))
        return false;
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9'; p++) {
            if (scale >= UINT64_C(1000000))
                return false;
            fraction = fraction * 10 + (uint64_t)(*p - '0');
            scale *= 10;
        }
    while (*p == ' ')
        p++;
    while (suffix->name && strcmp(p, suffix->name) != 0)
        suffix++;
    uint64_t big, small;
    if (!suffix->name || !checked_mul(whole, suffix->factor, &big) ||
        !checked_mul(fraction, suffix->factor, &small) || !checked_add(big, small / scale, &big))
        return false;
    *value = big;
    return true;
}

bool units_parse_bytes(const char *text, uint64_t *bytes) {
    return parse(text, suffixes, bytes);
}

bool units_parse_time(const char *text, uint64_t *ns) {
    return parse(text, times, ns);
}

const char *units_format_bytes(uint64_t bytes, char out[UNITS_TEXT_BYTES]) {
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < sizeof names / sizeof names[0]) {
        value /= 1024;
        unit++;
    }
    snprintf(out, UNITS_TEXT_BYTES, unit == 0 ? "%.0f %s" : "%.2f %s", value, names[unit]);
    return out;
}

const char *units_format_pytorch(uint64_t bytes, char out[UNITS_TEXT_BYTES]) {
    if (bytes <= 1024)
        snprintf(out, UNITS_TEXT_BYTES, "%llu bytes", (unsigned long long)bytes);
    else if (bytes <= MIB)
        snprintf(out, UNITS_TEXT_BYTES, "%.2f KiB", (double)bytes / 1024.0);
    else if (bytes <= GIB)
        snprintf(out, UNITS_TEXT_BYTES, "%.2f MiB", (double)bytes / 1048576.0);
    else
        snprintf(out, UNITS_TEXT_BYTES, "%.2f GiB", (double)bytes / 1073741824.0);
    return out;
}

const char *units_format_grouped(uint64_t value, char out[UNITS_TEXT_BYTES]) {
    char digits[UNITS_TEXT_BYTES];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    size_t to = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            out[to++] = ',';
        out[to++] = digits[i];
    }
    out[to] = '\0';
    return out;
}

/* palette.c: see palette.h. */
#include "palette.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "file.h"
#include "nearest.h"
#include "xalloc.h"

enum { FILE_BYTES_MAX = 64 << 10, LINE_BYTES = 256 };

static double linear(uint32_t part) {
    double v = part / 255.0;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double luminance(uint32_t color) {
    return 0.2126 * linear(color >> 16 & 255) + 0.7152 * linear(color >> 8 & 255) +
           0.0722 * linear(color & 255);
}

double palette_contrast(uint32_t a, uint32_t b) {
    double x = luminance(a), y = luminance(b);
    return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

void palette_start(struct palette *palette) {
    for (unsigned i = 0; i < CATEGORY_COUNT; i++)
        palette->bands[i] = theme_band((enum category)i);
}

static bool find_category(const char *word, enum category *category, struct error *err) {
    struct nearest nearest = {.word = word};
    char hint[NEAREST_HINT_BYTES];
    for (unsigned i = 0; i < CATEGORY_COUNT; i++) {
        *category = (enum category)i;
        if (strcmp(category_key(*category), word) == 0)
            return true;
        nearest_offer(&nearest, category_key(*category));
    }
    return error_set(err, ERROR_USAGE, "unknown category '%s'%s; as activation", word,
                     nearest_hint(&nearest, hint));
}

static bool parse_color(const char *word, uint32_t *color, struct error *err) {
    if (*word == '#')
        word++;
    if (strlen(word) != 6 || strspn(word, "0123456789abcdefABCDEF") != 6)
        return error_set(err, ERROR_USAGE, "'%s': expected six hexadecimal digits, as 0072B2",
                         word);
    *color = 0xff000000 | (uint32_t)strtoul(word, NULL, 16);
    return true;
}

static bool parse_pattern(const char *word, enum pattern *pattern, struct error *err) {
    static const char *const names[] = {"none", "diagonals", "dots", "hatch"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(word, names[i]) == 0) {
            *pattern = (enum pattern)i;
            return true;
        }
    return error_set(err, ERROR_USAGE, "unknown pattern '%s': none, diagonals, dots or hatch",
                     word);
}

/* Up to four words, of which "=" is one also where no blank is around it; more are counted. */
static int split(char *line, char *words[4]) {
    int count = 0;
    for (char *p = line; *p;) {
        while (isspace((unsigned char)*p))
            *p++ = '\0';
        if (*p == '\0')
            break;
        if (count < 4)
            words[count] = p;
        count++;
        while (*p && !isspace((unsigned char)*p))
            p++;
    }
    return count;
}

static bool parse_line(const char *text, size_t length, struct palette *palette,
                       struct error *err) {
    char line[LINE_BYTES + 4], *words[4] = {NULL};
    const char *equals = memchr(text, '=', length);
    if (length >= LINE_BYTES)
        return error_set(err, ERROR_USAGE, "a line of %zu bytes, at most %d", length,
                         LINE_BYTES - 1);
    size_t name = equals ? (size_t)(equals - text) : length, rest = equals ? length - name - 1 : 0;
    memcpy(line, text, name);
    memcpy(line + name, equals ? " = " : "", equals ? 3 : 0);
    memcpy(line + name + (equals ? 3 : 0), equals ? equals + 1 : text, rest);
    line[name + (equals ? 3 : 0) + rest] = '\0';
    int count = split(line, words);
    if (count == 0 || words[0][0] == '#')
        return true;
    if (count < 3 || count > 4 || strcmp(words[1], "=") != 0)
        return error_set(err, ERROR_USAGE, "expected category = RRGGBB [pattern]");
    enum category category = CATEGORY_UNKNOWN;
    uint32_t color = 0;
    enum pattern pattern = PATTERN_NONE;
    if (!find_category(words[0], &category, err) || !parse_color(words[2], &color, err) ||
        (count == 4 && !parse_pattern(words[3], &pattern, err)))
        return false;
    bool dark = palette_contrast(color, 0xffffff) > palette_contrast(color, 0);
    palette->bands[category] = (struct band_style){color, pattern, dark ? 0xffffffff : 0xff000000};
    return true;
}

bool palette_parse(const char *text, const char *name, struct palette *palette, struct error *err) {
    unsigned number = 1;
    for (const char *at = text; *at; number++) {
        size_t length = strcspn(at, "\n");
        if (!parse_line(at, length, palette, err))
            return error_wrap(err, "%s:%u", name, number);
        at += length + (at[length] == '\n');
    }
    return true;
}

bool palette_read(const char *path, struct palette *palette, struct error *err) {
    char *text;
    size_t length;
    if (!file_read(path, FILE_BYTES_MAX, &text, &length, err))
        return false;
    palette_start(palette);
    bool ok = palette_parse(text, path, palette, err);
    xfree(text);
    return ok;
}

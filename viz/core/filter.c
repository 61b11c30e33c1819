/* filter.c: the words; see filter.h. */
#include "filter.h"

#include <stdio.h>
#include <string.h>

#include "category.h"
#include "dtype.h"
#include "error.h"
#include "units.h"

/* A word without its quotes: name, sign, value. */
struct word {
    char text[512];
    size_t length;
    bool negated;
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next word; false: there is none. */
static bool take_word(const char **at, struct word *word) {
    const char *p = *at;
    bool quoted = false;
    while (is_blank(*p))
        p++;
    word->length = 0;
    word->negated = p[0] == '!' && p[1] != '\0' && !is_blank(p[1]);
    p += word->negated;
    bool any = *p != '\0';
    for (; *p && (quoted || !is_blank(*p)); p++) {
        if (*p == '"')
            quoted = !quoted;
        else if (word->length + 1 < sizeof word->text)
            word->text[word->length++] = *p;
    }
    word->text[word->length] = '\0';
    *at = p;
    return any;
}

static bool has_letters(const char *text, const char *part) {
    struct filter_text test;
    struct error ignored = {0};
    if (!filter_text_init(&test, FILTER_HAS, part, strlen(part), &ignored))
        return false;
    bool has = filter_text_passes(&test, text);
    filter_text_fini(&test);
    return has;
}

static bool read_size(const char *text, struct filter_term *term, struct error *err) {
    return units_parse_bytes(text, &term->value) ||
           error_set(err, ERROR_USAGE, "size: found '%s', expected a size, as size>1MiB", text);
}

static bool read_life(const char *text, struct filter_term *term, struct error *err) {
    uint64_t ns = 0;
    if (units_parse_bytes(text, &term->value) && strspn(text, "0123456789") == strlen(text)) {
        term->kind = FILTER_LIFE_EVENTS;
        return true;
    }
    if (!units_parse_time(text, &ns))
        return error_set(err, ERROR_USAGE,
                         "life: found '%s', expected a time or a count of events, as life<2ms, "
                         "life>100",
                         text);
    term->kind = FILTER_LIFE_TIME;
    term->value = ns;
    return true;
}

static bool read_category(const char *text, struct filter_term *term, struct error *err) {
    char known[256] = "";
    for (unsigned i = 0; i < CATEGORY_COUNT; i++) {
        enum category c = (enum category)i;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, " %s", category_key(c));
        if (*text && (has_letters(category_key(c), text) ||
                      has_letters(category_english(c), text) || strstr(category_chinese(c), text)))
            term->value |= UINT64_C(1) << i;
    }
    return term->value != 0 ||
           error_set(err, ERROR_USAGE, "cat: found '%s', expected one of%s", text, known);
}

static bool read_index(const char *text, struct filter_term *term, struct error *err) {
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9 || text[digits] != '\0')
        return error_set(err, ERROR_USAGE, "%s: found '%s', expected a number",
                         term->kind == FILTER_STREAM ? "stream" : "device", text);
    for (const char *p = text; *p; p++)
        term->value = term->value * 10 + (uint64_t)(*p - '0');
    return true;
}

static bool read_dtype(const char *text, struct filter_term *term, struct error *err) {
    term->value = dtype_find(text);
    return term->value != DTYPE_NONE ||
           error_set(err, ERROR_USAGE,
                     "dtype: found '%s', expected a data type, as bf16 or float32", text);
}

static const struct {
    const char *name;
    enum filter_kind kind;
    bool (*read)(const char *text, struct filter_term *term, struct error *err); /* NULL: a text */
    bool compares;                                                               /* < and > */
} fields[] = {{"size", FILTER_SIZE, read_size, true},
              {"life", FILTER_LIFE_EVENTS, read_life, true},
              {"cat", FILTER_CATEGORY, read_category, false},
              {"category", FILTER_CATEGORY, read_category, false},
              {"stream", FILTER_STREAM, read_index, false},
              {"device", FILTER_DEVICE, read_index, false},
              {"dtype", FILTER_DTYPE, read_dtype, false},
              {"module", FILTER_MODULE, NULL, false},
              {"op", FILTER_OP, NULL, false},
              {"name", FILTER_NAME, NULL, false},
              {"stack", FILTER_STACK, NULL, false},
              {"phase", FILTER_PHASE, NULL, false}};

enum { FIELDS = sizeof fields / sizeof fields[0] };

static bool read_text(const char *text, bool whole, struct filter_term *term, struct error *err) {
    bool regex = !whole && *text == '~';
    text += regex;
    return filter_text_init(&term->text,
                            regex   ? FILTER_REGEX
                            : whole ? FILTER_IS
                                    : FILTER_HAS,
                            text, strlen(text), err);
}

/* "name", one of ":=<>", perhaps "=", the value. */
static bool read_field(const struct word *word, size_t field, struct filter_term *term,
                       struct error *err) {
    const char *sign = word->text + strlen(fields[field].name), *value = sign + 1;
    term->kind = fields[field].kind;
    if (*sign == '<' || *sign == '>') {
        if (!fields[field].compares)
            return error_set(err, ERROR_USAGE, "'%s': size and life alone are compared, %s: is not",
                             word->text, fields[field].name);
        term->compare = *sign == '<' ? FILTER_LESS : FILTER_MORE;
        term->or_equal = *value == '=';
        value += term->or_equal;
    }
    if (fields[field].read)
        return fields[field].read(value, term, err);
    if (!*value && *sign == ':')
        return error_set(err, ERROR_USAGE, "%s: a text is expected after it", word->text);
    return read_text(value, *sign == '=', term, err);
}

static bool read_flag(const struct word *word, struct filter *filter, struct filter_term *term) {
    static const struct {
        const char *name;
        enum filter_kind kind;
    } flags[] = {{"alive", FILTER_ALIVE},
                 {"freed", FILTER_FREED},
                 {"never", FILTER_NEVER},
                 {"before", FILTER_BEFORE}};
    enum { FLAGS = sizeof flags / sizeof flags[0] };
    size_t i = 0;
    while (i < FLAGS && strcmp(word->text, flags[i].name) != 0)
        i++;
    if (i == FLAGS)
        return false;
    term->kind = flags[i].kind;
    if (term->kind == FILTER_ALIVE) {
        filter->alive = term->negated ? -1 : 1;
        term->negated = false;
    }
    return true;
}

/* "sise>1MiB" is no text that anyone looks for. */
static bool check_plain(const struct word *word, struct error *err) {
    const char *sign = strpbrk(word->text, "<>");
    const char *value = sign ? sign + 1 + (sign[1] == '=') : "";
    return *value < '0' || *value > '9' ||
           error_set(err, ERROR_USAGE, "'%s': size or life is expected before %c", word->text,
                     *sign);
}

static bool read_word(const struct word *word, struct filter *filter, struct filter_term *term,
                      struct error *err) {
    term->negated = word->negated;
    if (read_flag(word, filter, term))
        return true;
    for (size_t i = 0; i < FIELDS; i++) {
        size_t length = strlen(fields[i].name);
        if (strncmp(word->text, fields[i].name, length) == 0 && word->text[length] &&
            strchr(":=<>", word->text[length]))
            return read_field(word, i, term, err);
    }
    term->kind = FILTER_ANY;
    return check_plain(word, err) && read_text(word->text, false, term, err);
}

bool filter_parse(struct filter *filter, const char *text, struct error *err) {
    struct word word;
    memset(filter, 0, sizeof *filter);
    while (take_word(&text, &word)) {
        struct filter_term term = {.kind = FILTER_ANY};
        bool read = read_word(&word, filter, &term, err);
        if (read && array_push(&filter->terms, term))
            continue;
        if (read) {
            filter_text_fini(&term.text);
            error_host_memory(err);
        }
        filter_fini(filter);
        return false;
    }
    return true;
}

void filter_fini(struct filter *filter) {
    for (size_t i = 0; i < filter->terms.count; i++)
        filter_text_fini(&filter->terms.at[i].text);
    array_fini(&filter->terms);
    filter->alive = 0;
}

/* json_parse.c: see json_parse.h. One walk over the bytes, which are all there: a text is handed out where it lies, unless
 * it has escapes, which are put together in one buffer. */
#include "json_parse.h"

#include <string.h>

#include "array.h"
#include "error.h"
#include "importer.h"

enum { REPORT_BYTES = 1 << 20 };

struct parse {
    const struct json_handlers *on;
    void *context;
    const uint8_t *begin, *at, *end, *report_at;
    const struct trace_options *options;
    struct error *err;
    size_t limit;          /* bytes of `joined` */
    ARRAY(uint8_t) joined; /* the text that has escapes */
    unsigned depth;
    bool is_object[JSON_DEPTH + 1]; /* of the open containers, the innermost is that of `depth` */
};

static size_t place(const struct parse *p) {
    return (size_t)(p->at - p->begin);
}

/* What stands at p->at is not what JSON has there. */
static bool fail(const struct parse *p, const char *expected) {
    if (p->at >= p->end)
        return error_set(p->err, ERROR_BAD_INPUT, "the JSON ends in its middle, at byte %zu",
                         place(p));
    bool is_shown = *p->at > ' ' && *p->at < 0x7f;
    return error_set(p->err, ERROR_BAD_INPUT,
                     is_shown ? "no JSON: %s expected at byte %zu, found '%c'"
                              : "no JSON: %s expected at byte %zu, found byte 0x%02x",
                     expected, place(p), *p->at);
}

static bool report(struct parse *p) {
    const struct trace_options *o = p->options;
    p->report_at = p->end - p->at > REPORT_BYTES ? p->at + REPORT_BYTES : p->end;
    if (!o)
        return true;
    if (o->passed)
        o->passed(o->passed_user, place(p));
    return !o->progress || o->progress(o->user, place(p), (size_t)(p->end - p->begin)) ||
           error_set(p->err, ERROR_INTERRUPTED, "interrupted");
}

static void skip_blanks(struct parse *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t'))
        p->at++;
}

/* --- texts --- */

#define EACH_BYTE(value) (UINT64_MAX / 255 * (value))

/* Of eight bytes: is any of them a quote, a backslash, below a blank or above ASCII? */
static bool has_special(uint64_t bytes) {
    uint64_t quote = bytes ^ EACH_BYTE('"'), slash = bytes ^ EACH_BYTE('\\');
    uint64_t low = (bytes - EACH_BYTE(' ')) | (quote - EACH_BYTE(1)) | (slash - EACH_BYTE(1));
    return ((low | bytes) & EACH_BYTE(0x80)) != 0;
}

/* Bytes of the character that begins with this one above ASCII; 0: none does. */
static size_t length_of(uint8_t first) {
    return first >> 5 == 0x6 ? 2 : first >> 4 == 0xe ? 3 : first >> 3 == 0x1e ? 4 : 0;
}

/* To the next quote or backslash. */
static bool skip_plain(struct parse *p) {
    for (;;) {
        uint64_t eight;
        for (; p->end - p->at >= 8; p->at += 8) {
            memcpy(&eight, p->at, sizeof eight);
            if (has_special(eight))
                break;
        }
        while (p->at < p->end && *p->at >= ' ' && *p->at < 0x80 && *p->at != '"' && *p->at != '\\')
            p->at++;
        if (p->at < p->end && (*p->at == '"' || *p->at == '\\'))
            return true;
        size_t n = p->at < p->end ? length_of(*p->at) : 0;
        if (n == 0 || (size_t)(p->end - p->at) < n)
            return fail(p, "a character of UTF-8 or a quote");
        for (size_t i = 1; i < n; i++)
            if (p->at[i] >> 6 != 2)
                return fail(p, "a character of UTF-8");
        p->at += n;
    }
}

static bool join(struct parse *p, const void *bytes, size_t count) {
    size_t total = p->joined.count + count;
    if (total > p->limit)
        return error_set(p->err, ERROR_LIMIT,
                         "a value of the JSON takes more than %zu bytes; --max-memory allows more",
                         p->limit);
    if (!array_reserve(&p->joined, total))
        return error_host_memory(p->err);
    if (count > 0)
        memcpy(p->joined.at + p->joined.count, bytes, count);
    p->joined.count = total;
    return true;
}

static int hex_of(uint8_t c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hexadecimal digits. */
static bool read_unit(struct parse *p, uint32_t *unit) {
    *unit = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        int digit = p->at < p->end ? hex_of(*p->at) : -1;
        if (digit < 0)
            return fail(p, "four hexadecimal digits");
        *unit = *unit * 16 + (uint32_t)digit;
    }
    return true;
}

static size_t put_utf8(uint32_t c, uint8_t out[4]) {
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (uint8_t)(0x80 | (c & 0x3f));
    out[0] = (uint8_t)((0xf00 >> n & 0xff) | c);
    return n;
}

/* Behind "\u". A half of a pair without the other is no character. */
static bool join_unicode(struct parse *p) {
    uint32_t c, low;
    uint8_t out[4];
    if (!read_unit(p, &c))
        return false;
    bool is_high = c >= 0xd800 && c < 0xdc00;
    if (is_high && p->end - p->at >= 2 && p->at[0] == '\\' && p->at[1] == 'u') {
        const uint8_t *before = p->at;
        p->at += 2;
        if (!read_unit(p, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000)
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        else
            p->at = before;
    }
    if (c >= 0xd800 && c < 0xe000)
        c = '?';
    return join(p, out, put_utf8(c, out));
}

/* Behind a backslash. */
static bool join_escape(struct parse *p) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (p->at < p->end && *p->at == 'u') {
        p->at++;
        return join_unicode(p);
    }
    const char *found = p->at < p->end && *p->at != 0 ? strchr(from, *p->at) : NULL;
    if (!found)
        return fail(p, "the letter of an escape");
    p->at++;
    return join(p, to + (found - from), 1);
}

/* At its quote. */
static bool read_text(struct parse *p, const uint8_t **text, size_t *length) {
    const uint8_t *from = ++p->at;
    array_clear(&p->joined);
    bool is_joined = false;
    for (;;) {
        if (!skip_plain(p))
            return false;
        bool is_end = *p->at == '"';
        if (is_end && !is_joined) {
            *text = from;
            *length = (size_t)(p->at++ - from);
            return true;
        }
        is_joined = true;
        if (!join(p, from, (size_t)(p->at - from)))
            return false;
        p->at++;
        if (is_end)
            break;
        if (!join_escape(p))
            return false;
        from = p->at;
    }
    *text = p->joined.count > 0 ? p->joined.at : from;
    *length = p->joined.count;
    return true;
}

/* --- values --- */

static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

static bool are_digits(const uint8_t eight[8]) {
    uint64_t v;
    memcpy(&v, eight, sizeof v);
    return ((v & EACH_BYTE(0xf0)) | ((v + EACH_BYTE(6)) & EACH_BYTE(0xf0)) >> 4) == EACH_BYTE(0x33);
}

static bool skip_digits(struct parse *p) {
    if (p->at >= p->end || !is_digit(*p->at))
        return fail(p, "a digit");
    const uint8_t *at = p->at + 1;
    while (p->end - at >= 8 && are_digits(at))
        at += 8;
    while (at < p->end && is_digit(*at))
        at++;
    p->at = at;
    return true;
}

static bool take_number(struct parse *p) {
    const uint8_t *from = p->at;
    p->at += *p->at == '-';
    bool is_zero = p->at < p->end && *p->at == '0';
    if (!skip_digits(p))
        return false;
    if (is_zero && p->at - from > 1 + (*from == '-'))
        return error_set(p->err, ERROR_BAD_INPUT,
                         "no JSON: a number that begins with 0 at byte %zu",
                         (size_t)(from - p->begin));
    if (p->at < p->end && *p->at == '.') {
        p->at++;
        if (!skip_digits(p))
            return false;
    }
    if (p->at < p->end && (*p->at | 0x20) == 'e') {
        p->at++;
        p->at += p->at < p->end && (*p->at == '+' || *p->at == '-');
        if (!skip_digits(p))
            return false;
    }
    return p->on->number(p->context, (const char *)from, (size_t)(p->at - from));
}

static bool take_word(struct parse *p, const char *word) {
    for (; *word; word++, p->at++)
        if (p->at >= p->end || *p->at != (uint8_t)*word)
            return fail(p, "true, false or null");
    return true;
}

static bool begin_container(struct parse *p, bool is_object) {
    if (p->depth == JSON_DEPTH)
        return error_set(p->err, ERROR_LIMIT, "JSON nested deeper than %d", JSON_DEPTH);
    p->is_object[++p->depth] = is_object;
    p->at++;
    return (is_object ? p->on->begin_object : p->on->begin_array)(p->context);
}

static bool end_container(struct parse *p) {
    p->at++;
    return (p->is_object[p->depth--] ? p->on->end_object : p->on->end_array)(p->context);
}

/* A whole value, or the beginning of a container. */
static bool take_value(struct parse *p) {
    const uint8_t *text;
    size_t length;
    switch (p->at < p->end ? *p->at : 0) {
    case '"':
        return read_text(p, &text, &length) && p->on->string(p->context, text, length);
    case '{':
    case '[':
        return begin_container(p, *p->at == '{');
    case 't':
        return take_word(p, "true") && p->on->boolean(p->context, 1);
    case 'f':
        return take_word(p, "false") && p->on->boolean(p->context, 0);
    case 'n':
        return take_word(p, "null") && p->on->null(p->context);
    default:
        if (p->at < p->end && (*p->at == '-' || is_digit(*p->at)))
            return take_number(p);
        return fail(p, "a value");
    }
}

/* The name of a member and its colon, if this is an object. */
static bool take_key(struct parse *p) {
    const uint8_t *text;
    size_t length;
    if (!p->is_object[p->depth])
        return true;
    if (p->at >= p->end || *p->at != '"')
        return fail(p, "a name in quotes");
    if (!read_text(p, &text, &length) || !p->on->key(p->context, text, length))
        return false;
    skip_blanks(p);
    if (p->at >= p->end || *p->at != ':')
        return fail(p, "a colon");
    p->at++;
    skip_blanks(p);
    return true;
}

/* What stands behind a value: containers that end, then a comma, unless all has ended. */
static bool take_ends(struct parse *p) {
    for (;;) {
        skip_blanks(p);
        if (p->depth == 0)
            return p->at == p->end || fail(p, "the end");
        if (p->at < p->end && *p->at == (p->is_object[p->depth] ? '}' : ']')) {
            if (!end_container(p))
                return false;
            continue;
        }
        if (p->at >= p->end || *p->at != ',')
            return fail(p, p->is_object[p->depth] ? "a comma or a brace" : "a comma or a bracket");
        p->at++;
        skip_blanks(p);
        return take_key(p);
    }
}

static bool parse_all(struct parse *p) {
    skip_blanks(p);
    for (;;) {
        unsigned depth = p->depth;
        if (p->at >= p->report_at && p->at < p->end && !report(p))
            return false;
        if (!take_value(p))
            return false;
        bool has_begun = p->depth > depth;
        if (has_begun) {
            skip_blanks(p);
            if (p->at < p->end && *p->at != (p->is_object[p->depth] ? '}' : ']')) {
                if (!take_key(p))
                    return false;
                continue;
            }
        }
        if (!take_ends(p))
            return false;
        if (p->depth == 0)
            return true;
    }
}

bool json_parse(const uint8_t *data, size_t length, const struct json_handlers *handlers,
                void *context, const struct trace_options *options, struct error *err) {
    struct parse p = {.on = handlers,
                      .context = context,
                      .begin = data,
                      .at = data,
                      .end = data + length,
                      .report_at = data,
                      .options = options,
                      .err = err,
                      .limit = SIZE_MAX / 2};
    if (options && options->max_memory_bytes > 0)
        p.limit = options->max_memory_bytes;
    bool ok = parse_all(&p);
    array_fini(&p.joined);
    return ok;
}

/* --- numbers --- */

enum { SAFE_DIGITS = 19 }; /* so many fit whatever they are */

/* Eight digits at once, the first in the lowest byte: pairs, then fours, then all. False: not digits alone. */
static bool read_eight(const char *text, uint64_t *out) {
    uint64_t v;
    if (!are_digits((const uint8_t *)text))
        return false;
    memcpy(&v, text, sizeof v);
    v = (v & EACH_BYTE(0x0f)) * (10 * 256 + 1) >> 8;
    v = (v & UINT64_C(0x00ff00ff00ff00ff)) * (100 * 65536 + 1) >> 16;
    *out = (v & UINT64_C(0x0000ffff0000ffff)) * (10000 * (UINT64_C(1) << 32) + 1) >> 32;
    return true;
}

bool json_number_u64(const char *text, size_t length, uint64_t *out) {
    uint64_t value = 0;
    size_t i = 0;
    if (length == 0)
        return false;
    for (uint64_t eight; i + 8 <= length && i + 8 < SAFE_DIGITS; i += 8) {
        if (!read_eight(text + i, &eight))
            return false;
        value = value * 100000000 + eight;
    }
    for (; i < length; i++) {
        unsigned digit = (unsigned)text[i] - '0';
        if (digit > 9 || (i >= SAFE_DIGITS && value > (UINT64_MAX - digit) / 10))
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

bool json_number_i64(const char *text, size_t length, int64_t *out) {
    uint64_t size;
    if (length == 1 && is_digit((uint8_t)*text)) {
        *out = *text - '0';
        return true;
    }
    bool is_negative = length > 0 && *text == '-';
    if (!json_number_u64(text + is_negative, length - is_negative, &size) || size > INT64_MAX)
        return false;
    *out = is_negative ? -(int64_t)size : (int64_t)size;
    return true;
}

bool json_number_thousandths(const char *text, size_t length, uint64_t *out) {
    size_t whole = 0;
    while (whole < length && is_digit((uint8_t)text[whole]))
        whole++;
    uint64_t value;
    if (!json_number_u64(text, whole, &value) || value > UINT64_MAX / 1000 - 1)
        return false;
    value *= 1000;
    if (whole < length && text[whole] != '.')
        return false;
    uint64_t unit = 100;
    for (size_t i = whole + 1; i < length; i++, unit /= 10) {
        if (!is_digit((uint8_t)text[i]))
            return false;
        value += unit * (uint64_t)(text[i] - '0');
    }
    *out = value;
    return true;
}

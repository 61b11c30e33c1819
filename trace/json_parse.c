/* json_parse.c: see json_parse.h.
 *
 * YAJL (2.1) does not look whether memory was to be had. All it takes comes from take() here, which
 * leaves it by longjmp when there is none; what it held until then is in one list and freed with it. */
#include "json_parse.h"

#include <setjmp.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "error.h"
#include "importer.h"
#include "xalloc.h"

enum { CHUNK_BYTES = 1 << 20, ERROR_CONTEXT = 60 };

/* In front of each piece that YAJL holds. */
struct piece {
    struct piece *next, *previous;
    size_t bytes;
};

struct parse {
    const struct json_handlers *handlers;
    void *context;
    struct error *err;
    unsigned depth;
    struct piece pieces; /* a ring; its own is no piece */
    size_t held, limit;  /* bytes */
    bool passed_limit;
    jmp_buf no_memory;
};

static void link_piece(struct parse *p, struct piece *piece) {
    piece->next = p->pieces.next;
    piece->previous = &p->pieces;
    p->pieces.next->previous = piece;
    p->pieces.next = piece;
}

static void unlink_piece(struct piece *piece) {
    piece->next->previous = piece->previous;
    piece->previous->next = piece->next;
}

static void *take(void *user, void *old, size_t bytes) {
    struct parse *p = user;
    struct piece *piece = old ? (struct piece *)old - 1 : NULL;
    size_t before = piece ? piece->bytes : 0;
    if (bytes > p->limit || p->held - before > p->limit - bytes) {
        p->passed_limit = true;
        longjmp(p->no_memory, 1);
    }
    if (piece)
        unlink_piece(piece);
    struct piece *moved = xrealloc(piece, sizeof *piece + bytes);
    if (!moved) {
        if (piece)
            link_piece(p, piece);
        longjmp(p->no_memory, 1);
    }
    moved->bytes = bytes;
    p->held += bytes - before;
    link_piece(p, moved);
    return moved + 1;
}

static void *take_new(void *user, size_t bytes) {
    return take(user, NULL, bytes);
}

static void give_back(void *user, void *old) {
    struct parse *p = user;
    if (!old)
        return;
    struct piece *piece = (struct piece *)old - 1;
    unlink_piece(piece);
    p->held -= piece->bytes;
    xfree(piece);
}

static void give_all_back(struct parse *p) {
    while (p->pieces.next != &p->pieces)
        give_back(p, p->pieces.next + 1);
}

/* YAJL's own words have line breaks and an arrow below the place. */
static bool fail_syntax(yajl_handle h, const uint8_t *chunk, size_t length, size_t before,
                        struct error *err) {
    size_t at = before + yajl_get_bytes_consumed(h);
    unsigned char *words = yajl_get_error(h, 0, chunk, length);
    char *end = strchr((char *)words, '\n');
    if (end)
        *end = '\0';
    return error_set(err, ERROR_BAD_INPUT, "%.*s near byte %zu", ERROR_CONTEXT, (char *)words, at);
}

/* Containers are counted on their way to the handlers. */
static int deeper(struct parse *p) {
    return ++p->depth <= JSON_DEPTH ||
           error_set(p->err, ERROR_LIMIT, "JSON nested deeper than %d", JSON_DEPTH);
}

static int on_null(void *user) {
    struct parse *p = user;
    return p->handlers->null(p->context);
}

static int on_boolean(void *user, int value) {
    struct parse *p = user;
    return p->handlers->boolean(p->context, value);
}

static int on_number(void *user, const char *text, size_t length) {
    struct parse *p = user;
    return p->handlers->number(p->context, text, length);
}

static int on_string(void *user, const unsigned char *text, size_t length) {
    struct parse *p = user;
    return p->handlers->string(p->context, text, length);
}

static int on_key(void *user, const unsigned char *text, size_t length) {
    struct parse *p = user;
    return p->handlers->key(p->context, text, length);
}

static int on_begin_object(void *user) {
    struct parse *p = user;
    return deeper(p) && p->handlers->begin_object(p->context);
}

static int on_begin_array(void *user) {
    struct parse *p = user;
    return deeper(p) && p->handlers->begin_array(p->context);
}

static int on_end_object(void *user) {
    struct parse *p = user;
    p->depth--;
    return p->handlers->end_object(p->context);
}

static int on_end_array(void *user) {
    struct parse *p = user;
    p->depth--;
    return p->handlers->end_array(p->context);
}

static const yajl_callbacks callbacks = {.yajl_null = on_null,
                                         .yajl_boolean = on_boolean,
                                         .yajl_number = on_number,
                                         .yajl_string = on_string,
                                         .yajl_start_map = on_begin_object,
                                         .yajl_map_key = on_key,
                                         .yajl_end_map = on_end_object,
                                         .yajl_start_array = on_begin_array,
                                         .yajl_end_array = on_end_array};

static bool feed(yajl_handle h, const uint8_t *data, size_t length,
                 const struct trace_options *options, struct error *err) {
    for (size_t at = 0; at < length; at += CHUNK_BYTES) {
        size_t bytes = length - at < CHUNK_BYTES ? length - at : CHUNK_BYTES;
        if (options && options->progress && !options->progress(options->user, at, length))
            return error_set(err, ERROR_INTERRUPTED, "interrupted");
        if (options && options->passed)
            options->passed(options->passed_user, at);
        yajl_status status = yajl_parse(h, data + at, bytes);
        if (status == yajl_status_client_canceled)
            return false;
        if (status != yajl_status_ok)
            return fail_syntax(h, data + at, bytes, at, err);
    }
    yajl_status status = yajl_complete_parse(h);
    if (status == yajl_status_client_canceled)
        return false;
    return status == yajl_status_ok ||
           error_set(err, ERROR_BAD_INPUT, "the JSON ends in its middle, at byte %zu", length);
}

static bool parse_all(struct parse *p, const uint8_t *data, size_t length,
                      const struct trace_options *options, struct error *err) {
    yajl_alloc_funcs memory = {.malloc = take_new, .realloc = take, .free = give_back, .ctx = p};
    if (setjmp(p->no_memory)) {
        give_all_back(p);
        return p->passed_limit
                   ? error_set(err, ERROR_LIMIT,
                               "a value of the JSON takes more than %zu bytes; --max-memory "
                               "allows more",
                               p->limit)
                   : error_host_memory(err);
    }
    yajl_handle h = yajl_alloc(&callbacks, &memory, p);
    bool ok = feed(h, data, length, options, err);
    yajl_free(h);
    give_all_back(p);
    return ok;
}

bool json_parse(const uint8_t *data, size_t length, const struct json_handlers *handlers,
                void *context, const struct trace_options *options, struct error *err) {
    struct parse p = {.handlers = handlers, .context = context, .err = err};
    p.pieces.next = p.pieces.previous = &p.pieces;
    p.limit = options && options->max_memory_bytes ? options->max_memory_bytes : SIZE_MAX / 2;
    return parse_all(&p, data, length, options, err);
}

/* --- numbers --- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

enum { SAFE_DIGITS = 19 }; /* so many fit whatever they are */

bool json_number_u64(const char *text, size_t length, uint64_t *out) {
    uint64_t value = 0;
    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++) {
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
    bool is_negative = length > 0 && *text == '-';
    if (!json_number_u64(text + is_negative, length - is_negative, &size) || size > INT64_MAX)
        return false;
    *out = is_negative ? -(int64_t)size : (int64_t)size;
    return true;
}

bool json_number_thousandths(const char *text, size_t length, uint64_t *out) {
    size_t whole = 0;
    while (whole < length && is_digit(text[whole]))
        whole++;
    uint64_t value;
    if (!json_number_u64(text, whole, &value) || value > UINT64_MAX / 1000 - 1)
        return false;
    value *= 1000;
    if (whole < length && text[whole] != '.')
        return false;
    uint64_t unit = 100;
    for (size_t i = whole + 1; i < length; i++, unit /= 10) {
        if (!is_digit(text[i]))
            return false;
        value += unit * (uint64_t)(text[i] - '0');
    }
    *out = value;
    return true;
}

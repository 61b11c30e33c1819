/* alloc_settings.c: the text of PYTORCH_ALLOC_CONF. One row a key; the accepted values are those of
 * the releases that were run (docs/allocators.md). Blanks count for nothing anywhere, as in
 * PyTorch's tokenizer. */
#include "alloc_settings.h"

#include <string.h>

#include "bits.h"
#include "checked.h"
#include "error.h"
#include "framework.h"
#include "units.h"

enum {
    TOKEN_BYTES = 64,
    LARGEST_DIVISIONS_KEY = 32768, /* MiB: the last slot */
    NON_SPLIT_LEAST_MB = 20        /* in releases where a size must be more */
};

static const struct alloc_settings defaults = {.max_split_bytes = UINT64_MAX,
                                               .max_non_split_rounding_bytes = 20 * MIB,
                                               .large_segment_bytes = 20 * MIB,
                                               .memory_fraction = 1};

struct parser {
    const char *at;
    const struct framework *framework;
    const char *key;
    char token[TOKEN_BYTES];
    struct alloc_settings *out;
    struct error *err;
};

/* --- reading --- */

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_sign(char c) {
    return c == ',' || c == ':' || c == '[' || c == ']';
}

static char peek(struct parser *p) {
    while (is_blank(*p->at))
        p->at++;
    return *p->at;
}

static bool fail(struct parser *p, const char *wanted) {
    return error_set(p->err, ERROR_BAD_INPUT, "%s: found '%.20s', expected %s", p->key, p->token,
                     wanted);
}

/* The next word into p->token; a sign is not taken. */
static bool read_word(struct parser *p) {
    size_t length = 0;
    while (peek(p) && !is_sign(*p->at)) {
        if (length + 1 == sizeof p->token)
            return error_set(p->err, ERROR_BAD_INPUT,
                             "allocator settings: a word of more than %d characters",
                             TOKEN_BYTES - 1);
        p->token[length++] = *p->at++;
    }
    p->token[length] = '\0';
    return true;
}

static bool expect(struct parser *p, char sign) {
    if (peek(p) == sign) {
        p->at++;
        return true;
    }
    if (sign == ':' && *p->at == '\0')
        return error_set(p->err, ERROR_BAD_INPUT,
                         "%s: expected KEY:VALUE, e.g. expandable_segments:True", p->key);
    return error_set(p->err, ERROR_BAD_INPUT, "%s: expected '%c' before '%.20s'", p->key, sign,
                     p->at);
}

/* --- values --- */

static bool parse_digits(const char **text, uint64_t *value) {
    const char *p = *text;
    *value = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (!checked_mul(*value, 10, value) || !checked_add(*value, (uint64_t)(*p - '0'), value))
            return false;
    bool any = p != *text;
    *text = p;
    return any;
}

static bool parse_whole(const char *text, uint64_t *value) {
    return parse_digits(&text, value) && *text == '\0';
}

/* Decimals without the locale: exact up to 15 digits, since both the digits and the power of ten
 * are exact then. */
static bool parse_decimal(const char *text, double *value) {
    uint64_t whole = 0, scale = 1;
    bool any = false, fraction = false;
    for (; *text; text++) {
        if (*text == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (*text < '0' || *text > '9' || whole > UINT64_C(99999999999999))
            return false;
        whole = whole * 10 + (uint64_t)(*text - '0');
        scale *= fraction ? 10 : 1;
        any = true;
    }
    *value = (double)whole / (double)scale;
    return any;
}

static bool read_bool(struct parser *p, bool *out) {
    if (!read_word(p))
        return false;
    *out = strcmp(p->token, "True") == 0;
    return *out || strcmp(p->token, "False") == 0 || fail(p, "True or False");
}

static bool read_whole(struct parser *p, uint64_t *out) {
    return read_word(p) && (parse_whole(p->token, out) || fail(p, "a whole number"));
}

/* A size in MiB; what overflows is as good as unlimited. */
static bool read_mib(struct parser *p, uint64_t *mib, uint64_t *bytes) {
    if (!read_whole(p, mib))
        return false;
    if (!checked_mul(*mib, MIB, bytes))
        *bytes = UINT64_MAX;
    return true;
}

/* The bound that max_split_size_mb and max_non_split_rounding_mb share. */
static bool read_large_mib(struct parser *p, uint64_t *bytes) {
    uint64_t mib = 0;
    if (!read_mib(p, &mib, bytes))
        return false;
    if (!p->framework->alloc_sizes_from_large_segment)
        return mib > NON_SPLIT_LEAST_MB || fail(p, "more than 20");
    return *bytes >= p->out->large_segment_bytes ||
           fail(p, "at least the large segment size (20 by default)");
}

static bool read_max_split(struct parser *p) {
    return read_large_mib(p, &p->out->max_split_bytes);
}

static bool read_max_non_split(struct parser *p) {
    p->out->max_non_split_rounding_set = true;
    return read_large_mib(p, &p->out->max_non_split_rounding_bytes);
}

static bool read_large_segment(struct parser *p) {
    uint64_t mib = 0, bytes = 0;
    if (!read_mib(p, &mib, &bytes))
        return false;
    if (mib <= 10 || bytes > UINT64_MAX / 4)
        return fail(p, "more than 10");
    p->out->large_segment_bytes = bytes;
    if (!p->out->max_non_split_rounding_set)
        p->out->max_non_split_rounding_bytes = bytes;
    return true;
}

static bool read_garbage_collection(struct parser *p) {
    double value = 0;
    if (!read_word(p))
        return false;
    if (!parse_decimal(p->token, &value) || value <= 0 || value >= 1)
        return fail(p, "a number between 0 and 1, both excluded");
    p->out->garbage_collection_threshold = value;
    return true;
}

static bool read_fraction(struct parser *p) {
    double value = 0;
    if (!read_word(p))
        return false;
    if (!parse_decimal(p->token, &value) || value > 1)
        return fail(p, "a number from 0 to 1");
    p->out->memory_fraction = value;
    return true;
}

static bool read_expandable(struct parser *p) {
    return read_bool(p, &p->out->expandable_segments);
}

static bool read_throw(struct parser *p) {
    return read_bool(p, &p->out->throw_on_cudamalloc_oom);
}

static bool read_capture_reuse(struct parser *p) {
    return read_bool(p, &p->out->graph_capture_record_stream_reuse);
}

static bool read_backend(struct parser *p) {
    if (!read_word(p))
        return false;
    bool async = strcmp(p->token, "cudaMallocAsync") == 0;
    if (!async && strcmp(p->token, "native") != 0)
        return fail(p, "native or cudaMallocAsync");
    p->out->backend = async ? ALLOC_BACKEND_CUDA_MALLOC_ASYNC : ALLOC_BACKEND_NATIVE;
    return true;
}

/* Options that do not touch device addresses. */
static bool read_ignored_bool(struct parser *p) {
    bool value;
    return read_bool(p, &value);
}

static bool read_ignored_whole(struct parser *p) {
    uint64_t value = 0;
    return read_whole(p, &value);
}

/* --- expandable_segments_reserve --- */

static uint64_t reserve_unit(char letter) {
    switch (letter) {
    case 'K':
        return KIB;
    case 'M':
        return MIB;
    case 'G':
        return GIB;
    case 'T':
        return GIB * 1024;
    default:
        return 0;
    }
}

static bool read_reserve_value(struct parser *p, double *fraction, uint64_t *bytes) {
    *fraction = 0;
    *bytes = 0;
    if (!read_word(p))
        return false;
    char text[TOKEN_BYTES];
    size_t length = strlen(p->token);
    uint64_t unit = length > 1 ? reserve_unit(p->token[length - 1]) : 0;
    if (!unit) {
        if (parse_decimal(p->token, fraction) && *fraction > 0 && *fraction <= 1)
            return true;
        return fail(p, "a fraction in (0, 1] or a size such as 40G");
    }
    memcpy(text, p->token, length - 1);
    text[length - 1] = '\0';
    if (!parse_whole(text, bytes) || *bytes == 0)
        return fail(p, "a fraction in (0, 1] or a size such as 40G");
    if (!checked_mul(*bytes, unit, bytes))
        *bytes = UINT64_MAX;
    return true;
}

static bool read_reserve(struct parser *p) {
    double fraction = 0;
    uint64_t bytes = 0;
    if (!read_reserve_value(p, &fraction, &bytes))
        return false;
    p->out->expandable_reserve_fraction = fraction;
    p->out->expandable_reserve_bytes = bytes;
    return true;
}

/* [class:value,...]: a program gives classes to streams by a call; streams without one, all here,
 * ignore it. */
static bool read_reserve_by_class(struct parser *p) {
    double fraction = 0;
    uint64_t bytes = 0;
    if (!expect(p, '['))
        return false;
    do {
        if (!read_word(p) || (!p->token[0] && !fail(p, "a class name")) || !expect(p, ':') ||
            !read_reserve_value(p, &fraction, &bytes))
            return false;
    } while (peek(p) == ',' && p->at++);
    return expect(p, ']');
}

/* --- roundup_power2_divisions --- */

static bool is_power_of_two(uint64_t value) {
    return value && (value & (value - 1)) == 0;
}

static bool read_division(struct parser *p, bool zero_is_off, uint32_t *out) {
    uint64_t value = 0;
    if (!read_whole(p, &value))
        return false;
    if ((value == 0 && !zero_is_off) || (value & (value - 1)) != 0 || value > UINT32_MAX)
        return fail(p, "a power of two");
    *out = (uint32_t)value;
    return true;
}

static void fill(struct alloc_settings *out, uint32_t from, uint32_t to, uint32_t value) {
    for (uint32_t slot = from; slot < to && slot < ALLOC_DIVISION_SLOTS; slot++)
        out->divisions[slot] = value;
}

/* One "key:value"; *last is the slot of the last named key, *named how many there were. */
static bool read_division_entry(struct parser *p, uint32_t *last, uint32_t *named) {
    uint32_t value = 0;
    uint64_t mib = 0;
    if (!read_word(p))
        return false;
    bool rest = strcmp(p->token, ">") == 0;
    if (!rest && (!parse_whole(p->token, &mib) || !is_power_of_two(mib)))
        return fail(p, "a power of two in MiB, or >");
    if (!expect(p, ':') || !read_division(p, true, &value))
        return false;
    if (rest) {
        uint32_t from = p->framework->divisions_rest_after_last ? *last + 1 : *last;
        fill(p->out, from, ALLOC_DIVISION_SLOTS, value);
        return true;
    }
    *last = bits_highest(mib < LARGEST_DIVISIONS_KEY ? mib : LARGEST_DIVISIONS_KEY);
    fill(p->out, *named ? *last : 0, *last + 1, value);
    ++*named;
    return true;
}

static bool read_divisions(struct parser *p) {
    uint32_t value = 0, last = 0, named = 0;
    memset(p->out->divisions, 0, sizeof p->out->divisions);
    if (peek(p) != '[') {
        if (!read_division(p, false, &value))
            return false;
        fill(p->out, 0, ALLOC_DIVISION_SLOTS, value);
        return true;
    }
    p->at++;
    do {
        if (!read_division_entry(p, &last, &named))
            return false;
    } while (peek(p) == ',' && p->at++);
    return expect(p, ']');
}

/* --- keys --- */

static const struct setting {
    const char *key;
    uint32_t option; /* enum framework_alloc_option; 0: every release has it */
    bool (*read)(struct parser *p);
} settings[] = {
    {"max_split_size_mb", 0, read_max_split},
    {"max_non_split_rounding_mb", 0, read_max_non_split},
    {"roundup_power2_divisions", 0, read_divisions},
    {"garbage_collection_threshold", 0, read_garbage_collection},
    {"expandable_segments", 0, read_expandable},
    {"large_segment_size_mb", ALLOC_OPTION_LARGE_SEGMENT, read_large_segment},
    {"per_process_memory_fraction", ALLOC_OPTION_MEMORY_FRACTION, read_fraction},
    {"throw_on_cudamalloc_oom", ALLOC_OPTION_THROW_ON_OOM, read_throw},
    {"expandable_segments_reserve", ALLOC_OPTION_EXPANDABLE_RESERVE, read_reserve},
    {"expandable_segments_reserve_by_class", ALLOC_OPTION_EXPANDABLE_RESERVE,
     read_reserve_by_class},
    {"graph_capture_record_stream_reuse", ALLOC_OPTION_CAPTURE_REUSE, read_capture_reuse},
    {"backend", 0, read_backend},
    {"release_lock_on_cudamalloc", 0, read_ignored_bool},
    {"pinned_use_cuda_host_register", 0, read_ignored_bool},
    {"pinned_num_register_threads", 0, read_ignored_whole},
    {"pinned_use_background_threads", 0, read_ignored_bool},
    {"pinned_reserve_segment_size_mb", ALLOC_OPTION_PINNED_SEGMENT, read_ignored_whole},
    {"pinned_free_catch_all", ALLOC_OPTION_PINNED_CATCH_ALL, read_ignored_bool},
};

enum { SETTING_COUNT = sizeof settings / sizeof settings[0] };

static bool is_known(const struct setting *setting, const struct framework *framework) {
    return setting->option == 0 || (framework->alloc_options & setting->option) != 0;
}

static bool unknown_key(struct parser *p) {
    char names[768] = "";
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (is_known(&settings[i], p->framework)) {
            strncat(names, " ", sizeof names - strlen(names) - 1);
            strncat(names, settings[i].key, sizeof names - strlen(names) - 1);
        }
    return error_set(p->err, ERROR_BAD_INPUT, "allocator settings: unknown key '%s'; known:%s",
                     p->token, names);
}

static bool read_setting(struct parser *p) {
    if (!read_word(p))
        return false;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (strcmp(p->token, settings[i].key) != 0 || !is_known(&settings[i], p->framework))
            continue;
        p->key = settings[i].key;
        return expect(p, ':') && settings[i].read(p);
    }
    return unknown_key(p);
}

static bool read_all(const char *text, const struct framework *framework,
                     struct alloc_settings *out, struct error *err) {
    struct parser p = {.at = text,
                       .framework = framework ? framework : framework_row(0),
                       .key = "allocator settings",
                       .out = out,
                       .err = err};
    while (peek(&p)) {
        if (!read_setting(&p))
            return false;
        if (peek(&p) && !expect(&p, ','))
            return false;
    }
    return true;
}

void alloc_settings_default(struct alloc_settings *out) {
    *out = defaults;
}

bool alloc_settings_parse(const char *text, const struct framework *framework,
                          struct alloc_settings *out, struct error *err) {
    struct alloc_settings read = defaults;
    if (!read_all(text, framework, &read, err))
        return false;
    *out = read;
    return true;
}

bool alloc_settings_change(const char *text, const struct framework *framework,
                           struct alloc_settings *out, struct error *err) {
    struct alloc_settings read = *out;
    read.max_split_bytes = defaults.max_split_bytes;
    read.garbage_collection_threshold = defaults.garbage_collection_threshold;
    memcpy(read.divisions, defaults.divisions, sizeof read.divisions);
    if (!read_all(text, framework, &read, err))
        return false;
    if (read.backend != out->backend)
        return error_set(err, ERROR_BAD_INPUT,
                         "backend: the loaded one cannot be changed at run time");
    *out = read;
    return true;
}

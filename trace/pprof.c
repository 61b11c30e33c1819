/* pprof.c: the importer of JAX' device memory profile, a pprof profile:
 *
 *   jax.profiler.save_device_memory_profile(PATH)      gzip as it is written
 *
 * One instant: how many buffers and bytes each stack of Python holds on each device. A state without
 * history, then; a sample is one block, though it may be several buffers.
 *
 * Source: google/pprof proto/profile.proto (field numbers below); XLA's writer (jaxlib 0.4): values
 * are a count and bytes, labels `kind` (buffer, executable) and `device`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addrmap.h"
#include "emit.h"
#include "error.h"
#include "foreign_text.h"
#include "importer.h"
#include "protobuf.h"

enum profile_field {
    SAMPLE_TYPE = 1,
    SAMPLE = 2,
    LOCATION = 4,
    FUNCTION = 5,
    STRING = 6,
    TIME = 9
};
enum { MOST_TYPES = 16, MOST_FRAMES = 1 << 24, MOST_DEPTH = 1024, NAME_BYTES = 240 };
enum { NO_VALUE = MOST_TYPES };

struct span {
    const uint8_t *at;
    size_t length;
};

/* A line of code; one location may be several, of which the first is the innermost. */
struct place {
    uint64_t function;
    uint32_t line;
};

struct device {
    uint32_t label; /* string of the profile */
    uint8_t ordinal;
    uint64_t samples, buffers, bytes, executables;
};

struct reader {
    struct emit emit;
    struct timeline *tl;
    struct error *err;
    ARRAY(struct span) strings;
    ARRAY(uint32_t) interned; /* string -> string of the timeline + 1; 0: not yet */
    ARRAY(struct span) samples;
    struct addrmap locations; /* id -> index into places */
    ARRAY(struct place) places;
    struct addrmap functions; /* id -> index into function_list */
    ARRAY(struct timeline_frame) function_list;
    ARRAY(struct device) devices;
    uint64_t types[MOST_TYPES]; /* strings */
    uint64_t time_ns;
    unsigned type_count, bytes_value, count_value;
    uint64_t skipped;
};

static bool no_memory(struct reader *r) {
    return error_host_memory(r->err);
}

static bool is_text(const struct reader *r, uint64_t string, const char *text) {
    return string < r->strings.count && r->strings.at[string].length == strlen(text) &&
           memcmp(r->strings.at[string].at, text, strlen(text)) == 0;
}

static bool intern(struct reader *r, uint64_t string, uint32_t *out) {
    *out = 0;
    if (string >= r->strings.count)
        return true;
    if (r->interned.at[string] == 0) {
        const struct span *s = &r->strings.at[string];
        uint32_t id;
        if (!foreign_text_intern(&r->tl->strings, (const char *)s->at,
                                 s->length < NAME_BYTES ? s->length : NAME_BYTES, &id))
            return no_memory(r);
        r->interned.at[string] = id + 1;
    }
    *out = r->interned.at[string] - 1;
    return true;
}

/* --- the first pass: where everything stands --- */

static uint64_t number_of(struct protobuf message, uint32_t number) {
    struct protobuf_field f;
    uint64_t value = 0;
    while (protobuf_next(&message, &f))
        if (f.number == number && !f.is_bytes)
            value = f.value;
    return value;
}

static bool take_field(struct reader *r, const struct protobuf_field *f) {
    if (f->number == TIME && !f->is_bytes)
        r->time_ns = f->value;
    if (!f->is_bytes)
        return true;
    const struct span span = {f->bytes.at, protobuf_left(&f->bytes)};
    if (f->number == STRING)
        return array_push(&r->strings, span) || no_memory(r);
    if (f->number == SAMPLE)
        return array_push(&r->samples, span) || no_memory(r);
    if (f->number == SAMPLE_TYPE && r->type_count < MOST_TYPES)
        r->types[r->type_count++] = number_of(f->bytes, 1);
    return true;
}

static bool find_parts(struct reader *r, struct protobuf profile) {
    struct protobuf_field f;
    while (protobuf_next(&profile, &f))
        if (!take_field(r, &f))
            return false;
    if (profile.failed)
        return error_set(r->err, ERROR_BAD_INPUT, "no profile of pprof: damaged or cut off");
    if (!array_reserve(&r->interned, r->strings.count + 1))
        return no_memory(r);
    memset(r->interned.at, 0, (r->strings.count + 1) * sizeof *r->interned.at);
    r->bytes_value = r->count_value = NO_VALUE;
    for (unsigned i = 0; i < r->type_count; i++) {
        if (is_text(r, r->types[i], "space") || is_text(r, r->types[i], "bytes"))
            r->bytes_value = i;
        if (is_text(r, r->types[i], "allocations") || is_text(r, r->types[i], "count"))
            r->count_value = i;
    }
    return r->bytes_value != NO_VALUE ||
           error_set(r->err, ERROR_BAD_INPUT,
                     "a profile of pprof without bytes, not one of device memory "
                     "(jax.profiler.save_device_memory_profile)");
}

/* --- functions and locations --- */

static bool take_function(struct reader *r, struct protobuf message) {
    struct protobuf_field f;
    uint64_t id = 0, name = 0, file = 0;
    while (protobuf_next(&message, &f)) {
        id = f.number == 1 ? f.value : id;
        name = f.number == 2 ? f.value : name;
        file = f.number == 4 ? f.value : file;
    }
    struct timeline_frame frame = {0};
    if (!intern(r, name, &frame.function) || !intern(r, file, &frame.file))
        return false;
    return (array_push(&r->function_list, frame) &&
            addrmap_put(&r->functions, id, (uint32_t)(r->function_list.count - 1))) ||
           no_memory(r);
}

static struct place place_of(struct protobuf message) {
    uint64_t line = number_of(message, 2);
    return (struct place){.function = number_of(message, 1),
                          .line = line < UINT32_MAX ? (uint32_t)line : 0};
}

/* Of inlined ones only the innermost: Python has no others. */
static bool take_location(struct reader *r, struct protobuf message) {
    struct protobuf_field f;
    struct place place = {0};
    uint64_t id = 0;
    bool has_line = false;
    while (protobuf_next(&message, &f)) {
        if (f.number == 1 && !f.is_bytes)
            id = f.value;
        if (f.number == 4 && f.is_bytes && !has_line) {
            place = place_of(f.bytes);
            has_line = true;
        }
    }
    if (!has_line)
        return true;
    return (array_push(&r->places, place) &&
            addrmap_put(&r->locations, id, (uint32_t)(r->places.count - 1))) ||
           no_memory(r);
}

static bool find_code(struct reader *r, struct protobuf profile) {
    struct protobuf_field f;
    while (protobuf_next(&profile, &f)) {
        if (f.is_bytes && f.number == FUNCTION && !take_function(r, f.bytes))
            return false;
        if (f.is_bytes && f.number == LOCATION && !take_location(r, f.bytes))
            return false;
    }
    return true;
}

/* --- samples --- */

struct sample {
    struct protobuf locations;
    uint64_t values[MOST_TYPES];
    unsigned value_count;
    uint64_t kind, device; /* strings */
};

static void take_label(struct reader *r, struct protobuf label, struct sample *out) {
    uint64_t key = number_of(label, 1), text = number_of(label, 2);
    if (is_text(r, key, "kind"))
        out->kind = text;
    if (is_text(r, key, "device"))
        out->device = text;
}

static void take_values(const struct protobuf_field *f, struct sample *out) {
    uint64_t value;
    struct protobuf packed = f->bytes;
    if (!f->is_bytes && out->value_count < MOST_TYPES)
        out->values[out->value_count++] = f->value;
    while (f->is_bytes && out->value_count < MOST_TYPES && protobuf_number(&packed, &value))
        out->values[out->value_count++] = value;
}

static bool push_frame(struct reader *r, uint64_t location) {
    uint32_t place, function;
    if (!addrmap_find(&r->locations, location, &place) ||
        !addrmap_find(&r->functions, r->places.at[place].function, &function))
        return true;
    if (r->tl->frames.count >= MOST_FRAMES)
        return error_set(r->err, ERROR_LIMIT, "more than %d frames", MOST_FRAMES);
    struct timeline_frame frame = r->function_list.at[function];
    frame.line = r->places.at[place].line;
    return array_push(&r->tl->frames, frame) || no_memory(r);
}

/* The leaf comes first, as the timeline has it. */
static bool take_stack(struct reader *r, struct protobuf message, uint32_t *stack) {
    struct protobuf_field f;
    uint32_t first = (uint32_t)r->tl->frames.count, depth = 0;
    while (protobuf_next(&message, &f)) {
        uint64_t location = f.value;
        if (f.number != 1)
            continue;
        bool more = !f.is_bytes || protobuf_number(&f.bytes, &location);
        for (; more && depth < MOST_DEPTH; depth++) {
            if (!push_frame(r, location))
                return false;
            more = f.is_bytes && protobuf_number(&f.bytes, &location);
        }
    }
    const struct timeline_stack made = {first, (uint32_t)r->tl->frames.count - first};
    *stack = 0;
    if (made.count == 0)
        return true;
    *stack = (uint32_t)r->tl->stacks.count;
    return array_push(&r->tl->stacks, made) || no_memory(r);
}

/* "cuda:0", "TFRT_CPU_0": by the number at its end; else as they come. Executables name no device:
 * the first. */
static uint8_t ordinal_of(const struct reader *r, uint64_t label) {
    uint64_t number = 0;
    size_t digits = 0;
    if (label == 0)
        return 0;
    const struct span *s = label < r->strings.count ? &r->strings.at[label] : NULL;
    uint64_t unit = 1;
    while (s && digits < s->length && digits < 4) {
        uint8_t c = s->at[s->length - 1 - digits];
        if (c < '0' || c > '9')
            break;
        number += unit * (unsigned)(c - '0');
        unit *= 10;
        digits++;
    }
    return digits > 0 && number < EMIT_DEVICES ? (uint8_t)number : (uint8_t)r->devices.count;
}

static bool find_device(struct reader *r, uint64_t label, struct device **out) {
    uint32_t text;
    if (!intern(r, label, &text))
        return false;
    for (size_t i = 0; i < r->devices.count; i++)
        if (r->devices.at[i].label == text) {
            *out = &r->devices.at[i];
            return true;
        }
    if (r->devices.count >= EMIT_DEVICES)
        return error_set(r->err, ERROR_LIMIT, "more than %d devices", EMIT_DEVICES);
    const struct device made = {.label = text, .ordinal = ordinal_of(r, label)};
    if (!array_push(&r->devices, made))
        return no_memory(r);
    *out = array_last(&r->devices);
    return true;
}

static bool take_sample(struct reader *r, const struct span *span) {
    struct protobuf message = protobuf_of(span->at, span->length);
    struct protobuf rest = message;
    struct protobuf_field f;
    struct sample s = {0};
    while (protobuf_next(&rest, &f)) {
        if (f.number == 2)
            take_values(&f, &s);
        if (f.number == 3 && f.is_bytes)
            take_label(r, f.bytes, &s);
    }
    struct device *device = NULL;
    if (rest.failed || r->bytes_value >= s.value_count ||
        s.values[r->bytes_value] > EMIT_MOST_BYTES) {
        r->skipped++;
        return true;
    }
    if (!find_device(r, s.device, &device))
        return false;
    struct timeline_block block =
        emit_block(device->ordinal, TIMELINE_NO_ADDRESS, s.values[r->bytes_value]);
    bool is_executable = is_text(r, s.kind, "executable");
    uint32_t ref;
    bool holds = block.block_bytes > 0; /* an executable on the host has none */
    if (holds && (!take_stack(r, message, &block.stack) || !intern(r, s.kind, &block.name)))
        return false;
    device->samples++;
    device->bytes += block.block_bytes;
    if (is_executable)
        device->executables++;
    else if (r->count_value < s.value_count)
        device->buffers += s.values[r->count_value];
    return !holds || emit_start_block(&r->emit, &block, &ref);
}

static bool take_samples(struct reader *r) {
    for (size_t i = 0; i < r->samples.count; i++)
        if (!take_sample(r, &r->samples.at[i]))
            return false;
    if (r->skipped > 0)
        emit_warn(r->tl, "%llu samples without usable values are skipped",
                  (unsigned long long)r->skipped);
    return true;
}

/* --- what came of it --- */

static bool put_device(const struct reader *r, struct trace_facts *f, const struct device *d) {
    char sub[8];
    const enum trace_figure_kind count = TRACE_FIGURE_COUNT;
    const char *group = "devices";
    if (d->label)
        snprintf(sub, sizeof sub, "%u", d->ordinal);
    else
        snprintf(sub, sizeof sub, "none");
    return (!d->label ||
            trace_figure_text(f, group, sub, "name", timeline_text(r->tl, d->label))) &&
           trace_figure_add(f, group, sub, "samples", count, d->samples) &&
           trace_figure_add(f, group, sub, "buffers", count, d->buffers) &&
           trace_figure_add(f, group, sub, "executables", count, d->executables) &&
           trace_figure_add(f, group, sub, "bytes", TRACE_FIGURE_BYTES, d->bytes);
}

static bool fill_facts(const struct reader *r, struct trace_facts *f) {
    f->kind = "pprof";
    bool ok = trace_figure_add(f, NULL, NULL, "samples", TRACE_FIGURE_COUNT, r->samples.count);
    for (size_t i = 0; ok && i < r->devices.count; i++)
        ok = put_device(r, f, &r->devices.at[i]);
    return ok || error_host_memory(r->err);
}

/* A profile begins with its value types: a short message of one or two small numbers. */
static bool probe_pprof(const uint8_t *head, size_t length) {
    return length >= 4 && head[0] == (SAMPLE_TYPE << 3 | 2) && head[1] >= 2 && head[1] <= 12 &&
           (head[2] == (1 << 3) || head[2] == (2 << 3));
}

static bool import_pprof(const uint8_t *data, size_t length, const struct trace_options *options,
                         struct timeline *tl, struct trace_facts *facts, struct error *err) {
    (void)options;
    struct reader r = {.tl = tl, .err = err};
    tl->has = TIMELINE_HAS_BLOCK_BYTES | TIMELINE_HAS_STACK | TIMELINE_SUMS_BLOCKS |
              TIMELINE_NO_COMPLETIONS;
    tl->source_kind = timeline_string(tl, "device memory profile of JAX");
    const struct protobuf profile = protobuf_of(data, length);
    bool ok = emit_init(&r.emit, tl, err) && find_parts(&r, profile) && find_code(&r, profile) &&
              take_samples(&r) && fill_facts(&r, facts);
    emit_fini(&r.emit);
    array_fini(&r.strings);
    array_fini(&r.interned);
    array_fini(&r.samples);
    addrmap_fini(&r.locations);
    array_fini(&r.places);
    addrmap_fini(&r.functions);
    array_fini(&r.function_list);
    array_fini(&r.devices);
    return ok;
}

const struct importer importer_pprof = {
    .name = "JAX memory profile",
    .doc = "jax.profiler.save_device_memory_profile, a pprof profile",
    .probe = probe_pprof,
    .import = import_pprof,
};

/* importer.c: see importer.h. */
#include "importer.h"

#include <string.h>

#include "error.h"
#include "input.h"
#include "machine.h"
#include "text.h"
#include "timeline.h"
#include "timeline_order.h"
#include "xalloc.h"

enum { HEAD_BYTES = 4096 };
#define DEFAULT_MEMORY_BYTES ((size_t)256 << 20)
enum { DEFAULT_MEMORY_FACTOR = 24 };

const struct importer *const importers[] = {&importer_vrt,
                                            &importer_json,
                                            &importer_snapshot,
                                            &importer_profiler,
                                            &importer_memory_timeline,
                                            &importer_smi,
                                            &importer_smi_monitor,
                                            &importer_nsight,
                                            &importer_pprof,
                                            NULL};

/* Formats that people try and that are not read here; for the message only. */
static const struct {
    const char *magic;
    size_t length;
    const char *hint;
} foreign[] = {
    {"PK\3\4", 4, "a zip archive, perhaps of torch.save"},
    {"{", 1,
     "JSON with neither traceEvents, which a trace of torch.profiler has, nor a model_type, which "
     "a config of Transformers has"},
    {"<", 1, "a page of HTML or XML, perhaps of the snapshot viewer"},
    {"\177ELF", 4, "a program"},
    {"\211PNG", 4, "a picture"},
};

/* Of a person: no control characters but those of lines. */
static bool is_text(const uint8_t *data, size_t length) {
    size_t head = length < HEAD_BYTES ? length : HEAD_BYTES;
    for (size_t i = 0; i < head; i++)
        if (data[i] == 0x7f || (data[i] < ' ' && !(data[i] >= '\t' && data[i] <= '\r')))
            return false;
    return length > 0;
}

/* "vramsim file, pytorch snapshot, ..." */
static void list_known(struct text *out) {
    for (const struct importer *const *i = importers; *i; i++)
        text_format(out, "%s%s", i == importers ? "" : ", ", (*i)->name);
}

static bool fail_unknown(const uint8_t *data, size_t length, struct error *err) {
    const char *hint = NULL;
    struct text known = {0};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0] && !hint; i++)
        if (length >= foreign[i].length && memcmp(data, foreign[i].magic, foreign[i].length) == 0)
            hint = foreign[i].hint;
    list_known(&known);
    if (hint)
        error_set(err, ERROR_BAD_INPUT, "%s; known kinds of trace: %s, each plain, .gz or .zst",
                  hint, text_get(&known));
    else
        error_set(err, ERROR_BAD_INPUT, "not a known kind of trace (known: %s)%s", text_get(&known),
                  is_text(data, length)
                      ? "; it is text: a scenario is run by vramsim run, its name ends in .lua"
                      : "");
    text_fini(&known);
    return false;
}

static const struct importer *find_importer(const uint8_t *data, size_t length) {
    size_t head = length < HEAD_BYTES ? length : HEAD_BYTES;
    for (const struct importer *const *i = importers; *i; i++)
        if ((*i)->probe(data, head))
            return *i;
    return NULL;
}

/* What the import of so many bytes may take, as far as this machine has it. */
static size_t default_memory(size_t length) {
    size_t most = machine_memory_bytes() / 4 * 3;
    if (length > (SIZE_MAX - DEFAULT_MEMORY_BYTES) / DEFAULT_MEMORY_FACTOR)
        return most;
    size_t wanted = DEFAULT_MEMORY_BYTES + length * DEFAULT_MEMORY_FACTOR;
    return wanted < most ? wanted : most;
}

/* Options with the defaults filled in. */
static struct trace_options complete(const struct trace_options *options, size_t length) {
    struct trace_options full = {0};
    if (options)
        full = *options;
    if (full.max_memory_bytes == 0)
        full.max_memory_bytes = default_memory(length);
    return full;
}

/* With facts that are always there and are given up on failure. */
static bool import_data(const uint8_t *data, size_t length, const struct trace_options *options,
                        struct timeline *tl, struct trace_facts *facts, struct error *err) {
    const struct importer *importer = find_importer(data, length);
    if (!importer)
        return fail_unknown(data, length, err);
    struct trace_options full = complete(options, length);
    return importer->import(data, length, &full, tl, facts, err) &&
           (timeline_order_rows(tl) || error_host_memory(err));
}

static bool import_named(const char *name, const uint8_t *data, size_t length,
                         const struct trace_options *options, struct timeline **out,
                         struct trace_facts *facts, struct error *err) {
    struct timeline *tl = timeline_create();
    if (!tl)
        return error_host_memory(err);
    memset(facts, 0, sizeof *facts);
    bool ok = import_data(data, length, options, tl, facts, err);
    if (ok) {
        tl->title = timeline_string(tl, name);
        facts->bytes_unpacked = facts->bytes = length;
        *out = tl;
        return true;
    }
    trace_facts_fini(facts);
    timeline_destroy(tl);
    return error_wrap(err, "%s", name);
}

bool trace_import_bytes(const char *name, const void *data, size_t length,
                        const struct trace_options *options, struct timeline **tl,
                        struct trace_facts *facts, struct error *err) {
    struct trace_facts own;
    if (!import_named(name, data, length, options, tl, facts ? facts : &own, err))
        return false;
    if (!facts) {
        trace_facts_fini(&own);
    } else if (options && options->want_sha256) {
        sha256_bytes(data, length, facts->sha256);
        facts->has |= TRACE_FACTS_SHA256;
    }
    return true;
}

static void forget(void *user, size_t bytes) {
    input_forget(user, bytes);
}

bool trace_import(const char *path, const struct trace_options *options, struct timeline **tl,
                  struct trace_facts *facts, struct error *err) {
    struct input in;
    struct trace_facts own;
    if (!input_open(&in, path, options ? options->max_file_bytes : 0, err))
        return false;
    struct trace_options forgetful = {0};
    if (options)
        forgetful = *options;
    forgetful.passed = forget;
    forgetful.passed_user = &in;
    bool ok = import_named(path, in.data, in.length, &forgetful, tl, facts ? facts : &own, err);
    if (ok && !facts)
        trace_facts_fini(&own);
    if (ok && facts) {
        facts->bytes = in.file_length;
        facts->packing = in.packing;
        if (options && options->want_sha256) {
            sha256_bytes(in.file, in.file_length, facts->sha256);
            facts->has |= TRACE_FACTS_SHA256;
        }
    }
    input_close(&in);
    return ok;
}

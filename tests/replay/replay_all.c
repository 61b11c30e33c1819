/* replay_all.c: replays every trace of some folders with the settings it was recorded with, and
 * prints a row for each: replay_all FOLDER ... Exit status 1 when a row is not equal, 77 when there
 * was none.
 *
 * Beside the replay's own verdict the figures of expected.json (of the folder) and of NAME.json
 * (statistics that the framework itself reported at marks of the run) must come out. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "array.h"
#include "error.h"
#include "facts.h"
#include "file.h"
#include "framework.h"
#include "importer.h"
#include "replay.h"

/* --- marks: the framework's own statistics --- */

struct marks {
    struct part list;
    size_t next, count, equal;
    uint64_t wanted; /* allocations before the next mark */
    struct text_line {
        char at[256];
    } first_missed;
};

static void load_mark(struct marks *marks) {
    struct part mark = part_item(marks->list, marks->next);
    marks->wanted = UINT64_MAX;
    if (mark.from)
        part_number(mark, "allocation.all.allocated", &marks->wanted);
}

/* The mark of a run's end out of memory has only PyTorch's message. */
static bool message_is_equal(const struct alloc *al, struct part mark, char *out, size_t size) {
    char wanted[ALLOC_OOM_MESSAGE_BYTES], message[ALLOC_OOM_MESSAGE_BYTES];
    part_text(mark, "message", wanted, sizeof wanted);
    alloc_oom_message(alloc_last_oom(al), 0, message, sizeof message);
    snprintf(out, size, "the message is: %.120s", message);
    return strcmp(wanted, message) == 0;
}

/* Compares every figure of the mark; the first that differs goes to `out`. */
static bool mark_is_equal(const struct alloc_stats *stats, struct part mark, char *out,
                          size_t size) {
    const char *at = mark.from;
    while ((at = memchr(at, '"', (size_t)(mark.to - at))) != NULL) {
        char name[64];
        size_t length = strcspn(at + 1, "\"");
        snprintf(name, sizeof name, "%.*s", (int)length, at + 1);
        at += length + 2;
        uint64_t wanted = 0, value;
        if (*at != ':' || !stats_figure(stats, name, &value))
            continue;
        wanted = strtoull(at + 1, NULL, 10);
        if (wanted != value) {
            snprintf(out, size, "%s is %" PRIu64 ", recorded %" PRIu64, name, value, wanted);
            return false;
        }
    }
    return true;
}

static void pass_mark(struct marks *marks, bool equal, const char *why) {
    char name[64];
    part_text(part_item(marks->list, marks->next), "at", name, sizeof name);
    if (!equal && !marks->first_missed.at[0])
        snprintf(marks->first_missed.at, sizeof marks->first_missed.at, "%s: %.160s", name, why);
    marks->equal += equal;
    marks->next++;
    load_mark(marks);
}

/* A mark lies somewhere behind its last allocation and before the next one. */
static void observe(void *user, uint8_t device, uint32_t event, const struct alloc *al) {
    struct marks *marks = user;
    const struct alloc_stats *stats = alloc_get_stats(al);
    uint64_t done = stats->allocation[ALLOC_POOL_ALL].allocated;
    char why[160] = "its state never came";
    (void)device;
    (void)event;
    while (marks->next < marks->count && done > marks->wanted)
        pass_mark(marks, false, why);
    while (marks->next < marks->count && done == marks->wanted &&
           mark_is_equal(stats, part_item(marks->list, marks->next), why, sizeof why))
        pass_mark(marks, true, why);
    if (marks->next < marks->count && marks->wanted == UINT64_MAX && stats->num_ooms > 0)
        pass_mark(marks, message_is_equal(al, part_item(marks->list, marks->next), why, sizeof why),
                  why);
}

static struct marks find_marks(struct part json) {
    struct marks marks = {.list = part_value(json, "marks")};
    while (part_item(marks.list, marks.count).from)
        marks.count++;
    load_mark(&marks);
    return marks;
}

/* --- expected.json --- */

struct expected {
    size_t count, equal;
    char first[160];
};

static void expect(struct expected *e, struct part in, const char *key, uint64_t value) {
    uint64_t wanted;
    if (!part_number(in, key, &wanted))
        return;
    e->count++;
    if (wanted == value)
        e->equal++;
    else if (!e->first[0])
        snprintf(e->first, sizeof e->first, "%s is %" PRIu64 ", expected %" PRIu64, key, value,
                 wanted);
}

static struct expected compare_expected(struct part file, const struct replay_result *result) {
    struct expected e = {0};
    struct part devices = part_value(file, "devices");
    for (size_t i = 0; devices.from && i < result->devices.count; i++) {
        const struct replay_device_result *d = &result->devices.at[i];
        char ordinal[8];
        snprintf(ordinal, sizeof ordinal, "%u", d->device);
        struct part in = part_value(part_value(devices, ordinal), "replay");
        if (!in.from)
            continue;
        expect(&e, in, "addr_ok", d->addr_ok);
        expect(&e, in, "cache_hits", d->cache_hits);
        expect(&e, in, "segments_ok", d->segments_ok);
        expect(&e, in, "layout_equal", d->layout_equal);
        expect(&e, in, "start_active", d->model.start_active);
        expect(&e, in, "start_blocks", d->model.start_blocks);
        expect(&e, in, "start_reserved", d->model.start_reserved);
        expect(&e, in, "peak_active", d->model.peak_active);
        expect(&e, in, "peak_reserved", d->model.peak_reserved);
        expect(&e, in, "end_active", d->model.end_active);
        expect(&e, in, "end_reserved", d->model.end_reserved);
    }
    return e;
}

/* --- one trace --- */

struct totals {
    size_t traces, equal, marks, marks_equal, expected, expected_equal;
    uint64_t allocs, addr_ok, segments, segments_ok, releases, releases_ok;
};

struct trace {
    const char *folder, *file;
    char name[256];
    char *json; /* NAME.json; NULL: none */
    struct part facts, expected;
};

static char *read_text(const char *folder, const char *name, struct part *part) {
    char path[2048], *data;
    size_t length;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!file_read(path, 1 << 24, &data, &length, NULL))
        return NULL;
    *part = (struct part){data, data + length};
    return data;
}

/* What the recording program set and the device it ran on. */
static struct replay_config configure(const struct trace *trace, struct marks *marks) {
    struct replay_config config = {.reproduce = true};
    char torch[64], framework[80], note[160];
    uint64_t total = 0, context = 0;
    if (!trace->facts.from)
        return config;
    part_text(trace->facts, "torch", torch, sizeof torch);
    unsigned major = 0, minor = 0;
    if (sscanf(torch, "%u.%u", &major, &minor) == 2) {
        snprintf(framework, sizeof framework, "pytorch-%u.%u", major, minor);
        config.framework = framework_find(framework, NULL);
    }
    if (part_number(trace->facts, "total_bytes", &total) &&
        part_number(trace->facts, "context_bytes", &context)) {
        config.total_bytes = total;
        config.capacity_bytes = total - context;
    }
    part_text(trace->facts, "note", note, sizeof note);
    const char *fraction = strstr(note, "set_per_process_memory_fraction(");
    if (fraction)
        config.memory_fraction = strtod(strchr(fraction, '(') + 1, NULL);
    config.observe = observe;
    config.user = marks;
    return config;
}

static void print_row(const struct trace *trace, const struct replay_result *result,
                      const struct marks *marks, const struct expected *expected, bool equal) {
    for (size_t i = 0; i < result->devices.count; i++) {
        const struct replay_device_result *d = &result->devices.at[i];
        printf("%-44s %-5s %7" PRIu64 "/%-7" PRIu64 " %4" PRIu64 "/%-4" PRIu64 " %3" PRIu64
               "/%-3" PRIu64 " %-3s %3" PRIu64 " %3" PRIu64 " %3" PRIu64
               " %2zu/%-2zu %2zu/%-2zu %s%s\n",
               trace->name, equal ? "equal" : "DIFF", d->addr_ok, d->allocs, d->segments_ok,
               d->segments, d->releases_ok, d->releases, d->layout_equal ? "yes" : "NO", d->retries,
               d->ooms, d->empty_caches, marks->equal, marks->count, expected->equal,
               expected->count, result->framework->name + strlen("pytorch-"),
               result->guessed ? " (tried)" : "");
        if (d->first.found)
            printf("    device %u, event %u: the trace says %s, the model %s\n", d->device,
                   d->first.event, d->first.recorded, d->first.model);
    }
    if (result->devices.count == 0)
        printf("%-44s %s: no memory\n", trace->name, equal ? "equal" : "DIFF");
    if (marks->equal < marks->count)
        printf("    mark %s\n", marks->first_missed.at);
    if (expected->equal < expected->count)
        printf("    %s\n", expected->first);
}

static bool replay_trace(const struct trace *trace, struct totals *totals) {
    char path[2048];
    struct timeline *real, *answer;
    struct replay_result result;
    struct error err = {0};
    struct marks marks = find_marks(trace->facts);
    struct replay_config config = configure(trace, &marks);
    snprintf(path, sizeof path, "%s/%s", trace->folder, trace->file);
    totals->traces++;
    if (!trace_import(path, NULL, &real, NULL, &err)) {
        printf("%-44s FAILED: %s\n", trace->name, err.text);
        return false;
    }
    bool ok = replay_run(real, &config, &result, &err);
    if (!ok) {
        printf("%-44s FAILED: %s\n", trace->name, err.text);
        timeline_destroy(real);
        return false;
    }
    while (marks.next < marks.count)
        pass_mark(&marks, false, "its state never came");
    struct expected expected = compare_expected(trace->expected, &result);
    answer = result.timeline;
    ok = timeline_check(answer, &err);
    if (!ok)
        printf("%-44s the new timeline: %s\n", trace->name, err.text);
    bool equal =
        ok && result.equal && marks.equal == marks.count && expected.equal == expected.count;
    print_row(trace, &result, &marks, &expected, equal);
    for (size_t i = 0; i < result.devices.count; i++) {
        const struct replay_device_result *d = &result.devices.at[i];
        totals->allocs += d->allocs;
        totals->addr_ok += d->addr_ok;
        totals->segments += d->segments;
        totals->segments_ok += d->segments_ok;
        totals->releases += d->releases;
        totals->releases_ok += d->releases_ok;
    }
    totals->marks += marks.count;
    totals->marks_equal += marks.equal;
    totals->expected += expected.count;
    totals->expected_equal += expected.equal;
    totals->equal += equal;
    replay_result_fini(&result);
    timeline_destroy(real);
    return equal;
}

/* --- folders --- */

struct names {
    ARRAY(char *) list;
};

static int order_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t stem_length(const char *file) {
    const char *at = strstr(file, ".pickle");
    if (!at || (strcmp(at, ".pickle") != 0 && strcmp(at, ".pickle.zst") != 0))
        return 0;
    return (size_t)(at - file);
}

static bool list_traces(const char *folder, struct names *names) {
    DIR *dir = opendir(folder);
    if (!dir)
        return false;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char *name = stem_length(entry->d_name) > 0 ? xstrdup(entry->d_name) : NULL;
        if (name)
            (void)array_push(&names->list, name);
    }
    closedir(dir);
    if (names->list.count > 0)
        qsort(names->list.at, names->list.count, sizeof *names->list.at, order_names);
    return true;
}

static void replay_folder(const char *folder, struct totals *totals) {
    struct names names = {0};
    struct part expected = {NULL, NULL};
    if (!list_traces(folder, &names)) {
        printf("SKIPPED %s: %s\n", folder, strerror(errno));
        return;
    }
    char *expected_text = read_text(folder, "expected.json", &expected);
    printf("%s\n%-44s %-5s %15s %9s %7s %-3s %3s %3s %3s %5s %5s %s\n", folder, "trace", "",
           "addresses", "segments", "freed", "end", "ret", "oom", "ec", "marks", "exp", "rules");
    for (size_t i = 0; i < names.list.count; i++) {
        char *file = names.list.at[i], pickle[300], json[300];
        struct trace trace = {.folder = folder, .file = file};
        int stem = (int)stem_length(file);
        snprintf(trace.name, sizeof trace.name, "%.*s", stem, file);
        snprintf(pickle, sizeof pickle, "%.*s.pickle", stem, file);
        snprintf(json, sizeof json, "%.*s.json", stem, file);
        trace.json = read_text(folder, json, &trace.facts);
        trace.expected = part_value(expected, pickle);
        replay_trace(&trace, totals);
        fflush(stdout);
        xfree(trace.json);
        xfree(file);
    }
    array_fini(&names.list);
    xfree(expected_text);
}

int main(int argc, char **argv) {
    struct totals t = {0};
    for (int i = 1; i < argc; i++)
        replay_folder(argv[i], &t);
    printf("%zu of %zu traces equal; addresses %" PRIu64 " of %" PRIu64 ", segments %" PRIu64
           " of %" PRIu64 ", given back %" PRIu64 " of %" PRIu64
           ", marks %zu of %zu, expected figures %zu of %zu\n",
           t.equal, t.traces, t.addr_ok, t.allocs, t.segments_ok, t.segments, t.releases_ok,
           t.releases, t.marks_equal, t.marks, t.expected_equal, t.expected);
    if (t.traces == 0)
        return 77; /* nothing was compared */
    return t.equal == t.traces ? 0 : 1;
}

/* memory_timeline.c: the importer of torch.profiler's export_memory_timeline, both kinds of JSON:
 *
 *   raw      [[t_ns, action, bytes, category], ...]   one device, no addresses; t = -1: before it
 *   sums     [[t_us, ...], [[0, bytes of categories 0 to 7], ...]]
 *
 * Source: torch/profiler/_memory_profiler.py (2.1 to 2.15): export_memory_timeline_raw,
 * _coalesce_timeline. Raw tuples tell sizes that begin and end, not which: the newest of a size and
 * category ends. A version is one that ends and one of another category that begins. */
#include <string.h>

#include "emit.h"
#include "error.h"
#include "importer.h"
#include "json_parse.h"
#include "live_by_size.h"
#include "probe.h"

enum action { ACTION_NONE, PREEXISTING, CREATE, VERSION, DESTROY, ACTION_COUNT };
enum { CATEGORIES = 8, AUTOGRAD_DETAIL = 6, TUPLE = 4, ROW = CATEGORIES + 1 };

static const char *const action_names[ACTION_COUNT] = {[PREEXISTING] = "preexisting",
                                                       [CREATE] = "create",
                                                       [VERSION] = "version",
                                                       [DESTROY] = "destroy"};

static const struct {
    const char *name;
    enum category category;
} categories[CATEGORIES] = {
    {"parameter", CATEGORY_PARAMETER},
    {"optimizer_state", CATEGORY_OPTIMIZER},
    {"input", CATEGORY_INPUT},
    {"temporary", CATEGORY_TEMPORARY},
    {"activation", CATEGORY_ACTIVATION},
    {"gradient", CATEGORY_GRADIENT},
    {"autograd_detail", CATEGORY_TEMPORARY},
    {"none", CATEGORY_UNKNOWN},
};

struct sums {
    int64_t total, by_category[CATEGORIES];
};

struct reader {
    struct emit emit;
    struct timeline *tl;
    struct error *err;
    struct live_by_size live;
    unsigned depth;
    uint64_t lists;         /* of the outermost one, so far */
    bool is_sums, is_known; /* the kind, once it is */
    bool first_is_bad;
    int64_t numbers[ROW]; /* of the list that is open */
    unsigned count;       /* of its numbers; ROW + 1: more than fit */
    bool is_bad;          /* something else than whole numbers stands in it */
    ARRAY(int64_t) times; /* the first list: the times of sums, or one tuple */
    size_t rows;          /* of sums */
    uint64_t tuples, index_of_peak, preexisting_bytes;
    uint64_t by_action[ACTION_COUNT], by_category[CATEGORIES];
    struct sums now, peak;
    int64_t first_ns, last_ns;
    bool is_monotonic;
    uint32_t autograd_detail; /* string; 0: not yet */
};

static bool warn(struct reader *r, const char *what) {
    emit_warn(r->tl, "entry %llu: %s", (unsigned long long)(r->tuples + r->rows), what);
    return true;
}

/* --- raw --- */

/* Wraps where sizes are absurd; nothing is done with such sums. */
static int64_t add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void count_tuple(struct reader *r, int64_t time, unsigned action, int64_t bytes,
                        unsigned category) {
    r->by_action[action]++;
    r->by_category[category]++;
    if (action == PREEXISTING)
        r->preexisting_bytes += (uint64_t)bytes;
    r->now.total = add(r->now.total, bytes);
    r->now.by_category[category] = add(r->now.by_category[category], bytes);
    if (r->now.total > r->peak.total) {
        r->peak = r->now;
        r->index_of_peak = r->tuples;
    }
    if (time < 0)
        return;
    if (r->first_ns < 0)
        r->first_ns = time;
    r->is_monotonic = r->is_monotonic && time >= r->last_ns;
    r->last_ns = time;
}

static uint64_t key_of(uint64_t bytes, unsigned category) {
    return bytes * CATEGORIES + category;
}

static bool begin_block(struct reader *r, int64_t time, uint64_t bytes, unsigned category) {
    struct timeline_block block = emit_block(0, TIMELINE_NO_ADDRESS, bytes);
    uint32_t ref;
    block.category = (uint8_t)categories[category].category;
    if (category == AUTOGRAD_DETAIL && r->autograd_detail == 0)
        r->autograd_detail = timeline_string(r->tl, "autograd detail");
    if (category == AUTOGRAD_DETAIL)
        block.name = r->autograd_detail;
    bool ok = time < 0 ? emit_start_block(&r->emit, &block, &ref)
                       : emit_alloc(&r->emit, (uint64_t)time, &block, &ref);
    if (!ok || ref == TIMELINE_NONE)
        return ok;
    return live_by_size_push(&r->live, key_of(bytes, category), ref) || error_host_memory(r->err);
}

static bool end_block(struct reader *r, int64_t time, uint64_t bytes, unsigned category) {
    uint32_t ref;
    if (!live_by_size_pop(&r->live, key_of(bytes, category), &ref)) {
        warn(r, "what ends did not begin");
        struct timeline_block block = emit_block(0, TIMELINE_NO_ADDRESS, bytes);
        block.category = (uint8_t)categories[category].category;
        if (!emit_start_block(&r->emit, &block, &ref))
            return false;
        if (ref == TIMELINE_NONE)
            return true;
    }
    return emit_free(&r->emit, time < 0 ? 0 : (uint64_t)time, ref);
}

static bool take_tuple(struct reader *r, const int64_t *n) {
    if (n[1] < PREEXISTING || n[1] > DESTROY || n[3] < 0 || n[3] >= CATEGORIES ||
        n[2] > (int64_t)EMIT_MOST_BYTES || n[2] < -(int64_t)EMIT_MOST_BYTES) {
        warn(r, "not a time, an action, bytes and a category: skipped");
        r->tuples++;
        return true;
    }
    unsigned category = (unsigned)n[3];
    count_tuple(r, n[0], (unsigned)n[1], n[2], category);
    bool ok = n[2] < 0 ? end_block(r, n[0], (uint64_t)-n[2], category)
                       : begin_block(r,
                                     n[1] == PREEXISTING ? -1
                                     : n[0] < 0          ? 0
                                                         : n[0],
                                     (uint64_t)n[2], category);
    r->tuples++;
    return ok;
}

/* --- sums --- */

/* Categories that vramsim has as one are added up. What falls goes before what rises: no sum in
 * between is above those of both rows. */
static bool take_row(struct reader *r, const int64_t *n) {
    if (r->rows >= r->times.count)
        return warn(r, "a row without a time: skipped");
    int64_t time_us = r->times.at[r->rows];
    uint64_t time_ns = time_us > 0 && time_us < INT64_MAX / 1000 ? (uint64_t)time_us * 1000 : 0;
    uint64_t sums[CATEGORY_COUNT] = {0};
    struct sums row = {0};
    for (unsigned i = 0; i < CATEGORIES; i++) {
        int64_t bytes = n[1 + i];
        if (bytes > (int64_t)EMIT_MOST_BYTES || bytes < 0) {
            warn(r, bytes < 0 ? "a sum below zero" : "an absurd sum");
            bytes = 0;
        }
        row.by_category[i] = bytes;
        row.total += bytes;
        sums[categories[i].category] += (uint64_t)bytes;
    }
    for (int rises = 0; rises < 2; rises++)
        for (unsigned c = 0; c < CATEGORY_COUNT; c++)
            if ((sums[c] > r->emit.devices[0].totals[c]) == (rises == 1) &&
                !emit_total(&r->emit, time_ns, 0, (enum category)c, sums[c]))
                return false;
    r->now = row;
    if (row.total > r->peak.total) {
        r->peak = row;
        r->index_of_peak = r->rows;
    }
    r->rows++;
    return true;
}

/* --- JSON --- */

static int refuse(struct reader *r) {
    return error_set(r->err, ERROR_BAD_INPUT,
                     "JSON lists that are no memory timeline: expected tuples of four numbers, or "
                     "a list of times and one of sums");
}

/* The first list was a tuple: the second one begins with a number, or there is none. */
static bool take_first(struct reader *r) {
    r->is_known = true;
    if (r->first_is_bad || r->times.count != TUPLE)
        return refuse(r);
    return take_tuple(r, r->times.at);
}

static int on_number(void *context, const char *text, size_t length) {
    struct reader *r = context;
    int64_t value = 0;
    bool is_whole = json_number_i64(text, length, &value);
    if (r->depth == 2 && r->lists == 1) {
        r->first_is_bad |= !is_whole;
        return array_push(&r->times, value) || error_host_memory(r->err);
    }
    if (!r->is_known && !take_first(r))
        return 0;
    r->is_bad |= !is_whole;
    if (r->count < ROW)
        r->numbers[r->count] = value;
    r->count += r->count <= ROW;
    return 1;
}

static int on_other(void *context) {
    struct reader *r = context;
    r->is_bad = true;
    r->first_is_bad |= r->lists == 1;
    return 1;
}

static int on_boolean(void *context, int value) {
    (void)value;
    return on_other(context);
}

static int on_string(void *context, const unsigned char *text, size_t length) {
    (void)text;
    (void)length;
    return on_other(context);
}

static int on_object(void *context) {
    return refuse(context);
}

/* The second list tells the kind: of lists, or of numbers. */
static int on_begin_array(void *context) {
    struct reader *r = context;
    r->depth++;
    r->lists += r->depth == 2;
    if (r->depth > 3 || (r->depth == 3 && (r->lists != 2 || (r->is_known && !r->is_sums))))
        return refuse(r);
    if (r->depth == 3)
        r->is_sums = r->is_known = true;
    r->count = 0;
    r->is_bad = false;
    return 1;
}

static bool end_tuple(struct reader *r) {
    if (r->is_bad || r->count != TUPLE) {
        warn(r, "not four whole numbers: skipped");
        r->tuples++;
        return true;
    }
    return take_tuple(r, r->numbers);
}

static bool end_row(struct reader *r) {
    if (!r->is_bad && r->count == ROW)
        return take_row(r, r->numbers);
    warn(r, "not nine whole numbers: skipped");
    r->rows++;
    return true;
}

static int on_end_array(void *context) {
    struct reader *r = context;
    unsigned depth = r->depth--;
    if (depth == 3)
        return end_row(r);
    if (depth == 2 && !r->is_sums)
        return r->lists == 1 || end_tuple(r);
    if (depth == 1 && !r->is_known && r->lists > 0)
        return take_first(r);
    return 1;
}

static bool read_all(struct reader *r, const uint8_t *data, size_t length,
                     const struct trace_options *options) {
    static const struct json_handlers handlers = {.null = on_other,
                                                  .boolean = on_boolean,
                                                  .number = on_number,
                                                  .string = on_string,
                                                  .key = on_string,
                                                  .begin_object = on_object,
                                                  .end_object = on_object,
                                                  .begin_array = on_begin_array,
                                                  .end_array = on_end_array};
    return json_parse(data, length, &handlers, r, options, r->err);
}

/* --- facts --- */

static bool put(struct trace_facts *f, const char *group, const char *name,
                enum trace_figure_kind kind, int64_t value) {
    return value < 0 || trace_figure_add(f, group, NULL, name, kind, (uint64_t)value);
}

static bool put_categories(struct trace_facts *f, const char *group, const struct sums *sums) {
    for (unsigned i = 0; i < CATEGORIES; i++)
        if (!put(f, group, categories[i].name, TRACE_FIGURE_BYTES, sums->by_category[i]))
            return false;
    return true;
}

static bool put_counts(const struct reader *r, struct trace_facts *f) {
    for (unsigned a = PREEXISTING; a < ACTION_COUNT; a++)
        if (!put(f, "by_action", action_names[a], TRACE_FIGURE_COUNT, (int64_t)r->by_action[a]))
            return false;
    for (unsigned c = 0; c < CATEGORIES; c++)
        if (!put(f, "by_category", categories[c].name, TRACE_FIGURE_COUNT,
                 (int64_t)r->by_category[c]))
            return false;
    return true;
}

static bool fill_facts(const struct reader *r, struct trace_facts *f) {
    const enum trace_figure_kind count = TRACE_FIGURE_COUNT, bytes = TRACE_FIGURE_BYTES;
    f->kind = r->is_sums ? "memory_timeline" : "memory_timeline_raw";
    bool ok = put(f, NULL, "peak", bytes, r->peak.total) &&
              put(f, NULL, "peak_index", count, (int64_t)r->index_of_peak) &&
              put(f, NULL, "end", bytes, r->now.total);
    if (ok && r->is_sums)
        ok = put(f, NULL, "rows", count, (int64_t)r->rows);
    if (ok && !r->is_sums)
        ok = put(f, NULL, "tuples", count, (int64_t)r->tuples) &&
             put(f, NULL, "preexisting_bytes", bytes, (int64_t)r->preexisting_bytes) &&
             put(f, NULL, "time_ns_first", count, r->first_ns) &&
             put(f, NULL, "time_ns_last", count, r->last_ns) &&
             trace_figure_add(f, NULL, NULL, "monotonic", TRACE_FIGURE_BOOL, r->is_monotonic) &&
             put_counts(r, f);
    return (ok && put_categories(f, "peak_by_category", &r->peak) &&
            put_categories(f, "end_by_category", &r->now)) ||
           error_host_memory(r->err);
}

static bool probe_memory_timeline(const uint8_t *head, size_t length) {
    size_t at = probe_blanks(head, length, 0);
    if (at >= length || head[at] != '[')
        return false;
    at = probe_blanks(head, length, at + 1);
    if (at >= length || head[at] != '[')
        return false;
    at = probe_blanks(head, length, at + 1);
    return at < length && (head[at] == '-' || (head[at] >= '0' && head[at] <= '9'));
}

static bool import_memory_timeline(const uint8_t *data, size_t length,
                                   const struct trace_options *options, struct timeline *tl,
                                   struct trace_facts *facts, struct error *err) {
    struct reader r = {.tl = tl, .err = err, .first_ns = -1, .last_ns = -1, .is_monotonic = true};
    tl->has = TIMELINE_HAS_TIME | TIMELINE_HAS_BLOCK_BYTES | TIMELINE_HAS_CATEGORY |
              TIMELINE_HAS_HISTORY | TIMELINE_NO_COMPLETIONS | TIMELINE_SUMS_BLOCKS |
              TIMELINE_FREES_BY_SIZE;
    bool ok =
        emit_init(&r.emit, tl, err) && read_all(&r, data, length, options) && fill_facts(&r, facts);
    if (r.is_sums)
        tl->has &= ~(uint32_t)TIMELINE_FREES_BY_SIZE;
    tl->source_kind = timeline_string(tl, "memory timeline of the profiler");
    emit_fini(&r.emit);
    live_by_size_fini(&r.live);
    array_fini(&r.times);
    return ok;
}

const struct importer importer_memory_timeline = {
    .name = "memory timeline",
    .doc = "torch.profiler's export_memory_timeline, .json or .raw.json",
    .probe = probe_memory_timeline,
    .import = import_memory_timeline,
};

/* profiler_read.c: see profiler.h. One event is filled in at a time, and kept when it ends if it is
 * of memory or tells what ran. */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "foreign_text.h"
#include "json_parse.h"
#include "profiler.h"

enum { NAME_BYTES = 240, CATEGORY_BYTES = 32, PHASE_BYTES = 4 };

/* What the value that comes next is. */
enum field {
    FIELD_NONE,
    FIELD_PHASE,
    FIELD_CATEGORY,
    FIELD_NAME,
    FIELD_PID,
    FIELD_TID,
    FIELD_TIME,
    FIELD_DURATION,
    FIELD_ARGS,
    FIELD_INDEX,
    FIELD_TYPE,
    FIELD_DEVICE,
    FIELD_ADDRESS,
    FIELD_BYTES,
    FIELD_ALLOCATED,
    FIELD_RESERVED,
    FIELD_GPU,
    FIELD_STREAM,
    FIELD_EVENTS, /* of the outermost object from here on */
    FIELD_CARDS,
    FIELD_DISTRIBUTED,
    FIELD_BASE_TIME,
    FIELD_SCHEMA,
    FIELD_CARD_ID,
    FIELD_CARD_NAME,
    FIELD_CARD_TOTAL,
    FIELD_RANK
};

struct name {
    const char *text;
    uint8_t length, field;
};

#define NAME(text, field)                                                                          \
    { text, sizeof text - 1, field }
static const struct name event_names[] = {
    NAME("ph", FIELD_PHASE),  NAME("cat", FIELD_CATEGORY), NAME("name", FIELD_NAME),
    NAME("pid", FIELD_PID),   NAME("tid", FIELD_TID),      NAME("ts", FIELD_TIME),
    NAME("args", FIELD_ARGS), NAME("dur", FIELD_DURATION), {NULL, 0, 0}};
static const struct name args_names[] = {NAME("Ev Idx", FIELD_INDEX),
                                         NAME("Device Type", FIELD_TYPE),
                                         NAME("Device Id", FIELD_DEVICE),
                                         NAME("Addr", FIELD_ADDRESS),
                                         NAME("Bytes", FIELD_BYTES),
                                         NAME("Total Allocated", FIELD_ALLOCATED),
                                         NAME("Total Reserved", FIELD_RESERVED),
                                         NAME("device", FIELD_GPU),
                                         NAME("stream", FIELD_STREAM),
                                         {NULL, 0, 0}};
static const struct name top_names[] = {
    NAME("traceEvents", FIELD_EVENTS),          NAME("deviceProperties", FIELD_CARDS),
    NAME("distributedInfo", FIELD_DISTRIBUTED), NAME("baseTimeNanoseconds", FIELD_BASE_TIME),
    NAME("schemaVersion", FIELD_SCHEMA),        {NULL, 0, 0}};
static const struct name card_names[] = {NAME("id", FIELD_CARD_ID),
                                         NAME("name", FIELD_CARD_NAME),
                                         NAME("totalGlobalMem", FIELD_CARD_TOTAL),
                                         {NULL, 0, 0}};
static const struct name rank_names[] = {NAME("rank", FIELD_RANK), {NULL, 0, 0}};
#undef NAME

struct event {
    char name[NAME_BYTES], category[CATEGORY_BYTES], phase[PHASE_BYTES];
    size_t name_length;
    uint64_t pid, tid, duration_ns, stream, gpu;
    bool has_stream;
    struct profiler_memory memory;
};

struct reader {
    struct profiler *p;
    struct error *err;
    unsigned depth;        /* open containers */
    unsigned events_depth; /* inside the list of events; 0: outside */
    enum field section;    /* of the outermost object */
    enum field field;
    bool in_args;
    struct event event;
    struct profiler_card card;
    size_t last_category, last_phase;
};

static int no_memory(struct reader *r) {
    return error_host_memory(r->err);
}

static enum field find_field(const struct name *names, const unsigned char *key, size_t length) {
    for (; names->text; names++)
        if (names->length == length && memcmp(names->text, key, length) == 0)
            return (enum field)names->field;
    return FIELD_NONE;
}

static bool is_in_event(const struct reader *r) {
    return r->events_depth > 0 && r->depth == r->events_depth + 1;
}

static bool is_in_args(const struct reader *r) {
    return r->in_args && r->depth == r->events_depth + 2;
}

static int on_key(void *context, const unsigned char *key, size_t length) {
    struct reader *r = context;
    r->field = FIELD_NONE;
    if (is_in_args(r)) {
        r->field = find_field(args_names, key, length);
    } else if (is_in_event(r)) {
        r->field = find_field(event_names, key, length);
    } else if (r->depth == 1) {
        r->field = r->section = find_field(top_names, key, length);
        struct strtab *names = &r->p->names;
        uint32_t id;
        if (!foreign_text_intern(names, (const char *)key, length, &id) ||
            !trace_counts_add(&r->p->top_keys, strtab_text(names, id), 1))
            return no_memory(r);
    } else if (r->depth == 3 && r->section == FIELD_CARDS) {
        r->field = find_field(card_names, key, length);
    } else if (r->depth == 2 && r->section == FIELD_DISTRIBUTED) {
        r->field = find_field(rank_names, key, length);
    }
    return 1;
}

/* Numbers of other events than those of memory may be anything. */
static void take_number(struct reader *r, const char *text, size_t length) {
    struct event *e = &r->event;
    struct profiler_memory *m = &e->memory;
    int64_t small;
    switch (r->field) {
    case FIELD_PID:
        (void)json_number_u64(text, length, &e->pid);
        break;
    case FIELD_TID:
        (void)json_number_u64(text, length, &e->tid);
        break;
    case FIELD_TIME:
        m->has |= json_number_thousandths(text, length, &m->time_ns) ? PROFILER_TIME : 0;
        break;
    case FIELD_DURATION:
        (void)json_number_thousandths(text, length, &e->duration_ns);
        break;
    case FIELD_INDEX:
        (void)json_number_u64(text, length, &m->index);
        break;
    case FIELD_TYPE:
        if (json_number_i64(text, length, &small) && small >= 0 && small <= INT32_MAX) {
            m->type = (int32_t)small;
            m->has |= PROFILER_TYPE;
        }
        break;
    case FIELD_DEVICE:
        if (json_number_i64(text, length, &small) && small >= INT32_MIN && small <= INT32_MAX)
            m->device = (int32_t)small;
        break;
    case FIELD_ADDRESS:
        m->has |= json_number_u64(text, length, &m->address) ? PROFILER_ADDRESS : 0;
        break;
    case FIELD_BYTES:
        m->has |= json_number_i64(text, length, &m->bytes) ? PROFILER_BYTES : 0;
        break;
    case FIELD_ALLOCATED:
        m->has |= json_number_u64(text, length, &m->allocated) ? PROFILER_ALLOCATED : 0;
        break;
    case FIELD_RESERVED:
        m->has |= json_number_u64(text, length, &m->reserved) ? PROFILER_RESERVED : 0;
        break;
    case FIELD_GPU:
        (void)json_number_u64(text, length, &e->gpu);
        break;
    case FIELD_STREAM:
        e->has_stream |= json_number_u64(text, length, &e->stream);
        break;
    case FIELD_BASE_TIME:
        (void)json_number_u64(text, length, &r->p->base_time_ns);
        break;
    case FIELD_SCHEMA:
        r->p->has_schema_version = json_number_u64(text, length, &r->p->schema_version);
        break;
    case FIELD_CARD_ID:
        (void)json_number_u64(text, length, &r->card.id);
        break;
    case FIELD_CARD_TOTAL:
        (void)json_number_u64(text, length, &r->card.total_bytes);
        break;
    case FIELD_RANK:
        r->p->has_rank = json_number_u64(text, length, &r->p->rank);
        break;
    default: /* texts */
        break;
    }
}

static int on_number(void *context, const char *text, size_t length) {
    struct reader *r = context;
    if (r->field != FIELD_NONE)
        take_number(r, text, length);
    r->field = FIELD_NONE;
    return 1;
}

static uint64_t hash(const unsigned char *text, size_t length) {
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++)
        h = (h ^ text[i]) * UINT64_C(1099511628211);
    return h;
}

/* Ids of threads may be texts: a number as one (of 2021), or "stream 7"; what matters is which are
 * equal. */
static uint64_t id_of(const unsigned char *text, size_t length) {
    uint64_t number;
    return json_number_u64((const char *)text, length, &number) ? number : hash(text, length);
}

static void copy(char *to, size_t size, const unsigned char *from, size_t length) {
    size_t n = length < size - 1 ? length : size - 1;
    memcpy(to, from, n);
    to[n] = '\0';
}

static int on_string(void *context, const unsigned char *text, size_t length) {
    struct reader *r = context;
    struct event *e = &r->event;
    enum field field = r->field;
    r->field = FIELD_NONE;
    switch (field) {
    case FIELD_PHASE:
        copy(e->phase, sizeof e->phase, text, length);
        break;
    case FIELD_CATEGORY:
        copy(e->category, sizeof e->category, text, length);
        break;
    case FIELD_NAME:
        copy(e->name, sizeof e->name, text, length);
        e->name_length = strlen(e->name);
        break;
    case FIELD_PID:
        e->pid = id_of(text, length);
        break;
    case FIELD_TID:
        e->tid = id_of(text, length);
        break;
    case FIELD_CARD_NAME:
        if (!foreign_text_intern(&r->p->names, (const char *)text, length, &r->card.name))
            return no_memory(r);
        break;
    default: /* numbers */
        break;
    }
    return 1;
}

static int on_null(void *context) {
    struct reader *r = context;
    r->field = FIELD_NONE;
    return 1;
}

static int on_boolean(void *context, int value) {
    (void)value;
    return on_null(context);
}

/* --- what an event is --- */

static bool begins(const struct event *e, const char *prefix) {
    size_t n = strlen(prefix);
    return e->name_length >= n && memcmp(e->name, prefix, n) == 0;
}

static bool is_category(const struct event *e, const char *a, const char *b) {
    return strcmp(e->category, a) == 0 || strcmp(e->category, b) == 0;
}

/* Few differ: mostly it is the one before, or one of the first. */
static bool count_name(struct trace_counts *counts, size_t *last, struct strtab *names,
                       const char *name) {
    if (*last < counts->list.count && strcmp(counts->list.at[*last].name, name) == 0) {
        counts->list.at[*last].count++;
        return true;
    }
    for (size_t i = 0; i < counts->list.count; i++)
        if (strcmp(counts->list.at[i].name, name) == 0) {
            counts->list.at[i].count++;
            *last = i;
            return true;
        }
    enum { MOST_NAMES = 64 };
    uint32_t id;
    if (counts->list.count >= MOST_NAMES)
        return trace_counts_add(counts, "others", 1);
    return foreign_text_intern(names, name, strlen(name), &id) &&
           trace_counts_add(counts, strtab_text(names, id), 1);
}

static bool add_memory(struct reader *r, bool is_oom) {
    struct profiler_memory *m = &r->event.memory;
    const unsigned needed = PROFILER_BYTES | PROFILER_TIME | PROFILER_TYPE;
    if ((m->has & needed) != needed || r->p->memory.count >= UINT32_MAX) {
        r->p->skipped++;
        return true;
    }
    m->is_oom = is_oom;
    m->order = (uint32_t)r->p->memory.count;
    return array_push(&r->p->memory, *m);
}

static bool add_span(struct reader *r, bool is_annotation) {
    const struct event *e = &r->event;
    struct profiler_span span = {
        .begin_ns = e->memory.time_ns, .thread = e->memory.thread, .is_annotation = is_annotation};
    if (!(e->memory.has & PROFILER_TIME) || e->duration_ns > UINT64_MAX - span.begin_ns)
        return true;
    span.end_ns = span.begin_ns + e->duration_ns;
    return foreign_text_intern(&r->p->names, e->name, e->name_length, &span.name) &&
           array_push(&r->p->spans, span);
}

static bool add_kernel(struct reader *r) {
    const struct event *e = &r->event;
    uint64_t stream = e->gpu << 32 | (e->stream & UINT32_MAX);
    r->p->kernels++;
    if (!e->has_stream)
        return true;
    for (size_t i = 0; i < r->p->streams.count; i++)
        if (r->p->streams.at[i] == stream)
            return true;
    enum { MOST_STREAMS = 4096 };
    return r->p->streams.count >= MOST_STREAMS || array_push(&r->p->streams, stream);
}

static bool end_event(struct reader *r) {
    struct event *e = &r->event;
    struct profiler *p = r->p;
    e->memory.thread = e->pid * UINT64_C(0x9e3779b97f4a7c15) ^ e->tid;
    p->events++;
    if (e->phase[0] && !count_name(&p->phases, &r->last_phase, &p->names, e->phase))
        return false;
    if (e->category[0] && !count_name(&p->categories, &r->last_category, &p->names, e->category))
        return false;
    if (e->name[0] == '[') {
        bool is_oom = strcmp(e->name, "[OutOfMemory]") == 0;
        if (is_oom || strcmp(e->name, "[memory]") == 0)
            return add_memory(r, is_oom);
    }
    if (e->phase[0] != 'X')
        return true;
    if (is_category(e, "kernel", "Kernel"))
        return add_kernel(r);
    if (is_category(e, "user_annotation", "Annotation"))
        return add_span(r, true);
    bool is_op = is_category(e, "cpu_op", "Operator");
    if (is_op || !e->category[0])
        if (begins(e, "ProfilerStep#") || begins(e, "Optimizer."))
            return add_span(r, true);
    return !is_op || add_span(r, false);
}

/* --- containers --- */

static void begin_event(struct reader *r) {
    struct event *e = &r->event;
    e->name[0] = e->category[0] = e->phase[0] = '\0';
    e->name_length = 0;
    e->pid = e->tid = e->duration_ns = e->stream = e->gpu = 0;
    e->has_stream = false;
    memset(&e->memory, 0, sizeof e->memory);
    r->in_args = false;
}

static void deeper(struct reader *r) {
    r->depth++;
    r->field = FIELD_NONE;
}

static int on_begin_object(void *context) {
    struct reader *r = context;
    enum field field = r->field;
    deeper(r);
    if (is_in_event(r))
        begin_event(r);
    else if (r->events_depth > 0 && r->depth == r->events_depth + 2)
        r->in_args = field == FIELD_ARGS;
    else if (r->depth == 3 && r->section == FIELD_CARDS)
        memset(&r->card, 0, sizeof r->card);
    return 1;
}

static int on_end_object(void *context) {
    struct reader *r = context;
    bool was_event = is_in_event(r);
    if (r->in_args && r->depth == r->events_depth + 2)
        r->in_args = false;
    bool was_card = r->depth == 3 && r->section == FIELD_CARDS;
    r->depth--;
    r->field = FIELD_NONE;
    enum { MOST_CARDS = 256 };
    if (was_card && r->p->cards.count < MOST_CARDS && !array_push(&r->p->cards, r->card))
        return no_memory(r);
    return !was_event || end_event(r) || no_memory(r);
}

static int on_begin_array(void *context) {
    struct reader *r = context;
    bool is_events = (r->depth == 0) || (r->depth == 1 && r->field == FIELD_EVENTS);
    deeper(r);
    if (is_events) {
        r->events_depth = r->depth;
        r->p->has_events = true;
    }
    return 1;
}

static int on_end_array(void *context) {
    struct reader *r = context;
    if (r->depth == r->events_depth)
        r->events_depth = 0;
    r->depth--;
    r->field = FIELD_NONE;
    return 1;
}

bool profiler_read(struct profiler *p, const uint8_t *data, size_t length,
                   const struct trace_options *options, struct error *err) {
    static const struct json_handlers handlers = {.null = on_null,
                                                  .boolean = on_boolean,
                                                  .number = on_number,
                                                  .string = on_string,
                                                  .key = on_key,
                                                  .begin_object = on_begin_object,
                                                  .end_object = on_end_object,
                                                  .begin_array = on_begin_array,
                                                  .end_array = on_end_array};
    struct reader r = {.p = p, .err = err};
    memset(p, 0, sizeof *p);
    if (!strtab_init(&p->names))
        return error_host_memory(err);
    if (!json_parse(data, length, &handlers, &r, options, err))
        return false;
    return p->has_events ||
           error_set(err, ERROR_BAD_INPUT, "JSON without traceEvents, which torch.profiler writes");
}

void profiler_fini(struct profiler *p) {
    strtab_fini(&p->names);
    array_fini(&p->memory);
    array_fini(&p->spans);
    array_fini(&p->cards);
    array_fini(&p->streams);
    trace_counts_fini(&p->phases);
    trace_counts_fini(&p->categories);
    trace_counts_fini(&p->top_keys);
}

/* --- order --- */

static int by_time(const void *a, const void *b) {
    const struct profiler_memory *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

void profiler_sort(struct profiler *p) {
    for (size_t i = 1; i < p->memory.count; i++)
        if (by_time(&p->memory.at[i - 1], &p->memory.at[i]) > 0) {
            qsort(p->memory.at, p->memory.count, sizeof *p->memory.at, by_time);
            return;
        }
}

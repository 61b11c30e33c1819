/* nsight_read.c: see nsight.h. What identifies people and machines (users, hosts, processes' names,
 * environments) is in tables that are not read. */
#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "emit.h"
#include "error.h"
#include "foreign_text.h"
#include "nsight.h"
#include "nsight_db.h"

struct reader {
    struct nsight *n;
    struct nsight_db *db;
    struct error *err;
};

static bool no_memory(struct reader *r) {
    return error_host_memory(r->err);
}

static bool intern(struct reader *r, const struct nsight_row *row, int column, uint32_t *id) {
    const char *text;
    size_t length;
    enum { MOST_LENGTH = 240 };
    *id = 0;
    if (!nsight_row_text(row, column, &text, &length))
        return true;
    return foreign_text_intern(&r->n->names, text, length < MOST_LENGTH ? length : MOST_LENGTH,
                               id) ||
           no_memory(r);
}

static bool is_text(const struct nsight_row *row, int column, const char *text) {
    const char *found;
    size_t length;
    return nsight_row_text(row, column, &found, &length) && length == strlen(text) &&
           memcmp(found, text, length) == 0;
}

/* --- what was recorded, and when --- */

static bool on_export(void *user, const struct nsight_row *row) {
    struct reader *r = user;
    struct nsight *n = r->n;
    if (is_text(row, 0, "EXPORT_SCHEMA_VERSION"))
        return intern(r, row, 1, &n->schema);
    if (is_text(row, 0, "EXPORT_PRODUCT_VERSION"))
        return intern(r, row, 1, &n->product);
    if (is_text(row, 0, "EXPORT_PARAM_TIME_NORMALIZE"))
        n->is_wall_clock = is_text(row, 1, "true");
    if (is_text(row, 0, "EXPORT_PARAM_TIME_SHIFT"))
        n->is_shifted = !is_text(row, 1, "0");
    return true;
}

static bool on_capture(void *user, const struct nsight_row *row) {
    struct reader *r = user;
    if (is_text(row, 0, "COLLECT_GPU_MEMORY_USAGE"))
        r->n->says_no_memory = is_text(row, 1, "false");
    return true;
}

static bool on_start(void *user, const struct nsight_row *row) {
    struct reader *r = user;
    (void)nsight_row_u64(row, 0, &r->n->epoch_ns);
    return true;
}

static bool on_kind(void *user, const struct nsight_row *row) {
    static const char *const names[] = {
#define X(id, name) name,
        NSIGHT_KINDS(X)
#undef X
    };
    struct reader *r = user;
    int64_t id;
    if (!nsight_row_i64(row, 0, &id) || id < 0 || id >= NSIGHT_KIND_COUNT)
        return true;
    for (unsigned i = 0; i < NSIGHT_KIND_COUNT; i++)
        if (is_text(row, 1, names[i]))
            r->n->kind_of[id] = (uint8_t)i;
    return true;
}

/* For equality: "Allocation" is a part of "Deallocation". */
static bool on_operation(void *user, const struct nsight_row *row) {
    struct reader *r = user;
    int64_t id;
    if (!nsight_row_i64(row, 0, &id))
        return true;
    if (is_text(row, 1, "Allocation"))
        r->n->alloc_id = id;
    if (is_text(row, 1, "Deallocation"))
        r->n->free_id = id;
    return true;
}

static bool on_ordinal(void *user, const struct nsight_row *row) {
    struct reader *r = user;
    struct nsight_ordinal o;
    enum { MOST = 65536 };
    if (!nsight_row_u64(row, 0, &o.gpu) || !nsight_row_u64(row, 1, &o.cuda) ||
        !nsight_row_u64(row, 2, &o.pid) || r->n->ordinals.count >= MOST)
        return true;
    return array_push(&r->n->ordinals, o) || no_memory(r);
}

static bool on_card(void *user, const struct nsight_row *row) {
    struct reader *r = user;
    struct nsight_card card = {0};
    if (!nsight_row_u64(row, 0, &card.id) || r->n->cards.count >= EMIT_DEVICES)
        return true;
    (void)nsight_row_u64(row, 2, &card.total_bytes);
    return intern(r, row, 1, &card.name) && (array_push(&r->n->cards, card) || no_memory(r));
}

/* --- memory --- */

/* Ids of calls are unique within a process only, whose own is in bits 24 to 47. */
static uint64_t call_key(uint64_t process, uint64_t correlation) {
    return (process >> 24 & 0xffffff) << 32 | (correlation & UINT32_MAX);
}

static bool add_event(struct reader *r, struct nsight_event *e) {
    struct nsight *n = r->n;
    if (n->events.count >= UINT32_MAX)
        return error_set(r->err, ERROR_LIMIT, "more than 2^32 events");
    e->order = (uint32_t)n->events.count;
    if (e->call && !addrmap_put(&n->calls, e->call, 0))
        return no_memory(r);
    return array_push(&n->events, *e) || no_memory(r);
}

static const char *const memory_columns[] = {"start",
                                             "globalPid",
                                             "deviceId",
                                             "contextId",
                                             "address",
                                             "bytes",
                                             "memKind",
                                             "memoryOperationType",
                                             "correlationId",
                                             "streamId",
                                             "localMemoryPoolAddress",
                                             "localMemoryPoolSize",
                                             NULL};

static bool on_memory(void *user, const struct nsight_row *row) {
    struct reader *r = user;
    struct nsight_event e = {0};
    int64_t kind = NSIGHT_KIND_COUNT, operation = -1, address = 0;
    uint64_t correlation;
    bool usable = nsight_row_u64(row, 0, &e.time_ns) && nsight_row_i64(row, 4, &address) &&
                  nsight_row_u64(row, 5, &e.bytes) && nsight_row_i64(row, 7, &operation) &&
                  (operation == r->n->alloc_id || operation == r->n->free_id);
    if (!usable) {
        r->n->skipped++;
        return true;
    }
    e.address = (uint64_t)address;
    (void)nsight_row_u64(row, 1, &e.process);
    (void)nsight_row_u64(row, 2, &e.cuda_device);
    (void)nsight_row_u64(row, 3, &e.context);
    (void)nsight_row_i64(row, 6, &kind);
    (void)nsight_row_u64(row, 9, &e.stream);
    e.kind = kind >= 0 && kind < NSIGHT_KIND_COUNT ? r->n->kind_of[kind] : NSIGHT_UNKNOWN;
    e.what = operation == r->n->alloc_id ? NSIGHT_ALLOC : NSIGHT_FREE;
    if (nsight_row_u64(row, 8, &correlation))
        e.call = call_key(e.process, correlation);
    e.has_pool = nsight_row_u64(row, 10, &e.pool) && e.pool != 0;
    e.has_pool = nsight_row_u64(row, 11, &e.pool_bytes) && e.has_pool;
    return add_event(r, &e);
}

static const char *const pool_columns[] = {
    "start", "globalPid", "deviceId", "address", "localMemoryPoolSize", "operationType", NULL};

/* A pool that is destroyed holds nothing; others tell their size as of then. */
static bool on_pool(void *user, const struct nsight_row *row) {
    enum { DESTROYED = 2 };
    struct reader *r = user;
    struct nsight_event e = {.what = NSIGHT_POOL_SIZE, .kind = NSIGHT_DEVICE, .has_pool = true};
    int64_t operation = 0;
    if (!nsight_row_u64(row, 0, &e.time_ns) || !nsight_row_u64(row, 3, &e.pool))
        return true;
    (void)nsight_row_u64(row, 1, &e.process);
    (void)nsight_row_u64(row, 2, &e.cuda_device);
    (void)nsight_row_i64(row, 5, &operation);
    if (!nsight_row_u64(row, 4, &e.pool_bytes) && operation != DESTROYED)
        return true;
    if (operation == DESTROYED)
        e.pool_bytes = 0;
    return add_event(r, &e);
}

/* --- what the program did --- */

static bool want_text(struct reader *r, uint64_t id) {
    uint32_t known;
    return addrmap_find(&r->n->texts, id, &known) || addrmap_put(&r->n->texts, id, 0) ||
           no_memory(r);
}

static bool on_call(void *user, const struct nsight_row *row) {
    struct reader *r = user;
    uint64_t thread, correlation, name;
    uint32_t count = 0, known;
    if (!nsight_row_u64(row, 2, &name) || name >= UINT32_MAX)
        return true;
    (void)addrmap_find(&r->n->calls_by_name, name, &count);
    if (count < UINT32_MAX && !addrmap_put(&r->n->calls_by_name, name, count + 1))
        return no_memory(r);
    if (count == 0 && !want_text(r, name))
        return false;
    if (!nsight_row_u64(row, 0, &thread) || !nsight_row_u64(row, 1, &correlation))
        return true;
    uint64_t key = call_key(thread, correlation);
    if (addrmap_find(&r->n->calls, key, &known))
        return addrmap_put(&r->n->calls, key, (uint32_t)name + 1) || no_memory(r);
    return true;
}

static bool on_kernel(void *user, const struct nsight_row *row) {
    (void)row;
    ((struct reader *)user)->n->kernels++;
    return true;
}

static const char *const range_columns[] = {"start", "end", "eventType", "text", "textId", NULL};

static bool on_range(void *user, const struct nsight_row *row) {
    enum { PUSH_POP = 59, START_END = 60 };
    struct reader *r = user;
    struct nsight_range range = {.end_ns = UINT64_MAX};
    int64_t type;
    if (!nsight_row_u64(row, 0, &range.begin_ns) || !nsight_row_i64(row, 2, &type) ||
        (type != PUSH_POP && type != START_END) || r->n->ranges.count >= UINT32_MAX)
        return true;
    (void)nsight_row_u64(row, 1, &range.end_ns);
    if (!intern(r, row, 3, &range.text))
        return false;
    if (!range.text && nsight_row_u64(row, 4, &range.text_id) && !want_text(r, range.text_id))
        return false;
    return array_push(&r->n->ranges, range) || no_memory(r);
}

static bool on_string(void *user, const struct nsight_row *row) {
    struct reader *r = user;
    uint64_t id;
    uint32_t name;
    if (!nsight_row_u64(row, 0, &id) || !addrmap_find(&r->n->texts, id, &name))
        return true;
    return intern(r, row, 1, &name) && (addrmap_put(&r->n->texts, id, name) || no_memory(r));
}

/* --- all of it --- */

struct table {
    const char *name;
    const char *columns[13];
    nsight_row_fn *each;
};

/* In this order: what a table asks of later ones is known by then. */
static const struct table tables[] = {
    {"META_DATA_EXPORT", {"name", "value", NULL}, on_export},
    {"META_DATA_CAPTURE", {"name", "value", NULL}, on_capture},
    {"TARGET_INFO_SESSION_START_TIME", {"utcEpochNs", NULL}, on_start},
    {"ENUM_CUDA_MEM_KIND", {"id", "label", NULL}, on_kind},
    {"ENUM_CUDA_DEV_MEM_EVENT_OPER", {"id", "label", NULL}, on_operation},
    {"TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid", NULL}, on_ordinal},
    {"TARGET_INFO_GPU", {"id", "name", "totalMemory", NULL}, on_card},
};

static bool read_table(struct reader *r, const char *name, const char *const *columns,
                       nsight_row_fn *each) {
    return nsight_db_each(r->db, name, columns, each, r, r->err);
}

static bool read_tables(struct reader *r) {
    static const char *const calls[] = {"globalTid", "correlationId", "nameId", NULL};
    static const char *const kernels[] = {"start", NULL};
    static const char *const strings[] = {"id", "value", NULL};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (!read_table(r, tables[i].name, tables[i].columns, tables[i].each))
            return false;
    return read_table(r, "CUDA_GPU_MEMORY_USAGE_EVENTS", memory_columns, on_memory) &&
           read_table(r, "CUDA_GPU_MEMORY_POOL_EVENTS", pool_columns, on_pool) &&
           read_table(r, "CUPTI_ACTIVITY_KIND_RUNTIME", calls, on_call) &&
           read_table(r, "CUPTI_ACTIVITY_KIND_KERNEL", kernels, on_kernel) &&
           read_table(r, "NVTX_EVENTS", range_columns, on_range) &&
           read_table(r, "StringIds", strings, on_string);
}

static bool is_export(struct nsight_db *db) {
    static const char *const marks[] = {"META_DATA_EXPORT", "CUDA_GPU_MEMORY_USAGE_EVENTS",
                                        "TARGET_INFO_SESSION_START_TIME",
                                        "CUPTI_ACTIVITY_KIND_RUNTIME"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (nsight_db_has(db, marks[i]))
            return true;
    return false;
}

bool nsight_read(struct nsight *n, const uint8_t *data, size_t length,
                 const struct trace_options *options, struct error *err) {
    *n = (struct nsight){.alloc_id = 0, .free_id = 1};
    for (unsigned i = 0; i < NSIGHT_KIND_COUNT; i++)
        n->kind_of[i] = (uint8_t)i;
    if (!strtab_init(&n->names))
        return error_host_memory(err);
    struct reader r = {.n = n, .err = err, .db = nsight_db_open(data, length, options, err)};
    if (!r.db)
        return false;
    bool ok = is_export(r.db) ||
              error_set(err, ERROR_BAD_INPUT,
                        "an SQLite database, but no export of Nsight Systems (nsys export --type "
                        "sqlite)");
    n->has_memory_table = ok && nsight_db_has(r.db, "CUDA_GPU_MEMORY_USAGE_EVENTS");
    ok = ok && read_tables(&r);
    nsight_db_close(r.db);
    return ok;
}

void nsight_fini(struct nsight *n) {
    strtab_fini(&n->names);
    array_fini(&n->events);
    array_fini(&n->ranges);
    array_fini(&n->ordinals);
    array_fini(&n->cards);
    addrmap_fini(&n->calls);
    addrmap_fini(&n->texts);
    addrmap_fini(&n->calls_by_name);
}

static int by_time(const void *a, const void *b) {
    const struct nsight_event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

void nsight_sort(struct nsight *n) {
    if (n->events.count > 1)
        qsort(n->events.at, n->events.count, sizeof *n->events.at, by_time);
}

uint32_t nsight_call(const struct nsight *n, const struct nsight_event *event) {
    uint32_t id, name;
    if (!event->call || !addrmap_find(&n->calls, event->call, &id) || id == 0 ||
        !addrmap_find(&n->texts, id - 1, &name))
        return 0;
    return name;
}

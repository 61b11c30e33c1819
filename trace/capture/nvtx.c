/* nvtx.c: the program's ranges, caught by ourselves: it needs no GPU, no driver, no CUPTI. Every library that has NVTX in it
 * calls InitializeInjectionNvtx2 once; the layout of what it hands over is that of nvtx3/nvtxDetail/nvtxTypes.h. */
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "capture.h"
#include "clock.h"

enum { TABLE_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { TEXT_ASCII = 1, TEXT_UNICODE = 2, TEXT_REGISTERED = 3 };

typedef void function(void);

struct callbacks {
    size_t bytes;
    int (*module_table)(int module, function ****table, unsigned *count);
};

/* nvtxEventAttributes_t */
struct attributes {
    uint16_t version, bytes;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, zero;
    uint64_t payload;
    int32_t text_type;
    uint32_t padding;
    union {
        const char *ascii;
        const void *wide;
        uint64_t registered;
    } text;
};

/* Handles that we hand out for registered texts and domains are ids of texts. */
static uint32_t text_of(const struct attributes *a) {
    if (!a || a->bytes < offsetof(struct attributes, text) + sizeof a->text)
        return 0;
    switch (a->text_type) {
    case TEXT_ASCII:
        return capture_text(a->text.ascii);
    case TEXT_UNICODE:
        return capture_text_wide(a->text.wide);
    case TEXT_REGISTERED:
        return (uint32_t)a->text.registered;
    default:
        return 0;
    }
}

static _Thread_local int depth;
static atomic_bool has_main;
static _Atomic(uint64_t) ranges;

/* The thread that pushes first is the program's own: phases are told by its stack. */
static void name_main(void) {
    if (atomic_exchange(&has_main, true))
        return;
    struct record_thread thread = {.head = CAPTURE_HEAD(thread, RECORD_THREAD), .flags = 1};
    capture_put(&thread.head);
}

static struct record_push push_record(uint16_t type, uint32_t name, uint32_t domain,
                                      const struct attributes *a) {
    bool told = a && a->bytes >= offsetof(struct attributes, payload_type);
    struct record_push record = {.head = CAPTURE_HEAD(record, type),
                                 .name = name,
                                 .domain = domain,
                                 .color = told ? a->color : 0,
                                 .category = told ? a->category : 0};
    return record;
}

static int push(uint32_t name, uint32_t domain, const struct attributes *a) {
    name_main();
    struct record_push record = push_record(RECORD_PHASE_PUSH, name, domain, a);
    capture_put(&record.head);
    return depth++;
}

static int pop(uint32_t domain) {
    struct record_pop record = {.head = CAPTURE_HEAD(record, RECORD_PHASE_POP), .domain = domain};
    capture_put(&record.head);
    return depth > 0 ? --depth : -1;
}

static void mark(uint32_t name, uint32_t domain, const struct attributes *a) {
    struct record_push record = push_record(RECORD_PHASE_MARK, name, domain, a);
    capture_put(&record.head);
}

static uint64_t range_start(uint32_t name, uint32_t domain, const struct attributes *a) {
    struct record_start record = {.push = push_record(RECORD_RANGE_START, name, domain, a),
                                  .id = atomic_fetch_add(&ranges, 1) + 1};
    record.push.head.len8 = sizeof record / 8;
    capture_put(&record.push.head);
    return record.id;
}

static void range_end(uint64_t id) {
    struct record_stop record = {.head = CAPTURE_HEAD(record, RECORD_RANGE_END), .id = id};
    capture_put(&record.head);
}

/* --- what NVTX calls --- */

static void mark_ex(const struct attributes *a) {
    mark(text_of(a), 0, a);
}
static void mark_a(const char *text) {
    mark(capture_text(text), 0, NULL);
}
static void mark_w(const void *text) {
    mark(capture_text_wide(text), 0, NULL);
}
static uint64_t range_start_ex(const struct attributes *a) {
    return range_start(text_of(a), 0, a);
}
static uint64_t range_start_a(const char *text) {
    return range_start(capture_text(text), 0, NULL);
}
static uint64_t range_start_w(const void *text) {
    return range_start(capture_text_wide(text), 0, NULL);
}
static int push_ex(const struct attributes *a) {
    return push(text_of(a), 0, a);
}
static int push_a(const char *text) {
    return push(capture_text(text), 0, NULL);
}
static int push_w(const void *text) {
    return push(capture_text_wide(text), 0, NULL);
}
static int pop_plain(void) {
    return pop(0);
}

static uint32_t id_of(const void *handle) {
    return (uint32_t)(uintptr_t)handle;
}
static void *handle_of(uint32_t id) {
    return (void *)(uintptr_t)id; /* NOLINT(performance-no-int-to-ptr): never followed */
}
static void domain_mark(const void *domain, const struct attributes *a) {
    mark(text_of(a), id_of(domain), a);
}
static uint64_t domain_range_start(const void *domain, const struct attributes *a) {
    return range_start(text_of(a), id_of(domain), a);
}
static void domain_range_end(const void *domain, uint64_t id) {
    (void)domain;
    range_end(id);
}
static int domain_push(const void *domain, const struct attributes *a) {
    return push(text_of(a), id_of(domain), a);
}
static int domain_pop(const void *domain) {
    return pop(id_of(domain));
}
static void *register_a(const void *domain, const char *text) {
    (void)domain;
    return handle_of(capture_text(text));
}
static void *register_w(const void *domain, const void *text) {
    (void)domain;
    return handle_of(capture_text_wide(text));
}
static void *domain_create_a(const char *name) {
    return handle_of(capture_text(name));
}
static void *domain_create_w(const void *name) {
    return handle_of(capture_text_wide(name));
}

struct slot {
    unsigned number;
    function *call;
};

static const struct slot core[] = {
    {1, (function *)mark_ex},        {2, (function *)mark_a},        {3, (function *)mark_w},
    {4, (function *)range_start_ex}, {5, (function *)range_start_a}, {6, (function *)range_start_w},
    {7, (function *)range_end},      {8, (function *)push_ex},       {9, (function *)push_a},
    {10, (function *)push_w},        {11, (function *)pop_plain},    {0, NULL}};

static const struct slot core2[] = {
    {1, (function *)domain_mark},      {2, (function *)domain_range_start},
    {3, (function *)domain_range_end}, {4, (function *)domain_push},
    {5, (function *)domain_pop},       {10, (function *)register_a},
    {11, (function *)register_w},      {12, (function *)domain_create_a},
    {13, (function *)domain_create_w}, {0, NULL}};

static void fill(const struct callbacks *callbacks, int module, const struct slot *slots) {
    function ***table = NULL;
    unsigned count = 0;
    if (!callbacks->module_table(module, &table, &count) || !table)
        return;
    for (; slots->number != 0; slots++)
        if (slots->number < count && table[slots->number])
            *table[slots->number] = slots->call;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*get)(uint32_t));
int InitializeInjectionNvtx2(const void *(*get)(uint32_t)) {
    const struct callbacks *callbacks = get ? get(TABLE_CALLBACKS) : NULL;
    if (!callbacks || callbacks->bytes < sizeof *callbacks || !capture_start())
        return 0;
    fill(callbacks, MODULE_CORE, core);
    fill(callbacks, MODULE_CORE2, core2);
    capture_armed(CAPTURE_NVTX);
    return 1;
}

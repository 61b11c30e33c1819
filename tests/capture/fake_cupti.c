/* fake_cupti.c: a stand-in for libcupti, for machines without a GPU: the functions that a capture asks for, buffers a thread,
 * and records that a test puts in (fake_cupti.h).
 *
 *   FAKE_CUPTI_VERSION=N    what cuptiGetVersion says; records have the members of that version
 *   FAKE_CUPTI_SUBSCRIBE=N  every subscribe fails with error N
 *   FAKE_CUPTI_ENABLE=N     every enable fails with error N */
#include "fake_cupti.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cupti_abi.h"

enum { KINDS = 256, THREADS = 256 };

struct buffer {
    uint8_t *bytes;
    size_t room, used;
};

static cupti_request_fn *request;
static cupti_complete_fn *complete;
static cupti_callback_fn *callback;
static unsigned char enabled[KINDS], calls[1024];
static int subscribed, held;
static size_t dropped;
static uint32_t correlation;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer buffers[THREADS];
static unsigned threads;
static _Thread_local unsigned mine; /* + 1 */

static int number(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint32_t version(void) {
    return (uint32_t)number("FAKE_CUPTI_VERSION", 130001);
}

/* --- CUPTI's functions --- */

int cuptiGetVersion(uint32_t *out);
int cuptiGetResultString(int code, const char **out);
int cuptiSubscribe(void **subscriber, cupti_callback_fn *fn, void *user);
int cuptiSubscribe_v2(void **subscriber, cupti_callback_fn *fn, void *user,
                      struct cupti_subscriber_params *params);
int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t id);
int cuptiActivityRegisterCallbacks(cupti_request_fn *r, cupti_complete_fn *c);
int cuptiActivityEnable(int kind);
int cuptiActivitySetAttribute(int attribute, size_t *bytes, void *value);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *out);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record);
int cuptiActivityFlushAll(uint32_t flag);

int cuptiGetVersion(uint32_t *out) {
    *out = version();
    return 0;
}

int cuptiGetResultString(int code, const char **out) {
    *out = code ? "FAKE_ERROR" : "CUPTI_SUCCESS";
    return 0;
}

int cuptiSubscribe(void **subscriber, cupti_callback_fn *fn, void *user) {
    int error = number("FAKE_CUPTI_SUBSCRIBE", subscribed ? CUPTI_TAKEN : 0);
    (void)user;
    if (error)
        return error;
    subscribed = 1;
    callback = fn;
    *subscriber = &subscribed;
    return 0;
}

int cuptiSubscribe_v2(void **subscriber, cupti_callback_fn *fn, void *user,
                      struct cupti_subscriber_params *params) {
    int error = cuptiSubscribe(subscriber, fn, user);
    if (error == CUPTI_TAKEN && params && params->old_name)
        snprintf(params->old_name, params->old_bytes, "another tool");
    return error;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t id) {
    if (subscriber != &subscribed || domain != CUPTI_DRIVER_API || id >= sizeof calls)
        return 1;
    calls[id] = (unsigned char)enable;
    return 0;
}

int cuptiActivityRegisterCallbacks(cupti_request_fn *r, cupti_complete_fn *c) {
    request = r;
    complete = c;
    return 0;
}

int cuptiActivityEnable(int kind) {
    int error = number("FAKE_CUPTI_ENABLE", 0);
    if (error || kind < 0 || kind >= KINDS)
        return error ? error : CUPTI_BAD_KIND;
    enabled[kind] = 1;
    return 0;
}

int cuptiActivitySetAttribute(int attribute, size_t *bytes, void *value) {
    (void)attribute;
    (void)bytes;
    (void)value;
    return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *out) {
    (void)context;
    (void)stream;
    pthread_mutex_lock(&lock);
    *out = dropped;
    dropped = 0;
    pthread_mutex_unlock(&lock);
    return 0;
}

static size_t record_bytes(uint32_t kind) {
    uint32_t v = version();
    switch (kind) {
    case KIND_MEMORY2:
        return v < VERSION_MEMORY3 ? 112 : v < 24 ? 120 : 128;
    case KIND_MEMORY_POOL:
        return v < VERSION_POOL2 ? 64 : v < VERSION_POOL3 ? 72 : 80;
    case KIND_DEVICE:
        return 184;
    case KIND_CONTEXT:
        return 32;
    case KIND_CONCURRENT_KERNEL:
        return v < 130000 ? 208 : 216;
    default:
        return 0;
    }
}

/* Ends as the real one does: 12 when the next record does not fit, 21 on a kind that it does not know. */
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record) {
    size_t at = *record ? (size_t)(*record - buffer) + record_bytes(cupti_u32(*record, 0)) : 0;
    if (at + 4 > valid)
        return CUPTI_LIMIT;
    size_t bytes = record_bytes(cupti_u32(buffer + at, 0));
    if (bytes == 0)
        return CUPTI_BAD_KIND;
    if (at + bytes > valid)
        return CUPTI_LIMIT;
    *record = buffer + at;
    return 0;
}

/* Not under the lock: the capture calls back. */
static void give_back(unsigned i) {
    pthread_mutex_lock(&lock);
    struct buffer b = buffers[i];
    buffers[i] = (struct buffer){0};
    pthread_mutex_unlock(&lock);
    if (b.bytes)
        complete(NULL, 0, b.bytes, b.room, b.used);
}

int cuptiActivityFlushAll(uint32_t flag) {
    if (!complete)
        return 15;
    if (held && !(flag & CUPTI_FLUSH_FORCED))
        return 0;
    for (unsigned i = 0; i < THREADS; i++)
        give_back(i);
    return 0;
}

/* --- records that tests put in --- */

static void set32(uint8_t *record, unsigned at, uint32_t value) {
    memcpy(record + at, &value, sizeof value);
}

static void set64(uint8_t *record, unsigned at, uint64_t value) {
    memcpy(record + at, &value, sizeof value);
}

static void set_text(uint8_t *record, unsigned at, const char *text) {
    memcpy(record + at, &text, sizeof text);
}

/* False: the buffer is full, or there is none. */
static bool append(struct buffer *b, const uint8_t *record, size_t bytes) {
    pthread_mutex_lock(&lock);
    bool fits = b->bytes && b->used + bytes <= b->room;
    if (fits) {
        memcpy(b->bytes + b->used, record, bytes);
        b->used += bytes;
    }
    pthread_mutex_unlock(&lock);
    return fits;
}

static void put(const uint8_t *record, size_t bytes) {
    if (mine == 0) {
        pthread_mutex_lock(&lock);
        mine = threads++ % THREADS + 1;
        pthread_mutex_unlock(&lock);
    }
    struct buffer *b = &buffers[mine - 1], fresh = {0};
    size_t most = 0;
    if (append(b, record, bytes))
        return;
    give_back(mine - 1);
    request(&fresh.bytes, &fresh.room, &most);
    pthread_mutex_lock(&lock);
    *b = fresh;
    dropped += !fresh.bytes;
    pthread_mutex_unlock(&lock);
    append(b, record, bytes);
}

static uint32_t next_correlation(void) {
    return __atomic_add_fetch(&correlation, 1, __ATOMIC_RELAXED);
}

void fake_memory(uint32_t operation, uint32_t kind, uint32_t device, uint64_t address,
                 uint64_t bytes, uint32_t stream, uint64_t pool, uint64_t pool_bytes,
                 const char *name) {
    uint8_t r[128] = {0};
    if (!enabled[KIND_MEMORY2])
        return;
    set32(r, 0, KIND_MEMORY2);
    set32(r, AT_MEMORY2_OPERATION, operation);
    set32(r, AT_MEMORY2_KIND, kind);
    set32(r, AT_MEMORY2_CORRELATION, next_correlation());
    set64(r, AT_MEMORY2_ADDRESS, address);
    set64(r, AT_MEMORY2_BYTES, bytes);
    set64(r, AT_MEMORY2_TIMESTAMP, now());
    set32(r, AT_MEMORY2_DEVICE, device);
    set32(r, AT_MEMORY2_CONTEXT, 1);
    set32(r, AT_MEMORY2_STREAM, stream);
    set_text(r, AT_MEMORY2_NAME, name);
    set32(r, AT_MEMORY2_ASYNC, pool != 0);
    set32(r, AT_MEMORY2_POOL_TYPE, pool != 0);
    set64(r, AT_MEMORY2_POOL_ADDRESS, pool);
    set64(r, AT_MEMORY2_POOL_SIZE, pool_bytes);
    set64(r, AT_MEMORY2_POOL_USED, bytes);
    put(r, record_bytes(KIND_MEMORY2));
}

void fake_pool(uint32_t operation, uint32_t device, uint64_t pool, uint64_t bytes) {
    uint8_t r[80] = {0};
    if (!enabled[KIND_MEMORY_POOL])
        return;
    set32(r, 0, KIND_MEMORY_POOL);
    set32(r, AT_POOL_OPERATION, operation);
    set32(r, AT_POOL_TYPE, 1);
    set32(r, AT_POOL_DEVICE, device);
    set64(r, AT_POOL_ADDRESS, pool);
    set64(r, AT_POOL_SIZE, bytes);
    set64(r, AT_POOL_TIMESTAMP, now());
    put(r, record_bytes(KIND_MEMORY_POOL));
}

void fake_device(uint32_t device, uint64_t total_bytes, const char *name) {
    uint8_t r[184] = {0};
    if (!enabled[KIND_DEVICE])
        return;
    set32(r, 0, KIND_DEVICE);
    set64(r, AT_DEVICE_TOTAL, total_bytes);
    set32(r, AT_DEVICE_MAJOR, 9);
    set32(r, AT_DEVICE_ID, device);
    set_text(r, AT_DEVICE_NAME, name);
    put(r, sizeof r);
}

void fake_kernel(uint32_t device, const char *name) {
    uint8_t r[216] = {0};
    if (!enabled[KIND_CONCURRENT_KERNEL])
        return;
    set32(r, 0, KIND_CONCURRENT_KERNEL);
    set64(r, AT_KERNEL_START, now());
    set64(r, AT_KERNEL_END, now() + 1000);
    set32(r, AT_KERNEL_DEVICE, device);
    set_text(r, AT_KERNEL_NAME, name);
    put(r, record_bytes(KIND_CONCURRENT_KERNEL));
}

void fake_unknown_kind(void) {
    uint8_t r[64] = {0};
    set32(r, 0, 250);
    put(r, sizeof r);
}

void fake_call(uint32_t id, const void *params, int result) {
    struct cupti_callback_data d = {
        .params = params, .result = &result, .correlation = next_correlation()};
    if (!callback || id >= sizeof calls || !calls[id])
        return;
    callback(NULL, CUPTI_DRIVER_API, id, &d); /* as it is entered */
    d.site = CUPTI_EXIT;
    callback(NULL, CUPTI_DRIVER_API, id, &d);
}

void fake_drop(uint64_t count) {
    pthread_mutex_lock(&lock);
    dropped += count;
    pthread_mutex_unlock(&lock);
}

void fake_hold(int on) {
    held = on;
}

/* ring.c: see ring.h. Rings are made once and never freed: a thread that ends leaves its ring, emptied, to the next. */
#include "ring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "records.h"

struct ring {
    /* bytes ever put, ever taken; their difference is what is there */
    _Atomic(uint64_t) head, tail;
    uint64_t marked; /* of the flush thread */
    atomic_bool taken;
    uint32_t tid;
    uint8_t *bytes; /* of its size, at its first use */
};

struct rings {
    size_t ring_bytes, most;
    pthread_key_t key;
    _Atomic(uint64_t) dropped;
    _Atomic(size_t) used; /* slots ever taken */
    struct ring ring[];
};

uint32_t rings_tid(void) {
    static _Thread_local uint32_t tid;
    if (tid == 0)
        tid = (uint32_t)syscall(SYS_gettid);
    return tid;
}

static void give_back(void *of) {
    struct ring *ring = of;
    atomic_store_explicit(&ring->taken, false, memory_order_release);
}

struct rings *rings_create(size_t ring_bytes, size_t thread_max) {
    struct rings *rings = calloc(1, sizeof *rings + thread_max * sizeof rings->ring[0]);
    if (!rings)
        return NULL;
    rings->ring_bytes = ring_bytes;
    rings->most = thread_max;
    if (pthread_key_create(&rings->key, give_back) == 0)
        return rings;
    free(rings);
    return NULL;
}

/* A free slot becomes this thread's. NULL: there is none, or no memory. */
static struct ring *claim(struct rings *rings) {
    for (size_t i = 0; i < rings->most; i++) {
        struct ring *ring = &rings->ring[i];
        bool expected = false;
        if (!atomic_compare_exchange_strong_explicit(&ring->taken, &expected, true,
                                                     memory_order_acquire, memory_order_relaxed))
            continue;
        if (!ring->bytes)
            ring->bytes = malloc(rings->ring_bytes);
        if (!ring->bytes || pthread_setspecific(rings->key, ring) != 0) {
            give_back(ring);
            return NULL;
        }
        ring->tid = rings_tid();
        size_t used = atomic_load(&rings->used);
        while (used < i + 1 && !atomic_compare_exchange_weak(&rings->used, &used, i + 1))
            ;
        return ring;
    }
    return NULL;
}

static void copy_in(const struct rings *rings, struct ring *ring, uint64_t at, const void *bytes,
                    size_t count) {
    size_t offset = (size_t)(at % rings->ring_bytes), first = rings->ring_bytes - offset;
    first = first < count ? first : count;
    memcpy(ring->bytes + offset, bytes, first);
    memcpy(ring->bytes, (const uint8_t *)bytes + first, count - first);
}

bool rings_put(struct rings *rings, struct record_head *record, bool *pressing) {
    struct ring *ring = pthread_getspecific(rings->key);
    size_t count = (size_t)record->len8 * 8;
    *pressing = false;
    if (!ring && !(ring = claim(rings))) {
        atomic_fetch_add(&rings->dropped, 1);
        return false;
    }
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t filled = head - atomic_load_explicit(&ring->tail, memory_order_acquire);
    *pressing = filled + count > rings->ring_bytes / 2;
    if (filled + count > rings->ring_bytes) {
        atomic_fetch_add(&rings->dropped, 1);
        return false;
    }
    record->tid = ring->tid;
    copy_in(rings, ring, head, record, count);
    atomic_store_explicit(&ring->head, head + count, memory_order_release);
    return true;
}

void rings_mark(struct rings *rings) {
    size_t used = atomic_load(&rings->used);
    for (size_t i = 0; i < used; i++)
        rings->ring[i].marked = atomic_load_explicit(&rings->ring[i].head, memory_order_acquire);
}

void rings_drain(struct rings *rings, void (*take)(void *user, const uint8_t *bytes, size_t count),
                 void *user) {
    size_t used = atomic_load(&rings->used);
    for (size_t i = 0; i < used; i++) {
        struct ring *ring = &rings->ring[i];
        uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
        while (tail < ring->marked) {
            size_t offset = (size_t)(tail % rings->ring_bytes), room = rings->ring_bytes - offset;
            uint64_t left = ring->marked - tail;
            size_t count = left < room ? (size_t)left : room;
            take(user, ring->bytes + offset, count);
            tail += count;
        }
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
    }
}

uint64_t rings_take_dropped(struct rings *rings) {
    return atomic_exchange(&rings->dropped, 0);
}

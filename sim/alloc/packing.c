/* packing.c: see packing.h. A block's conflicts are the placed blocks that live at the same time. They are found in a tree
 * over the blocks by birth, whose nodes hold the latest death among the placed ones below: whole stretches that were dead
 * before the block's birth are passed over. */
#include "packing.h"

#include <stdlib.h>

#include "checked.h"
#include "error.h"

/* At under 100 ns a pair some 20 seconds. Two steps of LLaMA-7B take under one. */
#define MOST_PAIRS UINT64_C(200000000)
enum { PAIRS_BETWEEN_LOOKS = 1000000 };

struct extent {
    uint64_t start, end;
};

struct packer {
    const struct lifetime *blocks;
    size_t count;
    uint32_t *by_birth; /* rank -> block */
    uint32_t *ranks;    /* block -> rank */
    uint64_t *births;   /* by rank */
    /* the tree: latest[1] is the root, leaves from `leaves` on; 0: none placed */
    uint64_t *latest;
    size_t leaves;     /* a power of two */
    uint32_t *order;   /* in which blocks are placed */
    uint64_t *offsets; /* by block */
    ARRAY(struct extent) conflicts;
    const struct packing_watch *watch;
    uint64_t pairs, looked_at; /* pairs so far, and when the watch was asked last */
    struct error *err;
};

/* --- orders; qsort has no argument for the blocks, so keys travel with them --- */

struct keyed {
    struct lifetime key;
    uint32_t block;
};

static int compare(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int by_birth(const void *a, const void *b) {
    const struct keyed *x = a, *y = b;
    int order = compare(x->key.birth, y->key.birth);
    return order ? order : compare(x->block, y->block);
}

static int by_size(const void *a, const void *b) {
    const struct keyed *x = a, *y = b;
    int order = compare(y->key.bytes, x->key.bytes);
    if (!order)
        order = compare(y->key.death - y->key.birth, x->key.death - x->key.birth);
    return order ? order : by_birth(a, b);
}

static bool sort_blocks(const struct packer *p, int (*order)(const void *, const void *),
                        uint32_t *out) {
    struct keyed *keyed = xcalloc(p->count, sizeof *keyed);
    if (!keyed)
        return false;
    for (size_t i = 0; i < p->count; i++)
        keyed[i] = (struct keyed){p->blocks[i], (uint32_t)i};
    qsort(keyed, p->count, sizeof *keyed, order);
    for (size_t i = 0; i < p->count; i++)
        out[i] = keyed[i].block;
    xfree(keyed);
    return true;
}

/* --- conflicts --- */

static void note_placed(struct packer *p, uint32_t block) {
    for (size_t node = p->leaves + p->ranks[block]; node > 0; node /= 2)
        if (p->latest[node] < p->blocks[block].death)
            p->latest[node] = p->blocks[block].death;
}

/* Ranks of blocks born before `time`. */
static size_t born_before(const struct packer *p, uint64_t time) {
    size_t low = 0, high = p->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->births[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add_conflict(struct packer *p, size_t rank) {
    uint32_t block = p->by_birth[rank];
    const struct extent extent = {p->offsets[block], p->offsets[block] + p->blocks[block].bytes};
    return array_push(&p->conflicts, extent);
}

/* Below `node`, whose leaves are the ranks from `first` on, `width` many. Goes as deep as the tree. */
static bool find_below(struct packer *p, size_t node, size_t first, size_t width, size_t end,
                       uint64_t birth) {
    if (first >= end || p->latest[node] <= birth)
        return true;
    if (width == 1)
        return add_conflict(p, first);
    return find_below(p, 2 * node, first, width / 2, end, birth) &&
           find_below(p, 2 * node + 1, first + width / 2, width / 2, end, birth);
}

static int by_start(const void *a, const void *b) {
    const struct extent *x = a, *y = b;
    return compare(x->start, y->start);
}

/* The lowest offset that no conflict touches. */
static bool find_offset(struct packer *p, uint32_t block, uint64_t *offset) {
    const struct lifetime *l = &p->blocks[block];
    array_clear(&p->conflicts);
    if (!find_below(p, 1, 0, p->leaves, born_before(p, l->death), l->birth))
        return false;
    if (p->conflicts.count > 0)
        qsort(p->conflicts.at, p->conflicts.count, sizeof p->conflicts.at[0], by_start);
    *offset = 0;
    for (size_t i = 0; i < p->conflicts.count; i++) {
        const struct extent *e = &p->conflicts.at[i];
        if (e->start >= *offset && e->start - *offset >= l->bytes)
            break;
        if (e->end > *offset)
            *offset = e->end;
    }
    return true;
}

static bool too_large(struct packer *p) {
    return error_set(p->err, ERROR_LIMIT, "best-packing: sizes of blocks leave 64 bits");
}

/* After the conflicts of a block. False: the work has gone on for too long, or nobody wants it. */
static bool count_work(struct packer *p) {
    p->pairs += p->conflicts.count + 1;
    if (p->pairs > (p->watch && p->watch->most_pairs ? p->watch->most_pairs : MOST_PAIRS))
        return error_set(p->err, ERROR_LIMIT,
                         "best-packing: of the %zu blocks too many live at the same time to find a "
                         "place for each; --allocator sum-of-live needs no places",
                         p->count);
    if (p->pairs - p->looked_at < PAIRS_BETWEEN_LOOKS)
        return true;
    p->looked_at = p->pairs;
    return !p->watch || !p->watch->goes_on || p->watch->goes_on(p->watch->user) ||
           error_set(p->err, ERROR_INTERRUPTED, "interrupted");
}

static bool place_all(struct packer *p, uint64_t *height) {
    *height = 0;
    memset(p->latest, 0, 2 * p->leaves * sizeof *p->latest);
    for (size_t i = 0; i < p->count; i++) {
        uint32_t block = p->order[i];
        uint64_t end;
        if (!find_offset(p, block, &p->offsets[block]))
            return error_host_memory(p->err);
        if (!count_work(p))
            return false;
        if (!checked_add(p->offsets[block], p->blocks[block].bytes, &end))
            return too_large(p);
        note_placed(p, block);
        if (end > *height)
            *height = end;
    }
    return true;
}

/* --- the whole --- */

static bool packer_init(struct packer *p, const struct lifetimes *lifetimes) {
    p->blocks = lifetimes->list.at;
    p->count = lifetimes->list.count;
    p->leaves = 1;
    while (p->leaves < p->count)
        p->leaves *= 2;
    p->by_birth = xcalloc(p->count + 1, sizeof *p->by_birth);
    p->ranks = xcalloc(p->count + 1, sizeof *p->ranks);
    p->births = xcalloc(p->count + 1, sizeof *p->births);
    p->latest = xcalloc(2 * p->leaves, sizeof *p->latest);
    p->order = xcalloc(p->count + 1, sizeof *p->order);
    p->offsets = xcalloc(p->count + 1, sizeof *p->offsets);
    if (!p->by_birth || !p->ranks || !p->births || !p->latest || !p->order || !p->offsets ||
        !sort_blocks(p, by_birth, p->by_birth))
        return error_host_memory(p->err);
    for (size_t rank = 0; rank < p->count; rank++) {
        p->ranks[p->by_birth[rank]] = (uint32_t)rank;
        p->births[rank] = p->blocks[p->by_birth[rank]].birth;
    }
    return true;
}

static void packer_fini(struct packer *p) {
    xfree(p->by_birth);
    xfree(p->ranks);
    xfree(p->births);
    xfree(p->latest);
    xfree(p->order);
    xfree(p->offsets);
    array_fini(&p->conflicts);
}

struct change {
    uint64_t time, bytes;
    bool birth;
};

static int by_time(const void *a, const void *b) {
    const struct change *x = a, *y = b;
    int order = compare(x->time, y->time);
    return order ? order : (int)x->birth - (int)y->birth; /* what dies makes room first */
}

static bool find_live_bytes(struct packer *p, uint64_t *most) {
    struct change *changes = xcalloc(2 * p->count + 1, sizeof *changes);
    uint64_t live = 0;
    bool ok = true;
    *most = 0;
    if (!changes)
        return error_host_memory(p->err);
    for (size_t i = 0; i < p->count; i++) {
        const struct lifetime *l = &p->blocks[i];
        changes[2 * i] = (struct change){l->birth, l->bytes, true};
        changes[2 * i + 1] = (struct change){l->death, l->bytes, false};
    }
    qsort(changes, 2 * p->count, sizeof *changes, by_time);
    for (size_t i = 0; ok && i < 2 * p->count; i++) {
        if (changes[i].birth)
            ok = checked_add(live, changes[i].bytes, &live);
        else
            live -= changes[i].bytes;
        if (live > *most)
            *most = live;
    }
    xfree(changes);
    return ok || too_large(p);
}

static bool pack(struct packer *p, struct packing *out) {
    static int (*const orders[])(const void *, const void *) = {by_size, by_birth};
    if (!find_live_bytes(p, &out->live_bytes))
        return false;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        uint64_t height;
        if (!sort_blocks(p, orders[i], p->order))
            return error_host_memory(p->err);
        if (!place_all(p, &height))
            return false;
        if (i > 0 && height >= out->height_bytes)
            continue;
        out->height_bytes = height;
        for (size_t k = 0; k < p->count; k++)
            out->places[k] = (struct packing_place){p->offsets[k], p->blocks[k].bytes};
        if (height == out->live_bytes)
            break; /* none can be lower */
    }
    return true;
}

bool packing_make(const struct lifetimes *lifetimes, const struct packing_watch *watch,
                  struct packing *out, struct error *err) {
    struct packer packer = {.watch = watch, .err = err};
    *out = (struct packing){.count = lifetimes->list.count};
    if (out->count == 0)
        return true;
    if (out->count > UINT32_MAX / 4) {
        *out = (struct packing){0};
        return error_set(err, ERROR_LIMIT, "best-packing: too many blocks");
    }
    out->places = xcalloc(out->count, sizeof *out->places);
    bool ok = out->places ? packer_init(&packer, lifetimes) && pack(&packer, out)
                          : error_host_memory(err);
    packer_fini(&packer);
    if (!ok)
        packing_fini(out);
    return ok;
}

void packing_fini(struct packing *packing) {
    xfree(packing->places);
    *packing = (struct packing){0};
}

void lifetimes_fini(struct lifetimes *lifetimes) {
    array_fini(&lifetimes->list);
}

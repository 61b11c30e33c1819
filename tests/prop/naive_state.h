/* naive_state.h: the lower half of naive_caching.h: blocks, their order, statistics, rounding,
 * events. */
#ifndef NAIVE_STATE_H
#define NAIVE_STATE_H

#include <assert.h>
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "caching.h"
#include "units.h"

enum { NB = 6000, NS = 3000, NE = 20000, NP = 8, NSTREAMS = 4, NLOG = 20000 };

struct nblock {
    bool there, free, mapped;
    uint64_t at, size, requested;
    int seg, events;
    bool uses[NSTREAMS], capture_uses[NSTREAMS];
    int use_order[NSTREAMS], use_count;
    uint64_t calls, made;
};

struct nseg {
    bool there;
    uint64_t at, size, number, page, stream;
    uint64_t pool; /* serial of the private pool; 0: default */
    bool small;
};

struct nevent {
    bool there;
    uint64_t stream, position;
    int block;
};

struct npool {
    uint64_t serial, id;
    int use_count;
    bool use_on_oom, no_split;
    uint64_t calls[2]; /* large, small */
};

struct nlog {
    int kind;
    uint64_t at, bytes;
};

struct naive {
    struct alloc_settings set;
    unsigned minor;
    uint64_t total, capacity, limit, next_at, next_number, next_made, next_serial;
    bool has_limit, capture;
    double fraction;
    struct nblock b[NB];
    struct nseg s[NS];
    struct nevent e[NE];
    int events, blocks, segs;
    struct npool p[NP];
    int pools;
    uint64_t default_calls[2];
    uint64_t redirects[16]; /* serials */
    int redirect_count;
    int deferred[NB], deferred_count;
    uint64_t fifo_order[NSTREAMS];
    int fifos;
    uint64_t queued[NSTREAMS], done[NSTREAMS];
    struct alloc_stats stats;
    struct nlog log[NLOG];
    int logs;
};

static void nlog(struct naive *n, int kind, uint64_t at, uint64_t bytes) {
    assert(n->logs < NLOG);
    n->log[n->logs++] = (struct nlog){kind, at, bytes};
}

static struct nseg *nseg_of(struct naive *n, int b) {
    return &n->s[n->b[b].seg];
}

/* --- statistics by counting --- */

static void ncount(struct alloc_stat *stat, uint64_t now) {
    if (now > stat->current)
        stat->allocated += now - stat->current;
    else
        stat->freed += stat->current - now;
    stat->current = now;
    if (now > stat->peak)
        stat->peak = now;
}

static void nsample(struct naive *n) {
    uint64_t v[9][3] = {{0}};
    for (int i = 0; i < n->blocks; i++) {
        struct nblock *b = &n->b[i];
        if (!b->there)
            continue;
        struct nseg *s = nseg_of(n, i);
        int c = s->small ? 1 : 2;
        bool active = !b->free, split = b->size != s->size;
        uint64_t add[9] = {0};
        add[0] = active && b->calls == 1;
        add[1] = add[0] ? b->size : 0;
        add[2] = active;
        add[3] = active ? b->size : 0;
        add[4] = active ? b->requested : 0;
        add[6] = b->mapped ? b->size : 0;
        add[7] = b->free && !s->page && split;
        add[8] = add[7] ? b->size : 0;
        for (int k = 0; k < 9; k++) {
            v[k][0] += add[k];
            v[k][c] += add[k];
        }
    }
    for (int i = 0; i < n->segs; i++)
        if (n->s[i].there && !n->s[i].page) {
            v[5][0]++;
            v[5][n->s[i].small ? 1 : 2]++;
        }
    struct alloc_stats *st = &n->stats;
    struct alloc_stat *const to[9] = {
        st->allocation,     st->allocated_bytes, st->active,
        st->active_bytes,   st->requested_bytes, st->segment,
        st->reserved_bytes, st->inactive_split,  st->inactive_split_bytes};
    for (int k = 0; k < 9; k++)
        for (int c = 0; c < 3; c++)
            ncount(&to[k][c], v[k][c]);
}

static uint64_t nused(struct naive *n) {
    return n->stats.reserved_bytes[0].current;
}

/* --- blocks --- */

static int nnew_block(struct naive *n) {
    int i = 0;
    while (i < n->blocks && n->b[i].there)
        i++;
    if (i == n->blocks)
        n->blocks++;
    assert(n->blocks < NB);
    memset(&n->b[i], 0, sizeof n->b[i]);
    n->b[i].there = true;
    n->b[i].made = n->next_made++;
    return i;
}

/* side 1: the block that starts where b ends; -1: the one that ends where b starts. -1: none. */
static int nneighbour(struct naive *n, int b, int side) {
    for (int i = 0; i < n->blocks; i++)
        if (n->b[i].there && i != b && n->b[i].seg == n->b[b].seg &&
            (side > 0 ? n->b[i].at == n->b[b].at + n->b[b].size
                      : n->b[i].at + n->b[i].size == n->b[b].at))
            return i;
    return -1;
}

static bool nunsplit(struct naive *n, int b) {
    return n->b[b].size == nseg_of(n, b)->size;
}

static int ncut(struct naive *n, int b, uint64_t bytes) {
    int high = nnew_block(n);
    uint64_t made = n->b[high].made;
    n->b[high] = n->b[b];
    n->b[high].made = made;
    n->b[high].at += bytes;
    n->b[high].size -= bytes;
    n->b[b].size = bytes;
    return high;
}

/* Likewise, but the low part is the new one. */
static int ncut_low(struct naive *n, int b, uint64_t bytes) {
    int high = ncut(n, b, bytes);
    uint64_t made = n->b[high].made;
    n->b[high].made = n->b[b].made;
    n->b[b].made = made;
    return high;
}

/* Joins b with free neighbours of the same mapping; the low part's slot is returned. */
static int nmerge(struct naive *n, int b) {
    for (int side = 1; side >= -1; side -= 2) {
        int o = nneighbour(n, b, side);
        if (o < 0 || !n->b[o].free || n->b[o].mapped != n->b[b].mapped)
            continue;
        if (n->b[o].at < n->b[b].at)
            n->b[b].at = n->b[o].at;
        n->b[b].size += n->b[o].size;
        n->b[o].there = false;
    }
    return b;
}

/* --- pools and order --- */

struct nkey {
    uint64_t stream, size, age, at;
};

static struct npool *npool_of(struct naive *n, uint64_t serial) {
    for (int i = 0; i < n->pools; i++)
        if (n->p[i].serial == serial)
            return &n->p[i];
    return NULL;
}

static uint64_t *ncalls(struct naive *n, uint64_t pool, bool small) {
    return pool ? &npool_of(n, pool)->calls[small] : &n->default_calls[small];
}

static struct nkey nkey_of(struct naive *n, int b) {
    struct nseg *s = nseg_of(n, b);
    uint64_t age = n->minor >= 13 ? s->number : n->minor == 12 ? n->b[b].made : 0;
    return (struct nkey){s->stream, n->b[b].size, age, n->b[b].at};
}

static int nkey_compare(struct nkey a, struct nkey b) {
    if (a.stream != b.stream)
        return a.stream < b.stream ? -1 : 1;
    if (a.size != b.size)
        return a.size < b.size ? -1 : 1;
    if (a.age != b.age)
        return a.age < b.age ? -1 : 1;
    return a.at < b.at ? -1 : a.at > b.at;
}

static bool nin_set(struct naive *n, int b, uint64_t pool, bool small) {
    return n->b[b].there && n->b[b].free && n->b[b].mapped && nseg_of(n, b)->pool == pool &&
           nseg_of(n, b)->small == small;
}

/* First free block of the pool that is not before `key` (strictly after it, with `after`). */
static int nfrom(struct naive *n, uint64_t pool, bool small, struct nkey key, bool after) {
    int best = -1;
    for (int i = 0; i < n->blocks; i++) {
        if (!nin_set(n, i, pool, small) || nkey_compare(nkey_of(n, i), key) < (after ? 1 : 0))
            continue;
        if (best < 0 || nkey_compare(nkey_of(n, i), nkey_of(n, best)) < 0)
            best = i;
    }
    return best;
}

static int nlast_before(struct naive *n, uint64_t pool, bool small, struct nkey key) {
    int best = -1;
    for (int i = 0; i < n->blocks; i++) {
        if (!nin_set(n, i, pool, small) || nkey_compare(nkey_of(n, i), key) >= 0)
            continue;
        if (best < 0 || nkey_compare(nkey_of(n, i), nkey_of(n, best)) > 0)
            best = i;
    }
    return best;
}

static void ninto_set(struct naive *n, int b) {
    struct nseg *s = nseg_of(n, b);
    n->b[b].free = true;
    n->b[b].calls = *ncalls(n, s->pool, s->small);
}

/* --- rounding --- */

static uint64_t nround(struct naive *n, uint64_t bytes) {
    if (bytes < 512)
        return 512;
    int slot = (int)floor(log2((double)bytes)) - 20;
    uint64_t d = n->set.divisions[slot < 0 ? 0 : slot > 15 ? 15 : slot], p = 1;
    if (d > 1 && bytes > 512 * d) {
        while (p * 2 <= bytes)
            p *= 2;
        return p == bytes ? bytes : (bytes + p / d - 1) / (p / d) * (p / d);
    }
    return (bytes + 511) / 512 * 512;
}

/* --- events --- */

static bool nsuspended(struct naive *n) {
    return n->capture || (n->minor < 13 && n->redirect_count > 0);
}

static void ncomplete(struct naive *n, int b) {
    nlog(n, ALLOC_ENTRY_FREE_COMPLETED, n->b[b].at, n->b[b].requested);
    n->b[b].free = true;
    b = nmerge(n, b);
    ninto_set(n, b);
    nsample(n);
}

static void nrecord_events(struct naive *n, int b) {
    for (int k = 0; k < n->b[b].use_count; k++) {
        int q = n->b[b].use_order[k];
        if (!n->b[b].uses[q])
            continue;
        assert(n->events < NE);
        n->e[n->events++] = (struct nevent){true, (uint64_t)q, n->queued[q], b};
        n->b[b].events++;
        n->b[b].uses[q] = false;
    }
    n->b[b].use_count = 0;
}

static void nhandle_deferred(struct naive *n) {
    int count = n->deferred_count;
    n->deferred_count = 0;
    for (int i = 0; i < count; i++) {
        int b = n->deferred[i];
        for (int q = 0; q < NSTREAMS; q++)
            if (n->b[b].capture_uses[q])
                n->b[b].uses[q] = false;
        nrecord_events(n, b);
        if (n->b[b].events == 0)
            ncomplete(n, b);
    }
}

/* wait: blocks for each; only >= 0: events of blocks of that pool alone. */
static void nsweep(struct naive *n, bool wait, bool only, uint64_t pool) {
    for (int f = 0; f < n->fifos; f++) {
        uint64_t q = n->fifo_order[f];
        for (int i = 0; i < n->events; i++) {
            struct nevent *e = &n->e[i];
            if (!e->there || e->stream != q || (only && nseg_of(n, e->block)->pool != pool))
                continue;
            if (wait && n->done[q] < e->position)
                n->done[q] = e->position;
            if (n->done[q] < e->position)
                break;
            e->there = false;
            if (--n->b[e->block].events == 0)
                ncomplete(n, e->block);
        }
    }
    while (n->events > 0 && !n->e[n->events - 1].there)
        n->events--;
}

static void nprocess_events(struct naive *n) {
    nhandle_deferred(n);
    nsweep(n, false, false, 0);
}

static void nwait_all(struct naive *n, bool only, uint64_t pool) {
    n->stats.num_sync_all_streams++;
    nhandle_deferred(n);
    nsweep(n, true, only, pool);
}

#endif

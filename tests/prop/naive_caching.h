/* naive_caching.h: PyTorch's caching allocator once more, as slowly and plainly as the rules read:
 * one flat list of blocks that every question scans, statistics by counting everything anew after
 * each step. It shares no code with sim/alloc but the settings' parser, and is what random
 * operations are compared with. */
#ifndef NAIVE_CACHING_H
#define NAIVE_CACHING_H

#include "naive_state.h"

/* --- segments --- */

static uint64_t nplan(struct naive *n, uint64_t bytes) {
    uint64_t at = n->next_at;
    n->next_at += (bytes + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    return at;
}

static int nnew_seg(struct naive *n, struct nseg seg) {
    int i = 0;
    while (i < n->segs && n->s[i].there)
        i++;
    if (i == n->segs)
        n->segs++;
    assert(n->segs < NS);
    seg.there = true;
    seg.number = n->next_number++;
    n->s[i] = seg;
    int b = nnew_block(n);
    n->b[b].at = seg.at;
    n->b[b].size = seg.size;
    n->b[b].seg = i;
    n->b[b].free = true;
    n->b[b].mapped = !seg.page;
    return b;
}

static void ncuda_free(struct naive *n, int b) {
    struct nseg *s = nseg_of(n, b);
    nlog(n, ALLOC_ENTRY_SEGMENT_FREE, s->at, s->size);
    n->stats.num_device_free++;
    if (s->size >= n->set.max_split_bytes && n->stats.oversize_segments.current > 0)
        ncount(&n->stats.oversize_segments, n->stats.oversize_segments.current - 1);
    s->there = false;
    n->b[b].there = false;
    nsample(n);
}

static bool nwhole(struct naive *n, int b) {
    return nunsplit(n, b) && !nseg_of(n, b)->page;
}

struct nreq {
    uint64_t n, s, z, stream, pool;
    bool small, expandable, rejected;
};

static bool nmap(struct naive *n, int b, uint64_t bytes) {
    struct nseg *s = nseg_of(n, b);
    uint64_t x = (bytes + s->page - 1) / s->page * s->page;
    if (nused(n) + x > n->capacity)
        return false;
    if (x < n->b[b].size)
        ncut(n, b, x);
    n->b[b].mapped = true;
    nlog(n, ALLOC_ENTRY_SEGMENT_MAP, n->b[b].at, x);
    n->stats.num_device_alloc++;
    ninto_set(n, nmerge(n, b));
    nsample(n);
    return true;
}

static int nidle_at(struct naive *n, int seg, uint64_t at) {
    for (int i = 0; i < n->blocks; i++)
        if (n->b[i].there && n->b[i].seg == seg && n->b[i].at <= at &&
            at < n->b[i].at + n->b[i].size)
            return n->b[i].free ? i : -1;
    return -1;
}

static int ngrow(struct naive *n, struct nreq *r) {
    int c = -1;
    uint64_t above = 0;
    while (c < 0) {
        int u = -1;
        for (int i = 0; i < n->blocks; i++) {
            struct nseg *s = nseg_of(n, i);
            if (n->b[i].there && !n->b[i].mapped && s->pool == r->pool && s->small == r->small &&
                s->stream == r->stream && n->b[i].at >= above && (u < 0 || n->b[i].at < n->b[u].at))
                u = i;
        }
        if (u < 0)
            break;
        above = n->b[u].at + 1;
        int from = nneighbour(n, u, -1);
        if (from < 0 || !n->b[from].free)
            from = u;
        uint64_t sum = 0;
        for (int i = from; i >= 0 && n->b[i].free && sum < r->s; i = nneighbour(n, i, 1))
            sum += n->b[i].size;
        if (sum >= r->s)
            c = from;
    }
    if (c < 0) {
        uint64_t page = r->small ? 2 * MIB : n->set.large_segment_bytes;
        uint64_t size = (n->total + n->total / 8 + page - 1) / page * page;
        uint64_t at = nplan(n, size);
        if (n->minor >= 14 && size < r->s)
            return -1;
        struct nseg seg = {.at = at,
                           .size = size,
                           .page = page,
                           .stream = r->stream,
                           .pool = r->pool,
                           .small = r->small};
        c = nnew_seg(n, seg);
    }
    int seg = n->b[c].seg;
    uint64_t at = n->b[c].at;
    if (!n->b[c].mapped && !nmap(n, c, n->b[c].size < r->s ? n->b[c].size : r->s))
        return -1;
    for (;;) {
        c = nidle_at(n, seg, at);
        if (n->b[c].size >= r->s)
            break;
        int next = nneighbour(n, c, 1);
        if (next < 0)
            return -1;
        uint64_t missing = r->s - n->b[c].size;
        if (!nmap(n, next, missing < n->b[next].size ? missing : n->b[next].size))
            return -1;
    }
    return c;
}

static int nnew_segment(struct naive *n, struct nreq *r) {
    if (n->has_limit && nused(n) + r->z > n->limit)
        return -1;
    if (n->set.throw_on_cudamalloc_oom &&
        nused(n) + r->z > (uint64_t)(n->fraction * (double)n->total)) {
        n->stats.num_oom_rejections++;
        r->rejected = true;
        return -1;
    }
    if (r->expandable)
        return ngrow(n, r);
    if (nused(n) + r->z > n->capacity)
        return -1;
    struct nseg seg = {.at = nplan(n, r->z),
                       .size = r->z,
                       .stream = r->stream,
                       .pool = r->pool,
                       .small = r->small};
    int b = nnew_seg(n, seg);
    nlog(n, ALLOC_ENTRY_SEGMENT_ALLOC, seg.at, seg.size);
    n->stats.num_device_alloc++;
    if (r->z >= n->set.max_split_bytes)
        ncount(&n->stats.oversize_segments, n->stats.oversize_segments.current + 1);
    nsample(n);
    return b;
}

/* --- giving back --- */

static void nunmap(struct naive *n, int b) {
    struct nseg *s = nseg_of(n, b);
    uint64_t from = n->b[b].at, to = from + n->b[b].size;
    uint64_t lo = s->at + (from - s->at + s->page - 1) / s->page * s->page;
    uint64_t hi = s->at + (to - s->at) / s->page * s->page;
    if (lo >= hi)
        return;
    n->done[s->stream] = n->queued[s->stream];
    nlog(n, ALLOC_ENTRY_SEGMENT_UNMAP, lo, hi - lo);
    n->stats.num_device_free++;
    int middle = b;
    if (lo > from) {
        middle = ncut_low(n, b, lo - from);
        ninto_set(n, b);
    }
    if (hi < to)
        ninto_set(n, ncut(n, middle, hi - lo));
    n->b[middle].mapped = false;
    middle = nmerge(n, middle);
    if (nunsplit(n, middle))
        s->there = n->b[middle].there = false;
    nsample(n);
}

static const struct nkey NFIRST = {0, 0, 0, 0};

static void nrelease_free(struct naive *n, uint64_t pool, bool small) {
    int list[NB], count = 0;
    for (int b = nfrom(n, pool, small, NFIRST, false); b >= 0;
         b = nfrom(n, pool, small, nkey_of(n, b), true))
        list[count++] = b;
    int reserved = 0; /* those of reservations wait until the plain ones are gone */
    for (int i = 0; i < count; i++)
        if (nseg_of(n, list[i])->page)
            list[reserved++] = list[i];
        else if (nwhole(n, list[i]))
            ncuda_free(n, list[i]);
    for (int i = 0; i < reserved; i++)
        nunmap(n, list[i]);
}

static void nrelease_private(struct naive *n, bool only, uint64_t serial) {
    for (int i = 0; i < n->pools; i++) {
        struct npool *p = &n->p[i];
        bool used = p->use_count > 0;
        if (used || (only && p->serial != serial))
            continue;
        nrelease_free(n, p->serial, true);
        nrelease_free(n, p->serial, false);
        for (int k = 0; k < n->segs; k++)
            used |= n->s[k].there && n->s[k].pool == p->serial;
        for (int k = 0; k < n->redirect_count; k++)
            used |= n->redirects[k] == p->serial;
        if (used)
            continue;
        n->pools--;
        memmove(p, p + 1, (size_t)(n->pools - i) * sizeof *p);
        i--;
    }
}

static void nrelease_all(struct naive *n) {
    if (!nsuspended(n)) {
        nwait_all(n, false, 0);
        nrelease_free(n, 0, false);
        nrelease_free(n, 0, true);
    }
    nrelease_private(n, false, 0);
}

static bool nrelease_available(struct naive *n, struct nreq *r) {
    if (n->set.max_split_bytes == UINT64_MAX)
        return false;
    uint64_t want = r->s > n->set.max_split_bytes ? r->s : n->set.max_split_bytes, freed = 0;
    struct nkey key = {r->stream, want, 0, 0};
    int b = nfrom(n, r->pool, r->small, key, false);
    if (b >= 0 && nseg_of(n, b)->stream == r->stream && nwhole(n, b)) {
        ncuda_free(n, b);
        return true;
    }
    for (b = nlast_before(n, r->pool, r->small, key); b >= 0;
         b = nlast_before(n, r->pool, r->small, key)) {
        key = nkey_of(n, b);
        if (key.stream != r->stream || key.size < n->set.max_split_bytes || freed >= want)
            break;
        if (!nwhole(n, b))
            continue;
        freed += n->b[b].size;
        ncuda_free(n, b);
    }
    return freed >= want;
}

static void ncollect(struct naive *n) {
    uint64_t thr = (uint64_t)(n->set.garbage_collection_threshold * (double)n->limit), freed = 0;
    if (nused(n) <= thr)
        return;
    uint64_t target = nused(n) - thr;
    double total_age = 0, count = 0;
    for (int b = nfrom(n, 0, false, NFIRST, false); b >= 0;
         b = nfrom(n, 0, false, nkey_of(n, b), true))
        if (nunsplit(n, b)) {
            total_age += (double)(n->default_calls[0] - n->b[b].calls);
            count++;
        }
    bool more = true;
    while (freed < target && more && count > 0) {
        double limit = total_age / count;
        more = false;
        struct nkey key = NFIRST;
        for (int b = nfrom(n, 0, false, key, false); b >= 0; b = nfrom(n, 0, false, key, true)) {
            key = nkey_of(n, b);
            double age = (double)(n->default_calls[0] - n->b[b].calls);
            if (!nwhole(n, b) || age < limit)
                continue;
            freed += n->b[b].size;
            total_age -= age;
            count--;
            more = true;
            ncuda_free(n, b);
        }
    }
}

/* --- take and free --- */

static uint64_t neff(struct naive *n, int b) {
    int next = nneighbour(n, b, 1);
    return n->b[b].size + (next >= 0 && !n->b[next].mapped ? n->b[next].size : 0);
}

static int nfind_free(struct naive *n, struct nreq *r, uint64_t pool) {
    if (n->has_limit && n->set.garbage_collection_threshold > 0)
        ++*ncalls(n, pool, r->small);
    struct nkey key = {r->stream, r->s, 0, 0};
    int b = nfrom(n, pool, r->small, key, false);
    if (b < 0 || nseg_of(n, b)->stream != r->stream)
        return -1;
    if (nseg_of(n, b)->page && n->set.expandable_segments) {
        while (nseg_of(n, b)->page) {
            int c = nfrom(n, pool, r->small, nkey_of(n, b), true);
            if (c < 0 || nseg_of(n, c)->stream != r->stream || neff(n, c) >= neff(n, b))
                break;
            b = c;
        }
    } else {
        while (b >= 0 && nseg_of(n, b)->page)
            b = nfrom(n, pool, r->small, nkey_of(n, b), true);
        if (b < 0 || nseg_of(n, b)->stream != r->stream)
            return -1;
    }
    if (r->s < n->set.max_split_bytes && n->b[b].size >= n->set.max_split_bytes)
        return -1;
    if (r->s >= n->set.max_split_bytes &&
        n->b[b].size >= r->s + n->set.max_non_split_rounding_bytes)
        return -1;
    return b;
}

static int nborrow(struct naive *n, struct nreq *r) {
    for (int i = 0; i < n->pools; i++) {
        if (!n->p[i].use_on_oom)
            continue;
        int b = nfind_free(n, r, n->p[i].serial);
        if (b < 0)
            continue;
        r->pool = n->p[i].serial;
        r->expandable = false;
        return b;
    }
    return -1;
}

static int nfind_memory(struct naive *n, struct nreq *r) {
    bool redirected = r->pool != 0;
    if (n->has_limit && n->set.garbage_collection_threshold > 0)
        ncollect(n);
    int b = nnew_segment(n, r);
    if (b < 0 && !r->rejected && !redirected)
        b = nborrow(n, r);
    if (b < 0 && !r->rejected && nrelease_available(n, r))
        b = nnew_segment(n, r);
    if (b < 0 && !r->rejected && !nsuspended(n)) {
        nrelease_all(n);
        n->stats.num_alloc_retries++;
        b = nnew_segment(n, r);
    }
    return b;
}

static bool nsplits(struct naive *n, struct nreq *r, uint64_t rest) {
    if (r->pool && npool_of(n, r->pool)->no_split)
        return false;
    if (r->small || r->expandable)
        return rest >= 512;
    return r->s < n->set.max_split_bytes && rest > MIB;
}

/* `calls` of a live block is 1: allocated. Of a pending one 0. */
static enum alloc_result ntake(struct naive *n, uint64_t bytes, uint64_t stream, uint64_t *at) {
    if (!nsuspended(n))
        nprocess_events(n);
    struct nreq r = {.n = bytes, .s = nround(n, bytes), .stream = stream};
    r.small = r.s <= MIB;
    r.z = r.small          ? 2 * MIB
          : r.s < 10 * MIB ? n->set.large_segment_bytes
                           : (r.s + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    if (n->redirect_count > 0)
        r.pool = n->redirects[n->minor >= 10 ? n->redirect_count - 1 : 0];
    r.expandable = n->set.expandable_segments;
    int b = nfind_free(n, &r, r.pool);
    if (b < 0)
        b = nfind_memory(n, &r);
    if (b < 0) {
        if (!r.rejected) {
            n->stats.num_ooms++;
            nlog(n, ALLOC_ENTRY_OOM, n->capacity - nused(n), r.s);
        }
        return ALLOC_OOM;
    }
    if (nsplits(n, &r, n->b[b].size - r.s) && n->b[b].size > r.s)
        ninto_set(n, ncut_low(n, b, r.s));
    struct nblock *block = &n->b[b];
    block->free = false;
    block->calls = 1;
    block->requested = bytes;
    block->events = block->use_count = 0;
    memset(block->uses, 0, sizeof block->uses);
    memset(block->capture_uses, 0, sizeof block->capture_uses);
    nlog(n, ALLOC_ENTRY_ALLOC, block->at, bytes);
    if (block->size >= n->set.max_split_bytes)
        ncount(&n->stats.oversize_allocations, n->stats.oversize_allocations.current + 1);
    nsample(n);
    *at = block->at;
    return ALLOC_OK;
}

static int nlive(struct naive *n, uint64_t at) {
    for (int i = 0; i < n->blocks; i++)
        if (n->b[i].there && !n->b[i].free && n->b[i].calls == 1 && n->b[i].at == at)
            return i;
    return -1;
}

static void nfree(struct naive *n, uint64_t at) {
    int b = nlive(n, at);
    assert(b >= 0);
    nlog(n, ALLOC_ENTRY_FREE_REQUESTED, at, n->b[b].requested);
    n->b[b].calls = 0;
    if (n->b[b].size >= n->set.max_split_bytes && n->stats.oversize_allocations.current > 0)
        ncount(&n->stats.oversize_allocations, n->stats.oversize_allocations.current - 1);
    nsample(n);
    if (n->b[b].use_count == 0)
        ncomplete(n, b);
    else if (nsuspended(n))
        n->deferred[n->deferred_count++] = b;
    else
        nrecord_events(n, b);
}

static inline void nrecord_stream(struct naive *n, uint64_t at, uint64_t stream) {
    struct nblock *b = &n->b[nlive(n, at)];
    if (nseg_of(n, nlive(n, at))->stream == stream)
        return;
    int f = 0;
    while (f < n->fifos && n->fifo_order[f] != stream)
        f++;
    if (f == n->fifos)
        n->fifo_order[n->fifos++] = stream;
    if (!b->uses[stream])
        b->use_order[b->use_count++] = (int)stream;
    b->uses[stream] = true;
    b->capture_uses[stream] |= nsuspended(n);
}

/* --- pools --- */

static struct npool *nuse_pool(struct naive *n, uint64_t id) {
    int i = 0;
    while (i < n->pools && n->p[i].id != id)
        i++;
    if (i == n->pools)
        n->p[n->pools++] = (struct npool){.serial = ++n->next_serial, .id = id};
    n->p[i].use_count++;
    return &n->p[i];
}

static inline void npool_begin(struct naive *n, uint64_t id) {
    n->redirects[n->redirect_count++] = nuse_pool(n, id)->serial;
}

#endif

/* caching_pools.c: private pools, redirection of requests to them, captures. */
#include <assert.h>

#include "caching_core.h"
#include "framework.h"

static const struct caching_pool_options no_options = {0};

static struct private_pool *find_pool(const struct caching *al, struct caching_pool_id id) {
    for (size_t i = 0; i < al->private_pools.count; i++) {
        struct private_pool *pool = al->private_pools.at[i];
        if (pool->id.v[0] == id.v[0] && pool->id.v[1] == id.v[1])
            return pool;
    }
    return NULL;
}

static struct private_pool *add_pool(struct caching *al, struct caching_pool_id id) {
    /* every pool may still need its figures */
    if (!array_reserve(&al->pool_reserved, al->pool_reserved.count + al->private_pools.count + 1))
        return NULL;
    struct private_pool *pool = xcalloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    *pool = (struct private_pool){
        .id = id, .small = {.owner = pool, .small = true}, .large = {.owner = pool}};
    if (!array_push(&al->private_pools, pool)) { /* NOLINT(bugprone-sizeof-expression): pointers */
        xfree(pool);
        return NULL;
    }
    return pool;
}

void private_pool_destroy(struct caching *al, struct private_pool *pool) {
    pool_fini(al, &pool->small);
    pool_fini(al, &pool->large);
    xfree(pool);
}

static struct private_pool *use_pool(struct caching *al, struct caching_pool_id id) {
    assert(id.v[0] || id.v[1]);
    struct private_pool *pool = find_pool(al, id);
    if (!pool)
        pool = add_pool(al, id);
    if (pool)
        pool->use_count++;
    return pool;
}

enum alloc_result caching_pool_create(struct alloc *alloc, struct caching_pool_id id,
                                      struct caching_pool_options options) {
    struct private_pool *pool = use_pool(caching_of(alloc), id);
    if (!pool)
        return ALLOC_HOST_MEMORY;
    pool->options.use_on_oom |= options.use_on_oom;
    pool->options.no_split |= options.no_split;
    return ALLOC_OK;
}

enum alloc_result caching_pool_begin(struct alloc *alloc, struct caching_pool_id id,
                                     struct caching_filter filter) {
    struct caching *al = caching_of(alloc);
    if (!array_reserve(&al->redirects, al->redirects.count + 1) ||
        caching_pool_create(alloc, id, no_options) != ALLOC_OK)
        return ALLOC_HOST_MEMORY;
    struct redirect redirect = {.pool = find_pool(al, id), .filter = filter};
    al->redirects.at[al->redirects.count++] = redirect;
    return ALLOC_OK;
}

void caching_pool_end(struct alloc *alloc, struct caching_pool_id id) {
    struct caching *al = caching_of(alloc);
    const struct private_pool *pool = find_pool(al, id);
    size_t at = al->redirects.count;
    while (at > 0 && al->redirects.at[at - 1].pool != pool)
        at--;
    if (at == 0)
        return;
    for (; at < al->redirects.count; at++)
        al->redirects.at[at - 1] = al->redirects.at[at];
    al->redirects.count--;
}

void caching_pool_release(struct alloc *alloc, struct caching_pool_id id) {
    struct private_pool *pool = find_pool(caching_of(alloc), id);
    if (pool && pool->use_count > 0)
        pool->use_count--;
}

enum alloc_result caching_empty_cache_pool(struct alloc *alloc, struct caching_pool_id id) {
    struct caching *al = caching_of(alloc);
    struct private_pool *pool = find_pool(al, id);
    return !pool || caching_release_pool(al, pool) ? ALLOC_OK : ALLOC_HOST_MEMORY;
}

void caching_set_capture(struct alloc *alloc, bool under_way) {
    caching_of(alloc)->capture = under_way;
}

struct caching_pool_reserved *pool_reserved_find(const struct caching *al,
                                                 struct caching_pool_id id) {
    for (size_t i = 0; i < al->pool_reserved.count; i++) {
        struct caching_pool_reserved *r = &al->pool_reserved.at[i];
        if (r->id.v[0] == id.v[0] && r->id.v[1] == id.v[1])
            return r;
    }
    return NULL;
}

const struct caching_pool_reserved *caching_pool_reserved_row(const struct alloc *alloc,
                                                              uint32_t index) {
    const struct caching *al = (const struct caching *)(const void *)alloc;
    return index < al->pool_reserved.count ? &al->pool_reserved.at[index] : NULL;
}

bool caching_pool_row(const struct alloc *alloc, uint32_t index, struct caching_pool_info *info) {
    const struct caching *al = (const struct caching *)(const void *)alloc;
    if (index >= al->private_pools.count)
        return false;
    const struct private_pool *pool = al->private_pools.at[index];
    const struct caching_pool_reserved *r = pool_reserved_find(al, pool->id);
    *info =
        (struct caching_pool_info){.id = pool->id,
                                   .use_count = pool->use_count,
                                   .reserved_bytes = r ? r->reserved_bytes[0].current : 0,
                                   .free_bytes = pool->small.free_bytes + pool->large.free_bytes};
    return true;
}

bool caching_is_suspended(const struct caching *al) {
    return al->capture || (al->framework->redirect_suspends && al->redirects.count > 0);
}

static bool catches(const struct redirect *redirect, uint64_t stream) {
    return redirect->filter.all_streams || redirect->filter.stream == stream;
}

struct private_pool *caching_redirected(const struct caching *al, uint64_t stream) {
    size_t count = al->redirects.count;
    for (size_t i = 0; i < count; i++) {
        const struct redirect *redirect =
            &al->redirects.at[al->framework->inner_redirect_wins ? count - 1 - i : i];
        if (catches(redirect, stream))
            return redirect->pool;
    }
    return NULL;
}

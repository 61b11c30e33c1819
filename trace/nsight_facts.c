/* nsight_facts.c: see nsight.h. Figures by kind of memory, over all devices and processes. */
#include <stdio.h>

#include "facts.h"
#include "nsight.h"

struct sums {
    uint64_t allocs, frees, allocated, freed, peak;
};

static bool put(struct trace_facts *f, const char *sub, const char *name,
                enum trace_figure_kind kind, uint64_t value) {
    return trace_figure_add(f, "kinds", sub, name, kind, value);
}

static void add(struct sums *s, const struct nsight_event *e) {
    if (e->what == NSIGHT_ALLOC) {
        s->allocs++;
        s->allocated += e->bytes;
    } else if (e->what == NSIGHT_FREE) {
        s->frees++;
        s->freed += e->bytes;
    }
    uint64_t live = s->allocated > s->freed ? s->allocated - s->freed : 0;
    s->peak = live > s->peak ? live : s->peak;
}

static bool put_kinds(const struct nsight *n, struct trace_facts *f) {
    static const char *const names[] = {
#define X(id, name) name,
        NSIGHT_KINDS(X)
#undef X
    };
    struct sums sums[NSIGHT_KIND_COUNT] = {{0}};
    for (size_t i = 0; i < n->events.count; i++)
        add(&sums[n->events.at[i].kind], &n->events.at[i]);
    for (unsigned i = 0; i < NSIGHT_KIND_COUNT; i++) {
        const struct sums *s = &sums[i];
        if (s->allocs + s->frees == 0)
            continue;
        if (!put(f, names[i], "allocations", TRACE_FIGURE_COUNT, s->allocs) ||
            !put(f, names[i], "deallocations", TRACE_FIGURE_COUNT, s->frees) ||
            !put(f, names[i], "bytes_allocated", TRACE_FIGURE_BYTES, s->allocated) ||
            !put(f, names[i], "bytes_freed", TRACE_FIGURE_BYTES, s->freed) ||
            !put(f, names[i], "peak_of_the_difference", TRACE_FIGURE_BYTES, s->peak))
            return false;
    }
    return true;
}

static bool put_cards(const struct nsight *n, struct trace_facts *f) {
    for (size_t i = 0; i < n->cards.count; i++) {
        char sub[24];
        snprintf(sub, sizeof sub, "%llu", (unsigned long long)n->cards.at[i].id);
        if (!trace_figure_text(f, "cards", sub, "name",
                               strtab_text(&n->names, n->cards.at[i].name)) ||
            !trace_figure_add(f, "cards", sub, "total_bytes", TRACE_FIGURE_BYTES,
                              n->cards.at[i].total_bytes))
            return false;
    }
    return true;
}

static bool put_text(const struct nsight *n, struct trace_facts *f, const char *name,
                     uint32_t text) {
    return text == 0 || trace_figure_text(f, NULL, NULL, name, strtab_text(&n->names, text));
}

bool nsight_facts(const struct nsight *n, struct trace_facts *f) {
    uint64_t usage = 0, pooled = 0;
    for (size_t i = 0; i < n->events.count; i++) {
        usage += n->events.at[i].what != NSIGHT_POOL_SIZE;
        pooled += n->events.at[i].what != NSIGHT_POOL_SIZE && n->events.at[i].has_pool;
    }
    f->kind = "nsight";
    const enum trace_figure_kind count = TRACE_FIGURE_COUNT;
    return put_text(n, f, "schema", n->schema) && put_text(n, f, "product", n->product) &&
           trace_figure_add(f, NULL, NULL, "memory_recorded", TRACE_FIGURE_BOOL,
                            n->has_memory_table) &&
           trace_figure_add(f, NULL, NULL, "memory_events", count, usage) &&
           trace_figure_add(f, NULL, NULL, "memory_events_in_pools", count, pooled) &&
           trace_figure_add(f, NULL, NULL, "skipped", count, n->skipped) &&
           trace_figure_add(f, NULL, NULL, "kernels", count, n->kernels) &&
           trace_figure_add(f, NULL, NULL, "ranges", count, n->ranges.count) && put_cards(n, f) &&
           put_kinds(n, f);
}

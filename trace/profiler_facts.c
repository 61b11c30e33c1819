/* profiler_facts.c: see profiler.h. Each device is named by its type and ordinal, as the file does:
 * "1:0" is the first CUDA device, "0:-1" the host. Sums and totals are in the order of time. */
#include <stdio.h>
#include <string.h>

#include "profiler.h"

struct sums {
    int32_t type, device;
    uint64_t events, allocs, frees, allocated, freed, ooms;
    int64_t sum, peak_sum;
    uint64_t baseline, last_total, peak_total, least_reserved, most_reserved;
    uint64_t consistent, inconsistent;
    bool has_totals;
};

struct sums_list {
    ARRAY(struct sums) list;
};

static struct sums *find(struct sums_list *all, const struct profiler_memory *m) {
    for (size_t i = 0; i < all->list.count; i++)
        if (all->list.at[i].type == m->type && all->list.at[i].device == m->device)
            return &all->list.at[i];
    enum { MOST_DEVICES = 1024 };
    struct sums fresh = {.type = m->type, .device = m->device, .has_totals = true};
    if (all->list.count >= MOST_DEVICES)
        return array_last(&all->list); /* no real file has so many; what is shown stays small */
    return array_push(&all->list, fresh) ? array_last(&all->list) : NULL;
}

static void add_totals(struct sums *s, const struct profiler_memory *m) {
    if (!(m->has & PROFILER_ALLOCATED) || !(m->has & PROFILER_RESERVED)) {
        s->has_totals = false;
        return;
    }
    uint64_t before = m->allocated - (uint64_t)m->bytes;
    if (s->events == 1) {
        s->baseline = before;
        s->least_reserved = m->reserved;
    } else {
        s->consistent += before == s->last_total;
        s->inconsistent += before != s->last_total;
    }
    s->last_total = m->allocated;
    s->peak_total = m->allocated > s->peak_total ? m->allocated : s->peak_total;
    s->most_reserved = m->reserved > s->most_reserved ? m->reserved : s->most_reserved;
    s->least_reserved = m->reserved < s->least_reserved ? m->reserved : s->least_reserved;
}

static void add(struct sums *s, const struct profiler_memory *m) {
    if (m->is_oom) {
        s->ooms++;
        return;
    }
    s->events++;
    bool is_alloc = m->bytes >= 0;
    s->allocs += is_alloc;
    s->frees += !is_alloc;
    s->allocated += is_alloc ? (uint64_t)m->bytes : 0;
    s->freed += is_alloc ? 0 : 0 - (uint64_t)m->bytes;
    s->sum = (int64_t)((uint64_t)s->sum + (uint64_t)m->bytes); /* absurd sizes may wrap it */
    s->peak_sum = s->sum > s->peak_sum ? s->sum : s->peak_sum;
    add_totals(s, m);
}

static bool put(struct trace_facts *f, const char *sub, const char *name,
                enum trace_figure_kind kind, uint64_t value) {
    return trace_figure_add(f, "devices", sub, name, kind, value);
}

static bool put_device(struct trace_facts *f, const struct sums *s) {
    char sub[32];
    const enum trace_figure_kind count = TRACE_FIGURE_COUNT, bytes = TRACE_FIGURE_BYTES;
    snprintf(sub, sizeof sub, "%d:%d", (int)s->type, (int)s->device);
    bool ok = put(f, sub, "events", count, s->events) && put(f, sub, "allocs", count, s->allocs) &&
              put(f, sub, "frees", count, s->frees) &&
              put(f, sub, "bytes_allocated", bytes, s->allocated) &&
              put(f, sub, "bytes_freed", bytes, s->freed);
    if (ok && s->sum >= 0)
        ok = put(f, sub, "sum", bytes, (uint64_t)s->sum);
    ok = ok && put(f, sub, "peak_sum", bytes, (uint64_t)s->peak_sum);
    if (ok && s->ooms > 0)
        ok = put(f, sub, "out_of_memory", count, s->ooms);
    if (!ok || s->events == 0)
        return ok;
    if (!s->has_totals)
        return trace_figure_text(f, "devices", sub, "baseline_allocated", "unknown");
    return put(f, sub, "baseline_allocated", bytes, s->baseline) &&
           put(f, sub, "peak_total_allocated", bytes, s->peak_total) &&
           put(f, sub, "last_total_allocated", bytes, s->last_total) &&
           put(f, sub, "min_total_reserved", bytes, s->least_reserved) &&
           put(f, sub, "peak_total_reserved", bytes, s->most_reserved) &&
           put(f, sub, "consistent_steps", count, s->consistent) &&
           put(f, sub, "inconsistent_steps", count, s->inconsistent);
}

static bool put_devices(const struct profiler *p, struct trace_facts *f) {
    struct sums_list all = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < p->memory.count; i++) {
        struct sums *s = find(&all, &p->memory.at[i]);
        ok = s != NULL;
        if (ok)
            add(s, &p->memory.at[i]);
    }
    for (size_t i = 0; ok && i < all.list.count; i++)
        ok = put_device(f, &all.list.at[i]);
    array_fini(&all.list);
    return ok;
}

static bool put_cards(const struct profiler *p, struct trace_facts *f) {
    for (size_t i = 0; i < p->cards.count; i++) {
        const struct profiler_card *card = &p->cards.at[i];
        char sub[32];
        snprintf(sub, sizeof sub, "%llu", (unsigned long long)card->id);
        if (!trace_figure_text(f, "cards", sub, "name", strtab_text(&p->names, card->name)) ||
            !trace_figure_add(f, "cards", sub, "total_bytes", TRACE_FIGURE_BYTES,
                              card->total_bytes))
            return false;
    }
    return true;
}

static bool copy_counts(struct trace_counts *to, const struct trace_counts *from) {
    for (size_t i = 0; i < from->list.count; i++)
        if (!trace_counts_add(to, from->list.at[i].name, from->list.at[i].count))
            return false;
    return true;
}

static void put_times(const struct profiler *p, struct trace_facts *f) {
    if (p->memory.count == 0)
        return;
    f->has |= TRACE_FACTS_TIME;
    f->time_us_first = p->memory.at[0].time_ns / 1000 + p->base_time_ns / 1000;
    f->time_us_last = array_last(&p->memory)->time_ns / 1000 + p->base_time_ns / 1000;
}

bool profiler_facts(const struct profiler *p, bool was_sorted, struct trace_facts *f) {
    const enum trace_figure_kind count = TRACE_FIGURE_COUNT;
    f->kind = "profiler";
    put_times(p, f);
    bool ok = copy_counts(&f->top_keys, &p->top_keys);
    if (ok && p->has_schema_version)
        ok = trace_figure_add(f, NULL, NULL, "schemaVersion", count, p->schema_version);
    if (ok && p->has_rank)
        ok = trace_figure_add(f, NULL, NULL, "rank", count, p->rank);
    ok = ok && trace_figure_add(f, NULL, NULL, "events", count, p->events) &&
         trace_figure_add(f, NULL, NULL, "kernels", count, p->kernels) &&
         trace_figure_add(f, NULL, NULL, "streams_with_kernels", count, p->streams.count) &&
         trace_figure_add(f, NULL, NULL, "memory_events", count, p->memory.count) &&
         trace_figure_add(f, NULL, NULL, "memory_events_time_sorted_in_file", TRACE_FIGURE_BOOL,
                          was_sorted) &&
         trace_figure_counts(f, "phases", &p->phases) &&
         trace_figure_counts(f, "categories", &p->categories);
    return ok && put_cards(p, f) && put_devices(p, f);
}

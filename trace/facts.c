/* facts.c: see facts.h. */
#include "facts.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

void trace_counts_fini(struct trace_counts *counts) {
    for (size_t i = 0; i < counts->list.count; i++)
        xfree(counts->list.at[i].name);
    array_fini(&counts->list);
}

static void fini_figure(struct trace_figure *f) {
    xfree(f->group);
    xfree(f->sub);
    xfree(f->name);
    xfree(f->text);
}

void trace_facts_fini(struct trace_facts *facts) {
    trace_counts_fini(&facts->opcodes);
    trace_counts_fini(&facts->top_keys);
    trace_counts_fini(&facts->blocks_by_state);
    trace_counts_fini(&facts->segments_by_type);
    for (size_t i = 0; i < facts->devices.count; i++)
        trace_counts_fini(&facts->devices.at[i].actions);
    array_fini(&facts->devices);
    for (size_t i = 0; i < facts->figures.count; i++)
        fini_figure(&facts->figures.at[i]);
    array_fini(&facts->figures);
    memset(facts, 0, sizeof *facts);
}

bool trace_counts_add(struct trace_counts *counts, const char *name, uint64_t count) {
    for (size_t i = 0; i < counts->list.count; i++)
        if (strcmp(counts->list.at[i].name, name) == 0) {
            counts->list.at[i].count += count;
            return true;
        }
    struct trace_count added = {.name = xstrdup(name), .count = count};
    if (!added.name)
        return false;
    if (array_push(&counts->list, added))
        return true;
    xfree(added.name);
    return false;
}

uint64_t trace_counts_get(const struct trace_counts *counts, const char *name) {
    for (size_t i = 0; i < counts->list.count; i++)
        if (strcmp(counts->list.at[i].name, name) == 0)
            return counts->list.at[i].count;
    return 0;
}

static int compare_names(const void *a, const void *b) {
    const struct trace_count *x = a, *y = b;
    return strcmp(x->name, y->name);
}

void trace_counts_sort(struct trace_counts *counts) {
    if (counts->list.count > 1)
        qsort(counts->list.at, counts->list.count, sizeof *counts->list.at, compare_names);
}

/* --- figures --- */

static bool copy(const char *text, char **out) {
    *out = text ? xstrdup(text) : NULL;
    return !text || *out;
}

static bool add_figure(struct trace_facts *facts, const char *group, const char *sub,
                       const char *name, const char *text, struct trace_figure figure) {
    bool ok = copy(group, &figure.group);
    ok = copy(sub, &figure.sub) && ok;
    ok = copy(name, &figure.name) && ok;
    ok = copy(text, &figure.text) && ok;
    if (ok && array_push(&facts->figures, figure))
        return true;
    fini_figure(&figure);
    return false;
}

bool trace_figure_add(struct trace_facts *facts, const char *group, const char *sub,
                      const char *name, enum trace_figure_kind kind, uint64_t value) {
    return add_figure(facts, group, sub, name, NULL,
                      (struct trace_figure){.kind = kind, .value = value});
}

bool trace_figure_text(struct trace_facts *facts, const char *group, const char *sub,
                       const char *name, const char *text) {
    return add_figure(facts, group, sub, name, text,
                      (struct trace_figure){.kind = TRACE_FIGURE_TEXT});
}

bool trace_figure_counts(struct trace_facts *facts, const char *group,
                         const struct trace_counts *counts) {
    for (size_t i = 0; i < counts->list.count; i++)
        if (!trace_figure_add(facts, group, NULL, counts->list.at[i].name, TRACE_FIGURE_COUNT,
                              counts->list.at[i].count))
            return false;
    return true;
}

static bool is_same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

const struct trace_figure *trace_figure_find(const struct trace_facts *facts, const char *group,
                                             const char *name) {
    for (size_t i = 0; i < facts->figures.count; i++) {
        const struct trace_figure *f = &facts->figures.at[i];
        if (!f->sub && is_same(f->group, group) && is_same(f->name, name))
            return f;
    }
    return NULL;
}

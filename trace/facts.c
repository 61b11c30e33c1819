/* facts.c: see facts.h. */
#include "facts.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

static void fini_counts(struct trace_counts *counts) {
    for (size_t i = 0; i < counts->list.count; i++)
        xfree(counts->list.at[i].name);
    array_fini(&counts->list);
}

void trace_facts_fini(struct trace_facts *facts) {
    fini_counts(&facts->opcodes);
    fini_counts(&facts->top_keys);
    fini_counts(&facts->blocks_by_state);
    fini_counts(&facts->segments_by_type);
    for (size_t i = 0; i < facts->devices.count; i++)
        fini_counts(&facts->devices.at[i].actions);
    array_fini(&facts->devices);
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

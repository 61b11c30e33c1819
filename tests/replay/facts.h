/* facts.h: what is known about a recorded trace beside the trace itself: its row of expected.json
 * and its NAME.json. Just enough of JSON for files that this project's tools wrote. */
#ifndef REPLAY_FACTS_H
#define REPLAY_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

/* A part of a text; NULL: not there. */
struct part {
    const char *from, *to;
};

/* The end of the object or list that begins at `at`. */
static inline const char *part_end(const char *at, const char *limit) {
    int depth = 0;
    bool quoted = false;
    for (; at < limit; at++) {
        if (*at == '\\' && quoted)
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted && (*at == '{' || *at == '['))
            depth++;
        else if (!quoted && (*at == '}' || *at == ']') && --depth == 0)
            return at + 1;
    }
    return limit;
}

/* The value of the first `"key":` in the part, wherever it is nested. */
static inline struct part part_value(struct part in, const char *key) {
    char quoted[128];
    int length = snprintf(quoted, sizeof quoted, "\"%s\":", key);
    for (const char *at = in.from; at && at + length < in.to; at++) {
        if (strncmp(at, quoted, (size_t)length) != 0)
            continue;
        at += length;
        while (*at == ' ' || *at == '\n')
            at++;
        bool nested = *at == '{' || *at == '[';
        const char *end = nested ? part_end(at, in.to) : at + strcspn(at, ",\n}]");
        return (struct part){at, end};
    }
    return (struct part){NULL, NULL};
}

static inline bool part_number(struct part in, const char *key, uint64_t *value) {
    struct part found = part_value(in, key);
    if (!found.from)
        return false;
    *value = strtoull(found.from, NULL, 10);
    return true;
}

/* A text value without its quotes; empty when it is not there. */
static inline void part_text(struct part in, const char *key, char *out, size_t size) {
    struct part found = part_value(in, key);
    out[0] = '\0';
    if (!found.from || *found.from != '"')
        return;
    size_t length = strcspn(found.from + 1, "\"");
    if (length >= size)
        length = size - 1;
    memcpy(out, found.from + 1, length);
    out[length] = '\0';
}

/* The n-th object of the list; NULL: there are fewer. */
static inline struct part part_item(struct part list, size_t n) {
    struct part item = {NULL, NULL};
    const char *at = list.from ? list.from + 1 : NULL;
    while (at && at < list.to) {
        at = memchr(at, '{', (size_t)(list.to - at));
        if (!at)
            break;
        item = (struct part){at, part_end(at, list.to)};
        if (n-- == 0)
            return item;
        at = item.to;
    }
    return (struct part){NULL, NULL};
}

/* memory_stats() by name: "allocated_bytes.all.peak", "num_ooms". False: no such figure. */
static inline bool stats_figure(const struct alloc_stats *s, const char *name, uint64_t *value) {
    const struct {
        const char *name;
        const struct alloc_stat *stat;
    } stats[] = {{"allocation.all.", s->allocation},
                 {"allocated_bytes.all.", s->allocated_bytes},
                 {"active.all.", s->active},
                 {"active_bytes.all.", s->active_bytes},
                 {"requested_bytes.all.", s->requested_bytes},
                 {"segment.all.", s->segment},
                 {"reserved_bytes.all.", s->reserved_bytes},
                 {"inactive_split.all.", s->inactive_split},
                 {"inactive_split_bytes.all.", s->inactive_split_bytes}};
    for (size_t i = 0; i < sizeof stats / sizeof stats[0]; i++) {
        size_t length = strlen(stats[i].name);
        if (strncmp(name, stats[i].name, length) != 0)
            continue;
        const struct alloc_stat *stat = &stats[i].stat[ALLOC_POOL_ALL];
        const char *field = name + length;
        *value = strcmp(field, "current") == 0     ? stat->current
                 : strcmp(field, "peak") == 0      ? stat->peak
                 : strcmp(field, "allocated") == 0 ? stat->allocated
                                                   : stat->freed;
        return true;
    }
    if (strcmp(name, "num_alloc_retries") == 0)
        *value = s->num_alloc_retries;
    else if (strcmp(name, "num_ooms") == 0)
        *value = s->num_ooms;
    else
        return false;
    return true;
}

#endif

/* place.c: see place.h. */
#include "place.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "error.h"
#include "nearest.h"
#include "timeline.h"
#include "xalloc.h"

struct extremes {
    uint64_t allocated, reserved;
    uint32_t allocated_moment, reserved_moment;
};

/* Over the moments first .. last. */
static void find_extremes(const struct timeline *tl, uint8_t device, uint32_t first, uint32_t last,
                          struct extremes *x) {
    struct counters c;
    bool has_any = false;
    counters_start(tl, device, &c);
    for (uint32_t m = 0; m <= last; m++) {
        if (m > 0)
            counters_apply(tl, device, m - 1, &c);
        if (m < first)
            continue;
        if (!has_any || c.allocated > x->allocated) {
            x->allocated = c.allocated;
            x->allocated_moment = m;
        }
        if (!has_any || c.reserved > x->reserved) {
            x->reserved = c.reserved;
            x->reserved_moment = m;
        }
        has_any = true;
    }
}

static bool find_extreme(const struct timeline *tl, uint8_t device, bool reserved,
                         uint32_t *moment) {
    struct extremes x = {0};
    find_extremes(tl, device, 0, (uint32_t)tl->events.count, &x);
    *moment = reserved ? x.reserved_moment : x.allocated_moment;
    return true;
}

static bool find_oom(const struct timeline *tl, uint8_t device, uint32_t *moment,
                     struct error *err) {
    for (size_t i = tl->events.count; i-- > 0;)
        if (tl->events.at[i].kind == EVENT_OOM && tl->events.at[i].device == device) {
            *moment = (uint32_t)i + 1;
            return true;
        }
    return error_set(err, ERROR_USAGE, "no request failed on device %u", device);
}

static bool find_event(const struct timeline *tl, const char *text, uint32_t *moment,
                       struct error *err) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end != '\0')
        return error_set(err, ERROR_USAGE, "a whole number is expected");
    if (errno == ERANGE || number >= tl->events.count)
        return error_set(err, ERROR_USAGE, "there are %zu events, from 0", tl->events.count);
    *moment = (uint32_t)number + 1;
    return true;
}

/* --- time --- */

static bool parse_time(const char *text, double *ns) {
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1}};
    char *end;
    double value = strtod(text, &end);
    if (!isdigit((unsigned char)*text) || !(value >= 0 && value < 1e18))
        return false;
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].unit) == 0) {
            *ns = value * units[i].ns;
            return true;
        }
    return false;
}

static bool find_time(const struct timeline *tl, const char *text, uint32_t *moment,
                      struct error *err) {
    double ns;
    if (!parse_time(text, &ns))
        return error_set(err, ERROR_USAGE,
                         "expected a time since the first event, as time 12.5ms (ns, us, ms, s)");
    if (!(tl->has & TIMELINE_HAS_TIME) || tl->events.count == 0)
        return error_set(err, ERROR_USAGE, "this run has no times");
    uint64_t start = tl->events.at[0].time_ns;
    size_t low = 0, high = tl->events.count; /* how many events began by then */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((double)(tl->events.at[middle].time_ns - start) <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    *moment = (uint32_t)low;
    return true;
}

/* --- divergence --- */

struct requests {
    const struct timeline *tl;
    uint8_t device;
    bool requested;  /* bytes as asked for; else the allocator's */
    uint32_t next;   /* event */
    uint32_t *order; /* block -> 1 + how many were allocated before it; 0: before the first event */
    uint32_t allocated;
};

static bool is_counted(const struct requests *r, const struct timeline_event *e) {
    return e->device == r->device && e->ref < r->tl->blocks.count &&
           (e->kind == EVENT_ALLOC || e->kind == EVENT_FREE_REQUESTED);
}

/* NULL: there are no more; else `next` is behind it. */
static const struct timeline_event *next_request(struct requests *r) {
    while (r->next < r->tl->events.count) {
        const struct timeline_event *e = &r->tl->events.at[r->next++];
        if (!is_counted(r, e))
            continue;
        if (e->kind == EVENT_ALLOC)
            r->order[e->ref] = ++r->allocated;
        return e;
    }
    return NULL;
}

static bool same_request(const struct requests *a, const struct timeline_event *x,
                         const struct requests *b, const struct timeline_event *y) {
    if (x->kind != y->kind || a->order[x->ref] != b->order[y->ref])
        return false;
    const struct timeline_block *p = &a->tl->blocks.at[x->ref], *q = &b->tl->blocks.at[y->ref];
    return a->requested ? p->requested_bytes == q->requested_bytes
                        : p->block_bytes == q->block_bytes;
}

bool place_divergence(const struct timeline *tl, const struct timeline *other, uint8_t device,
                      bool *differs, uint32_t *moment, struct error *err) {
    bool requested = (tl->has & other->has & TIMELINE_HAS_REQUESTED) != 0;
    struct requests a = {.tl = tl, .device = device, .requested = requested};
    struct requests b = {.tl = other, .device = device, .requested = requested};
    const struct timeline_event *x = NULL, *y = NULL;
    a.order = xcalloc(tl->blocks.count + 1, sizeof *a.order);
    b.order = xcalloc(other->blocks.count + 1, sizeof *b.order);
    bool ok = a.order && b.order;
    *differs = false;
    *moment = 0;
    while (ok && !*differs) {
        x = next_request(&a);
        y = next_request(&b);
        if (!x && !y)
            break;
        *differs = !x || !y || !same_request(&a, x, &b, y);
    }
    if (*differs)
        *moment = a.next;
    xfree(a.order);
    xfree(b.order);
    return ok || error_host_memory(err);
}

static bool find_divergence(const struct timeline *tl, const struct timeline *other, uint8_t device,
                            uint32_t *moment, struct error *err) {
    bool differs;
    if (!other)
        return error_set(err, ERROR_USAGE, "a divergence is of two files");
    if (!place_divergence(tl, other, device, &differs, moment, err))
        return false;
    return differs || error_set(err, ERROR_USAGE, "both have the same requests");
}

/* --- phases --- */

/* What follows the name at the beginning of `text`; NULL: it does not begin so. */
static const char *after_name(const char *text, const char *name) {
    size_t length = strlen(name);
    if (length == 0 || strncmp(text, name, length) != 0)
        return NULL;
    const char *rest = text + length;
    if (*rest != '\0' && *rest != ' ' && *rest != '/')
        return NULL;
    return rest + strspn(rest, " /");
}

static bool is_suffix(const char *rest) {
    return *rest == '\0' || strcmp(rest, "end") == 0 || strcmp(rest, "peak") == 0;
}

/* The first phase whose name completes `text` after those of phases around it. taken[i]: the characters
 * that phase i and those around it have matched, from the outside in. False: host memory. */
static bool match_phase(const struct timeline *tl, uint8_t device, const char *text,
                        uint32_t *found, const char **suffix) {
    size_t *taken = xcalloc(tl->phases.count + 1, sizeof *taken);
    *found = TIMELINE_NONE;
    for (uint32_t i = 0; taken && i < tl->phases.count && *found == TIMELINE_NONE; i++) {
        const struct timeline_phase *p = &tl->phases.at[i];
        taken[i] = p->parent < i ? taken[p->parent] : 0;
        const char *rest = after_name(text + taken[i], timeline_text(tl, p->name));
        if (!rest || p->device != device)
            continue;
        taken[i] = (size_t)(rest - text);
        if (is_suffix(rest)) {
            *found = i;
            *suffix = rest;
        }
    }
    bool ok = taken != NULL;
    xfree(taken);
    return ok;
}

static bool find_phase(const struct timeline *tl, uint8_t device, const char *text,
                       uint32_t *moment, struct error *err) {
    uint32_t phase;
    const char *suffix = "";
    if (!match_phase(tl, device, text, &phase, &suffix))
        return error_host_memory(err);
    if (phase == TIMELINE_NONE) {
        struct nearest nearest = {.word = text};
        char hint[NEAREST_HINT_BYTES];
        for (uint32_t i = 0; i < tl->phases.count; i++)
            nearest_offer(&nearest, timeline_text(tl, tl->phases.at[i].name));
        return error_set(err, ERROR_USAGE,
                         "no such moment%s; expected peak, reserved, oom, start, end, event N, "
                         "time T, divergence or a phase such as step 2 backward",
                         nearest_hint(&nearest, hint));
    }
    const struct timeline_phase *p = &tl->phases.at[phase];
    uint32_t last = (uint32_t)tl->events.count;
    uint32_t begin = p->begin_event < last ? p->begin_event + 1 : last;
    uint32_t end = p->end_event < last ? p->end_event + 1 : last;
    struct extremes x = {0};
    *moment = *suffix == 'e' ? end : begin;
    if (*suffix == 'p' && begin <= end) {
        find_extremes(tl, device, begin, end, &x);
        *moment = x.allocated_moment;
    }
    return true;
}

bool place_find(const struct timeline *tl, const struct timeline *other, uint8_t device,
                const char *text, uint32_t *moment, struct error *err) {
    *moment = 0;
    if (strcmp(text, "peak") == 0 || strcmp(text, "reserved") == 0)
        return find_extreme(tl, device, *text == 'r', moment);
    if (strcmp(text, "oom") == 0)
        return find_oom(tl, device, moment, err);
    if (strcmp(text, "start") == 0)
        return true;
    if (strcmp(text, "end") == 0) {
        *moment = (uint32_t)tl->events.count;
        return true;
    }
    if (strcmp(text, "divergence") == 0)
        return find_divergence(tl, other, device, moment, err);
    if (strncmp(text, "event ", 6) == 0)
        return find_event(tl, text + 6, moment, err);
    if (strncmp(text, "time ", 5) == 0)
        return find_time(tl, text + 5, moment, err);
    if (isdigit((unsigned char)*text))
        return text[strspn(text, "0123456789")] ? find_time(tl, text, moment, err)
                                                : find_event(tl, text, moment, err);
    return find_phase(tl, device, text, moment, err);
}

/* steps.c: see steps.h. Two stages: where the steps lie (by named phases or by runs of optimizer
 * phases), then one walk for their figures. */
#include "steps.h"

#include <string.h>

#include "counters.h"
#include "error.h"
#include "timeline.h"

enum role { ROLE_OTHER, ROLE_MODEL, ROLE_WORK, ROLE_OPTIMIZER, ROLE_ZERO_GRAD };

/* Roles by name; a trailing '#' means "begins with". Names: the recipes of tests and PyTorch's own
 * record_function labels (torch/optim/optimizer.py, 2.x). */
static const struct {
    const char *name;
    enum role role;
} roles[] = {
    {"model", ROLE_MODEL},         {"forward", ROLE_WORK},
    {"backward", ROLE_WORK},       {"loss", ROLE_WORK},
    {"optimizer", ROLE_OPTIMIZER}, {"Optimizer.step#", ROLE_OPTIMIZER},
    {"zero_grad", ROLE_ZERO_GRAD}, {"Optimizer.zero_grad#", ROLE_ZERO_GRAD},
    {"ema", ROLE_ZERO_GRAD},
};

static enum role phase_role(const struct timeline *tl, uint32_t phase) {
    const char *name = timeline_text(tl, tl->phases.at[phase].name);
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        size_t n = strlen(roles[i].name);
        bool is_prefix = roles[i].name[n - 1] == '#';
        if (is_prefix ? strncmp(name, roles[i].name, n) == 0 : strcmp(name, roles[i].name) == 0)
            return roles[i].role;
    }
    return ROLE_OTHER;
}

static bool is_step_name(const char *name) {
    static const char *const prefixes[] = {"step ", "ProfilerStep#"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t n = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], n) == 0 && name[n] >= '0' && name[n] <= '9')
            return name[n + strspn(name + n, "0123456789")] == '\0';
    }
    return false;
}

static uint32_t last_event(const struct timeline *tl) {
    return (uint32_t)tl->events.count - 1;
}

static bool push_step(struct steps *out, uint32_t begin, uint32_t end, uint32_t phase,
                      bool is_complete) {
    struct step s = {.begin_event = begin,
                     .end_event = end,
                     .phase = phase,
                     .is_complete = is_complete,
                     .own_peak_event = TIMELINE_NONE};
    return array_push(&out->rows, s);
}

/* Stage one, named steps. Nested ones (a profiler's step inside ours) are not counted twice. */
static bool find_named(const struct timeline *tl, uint8_t device, struct steps *out) {
    uint32_t covered = 0; /* events before this lie in a step that is there */
    for (uint32_t i = 0; i < tl->phases.count; i++) {
        const struct timeline_phase *p = &tl->phases.at[i];
        if (p->device != device || p->begin_event < covered || p->begin_event > last_event(tl) ||
            !is_step_name(timeline_text(tl, p->name)))
            continue;
        bool is_complete = p->end_event != TIMELINE_NONE && p->end_event <= last_event(tl) &&
                           p->end_event >= p->begin_event;
        uint32_t end = is_complete ? p->end_event : last_event(tl);
        if (!push_step(out, p->begin_event, end, i, is_complete))
            return false;
        covered = end + 1;
    }
    return true;
}

/* Stage one, runs of optimizer phases. */
struct runs {
    struct steps *out;
    uint32_t begin;    /* of the step under way */
    uint32_t last_end; /* the last end of an optimizer or zero_grad phase */
    uint32_t open;     /* such phases that are open */
    bool has_begun;    /* a phase has said where the first step begins */
    bool has_step;     /* an optimizer has stepped since `begin` */
    bool has_work;     /* a forward or backward has begun since `begin` */
};

static bool close_run(struct runs *r) {
    if (!push_step(r->out, r->begin, r->last_end, TIMELINE_NONE, true))
        return false;
    r->begin = r->last_end + 1;
    r->has_begun = true;
    r->has_step = r->has_work = false;
    return true;
}

static bool begin_phase(struct runs *r, enum role role, uint32_t event) {
    if (role == ROLE_OPTIMIZER || role == ROLE_ZERO_GRAD) {
        r->open++;
        r->has_step |= role == ROLE_OPTIMIZER;
        return true;
    }
    if (r->open > 0 || role == ROLE_MODEL)
        return true;
    if (r->has_step && !close_run(r))
        return false;
    if (!r->has_begun)
        r->begin = event;
    r->has_begun = true;
    r->has_work |= role == ROLE_WORK;
    return true;
}

static bool visit_run_event(const struct timeline *tl, uint32_t i, struct runs *r) {
    const struct timeline_event *e = &tl->events.at[i];
    if (e->kind == EVENT_PHASE_BEGIN)
        return begin_phase(r, phase_role(tl, e->ref), i);
    if (e->kind == EVENT_PHASE_END) {
        enum role role = phase_role(tl, e->ref);
        if ((role == ROLE_OPTIMIZER || role == ROLE_ZERO_GRAD) && r->open > 0) {
            r->open--;
            r->last_end = i;
        }
        return true;
    }
    if (e->kind == EVENT_ALLOC && r->has_step && r->open == 0)
        return close_run(r);
    return true;
}

static bool find_runs(const struct timeline *tl, uint8_t device, struct steps *out) {
    struct runs r = {.out = out};
    for (uint32_t i = 0; i < tl->events.count; i++)
        if (tl->events.at[i].device == device && !visit_run_event(tl, i, &r))
            return false;
    if (r.has_step && r.open == 0)
        return close_run(&r);
    if (r.has_step || r.has_work)
        return push_step(out, r.begin, last_event(tl), TIMELINE_NONE, false);
    return true;
}

/* Stage two: figures. The steps are in order and do not overlap. */
struct maxima {
    uint64_t allocated, active, reserved, requested;
};

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void raise_maxima(const struct counters *c, struct maxima *m) {
    m->allocated = larger(m->allocated, c->allocated);
    m->active = larger(m->active, c->active);
    m->reserved = larger(m->reserved, c->reserved);
    m->requested = larger(m->requested, c->requested);
}

static void raise_own(const struct counters *c, uint32_t event, struct step *s) {
    if (c->allocated > s->own_allocated_peak) {
        s->own_allocated_peak = c->allocated;
        s->own_peak_event = event;
    }
    s->own_reserved_peak = larger(s->own_reserved_peak, c->reserved);
}

static void end_step(const struct counters *c, const struct maxima *m, struct step *s) {
    s->allocated_peak = m->allocated;
    s->active_peak = m->active;
    s->reserved_peak = m->reserved;
    s->requested_peak = m->requested;
    s->allocated_end = c->allocated;
    s->reserved_end = c->reserved;
}

static void measure(const struct timeline *tl, uint8_t device, struct steps *out) {
    struct counters c;
    counters_start(tl, device, &c);
    struct maxima m = {0};
    raise_maxima(&c, &m);
    size_t next = 0;
    for (uint32_t i = 0; i < tl->events.count && next < out->rows.count; i++) {
        struct step *s = &out->rows.at[next];
        if (i == s->begin_event)
            raise_own(&c, TIMELINE_NONE, s);
        counters_apply(tl, device, i, &c);
        raise_maxima(&c, &m);
        if (i >= s->begin_event)
            raise_own(&c, i, s);
        if (i == s->end_event) {
            end_step(&c, &m, s);
            next++;
        }
    }
}

bool steps_find(const struct timeline *tl, uint8_t device, struct steps *out, struct error *err) {
    memset(out, 0, sizeof *out);
    if (tl->events.count == 0)
        return true;
    bool ok = find_named(tl, device, out);
    if (ok && out->rows.count == 0)
        ok = find_runs(tl, device, out);
    if (!ok) {
        steps_fini(out);
        return error_host_memory(err);
    }
    measure(tl, device, out);
    return true;
}

void steps_fini(struct steps *steps) {
    array_fini(&steps->rows);
}

/* request_match.c: see request_match.h. */
#include "request_match.h"

#include <string.h>

#include "compare.h"
#include "error.h"
#include "timeline.h"
#include "track.h"

static struct request_item item_of(const struct alignment_side *side, uint32_t index) {
    struct request_item item = {.event = TIMELINE_NONE, .block = TIMELINE_NONE};
    if (index >= side->items.count)
        return item;
    const struct alignment_item *it = &side->items.at[index];
    item.is_there = true;
    item.is_oom = it->block == ALIGNMENT_NONE;
    item.event = it->event;
    item.block = item.is_oom ? TIMELINE_NONE : it->block;
    item.request = it->request;
    item.bytes = it->bytes;
    return item;
}

/* How much work lies before an event, going on from an earlier one. */
struct walk {
    const struct timeline *tl;
    uint32_t event, work;
};

static uint32_t work_before(struct walk *w, uint32_t event) {
    for (; w->event < event; w->event++) {
        uint8_t kind = w->tl->events.at[w->event].kind;
        w->work += kind == EVENT_ALLOC || kind == EVENT_FREE_REQUESTED;
    }
    return w->work;
}

/* A run ends where one side did more than the other: its last pair and the next run's first. */
static bool keep_runs(struct request_match *match, const struct comparison *c) {
    struct walk a = {.tl = c->simulated.tl}, b = {.tl = c->real.tl};
    struct align_anchor last = {0, 0};
    uint32_t apart = 0;
    bool has_last = false;
    for (uint32_t i = 0; i < c->simulated.items.count; i++) {
        uint32_t k = c->alignment.partner[i];
        if (k == ALIGNMENT_NONE)
            continue;
        uint32_t x = c->simulated.items.at[i].event, y = c->real.items.at[k].event;
        uint32_t now = work_before(&a, x) - work_before(&b, y);
        struct align_anchor pair = {x + 1, y + 1};
        if (has_last && now == apart) {
            last = pair;
            continue;
        }
        if ((has_last && !array_push(&match->pairs, last)) || !array_push(&match->pairs, pair))
            return false;
        last = pair;
        has_last = true;
        apart = now;
    }
    return !has_last || array_push(&match->pairs, last);
}

bool request_match_find(struct request_match *match, const struct track *first,
                        const struct track *second, struct error *err) {
    struct comparison c;
    if (!compare_find(first->tl, first->device, second->tl, second->device, &c, err))
        return false;
    array_clear(&match->pairs);
    match->kind = c.alignment.first;
    match->first = item_of(&c.simulated, c.alignment.first_simulated);
    match->second = item_of(&c.real, c.alignment.first_real);
    match->equal = c.requests_equal;
    match->requests_first = c.requests_simulated;
    match->requests_second = c.requests_real;
    match->is_done = keep_runs(match, &c);
    compare_fini(&c);
    return match->is_done || error_host_memory(err);
}

void request_match_fini(struct request_match *match) {
    array_fini(&match->pairs);
    memset(match, 0, sizeof *match);
}

uint32_t request_match_moment(const struct request_match *match, const struct track *first) {
    return match->first.is_there ? match->first.event + 1 : first->lod.moments - 1;
}

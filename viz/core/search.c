/* search.c: see search.h. */
#include "search.h"

#include <string.h>

#include "error.h"
#include "timeline.h"
#include "track.h"
#include "xalloc.h"

void search_forget_groups(struct search *s) {
    if (s->summed)
        lod_fini(&s->lod);
    xfree(s->groups);
    s->groups = NULL;
    s->summed = false;
}

void search_clear(struct search *s) {
    search_forget_groups(s);
    filter_fini(&s->filter);
    xfree(s->bits);
    *s = (struct search){.track = s->track};
}

void search_fini(struct search *s) {
    search_clear(s);
}

static bool has_bit(const struct search *s, uint32_t block) {
    return (s->bits[block / 64] >> (block % 64) & 1) != 0;
}

/* Blocks of other devices are not shown and do not count. */
static void count_blocks(struct search *s) {
    const struct timeline *tl = s->track->tl;
    for (uint32_t i = 0; i < tl->blocks.count; i++) {
        if (!has_bit(s, i))
            continue;
        if (tl->blocks.at[i].device != s->track->device) {
            s->bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
            continue;
        }
        s->count++;
        s->bytes += tl->blocks.at[i].block_bytes;
    }
}

bool search_set(struct search *s, const char *text, struct error *err) {
    struct search next = {.track = s->track, .active = true};
    if (!filter_parse(&next.filter, text, err))
        return false;
    if (next.filter.terms.count == 0) {
        search_clear(s);
        return true;
    }
    next.bits = xcalloc(s->track->tl->blocks.count / 64 + 1, sizeof *next.bits);
    if (!next.bits || !filter_run(&next.filter, s->track->tl, next.bits, err)) {
        if (!next.bits)
            error_host_memory(err);
        search_clear(&next);
        return false;
    }
    count_blocks(&next);
    search_clear(s);
    *s = next;
    return true;
}

bool search_set_blocks(struct search *s, bool (*has)(const void *user, uint32_t block),
                       const void *user, struct error *err) {
    size_t blocks = s->track->tl->blocks.count;
    search_clear(s);
    s->bits = xcalloc(blocks / 64 + 1, sizeof *s->bits);
    if (!s->bits)
        return error_host_memory(err);
    s->active = true;
    for (uint32_t i = 0; i < blocks; i++)
        if (has(user, i))
            s->bits[i / 64] |= UINT64_C(1) << (i % 64);
    count_blocks(s);
    return true;
}

static bool is_here(const struct search *s, uint32_t block, uint32_t moment) {
    const struct timeline_block *b = &s->track->tl->blocks.at[block];
    bool before = b->alloc_event == TIMELINE_NONE || b->alloc_event < moment;
    return before && live_is(&s->track->live, block, moment);
}

bool search_has(const struct search *s, uint32_t block, uint32_t moment) {
    if (!s->active || block >= s->track->tl->blocks.count || !has_bit(s, block))
        return false;
    return s->filter.alive == 0 || is_here(s, block, moment) == (s->filter.alive > 0);
}

uint32_t search_sum(const struct search *s, const struct live_set *set, uint32_t moment,
                    uint64_t *bytes) {
    uint32_t count = 0;
    *bytes = 0;
    for (size_t i = 0; i < set->ids.count; i++)
        if (search_has(s, set->ids.at[i], moment)) {
            count++;
            *bytes += s->track->tl->blocks.at[set->ids.at[i]].block_bytes;
        }
    return count;
}

/* The order of search_next: the blocks from before the recording, then the events.
 *
 *   0 .. blocks - 1                a block without an allocation
 *   blocks .. blocks + events - 1  an event */
static uint32_t at_place(const struct search *s, uint64_t place) {
    const struct timeline *tl = s->track->tl;
    uint32_t block = TIMELINE_NONE;
    if (place < tl->blocks.count) {
        block = tl->blocks.at[place].alloc_event == TIMELINE_NONE ? (uint32_t)place : TIMELINE_NONE;
    } else {
        const struct timeline_event *e = &tl->events.at[place - tl->blocks.count];
        if (e->kind == EVENT_ALLOC)
            block = e->ref;
    }
    return block < tl->blocks.count && has_bit(s, block) ? block : TIMELINE_NONE;
}

uint32_t search_next(const struct search *s, uint32_t block, uint32_t moment, bool forward) {
    if (!s->active || s->count == 0)
        return TIMELINE_NONE;
    const struct timeline *tl = s->track->tl;
    uint64_t places = (uint64_t)tl->blocks.count + tl->events.count, at;
    if (block < tl->blocks.count) {
        uint32_t event = tl->blocks.at[block].alloc_event;
        at = event == TIMELINE_NONE ? block : tl->blocks.count + (uint64_t)event;
    } else { /* one beside the cursor's event, which may be the one looked for */
        uint64_t here = moment > 0 ? tl->blocks.count + (uint64_t)moment - 1 : 0;
        at = forward ? here + places - 1 : here + 1;
    }
    for (uint64_t i = 0; i < places; i++) {
        at = (forward ? at + 1 : at + places - 1) % places;
        uint32_t found = at_place(s, at);
        if (found != TIMELINE_NONE)
            return found;
    }
    return TIMELINE_NONE;
}

const struct lod *search_lod(struct search *s) {
    if (!s->active || s->summed)
        return s->summed ? &s->lod : NULL;
    const struct timeline *tl = s->track->tl;
    struct error ignored = {0}; /* host memory: the caller goes on without */
    s->groups = xcalloc(tl->blocks.count + 1, 1);
    if (!s->groups)
        return NULL;
    for (uint32_t i = 0; i < tl->blocks.count; i++)
        s->groups[i] = (uint8_t)(has_bit(s, i) ? lod_group(&s->track->lod, i) : LOD_NO_GROUP);
    s->summed = lod_build(&s->lod, tl, s->track->device, s->groups, &ignored);
    if (!s->summed) {
        xfree(s->groups);
        s->groups = NULL;
    }
    return s->summed ? &s->lod : NULL;
}

/* bands.c: see bands.h. */
#include "bands.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "label.h"
#include "palette.h"
#include "timeline.h"
#include "xalloc.h"

void bands_start(struct bands *bands) {
    memset(bands, 0, sizeof *bands);
    bands->by = OWNER_BY_CATEGORY;
    bands->count = CATEGORY_COUNT;
}

void bands_fini(struct bands *bands) {
    for (int i = 0; i < BANDS_SIDES; i++)
        xfree(bands->band_of[i]);
    bands_start(bands);
}

bool bands_is_others(const struct bands *bands, int band) {
    return bands->others > 0 && band == bands->count - 1;
}

const char *bands_name(const struct bands *bands, struct owners *const owners[BANDS_SIDES],
                       int band, enum language language, char buffer[256]) {
    char figure[LABEL_BYTES];
    uint64_t key;
    if (band == 0 || bands->by == OWNER_BY_CATEGORY)
        return i18n_category(language, (enum category)band);
    if (bands_is_others(bands, band)) {
        snprintf(buffer, 256, "%.80s (%s)", i18n_text(language, TEXT_OTHERS),
                 label_count(bands->others, figure));
        return buffer;
    }
    struct owners *of = owners[bands->at[band].side];
    if (!owners_key_of(of, bands->by, bands->at[band].block, &key))
        return "";
    return owners_key_name(of, bands->by, key, language, buffer);
}

struct band_style bands_style(const struct bands *bands, const struct palette *palette, int band) {
    if (band == 0 || bands->by == OWNER_BY_CATEGORY)
        return palette->bands[band];
    struct band_style style = palette->bands[bands->at[band].hue];
    style.pattern = (enum pattern)bands->at[band].pattern;
    return style;
}

/* --- which they are --- */

void bands_job_start(struct bands_job *job, enum owner_grouping by,
                     const struct lod *const lods[BANDS_SIDES],
                     struct owners *const owners[BANDS_SIDES]) {
    memset(job, 0, sizeof *job);
    bands_start(&job->bands);
    job->bands.by = by;
    for (int i = 0; i < BANDS_SIDES && lods[i]; i++) {
        job->lods[i] = lods[i];
        job->owners[i] = owners[i];
        job->sides = i + 1;
    }
    job->step = by == OWNER_BY_CATEGORY ? BANDS_SUM : BANDS_NAME;
}

/* What is of use only until the bands are known. */
static void forget_groups(struct bands_job *job) {
    block_groups_fini(&job->names);
    array_fini(&job->groups);
    array_fini(&job->band_of_group);
    for (int i = 0; i < BANDS_SIDES; i++) {
        xfree(job->group_of[i]);
        job->group_of[i] = NULL;
    }
}

void bands_job_fini(struct bands_job *job) {
    forget_groups(job);
    for (int i = 0; i < job->sides; i++)
        lod_regroup_fini(&job->regroup[i]);
    bands_fini(&job->bands);
}

static const struct timeline *timeline_of(const struct bands_job *job) {
    return job->lods[job->side]->tl;
}

/* The share of the run in which a block is there. */
static double share_of(const struct timeline *tl, const struct timeline_block *b) {
    double events = (double)tl->events.count;
    double first = b->alloc_event == TIMELINE_NONE ? 0 : b->alloc_event;
    double end = b->free_event == TIMELINE_NONE ? events : b->free_event;
    return events > 0 && end > first ? (end - first) / events : 0;
}

/* Each block's group, and of the group what does not depend on the order of events. */
static bool name_block(struct bands_job *job, uint32_t block) {
    const struct timeline_block *b = &timeline_of(job)->blocks.at[block];
    uint32_t group;
    if (!block_groups_find(&job->names, job->side, block, &group))
        return false;
    if (group == job->groups.count) {
        struct bands_group fresh = {.block = block, .side = (uint8_t)job->side};
        if (!array_push(&job->groups, fresh))
            return false;
    }
    job->group_of[job->side][block] = group;
    if (b->device != job->lods[job->side]->device || b->pending_at_start)
        return true;
    struct bands_group *g = array_at(&job->groups, group);
    g->area += (double)b->block_bytes * share_of(timeline_of(job), b);
    if (b->alloc_event == TIMELINE_NONE)
        g->now += b->block_bytes;
    if (g->now > g->most)
        g->most = g->now;
    return true;
}

static void walk_event(struct bands_job *job, uint32_t event) {
    const struct timeline *tl = timeline_of(job);
    const struct timeline_event *e = &tl->events.at[event];
    bool plus = e->kind == EVENT_ALLOC;
    if (e->device != job->lods[job->side]->device || e->ref >= tl->blocks.count ||
        (!plus && e->kind != EVENT_FREE_REQUESTED))
        return;
    struct bands_group *g = array_at(&job->groups, job->group_of[job->side][e->ref]);
    uint64_t bytes = tl->blocks.at[e->ref].block_bytes;
    g->now += plus ? bytes : 0 - bytes;
    if (plus && g->now > g->most)
        g->most = g->now;
}

/* The highest lies at the bottom: what is always there, so that the layers above it slide as little as
 * can be; sizes and streams have an order of their own. */
static double depth_of(const struct bands_job *job, uint32_t group) {
    const struct bands_group *g = &job->groups.at[group];
    enum owner_grouping by = job->bands.by;
    uint64_t key;
    bool by_key = by == OWNER_BY_SIZE || by == OWNER_BY_STREAM;
    if (by_key && owners_key_of(job->owners[g->side], by, g->block, &key))
        return by == OWNER_BY_SIZE ? (double)key : -(double)key;
    return g->most > 0 ? g->area / (double)g->most : 0;
}

/* Adds a group to the largest ones; equal ones stay in the order in which they were seen. */
static void keep_largest(const struct bands_job *job, uint32_t group, uint32_t *kept, int *count) {
    uint64_t most = job->groups.at[group].most;
    int at = *count;
    while (at > 0 && job->groups.at[kept[at - 1]].most < most)
        at--;
    if (at == BANDS_GROUPS)
        return;
    *count += *count < BANDS_GROUPS;
    memmove(kept + at + 1, kept + at, (size_t)(*count - 1 - at) * sizeof *kept);
    kept[at] = group;
}

static void sort_from_bottom(const struct bands_job *job, uint32_t *kept, int count) {
    for (int i = 1; i < count; i++) {
        uint32_t group = kept[i];
        int at = i;
        for (; at > 0 && depth_of(job, kept[at - 1]) < depth_of(job, group); at--)
            kept[at] = kept[at - 1];
        kept[at] = group;
    }
}

/* FNV-1a: the same colour for a name in every run and file. */
static uint32_t hash_of(const char *name) {
    uint32_t hash = UINT32_C(2166136261);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT32_C(16777619);
    return hash ^ hash >> 15;
}

static const enum category hues[] = {CATEGORY_PARAMETER,    CATEGORY_OPTIMIZER,  CATEGORY_GRADIENT,
                                     CATEGORY_INPUT,        CATEGORY_ACTIVATION, CATEGORY_TEMPORARY,
                                     CATEGORY_COMMUNICATION};
enum { HUES = sizeof hues / sizeof hues[0], TIMES = 3 };
static_assert(HUES * TIMES >= BANDS_GROUPS + HUES, "a hue and a pattern for every band");

/* The hue of the name, unless the band below has it or it is used up; the pattern tells how many bands
 * of that hue are below. What has no name is grey. */
static void choose_look(struct bands *bands, int band, const char *name) {
    static const enum pattern patterns[TIMES] = {PATTERN_NONE, PATTERN_DIAGONALS, PATTERN_DOTS};
    struct band *at = &bands->at[band];
    if (!*name) {
        at->hue = CATEGORY_UNKNOWN;
        return;
    }
    for (uint32_t hash = hash_of(name);; hash++) {
        int times = 0;
        at->hue = (uint8_t)hues[hash % HUES];
        for (int i = 1; i < band; i++)
            times += bands->at[i].hue == at->hue;
        if (times < TIMES && bands->at[band - 1].hue != at->hue) {
            at->pattern = (uint8_t)patterns[times];
            return;
        }
    }
}

static const char *name_of(const struct bands_job *job, uint32_t group) {
    const char *name = block_groups_name(&job->names, group);
    return strcmp(name, i18n_text(LANGUAGE_ENGLISH, TEXT_UNKNOWN)) == 0 ? "" : name;
}

static bool choose(struct bands_job *job) {
    uint32_t kept[BANDS_GROUPS + 1], all = (uint32_t)job->groups.count, some = 0;
    int count = 0;
    struct bands *bands = &job->bands;
    if (!array_reserve(&job->band_of_group, (size_t)all + 1))
        return false;
    for (uint32_t i = 0; i < all; i++)
        if (job->groups.at[i].most > 0) {
            keep_largest(job, i, kept, &count);
            some++;
        }
    sort_from_bottom(job, kept, count);
    bands->others = some - (uint32_t)count;
    bands->count = 1 + count + (bands->others > 0);
    memset(job->band_of_group.at, bands->count - 1, all);
    for (int i = 0; i < count; i++) {
        const struct bands_group *g = &job->groups.at[kept[i]];
        job->band_of_group.at[kept[i]] = (uint8_t)(i + 1);
        bands->at[i + 1] = (struct band){.block = g->block, .side = g->side};
        choose_look(bands, i + 1, name_of(job, kept[i]));
    }
    if (bands->others > 0)
        bands->at[bands->count - 1] =
            (struct band){.hue = CATEGORY_UNKNOWN, .pattern = PATTERN_DOTS};
    return true;
}

/* --- step by step --- */

static bool begin_names(struct bands_job *job) {
    if (job->side == 0 &&
        !block_groups_start(&job->names, job->bands.by, LANGUAGE_ENGLISH, job->owners[0],
                            job->sides > 1 ? job->owners[1] : NULL))
        return false;
    job->group_of[job->side] = xcalloc(timeline_of(job)->blocks.count + 1, sizeof(uint32_t));
    for (size_t i = 0; i < job->groups.count; i++)
        job->groups.at[i].now = 0;
    return job->group_of[job->side] != NULL;
}

static bool begin(struct bands_job *job) {
    switch (job->step) {
    case BANDS_NAME:
        return begin_names(job);
    case BANDS_ASSIGN:
        job->bands.band_of[job->side] = xcalloc(timeline_of(job)->blocks.count + 1, 1);
        return job->bands.band_of[job->side] != NULL;
    case BANDS_SUM:
        return lod_regroup_start(&job->regroup[job->side], job->lods[job->side],
                                 job->bands.band_of[job->side]);
    case BANDS_WALK:
    case BANDS_DONE:
        break;
    }
    return true;
}

/* The steps of one side and of the next: name and walk, then assign, then sum. */
static bool go_on(struct bands_job *job) {
    bool last = job->side + 1 == job->sides;
    job->next = 0;
    switch (job->step) {
    case BANDS_NAME:
        job->step = BANDS_WALK;
        return true;
    case BANDS_WALK:
        if (last && !choose(job))
            return false;
        job->step = last ? BANDS_ASSIGN : BANDS_NAME;
        break;
    case BANDS_ASSIGN:
        job->step = last ? BANDS_SUM : BANDS_ASSIGN;
        if (last)
            forget_groups(job);
        break;
    case BANDS_SUM:
        job->step = last ? BANDS_DONE : BANDS_SUM;
        break;
    case BANDS_DONE:
        break;
    }
    job->side = last ? 0 : job->side + 1;
    return true;
}

static bool do_one(struct bands_job *job, uint32_t i) {
    switch (job->step) {
    case BANDS_NAME:
        return name_block(job, i);
    case BANDS_WALK:
        walk_event(job, i);
        break;
    case BANDS_ASSIGN:
        job->bands.band_of[job->side][i] = job->band_of_group.at[job->group_of[job->side][i]];
        break;
    case BANDS_SUM:
    case BANDS_DONE:
        break;
    }
    return true;
}

bool bands_job_more(struct bands_job *job, uint32_t count) {
    if (job->step == BANDS_DONE)
        return true;
    if (!job->begun && !begin(job))
        return false;
    job->begun = true;
    if (job->step == BANDS_SUM) {
        lod_regroup_more(&job->regroup[job->side], count);
        if (!job->regroup[job->side].done)
            return true;
    } else {
        const struct timeline *tl = timeline_of(job);
        size_t all = job->step == BANDS_WALK ? tl->events.count : tl->blocks.count;
        size_t left = all - job->next;
        uint32_t end = job->next + (count < left ? count : (uint32_t)left);
        for (; job->next < end; job->next++)
            if (!do_one(job, job->next))
                return false;
        if (job->next < all)
            return true;
    }
    job->begun = false;
    return go_on(job);
}

void bands_job_take(struct bands_job *job, struct lod *const lods[BANDS_SIDES],
                    struct bands *bands) {
    assert(job->step == BANDS_DONE);
    for (int i = 0; i < job->sides; i++)
        lod_regroup_take(&job->regroup[i], lods[i]);
    bands_fini(bands);
    *bands = job->bands;
    bands_start(&job->bands);
}

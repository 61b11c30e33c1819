/* filter_run.c: the blocks that pass; see filter.h. */
#include <string.h>

#include "category.h"
#include "error.h"
#include "filter.h"
#include "timeline.h"
#include "xalloc.h"

/* Of one term with a text: which strings, stacks and phases pass it; NULL where it does not look. */
struct hits {
    uint64_t *strings, *stacks, *phases;
};

struct run {
    const struct timeline *tl;
    const struct filter *filter;
    struct hits *hits; /* a term each */
};

static uint64_t *bits_create(size_t count) {
    return xcalloc(count / 64 + 1, sizeof(uint64_t));
}

static bool bit(const uint64_t *bits, size_t count, size_t index) {
    return bits && index < count && (bits[index / 64] >> (index % 64) & 1) != 0;
}

static void set(uint64_t *bits, size_t index) {
    bits[index / 64] |= UINT64_C(1) << (index % 64);
}

static bool string_hit(const struct run *run, const struct hits *hits, uint32_t string) {
    return bit(hits->strings, strtab_count(&run->tl->strings), string);
}

/* A stack passes when a function or a file of it does. */
static bool find_stacks(const struct run *run, struct hits *hits) {
    const struct timeline *tl = run->tl;
    hits->stacks = bits_create(tl->stacks.count);
    for (size_t i = 0; hits->stacks && i < tl->stacks.count; i++) {
        const struct timeline_stack *stack = &tl->stacks.at[i];
        for (uint32_t k = 0; k < stack->count && stack->first + k < tl->frames.count; k++) {
            const struct timeline_frame *frame = &tl->frames.at[stack->first + k];
            if (string_hit(run, hits, frame->function) || string_hit(run, hits, frame->file)) {
                set(hits->stacks, i);
                break;
            }
        }
    }
    return hits->stacks != NULL;
}

/* A phase passes when its name does, or that of one around it. */
static bool find_phases(const struct run *run, struct hits *hits) {
    const struct timeline *tl = run->tl;
    hits->phases = bits_create(tl->phases.count);
    for (size_t i = 0; hits->phases && i < tl->phases.count; i++) {
        uint32_t phase = (uint32_t)i;
        for (int depth = 0; phase < tl->phases.count && depth < 64; depth++) {
            if (string_hit(run, hits, tl->phases.at[phase].name)) {
                set(hits->phases, i);
                break;
            }
            phase = tl->phases.at[phase].parent;
        }
    }
    return hits->phases != NULL;
}

static bool find_hits(const struct run *run, const struct filter_term *term, struct hits *hits) {
    size_t strings = strtab_count(&run->tl->strings);
    if (term->kind < FILTER_MODULE)
        return true;
    hits->strings = bits_create(strings);
    for (size_t i = 0; hits->strings && i < strings; i++)
        if (filter_text_passes(&term->text, timeline_text(run->tl, (uint32_t)i)))
            set(hits->strings, i);
    bool stacks = term->kind == FILTER_STACK || term->kind == FILTER_ANY;
    bool phases = term->kind == FILTER_PHASE || term->kind == FILTER_ANY;
    return hits->strings && (!stacks || find_stacks(run, hits)) &&
           (!phases || find_phases(run, hits));
}

static bool compare(const struct filter_term *term, uint64_t value) {
    if (value == term->value)
        return term->compare == FILTER_EQUAL || term->or_equal;
    return term->compare != FILTER_EQUAL && (value < term->value) == (term->compare == FILTER_LESS);
}

/* From allocation (or the first event) to free; one that is never freed outlives all figures. */
static bool lives(const struct run *run, const struct filter_term *term,
                  const struct timeline_block *b) {
    const struct timeline *tl = run->tl;
    if (b->free_event >= tl->events.count)
        return !b->pending_at_start && term->compare == FILTER_MORE;
    uint32_t from = b->alloc_event < tl->events.count ? b->alloc_event : 0;
    if (from > b->free_event)
        return false;
    if (term->kind == FILTER_LIFE_EVENTS)
        return compare(term, b->free_event - from);
    uint64_t a = tl->events.at[from].time_ns, z = tl->events.at[b->free_event].time_ns;
    return compare(term, z > a ? z - a : 0);
}

static bool passes(const struct run *run, size_t index, const struct timeline_block *b) {
    const struct timeline *tl = run->tl;
    const struct filter_term *term = &run->filter->terms.at[index];
    const struct hits *hits = &run->hits[index];
    switch (term->kind) {
    case FILTER_SIZE:
        return compare(term, b->block_bytes);
    case FILTER_LIFE_TIME:
    case FILTER_LIFE_EVENTS:
        return lives(run, term, b);
    case FILTER_CATEGORY:
        return (term->value >> (b->category < CATEGORY_COUNT ? b->category : CATEGORY_UNKNOWN) &
                1) != 0;
    case FILTER_STREAM:
        return b->stream == term->value;
    case FILTER_DEVICE:
        return b->device == term->value;
    case FILTER_DTYPE:
        return b->dtype == term->value;
    case FILTER_ALIVE:
        return true;
    case FILTER_FREED:
        return b->free_event != TIMELINE_NONE;
    case FILTER_NEVER:
        return b->free_event == TIMELINE_NONE && !b->pending_at_start;
    case FILTER_BEFORE:
        return b->alloc_event == TIMELINE_NONE;
    case FILTER_MODULE:
        return string_hit(run, hits, b->owner);
    case FILTER_OP:
        return string_hit(run, hits, b->op);
    case FILTER_NAME:
        return string_hit(run, hits, b->name);
    case FILTER_STACK:
        return bit(hits->stacks, tl->stacks.count, b->stack);
    case FILTER_PHASE:
        return bit(hits->phases, tl->phases.count, b->phase);
    case FILTER_ANY:
        return string_hit(run, hits, b->owner) || string_hit(run, hits, b->op) ||
               string_hit(run, hits, b->name) || bit(hits->stacks, tl->stacks.count, b->stack) ||
               bit(hits->phases, tl->phases.count, b->phase);
    }
    return false;
}

static void find_blocks(const struct run *run, uint64_t *bits) {
    size_t terms = run->filter->terms.count, count = run->tl->blocks.count;
    memset(bits, 0, (count / 64 + 1) * sizeof *bits);
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < terms &&
               passes(run, k, &run->tl->blocks.at[i]) != run->filter->terms.at[k].negated)
            k++;
        if (k == terms)
            set(bits, i);
    }
}

static bool check_time(const struct filter *filter, const struct timeline *tl, struct error *err) {
    for (size_t i = 0; i < filter->terms.count; i++)
        if (filter->terms.at[i].kind == FILTER_LIFE_TIME && !(tl->has & TIMELINE_HAS_TIME))
            return error_set(err, ERROR_USAGE,
                             "life: this timeline has no times; a count of events is expected, "
                             "as life>100");
    return true;
}

bool filter_run(const struct filter *filter, const struct timeline *tl, uint64_t *bits,
                struct error *err) {
    size_t terms = filter->terms.count;
    struct run run = {tl, filter, xcalloc(terms + 1, sizeof *run.hits)};
    if (!run.hits)
        return error_host_memory(err);
    bool good = check_time(filter, tl, err), found = true;
    for (size_t i = 0; i < terms && good && found; i++)
        found = find_hits(&run, &filter->terms.at[i], &run.hits[i]);
    if (good && found)
        find_blocks(&run, bits);
    for (size_t i = 0; i < terms; i++) {
        xfree(run.hits[i].strings);
        xfree(run.hits[i].stacks);
        xfree(run.hits[i].phases);
    }
    xfree(run.hits);
    return good && (found || error_host_memory(err));
}

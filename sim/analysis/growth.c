/* growth.c: see growth.h. */
#include "growth.h"

#include <string.h>

#include "counters.h"
#include "error.h"
#include "frames.h"
#include "liveness.h"
#include "peak.h"
#include "sort.h"
#include "text.h"
#include "timeline.h"

/* Rows by their key, while they are gathered. */
struct table {
    struct strtab keys; /* phase and place; the id is the row's index + 1 */
    struct growth_rows *rows;
};

struct gathering {
    struct growth *out;
    struct table phases, at_peaks, asked;
    ARRAY(uint32_t) phase_names; /* of the side at hand, by phase */
};

static struct growth_value *value_of(struct table *t, uint32_t phase, uint32_t place) {
    const uint32_t key[2] = {phase, place};
    uint32_t id;
    if (!strtab_add(&t->keys, (const char *)key, sizeof key, &id))
        return NULL;
    const struct growth_row row = {.phase = phase, .place = place};
    if (id > t->rows->list.count && !array_push(&t->rows->list, row))
        return NULL;
    return &t->rows->list.at[id - 1].value;
}

/* --- names --- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Numbers between two dots become "*": "layers.*.fc". One that ends a path stays: the modules of a
 * Sequential are different ones. Of a phase those behind a blank: "step *", "ProfilerStep#*". */
static bool is_counted(char before, char after) {
    if (before == ' ' || before == '#')
        return after == '\0' || after == ' ';
    return before == '.' && after == '.';
}

static void fold(const char *name, struct text *out) {
    char before = '/';
    while (*name) {
        size_t n = 0;
        while (is_digit(name[n]))
            n++;
        if (n > 0 && is_counted(before, name[n]))
            text_add(out, "*");
        else
            text_add_bytes(out, name, n > 0 ? n : (n = 1));
        before = name[n - 1];
        name += n;
    }
}

/* In the result's strings. False: host memory. */
static bool intern_folded(struct growth *g, const char *name, uint32_t *id) {
    struct text text = {0};
    fold(name, &text);
    bool ok = !text.failed && strtab_add(&g->strings, text_get(&text), text.length, id);
    text_fini(&text);
    return ok;
}

static bool is_step(const char *name) {
    return strcmp(name, "step *") == 0 || strcmp(name, "ProfilerStep#*") == 0;
}

/* Adds the phase to the path of those around it, "" where there are none. */
static void add_phase(const char *name, struct text *path) {
    struct text folded = {0};
    fold(name, &folded);
    if (is_step(text_get(path))) /* within a step, the step goes */
        path->length = 0;
    bool is_inner = path->length > 0 && strncmp(name, "Optimizer.", 10) == 0;
    if (!is_inner)
        text_format(path, "%s%s", path->length > 0 ? "/" : "", text_get(&folded));
    path->failed = path->failed || folded.failed;
    text_fini(&folded);
}

/* The phase that is at most so many deep, for those that nest without end. */
static void make_path(const struct timeline *tl, uint32_t phase, struct text *path) {
    enum { DEEPEST = 32 };
    uint32_t chain[DEEPEST];
    size_t depth = 0;
    for (; phase != TIMELINE_NONE && depth < DEEPEST; phase = tl->phases.at[phase].parent)
        chain[depth++] = phase;
    while (depth > 0)
        add_phase(timeline_text(tl, tl->phases.at[chain[--depth]].name), path);
}

static bool name_phases(struct gathering *g, const struct timeline *tl) {
    array_clear(&g->phase_names);
    for (uint32_t i = 0; i < tl->phases.count; i++) {
        struct text path = {0};
        uint32_t id;
        make_path(tl, i, &path);
        bool ok = !path.failed && strtab_add(&g->out->strings, text_get(&path), path.length, &id) &&
                  array_push(&g->phase_names, id);
        text_fini(&path);
        if (!ok)
            return false;
    }
    return true;
}

static uint32_t phase_name(const struct gathering *g, uint32_t phase) {
    return phase == TIMELINE_NONE ? 0 : g->phase_names.at[phase];
}

/* Without the line, which moves. */
static bool frame_place(struct growth *g, const struct timeline *tl, const struct timeline_block *b,
                        uint32_t *id) {
    const struct timeline_frame *frame = b->stack ? frames_best(tl, b->stack) : NULL;
    if (!frame)
        return strtab_add(&g->strings, "", 0, id);
    struct text text = {0};
    text_format(&text, "%s (%s)", timeline_text(tl, frame->function),
                timeline_text(tl, frame->file));
    bool ok = !text.failed && strtab_add(&g->strings, text_get(&text), text.length, id);
    text_fini(&text);
    return ok;
}

static bool place_of(struct growth *g, const struct timeline *tl, const struct timeline_block *b,
                     uint32_t *id) {
    switch (g->place) {
    case GROWTH_BY_MODULE:
        return intern_folded(g, timeline_text(tl, b->owner ? b->owner : b->op), id);
    case GROWTH_BY_FRAME:
        return frame_place(g, tl, b, id);
    case GROWTH_BY_OP:
        return intern_folded(g, timeline_text(tl, b->op), id);
    case GROWTH_BY_NOTHING:
        *id = 0;
        return true;
    }
    return false;
}

static bool has_ops(const struct timeline *tl) {
    for (size_t i = 0; i < tl->blocks.count; i++)
        if (tl->blocks.at[i].op)
            return true;
    return false;
}

static enum growth_place choose(const struct timeline *const sides[GROWTH_SIDES]) {
    uint32_t has = sides[0]->has & sides[1]->has;
    if (has & TIMELINE_HAS_OWNER)
        return GROWTH_BY_MODULE;
    if (has & TIMELINE_HAS_STACK)
        return GROWTH_BY_FRAME;
    return has_ops(sides[0]) && has_ops(sides[1]) ? GROWTH_BY_OP : GROWTH_BY_NOTHING;
}

/* --- the walks --- */

static void add(struct growth_value *value, unsigned side, uint64_t bytes) {
    value->bytes[side] += bytes;
    value->count[side]++;
}

static bool gather_blocks(struct gathering *g, const struct timeline *tl, uint8_t device,
                          unsigned side) {
    struct peaks peaks;
    peak_find(tl, device, &peaks);
    for (uint32_t i = 0; i < tl->blocks.count; i++) {
        const struct timeline_block *b = &tl->blocks.at[i];
        uint32_t place;
        if (b->device != device)
            continue;
        if (!place_of(g->out, tl, b, &place))
            return false;
        if (block_is_live(b, peaks.allocated.event)) {
            struct growth_value *at_peak = value_of(&g->at_peaks, 0, place);
            if (!at_peak)
                return false;
            add(at_peak, side, b->block_bytes);
        }
        if (b->alloc_event == TIMELINE_NONE)
            continue;
        struct growth_value *asked = value_of(&g->asked, phase_name(g, b->phase), place);
        if (!asked)
            return false;
        add(asked, side, b->requested_bytes);
    }
    return true;
}

static bool see_phase(struct gathering *g, uint32_t phase, unsigned side, uint64_t allocated,
                      bool is_request) {
    struct growth_value *value = value_of(&g->phases, phase_name(g, phase), 0);
    if (!value)
        return false;
    if (allocated > value->bytes[side])
        value->bytes[side] = allocated;
    value->count[side] += is_request;
    return true;
}

/* Phases nest, so the innermost open one is the last that began and has not ended. */
static bool gather_phases(struct gathering *g, const struct timeline *tl, uint8_t device,
                          unsigned side) {
    struct counters c;
    uint32_t phase = TIMELINE_NONE;
    counters_start(tl, device, &c);
    for (uint32_t i = 0; i < tl->events.count; i++) {
        const struct timeline_event *e = &tl->events.at[i];
        if (e->kind == EVENT_PHASE_BEGIN && e->device == device)
            phase = e->ref;
        else if (e->kind == EVENT_PHASE_END && e->device == device && e->ref == phase)
            phase = tl->phases.at[phase].parent;
        if (e->device != device || e->kind > EVENT_FREE_COMPLETED)
            continue;
        counters_apply(tl, device, i, &c);
        if (e->kind == EVENT_ALLOC && !see_phase(g, phase, side, c.allocated, true))
            return false;
    }
    return true;
}

/* --- order --- */

static uint64_t difference(const struct growth_value *v) {
    return v->bytes[0] > v->bytes[1] ? v->bytes[0] - v->bytes[1] : v->bytes[1] - v->bytes[0];
}

static int by_difference(const void *x, const void *y, const void *user) {
    const struct growth_row *a = x, *b = y;
    const struct strtab *strings = user;
    uint64_t d = difference(&a->value), e = difference(&b->value);
    if (d != e)
        return d > e ? -1 : 1;
    uint64_t most = a->value.bytes[0], other = b->value.bytes[0];
    if (most != other)
        return most > other ? -1 : 1;
    int order = strcmp(strtab_text(strings, a->phase), strtab_text(strings, b->phase));
    return order ? order : strcmp(strtab_text(strings, a->place), strtab_text(strings, b->place));
}

static void sort(struct growth *g, struct growth_rows *rows) {
    sort_items(rows->list.at, rows->list.count, sizeof *rows->list.at, by_difference, &g->strings);
}

static bool init_table(struct table *t, struct growth_rows *rows) {
    t->rows = rows;
    return strtab_init(&t->keys);
}

static bool gather(const struct timeline *const sides[GROWTH_SIDES], uint8_t device,
                   struct gathering *g) {
    if (!strtab_init(&g->out->strings) || !init_table(&g->phases, &g->out->phases) ||
        !init_table(&g->at_peaks, &g->out->at_peaks) || !init_table(&g->asked, &g->out->asked))
        return false;
    for (unsigned i = 0; i < GROWTH_SIDES; i++)
        if (!name_phases(g, sides[i]) || !gather_blocks(g, sides[i], device, i) ||
            !gather_phases(g, sides[i], device, i))
            return false;
    return true;
}

bool growth_find(const struct timeline *const sides[GROWTH_SIDES], uint8_t device,
                 struct growth *out, struct error *err) {
    memset(out, 0, sizeof *out);
    struct gathering g = {.out = out};
    out->place = choose(sides);
    bool ok = gather(sides, device, &g);
    strtab_fini(&g.phases.keys);
    strtab_fini(&g.at_peaks.keys);
    strtab_fini(&g.asked.keys);
    array_fini(&g.phase_names);
    if (!ok)
        return error_host_memory(err);
    sort(out, &out->phases);
    sort(out, &out->at_peaks);
    sort(out, &out->asked);
    return true;
}

void growth_fini(struct growth *growth) {
    array_fini(&growth->phases.list);
    array_fini(&growth->at_peaks.list);
    array_fini(&growth->asked.list);
    strtab_fini(&growth->strings);
}

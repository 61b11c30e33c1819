/* divergence.c: see divergence.h. */
#include "divergence.h"

#include <string.h>

#include "frames.h"
#include "text.h"
#include "timeline.h"

/* Is the block of this free freed in the other side's gap too? Gaps are short: a search will do. */
static bool is_freed_in(const struct alignment_side *other, uint32_t item, uint32_t partner) {
    uint32_t begin, end;
    alignment_gap(other, item, &begin, &end);
    for (uint32_t i = alignment_next_free(other, begin, end); i < end;
         i = alignment_next_free(other, i + 1, end))
        if (other->item_of_block[other->tl->events.at[i].ref] == partner)
            return true;
    return false;
}

static void note_free(const struct alignment_side *side, uint32_t item, uint32_t event,
                      struct divergence_frees *out) {
    if (out->count < DIVERGENCE_LIST) {
        out->request[out->count] = side->items.at[item].request;
        out->event[out->count] = event;
    }
    out->count++;
}

/* Is a real item freed in the simulated gap? Partners are known from simulated to real only. */
static bool is_freed_in_simulated(const struct comparison *c, uint32_t item, uint32_t real) {
    const struct alignment_side *side = &c->simulated;
    uint32_t begin, end;
    alignment_gap(side, item, &begin, &end);
    for (uint32_t i = alignment_next_free(side, begin, end); i < end;
         i = alignment_next_free(side, i + 1, end))
        if (c->alignment.partner[side->item_of_block[side->tl->events.at[i].ref]] == real)
            return true;
    return false;
}

static void find_frees(const struct comparison *c, struct divergence *out) {
    uint32_t begin, end;
    alignment_gap(&c->simulated, out->simulated, &begin, &end);
    for (uint32_t i = alignment_next_free(&c->simulated, begin, end); i < end;
         i = alignment_next_free(&c->simulated, i + 1, end)) {
        uint32_t item = c->simulated.item_of_block[c->simulated.tl->events.at[i].ref];
        uint32_t partner = c->alignment.partner[item];
        if (partner == ALIGNMENT_NONE || !is_freed_in(&c->real, out->real, partner))
            note_free(&c->simulated, item, i, &out->only_simulated);
    }
    alignment_gap(&c->real, out->real, &begin, &end);
    for (uint32_t i = alignment_next_free(&c->real, begin, end); i < end;
         i = alignment_next_free(&c->real, i + 1, end)) {
        uint32_t item = c->real.item_of_block[c->real.tl->events.at[i].ref];
        if (!is_freed_in_simulated(c, out->simulated, item))
            note_free(&c->real, item, i, &out->only_real);
    }
    out->older_real = alignment_older_frees(&c->real, begin, end);
    alignment_gap(&c->simulated, out->simulated, &begin, &end);
    out->older_simulated = alignment_older_frees(&c->simulated, begin, end);
}

static void find_answer(const struct comparison *c, struct divergence *out) {
    uint32_t a, a_end, b, b_end;
    alignment_gap(&c->simulated, out->simulated, &a, &a_end);
    alignment_gap(&c->real, out->real, &b, &b_end);
    for (;; a++, b++) {
        a = alignment_next_answer(&c->simulated, a, a_end);
        b = alignment_next_answer(&c->real, b, b_end);
        if (a == a_end || b == b_end)
            break;
        const struct timeline_event *x = &c->simulated.tl->events.at[a],
                                    *y = &c->real.tl->events.at[b];
        if (x->kind != y->kind || x->bytes != y->bytes)
            break;
    }
    out->answer_simulated = a < a_end ? a : TIMELINE_NONE;
    out->answer_real = b < b_end ? b : TIMELINE_NONE;
}

void divergence_find(const struct comparison *c, struct divergence *out) {
    memset(out, 0, sizeof *out);
    out->kind = c->alignment.first;
    out->simulated = c->alignment.first_simulated;
    out->real = c->alignment.first_real;
    out->answer_simulated = out->answer_real = TIMELINE_NONE;
    if (out->kind == ALIGNMENT_FREE_SET_DIFFERS)
        find_frees(c, out);
    if (out->kind == ALIGNMENT_SEGMENT_DIFFERS)
        find_answer(c, out);
}

static uint32_t stack_of(const struct alignment_side *side, uint32_t item) {
    if (item >= side->items.count || side->items.at[item].block == ALIGNMENT_NONE)
        return 0;
    return side->tl->blocks.at[side->items.at[item].block].stack;
}

uint32_t divergence_frame_count(const struct alignment_side *side, uint32_t item) {
    return frames_useful_count(side->tl, stack_of(side, item));
}

bool divergence_frame(const struct alignment_side *side, uint32_t item, uint32_t index,
                      struct text *out) {
    const struct timeline_frame *f = frames_useful(side->tl, stack_of(side, item), index);
    if (!f)
        return false;
    text_format(out, "%s:%u in %s", timeline_text(side->tl, f->file), f->line,
                timeline_text(side->tl, f->function));
    return true;
}

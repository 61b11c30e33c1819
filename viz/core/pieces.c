/* pieces.c: see pieces.h. */
#include "pieces.h"

#include "category.h"
#include "column.h"
#include "layout.h"
#include "plot.h"
#include "streams.h"
#include "timeline.h"
#include "track.h"
#include "view.h"

struct stack {
    const struct plot_frame *frame;
    struct pieces *out;
    double bytes_per_pixel;
    double bottom; /* bytes below the next piece */
};

static int clamp(const struct plot_frame *frame, int y) {
    const struct rect *r = frame->rect;
    return y < r->y ? r->y : y > r->y + r->h ? r->y + r->h : y;
}

/* Edges are sums in bytes turned into pixels one by one, as those of the groups are. */
static bool add(struct stack *s, double bytes, uint32_t block, int group) {
    double bottom = s->bottom, top = s->bottom = bottom + bytes;
    if (bytes <= 0 || top <= s->frame->view->y0 || bottom >= s->frame->view->y1)
        return true;
    struct piece piece = {clamp(s->frame, plot_y(s->frame, top)),
                          clamp(s->frame, plot_y(s->frame, bottom)), block, (uint8_t)group, false};
    return piece.top >= piece.bottom || array_push(&s->out->list, piece);
}

static bool add_group(struct stack *s, const struct streams_cursor *live, int group,
                      uint64_t bytes) {
    double end = s->bottom + (double)bytes;
    size_t below = s->out->list.count;
    for (size_t i = 0; i < live->groups[group].list.count; i++) {
        const struct streams_block *block = &live->groups[group].list.at[i];
        double size = (double)block->bytes;
        if (size < s->bytes_per_pixel || s->bottom + size > end) /* the latter: a lying input */
            continue;
        if (!add(s, size, block->block, group))
            return false;
    }
    if (!add(s, end - s->bottom, TIMELINE_NONE, group))
        return false;
    if (s->out->list.count > below)
        array_last(&s->out->list)->ends = true;
    return true;
}

bool pieces_read(struct streams_cursor *cursor, const struct plot_frame *frame,
                 const struct column *column, struct pieces *out) {
    const struct view *view = frame->view;
    struct stack s = {frame, out, (view->y1 - view->y0) / frame->rect->h, 0};
    array_clear(&out->list);
    if (!streams_seek(cursor, streams_tier_of(cursor->streams, s.bytes_per_pixel), column->arg))
        return false;
    bool added = add(&s, (double)frame->track->context_bytes, TIMELINE_NONE, CATEGORY_OUTSIDE);
    for (int g = 0; added && g < LOD_GROUPS; g++)
        added = add_group(&s, cursor, g, column->group[g]);
    if (!added)
        array_clear(&out->list);
    return added;
}

const struct piece *pieces_at(const struct pieces *pieces, int y) {
    for (size_t i = 0; i < pieces->list.count; i++)
        if (y >= pieces->list.at[i].top && y < pieces->list.at[i].bottom)
            return &pieces->list.at[i];
    return NULL;
}

/* curve.c: see curve.h. One pass over the events; the column only ever grows, so clocks that step
 * back do no harm. */
#include "curve.h"

#include <assert.h>
#include <string.h>

#include "counters.h"
#include "error.h"
#include "timeline.h"

static void fill_column(const struct counters *c, uint32_t event, struct curve_column *col) {
    col->allocated = c->allocated;
    col->active = c->active;
    col->reserved = c->reserved;
    memcpy(col->by_category, c->by_category, sizeof col->by_category);
    col->top_event = event;
}

static void raise_column(const struct counters *c, uint32_t event, struct curve_column *col) {
    if (c->allocated > col->allocated)
        col->allocated = c->allocated;
    if (c->reserved > col->reserved)
        col->reserved = c->reserved;
    if (c->active > col->active) {
        col->active = c->active;
        memcpy(col->by_category, c->by_category, sizeof col->by_category);
        col->top_event = event;
    }
}

static uint32_t place(const struct timeline *tl, const struct curve_options *o,
                      const struct curve *curve, uint32_t event) {
    uint64_t column;
    if (o->axis == CURVE_BY_EVENT) {
        uint64_t count = curve->end_event - curve->first_event;
        column = (uint64_t)(event - curve->first_event) * o->columns / count;
    } else {
        uint64_t at = tl->events.at[event].time_ns;
        double passed = at > curve->begin_ns ? (double)(at - curve->begin_ns) : 0;
        double span =
            curve->end_ns > curve->begin_ns ? (double)(curve->end_ns - curve->begin_ns) : 0;
        double scaled = passed / (span + 1) * o->columns;
        column = scaled < o->columns ? (uint64_t)scaled : o->columns - 1;
    }
    return column < o->columns ? (uint32_t)column : o->columns - 1;
}

struct filler {
    struct curve *curve;
    uint32_t column; /* under way */
    bool is_empty;   /* nothing in it yet */
    bool carries_in; /* a column counts the state it begins with */
};

/* Ends the column under way and those without events up to `column`. */
static void advance(struct filler *f, const struct counters *c, uint32_t column, uint32_t event) {
    while (f->column < column) {
        struct curve_column *col = &f->curve->columns.at[f->column];
        if (f->is_empty)
            fill_column(c, TIMELINE_NONE, col);
        col->end_event = event;
        f->column++;
        f->curve->columns.at[f->column].first_event = event;
        f->is_empty = !f->carries_in;
        if (f->carries_in)
            fill_column(c, TIMELINE_NONE, &f->curve->columns.at[f->column]);
    }
}

static void add_event(struct filler *f, const struct counters *c, uint32_t event) {
    struct curve_column *col = &f->curve->columns.at[f->column];
    if (f->is_empty)
        fill_column(c, event, col);
    else
        raise_column(c, event, col);
    f->is_empty = false;
    col->end_event = event + 1;
}

static void fill(const struct timeline *tl, const struct curve_options *o, struct curve *out) {
    struct counters c;
    counters_start(tl, o->device, &c);
    for (uint32_t i = 0; i < out->first_event; i++)
        counters_apply(tl, o->device, i, &c);
    struct filler f = {.curve = out, .is_empty = true, .carries_in = o->axis == CURVE_BY_TIME};
    out->columns.at[0].first_event = out->columns.at[0].end_event = out->first_event;
    if (f.carries_in) {
        fill_column(&c, TIMELINE_NONE, &out->columns.at[0]);
        f.is_empty = false;
    }
    for (uint32_t i = out->first_event; i < out->end_event; i++) {
        uint32_t column = place(tl, o, out, i);
        if (column > f.column)
            advance(&f, &c, column, i);
        counters_apply(tl, o->device, i, &c);
        add_event(&f, &c, i);
    }
    advance(&f, &c, o->columns - 1, out->end_event);
    if (f.is_empty)
        fill_column(&c, TIMELINE_NONE, array_last(&out->columns));
    array_last(&out->columns)->end_event = out->end_event;
}

bool curve_build(const struct timeline *tl, const struct curve_options *options, struct curve *out,
                 struct error *err) {
    assert(options->columns > 0);
    memset(out, 0, sizeof *out);
    if (!array_reserve(&out->columns, options->columns))
        return error_host_memory(err);
    memset(out->columns.at, 0, options->columns * sizeof *out->columns.at);
    out->columns.count = options->columns;
    uint32_t count = (uint32_t)tl->events.count;
    out->end_event =
        options->end_event == 0 || options->end_event > count ? count : options->end_event;
    out->first_event =
        options->first_event < out->end_event ? options->first_event : out->end_event;
    if (out->first_event < out->end_event) {
        out->begin_ns = tl->events.at[out->first_event].time_ns;
        out->end_ns = tl->events.at[out->end_event - 1].time_ns;
    }
    fill(tl, options, out);
    return true;
}

void curve_fini(struct curve *curve) {
    array_fini(&curve->columns);
}

uint32_t curve_column_of(const struct curve *curve, uint32_t event) {
    uint32_t low = 0, high = (uint32_t)curve->columns.count;
    while (high - low > 1) { /* the last column that begins at or before the event */
        uint32_t middle = low + (high - low) / 2;
        if (curve->columns.at[middle].first_event <= event)
            low = middle;
        else
            high = middle;
    }
    return low;
}

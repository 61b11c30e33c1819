/* report_csv.c: one row an event. The numbers are written by hand: a row is a few hundred
 * nanoseconds, and a run may have millions. */
#include <string.h>

#include "counters.h"
#include "csv_field.h"
#include "error.h"
#include "phases.h"
#include "report.h"
#include "text.h"
#include "timeline.h"

static const struct timeline_block *block_of(const struct timeline *tl,
                                             const struct timeline_event *e) {
    bool has_block = e->kind <= EVENT_FREE_COMPLETED || e->kind == EVENT_STREAM_USE;
    return has_block ? &tl->blocks.at[e->ref] : NULL;
}

static void write_row(const struct timeline *tl, uint32_t index, const struct counters *c,
                      const struct text *phase, struct text *out) {
    const struct timeline_event *e = &tl->events.at[index];
    const struct timeline_block *b = block_of(tl, e);
    text_number(out, index);
    text_add(out, ",");
    text_number(out, e->time_ns);
    text_add(out, ",");
    text_add(out, event_kind_name((enum event_kind)e->kind));
    const uint64_t numbers[] = {e->bytes, c->allocated, c->active, c->reserved};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        text_add(out, ",");
        text_number(out, numbers[i]);
    }
    text_add(out, ",");
    text_add(out, b ? category_key((enum category)b->category) : "");
    text_add(out, ",");
    csv_field(out, b ? timeline_text(tl, b->op) : "");
    text_add(out, ",");
    csv_field(out, b ? timeline_text(tl, b->owner) : "");
    text_add(out, ",");
    csv_field(out, text_get(phase));
    text_add(out, "\n");
}

/* Follows the phases along the events, so that each row's phase is known without a search. */
static void follow_phase(const struct timeline *tl, uint32_t event, struct text *path) {
    const struct timeline_event *e = &tl->events.at[event];
    if (e->kind != EVENT_PHASE_BEGIN && e->kind != EVENT_PHASE_END)
        return;
    uint32_t phase = e->kind == EVENT_PHASE_BEGIN ? e->ref : tl->phases.at[e->ref].parent;
    path->length = 0;
    text_add(path, "");
    phase_path(tl, phase, path);
}

bool report_csv(const struct timeline *tl, uint8_t device, struct text *out, struct error *err) {
    struct counters c;
    struct text phase = {0};
    counters_start(tl, device, &c);
    phase_path(tl, TIMELINE_NONE, &phase);
    text_add(out, "index,time_ns,kind,bytes,allocated,active,reserved,category,op,owner,phase\n");
    for (uint32_t i = 0; i < tl->events.count && !out->failed; i++) {
        if (tl->events.at[i].device != device)
            continue;
        counters_apply(tl, device, i, &c);
        follow_phase(tl, i, &phase);
        write_row(tl, i, &c, &phase, out);
    }
    bool ok = !out->failed && !phase.failed;
    text_fini(&phase);
    return ok || error_host_memory(err);
}

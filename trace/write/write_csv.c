/* write_csv.c: a row an event, with all that is known of its block, and the sums after it. Unknown is empty. */
#include "category.h"
#include "counters.h"
#include "csv_field.h"
#include "dtype.h"
#include "error.h"
#include "text.h"
#include "timeline.h"
#include "writer.h"

enum { DEVICES = UINT8_MAX + 1 };

static const char header[] = "event,time_ns,device,stream,kind,bytes,address,block,block_bytes,"
                             "segment,category,dtype,op,owner,name,phase,stack,"
                             "allocated,active,requested,reserved\n";

static void add_if(const struct timeline *tl, uint32_t has, uint64_t value, struct text *out) {
    text_add(out, ",");
    if (tl->has & has)
        text_number(out, value);
}

static void add_figure(const struct timeline *tl, enum timeline_figure figure, uint64_t value,
                       struct text *out) {
    text_add(out, ",");
    if (timeline_knows(tl, figure))
        text_number(out, value);
}

static void add_text(const char *s, struct text *out) {
    text_add(out, ",");
    csv_field(out, s);
}

/* "step 1/forward" */
static void add_phase(const struct timeline *tl, uint32_t phase, struct text *path) {
    uint32_t chain[64];
    size_t depth = 0;
    for (; phase != TIMELINE_NONE && depth < 64; phase = tl->phases.at[phase].parent)
        chain[depth++] = phase;
    while (depth > 0) {
        text_add(path, path->length > 0 ? "/" : "");
        text_add(path, timeline_text(tl, tl->phases.at[chain[--depth]].name));
    }
}

/* "function (file:line) < its caller ...", innermost first. */
static void add_stack(const struct timeline *tl, uint32_t stack, struct text *out) {
    const struct timeline_stack *s = &tl->stacks.at[stack];
    for (uint32_t i = 0; i < s->count; i++) {
        const struct timeline_frame *f = &tl->frames.at[s->first + i];
        text_format(out, "%s%s (%s:%u)", i > 0 ? " < " : "", timeline_text(tl, f->function),
                    timeline_text(tl, f->file), f->line);
    }
}

static void add_block(const struct timeline *tl, uint32_t index, struct text *out) {
    const struct timeline_block *b = &tl->blocks.at[index];
    struct text path = {0}, stack = {0};
    text_add(out, ",");
    text_number(out, index);
    add_if(tl, TIMELINE_HAS_BLOCK_BYTES, b->block_bytes, out);
    text_add(out, ",");
    if (b->segment != TIMELINE_NONE)
        text_number(out, b->segment);
    add_text(b->category == CATEGORY_UNKNOWN ? "" : category_key((enum category)b->category), out);
    add_text(b->dtype == DTYPE_NONE ? "" : dtype_name((enum dtype)b->dtype), out);
    add_text(timeline_text(tl, b->op), out);
    add_text(timeline_text(tl, b->owner), out);
    add_text(timeline_text(tl, b->name), out);
    add_phase(tl, b->phase, &path);
    add_text(text_get(&path), out);
    add_stack(tl, b->stack, &stack);
    add_text(text_get(&stack), out);
    out->failed = out->failed || path.failed || stack.failed;
    text_fini(&path);
    text_fini(&stack);
}

static void add_other(const struct timeline *tl, const struct timeline_event *e, struct text *out) {
    bool is_segment = e->kind >= EVENT_SEGMENT_ALLOC && e->kind <= EVENT_SEGMENT_UNMAP;
    bool is_phase = e->kind == EVENT_PHASE_BEGIN || e->kind == EVENT_PHASE_END;
    struct text path = {0};
    text_add(out, ",,,");
    if (is_segment)
        text_number(out, e->ref);
    text_add(out, ",,,,,");
    if (is_phase)
        add_phase(tl, e->ref, &path);
    add_text(text_get(&path), out);
    text_add(out, ",");
    out->failed = out->failed || path.failed;
    text_fini(&path);
}

static void add_row(const struct timeline *tl, uint32_t index, const struct counters *c,
                    struct text *out) {
    const struct timeline_event *e = &tl->events.at[index];
    text_number(out, index);
    add_if(tl, TIMELINE_HAS_TIME, e->time_ns, out);
    text_add(out, ",");
    text_number(out, e->device);
    add_if(tl, TIMELINE_HAS_STREAM, tl->streams.at[e->stream], out);
    add_text(event_kind_name((enum event_kind)e->kind), out);
    text_add(out, ",");
    text_number(out, e->bytes);
    if (e->address == TIMELINE_NO_ADDRESS)
        text_add(out, ",");
    else
        add_if(tl, TIMELINE_HAS_ADDRESS, e->address, out);
    if (e->kind <= EVENT_FREE_COMPLETED || e->kind == EVENT_STREAM_USE)
        add_block(tl, e->ref, out);
    else
        add_other(tl, e, out);
    add_figure(tl, FIGURE_ALLOCATED, c->allocated, out);
    add_figure(tl, FIGURE_ACTIVE, c->active, out);
    add_figure(tl, FIGURE_REQUESTED, c->requested, out);
    add_figure(tl, FIGURE_RESERVED, c->reserved, out);
    text_add(out, "\n");
}

static void tell_losses(const struct timeline *tl, struct text *losses) {
    size_t before = 0, segments = 0;
    for (size_t i = 0; i < tl->blocks.count; i++)
        before += tl->blocks.at[i].alloc_event == TIMELINE_NONE;
    for (size_t i = 0; i < tl->segments.count; i++)
        segments += tl->segments.at[i].alloc_event == TIMELINE_NONE;
    if (before > 0 || segments > 0)
        text_format(losses,
                    "rows of %zu blocks and %zu segments from before the first event (they are in "
                    "the sums)\n",
                    before, segments);
    if (tl->ooms.count > 0)
        text_format(losses, "what %zu out-of-memory messages said\n", tl->ooms.count);
    if (tl->devices.count > 0 && (tl->has & TIMELINE_HAS_DEVICE))
        text_add(losses, "names and sizes of the cards\n");
    if (tl->alloc_settings)
        text_add(losses, "the allocator's settings\n");
}

static bool write(const struct timeline *tl, struct text *out, struct text *losses,
                  struct error *err) {
    struct counters *c = xcalloc(DEVICES, sizeof *c);
    bool started[DEVICES] = {false};
    if (!c)
        return error_host_memory(err);
    text_add(out, header);
    for (uint32_t i = 0; i < tl->events.count; i++) {
        uint8_t device = tl->events.at[i].device;
        if (!started[device])
            counters_start(tl, device, &c[device]);
        started[device] = true;
        counters_apply(tl, device, i, &c[device]);
        add_row(tl, i, &c[device], out);
    }
    xfree(c);
    tell_losses(tl, losses);
    return !out->failed || error_host_memory(err);
}

const struct writer writer_csv = {
    .name = "csv",
    .doc = "a row an event, with its block, phase, stack and the sums after it",
    .ending = ".csv",
    .write = write,
};

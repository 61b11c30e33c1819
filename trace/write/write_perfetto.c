/* write_perfetto.c: a trace for ui.perfetto.dev (and chrome://tracing): JSON of the Trace Event Format. A device is a
 * process: counters of its memory, its phases as slices on its main thread, an instant where memory ran out.
 *
 * As Perfetto's importer wants it (src/trace_processor/importers/json, 2020 to 2025): traceEvents come first, as keys that are
 * unknown to it end the file; process and thread 0 are the idle ones, which are not shown, so numbers begin with 1; no
 * displayTimeUnit, by which times were multiplied once; times are microseconds. */
#include "counters.h"
#include "error.h"
#include "json_quote.h"
#include "text.h"
#include "timeline.h"
#include "writer.h"

enum { DEVICES = UINT8_MAX + 1 };

/* What was last written of a device. */
struct track {
    struct counters now;
    uint64_t allocated, active, reserved; /* as written last */
    bool is_there;
    uint32_t open; /* slices */
};

struct writing {
    const struct timeline *tl;
    struct text *out;
    struct track tracks[DEVICES];
    bool has_event;
};

static void begin_event(struct writing *w, const char *type, uint8_t device, uint64_t time_ns) {
    struct text *out = w->out;
    text_add(out, w->has_event ? ",\n" : "\n");
    w->has_event = true;
    text_add(out, "{\"ph\":\"");
    text_add(out, type);
    text_add(out, "\",\"pid\":");
    text_number(out, device + 1u);
    text_add(out, ",\"tid\":");
    text_number(out, device + 1u);
    text_add(out, ",\"ts\":");
    text_number(out, time_ns / 1000);
    text_format(out, ".%03u", (unsigned)(time_ns % 1000));
}

/* Without a clock an event takes a microsecond. */
static uint64_t time_of(const struct timeline *tl, uint32_t event) {
    return tl->has & TIMELINE_HAS_TIME ? tl->events.at[event].time_ns : event * UINT64_C(1000);
}

static void add_counter(struct writing *w, uint8_t device, uint64_t time_ns, const char *name,
                        uint64_t value) {
    begin_event(w, "C", device, time_ns);
    text_add(w->out, ",\"name\":\"");
    text_add(w->out, name);
    text_add(w->out, "\",\"args\":{\"bytes\":");
    text_number(w->out, value);
    text_add(w->out, "}}");
}

static void add_counters(struct writing *w, uint8_t device, uint64_t time_ns, bool all) {
    struct track *t = &w->tracks[device];
    if (w->tl->has & TIMELINE_HAS_BLOCK_BYTES) {
        if (all || t->allocated != t->now.allocated)
            add_counter(w, device, time_ns, "allocated", t->now.allocated);
        if ((all || t->active != t->now.active) && timeline_knows(w->tl, FIGURE_ACTIVE))
            add_counter(w, device, time_ns, "active", t->now.active);
    }
    if ((w->tl->has & TIMELINE_HAS_SEGMENTS) && (all || t->reserved != t->now.reserved))
        add_counter(w, device, time_ns,
                    timeline_knows(w->tl, FIGURE_DEVICE_USE) ? "used" : "reserved",
                    t->now.reserved);
    t->allocated = t->now.allocated;
    t->active = t->now.active;
    t->reserved = t->now.reserved;
}

static void start_track(struct writing *w, uint8_t device, uint64_t time_ns) {
    const struct timeline *tl = w->tl;
    const char *card =
        device < tl->devices.count ? timeline_text(tl, tl->devices.at[device].name) : "";
    struct text name = {0};
    text_format(&name, "device %u%s%s", device, *card ? ": " : "", card);
    begin_event(w, "M", device, time_ns);
    text_add(w->out, ",\"name\":\"process_name\",\"args\":{\"name\":");
    json_quote(w->out, text_get(&name));
    text_add(w->out, "}}");
    w->out->failed = w->out->failed || name.failed;
    text_fini(&name);
    counters_start(tl, device, &w->tracks[device].now);
    w->tracks[device].is_there = true;
    add_counters(w, device, time_ns, true);
}

static void add_phase(struct writing *w, const struct timeline_event *e, uint64_t time_ns) {
    struct track *t = &w->tracks[e->device];
    if (e->kind == EVENT_PHASE_END && t->open == 0)
        return;
    begin_event(w, e->kind == EVENT_PHASE_BEGIN ? "B" : "E", e->device, time_ns);
    text_add(w->out, ",\"name\":");
    json_quote(w->out, timeline_text(w->tl, w->tl->phases.at[e->ref].name));
    text_add(w->out, "}");
    if (e->kind == EVENT_PHASE_BEGIN)
        t->open++;
    else
        t->open--;
}

static void add_oom(struct writing *w, const struct timeline_event *e, uint64_t time_ns) {
    const struct timeline_oom *o = &w->tl->ooms.at[e->ref];
    begin_event(w, "i", e->device, time_ns);
    text_add(w->out, ",\"s\":\"p\",\"name\":\"out of memory\",\"args\":{\"requested\":");
    text_number(w->out, o->requested_bytes > 0 ? o->requested_bytes : o->rounded_bytes);
    const struct {
        const char *key;
        uint32_t text;
    } texts[] = {{"op", o->op}, {"owner", o->owner}, {"message", o->message}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].text) {
            text_format(w->out, ",\"%s\":", texts[i].key);
            json_quote(w->out, timeline_text(w->tl, texts[i].text));
        }
    text_add(w->out, "}}");
}

static void add_event(struct writing *w, uint32_t index) {
    const struct timeline_event *e = &w->tl->events.at[index];
    uint64_t time_ns = time_of(w->tl, index);
    if (!w->tracks[e->device].is_there)
        start_track(w, e->device, time_ns);
    counters_apply(w->tl, e->device, index, &w->tracks[e->device].now);
    if (e->kind == EVENT_PHASE_BEGIN || e->kind == EVENT_PHASE_END)
        add_phase(w, e, time_ns);
    else if (e->kind == EVENT_OOM)
        add_oom(w, e, time_ns);
    else
        add_counters(w, e->device, time_ns, false);
}

/* Slices that are open at the end last until then. */
static void close_slices(struct writing *w) {
    uint32_t last = (uint32_t)w->tl->events.count - 1;
    for (unsigned d = 0; d < DEVICES && w->tl->events.count > 0; d++)
        for (; w->tracks[d].open > 0; w->tracks[d].open--) {
            begin_event(w, "E", (uint8_t)d, time_of(w->tl, last));
            text_add(w->out, "}");
        }
}

static void tell_losses(const struct timeline *tl, struct text *losses) {
    text_format(losses, "%zu blocks, their addresses, owners and stacks (only sums are written)\n",
                tl->blocks.count);
    if (tl->segments.count > 0)
        text_format(losses, "%zu segments (only their sum is written)\n", tl->segments.count);
    if (!(tl->has & TIMELINE_HAS_TIME))
        text_add(losses, "that no clock is known (an event takes a microsecond)\n");
}

static bool write(const struct timeline *tl, struct text *out, struct text *losses,
                  struct error *err) {
    struct writing *w = xcalloc(1, sizeof *w);
    if (!w)
        return error_host_memory(err);
    w->tl = tl;
    w->out = out;
    text_add(out, "{\"traceEvents\":[");
    for (uint32_t i = 0; i < tl->events.count; i++)
        add_event(w, i);
    close_slices(w);
    text_add(out, "\n],\"otherData\":{\"source\":");
    json_quote(out, timeline_text(tl, tl->source_kind));
    text_add(out, "}}\n");
    xfree(w);
    tell_losses(tl, losses);
    return !out->failed || error_host_memory(err);
}

const struct writer writer_perfetto = {
    .name = "perfetto",
    .doc = "for ui.perfetto.dev: counters, phases, out-of-memory",
    .ending = ".perfetto",
    .write = write,
};

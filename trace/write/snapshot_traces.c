/* snapshot_traces.c: the events, a list a device, and the phases; see snapshot_out.h.
 *
 * Phases are placed among the events by their times alone: before the first that is not earlier. So the clock that goes
 * out stands still or goes on where a phase begins or ends, as far as it must. */
#include "category.h"
#include "error.h"
#include "snapshot_out.h"
#include "text.h"
#include "timeline.h"

static bool is_phase(const struct timeline_event *e) {
    return e->kind == EVENT_PHASE_BEGIN || e->kind == EVENT_PHASE_END;
}

/* Microseconds that put every phase where it was. */
static bool find_times(struct snapshot_out *s) {
    const struct timeline *tl = s->tl;
    bool has_time = tl->has & TIMELINE_HAS_TIME, was_entry = false;
    uint64_t now = 0;
    s->has_times = has_time || tl->phases.count > 0;
    if (!array_reserve(&s->times_us, tl->events.count + 1))
        return false;
    for (uint32_t i = 0; i < tl->events.count; i++) {
        uint64_t time_ns = tl->events.at[i].time_ns, time = has_time ? time_ns / 1000 : i;
        uint64_t least = was_entry && is_phase(&tl->events.at[i]) ? now + 1 : now;
        s->losses.cut_times = s->losses.cut_times || (has_time && time_ns % 1000 != 0);
        if (least > time && least - time > s->losses.moved_us)
            s->losses.moved_us = least - time;
        now = least > time ? least : time;
        was_entry = !is_phase(&tl->events.at[i]);
        s->times_us.at[s->times_us.count++] = now;
    }
    return true;
}

/* --- entries --- */

static bool block_entry(struct snapshot_out *s, const struct timeline_event *e) {
    const struct timeline_block *b = &s->tl->blocks.at[e->ref];
    const uint64_t plain[2] = {0, 0};
    snapshot_number(s, WORD_addr, e->address);
    snapshot_number(s, WORD_size, e->bytes);
    snapshot_pair(s, WORD_pool_id,
                  b->segment == TIMELINE_NONE ? plain : s->tl->segments.at[b->segment].pool_id);
    if (e->kind != EVENT_ALLOC)
        return snapshot_stack(s, 0);
    if (b->category != CATEGORY_UNKNOWN) {
        snapshot_word(s, WORD_category);
        pickle_out_text(&s->p, category_key((enum category)b->category));
    }
    return snapshot_block_stack(s, b);
}

static bool segment_entry(struct snapshot_out *s, const struct timeline_event *e) {
    const struct timeline_segment *at = &s->tl->segments.at[e->ref];
    bool is_taken = e->kind == EVENT_SEGMENT_ALLOC || e->kind == EVENT_SEGMENT_MAP;
    snapshot_number(s, WORD_addr, e->address);
    snapshot_number(s, WORD_size, e->bytes);
    snapshot_pair(s, WORD_pool_id, at->pool_id);
    return snapshot_stack(s, is_taken ? at->stack : 0);
}

static bool oom_entry(struct snapshot_out *s, const struct timeline_event *e) {
    const struct timeline_oom *o = &s->tl->ooms.at[e->ref];
    snapshot_number(s, WORD_device_free, o->device_free_bytes);
    snapshot_number(s, WORD_size, e->bytes);
    return snapshot_stack(s, 0);
}

static bool entry(struct snapshot_out *s, uint32_t index) {
    const struct timeline_event *e = &s->tl->events.at[index];
    bool is_segment = e->kind >= EVENT_SEGMENT_ALLOC && e->kind <= EVENT_SEGMENT_UNMAP, ok = true;
    pickle_out_dict(&s->p);
    snapshot_word(s, WORD_action);
    pickle_out_text(&s->p, event_kind_name((enum event_kind)e->kind));
    if (e->kind <= EVENT_FREE_COMPLETED)
        ok = block_entry(s, e);
    else if (is_segment)
        ok = segment_entry(s, e);
    else if (e->kind == EVENT_OOM)
        ok = oom_entry(s, e);
    else {
        snapshot_number(s, WORD_addr, 0);
        snapshot_number(s, WORD_size, e->bytes);
    }
    snapshot_number(s, WORD_stream, s->tl->streams.at[e->stream]);
    if (s->has_times)
        snapshot_number(s, WORD_time_us, s->times_us.at[index]);
    pickle_out_end_dict(&s->p);
    return ok;
}

/* Is the event one that a snapshot has a word for? */
static bool is_entry(struct snapshot_out *s, const struct timeline_event *e) {
    switch ((enum event_kind)e->kind) {
    case EVENT_ALLOC:
    case EVENT_FREE_REQUESTED:
    case EVENT_FREE_COMPLETED:
    case EVENT_SEGMENT_ALLOC:
    case EVENT_SEGMENT_FREE:
    case EVENT_SEGMENT_MAP:
    case EVENT_SEGMENT_UNMAP:
    case EVENT_OOM:
    case EVENT_SNAPSHOT:
        return true;
    case EVENT_STREAM_USE:
        s->losses.stream_uses++;
        return false;
    case EVENT_EMPTY_CACHE:
        s->losses.empty_caches++;
        return false;
    case EVENT_OTHER:
        s->losses.others++;
        return false;
    case EVENT_PHASE_BEGIN:
    case EVENT_PHASE_END:
    case EVENT_KIND_COUNT:
        break;
    }
    return false;
}

static bool device_trace(struct snapshot_out *s, unsigned device) {
    uint32_t items = 0;
    pickle_out_list(&s->p);
    for (uint32_t i = 0; i < s->tl->events.count; i++) {
        const struct timeline_event *e = &s->tl->events.at[i];
        if (e->device != device || !is_entry(s, e))
            continue;
        pickle_out_item(&s->p, &items);
        if (!entry(s, i))
            return false;
    }
    pickle_out_end_list(&s->p, items);
    return true;
}

static bool traces(struct snapshot_out *s) {
    unsigned devices = 1;
    uint32_t items = 0;
    for (size_t i = 0; i < s->tl->events.count; i++)
        if (s->tl->events.at[i].device >= devices)
            devices = s->tl->events.at[i].device + 1u;
    snapshot_word(s, WORD_device_traces);
    pickle_out_list(&s->p);
    for (unsigned d = 0; d < devices; d++) {
        pickle_out_item(&s->p, &items);
        if (!device_trace(s, d))
            return false;
    }
    pickle_out_end_list(&s->p, items);
    return true;
}

static void annotations(struct snapshot_out *s) {
    uint32_t items = 0;
    snapshot_word(s, WORD_external_annotations);
    pickle_out_list(&s->p);
    for (uint32_t i = 0; i < s->tl->events.count; i++) {
        const struct timeline_event *e = &s->tl->events.at[i];
        if (!is_phase(e))
            continue;
        pickle_out_item(&s->p, &items);
        pickle_out_dict(&s->p);
        snapshot_choice(s, WORD_stage, e->kind == EVENT_PHASE_BEGIN ? WORD_START : WORD_END);
        snapshot_word(s, WORD_name);
        snapshot_text(s, s->tl->phases.at[e->ref].name);
        snapshot_number(s, WORD_device, e->device);
        snapshot_number(s, WORD_time_us, s->times_us.at[i]);
        pickle_out_end_dict(&s->p);
    }
    pickle_out_end_list(&s->p, items);
}

bool snapshot_traces(struct snapshot_out *s, struct error *err) {
    if (!find_times(s) || !traces(s))
        return error_host_memory(err);
    annotations(s);
    return true;
}

/* timeline_dump.c: the text form of a timeline. */
#include "text.h"
#include "timeline.h"

static void dump_block_event(const struct timeline *tl, const struct timeline_event *e,
                             bool requests_only, struct text *out) {
    const struct timeline_block *b = &tl->blocks.at[e->ref];
    text_format(out, " b%u %llu", e->ref, (unsigned long long)b->requested_bytes);
    if (!requests_only && (tl->has & TIMELINE_HAS_ADDRESS)) {
        uint64_t base = b->segment == TIMELINE_NONE ? 0 : tl->segments.at[b->segment].address;
        text_format(out, " block %llu @s%d+%llu", (unsigned long long)b->block_bytes,
                    b->segment == TIMELINE_NONE ? -1 : (int)b->segment,
                    (unsigned long long)(b->address - base));
    }
    if (e->kind == EVENT_ALLOC)
        text_format(out, " %s %s %s %s %s", category_key((enum category)b->category),
                    dtype_short_name((enum dtype)b->dtype), timeline_text(tl, b->op),
                    b->owner ? timeline_text(tl, b->owner) : "-",
                    b->name ? timeline_text(tl, b->name) : "-");
}

void timeline_dump(const struct timeline *tl, bool requests_only, struct text *out) {
    for (size_t i = 0; i < tl->events.count; i++) {
        const struct timeline_event *e = &tl->events.at[i];
        enum event_kind kind = (enum event_kind)e->kind;
        if (requests_only && !event_is_request(kind))
            continue;
        text_format(out, "%zu", i);
        if (!requests_only)
            text_format(out, " t=%llu", (unsigned long long)e->time_ns);
        text_format(out, " %s", event_kind_name(kind));
        if (kind <= EVENT_FREE_COMPLETED || kind == EVENT_STREAM_USE)
            dump_block_event(tl, e, requests_only, out);
        else if (kind == EVENT_PHASE_BEGIN || kind == EVENT_PHASE_END)
            text_format(out, " %s", timeline_text(tl, tl->phases.at[e->ref].name));
        else
            text_format(out, " %llu", (unsigned long long)e->bytes);
        if (e->stream)
            text_format(out, " stream %u", e->stream);
        text_add(out, "\n");
    }
}

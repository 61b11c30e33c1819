/* replay_answer.c: the new timeline: the recorded requests with the model's answers. What the
 * requests carry (stack, owner, category, phase) is taken over; times are those of the request that
 * was being served. */
#include <string.h>

#include "framework.h"
#include "replay_core.h"

static bool copy_strings(struct replay *r) {
    const struct strtab *from = &r->real->strings;
    for (uint32_t id = 0; id < strtab_count(from); id++) {
        uint32_t made;
        if (!strtab_add(&r->tl->strings, strtab_text(from, id), strtab_length(from, id), &made))
            return false;
        assert(made == id); /* both count up in order of first use, and all texts differ */
    }
    return true;
}

#define COPY_ARRAY(to, from)                                                                       \
    (array_clear(to), array_reserve((to), (from)->count) &&                                        \
                          ((from)->count == 0 ||                                                   \
                           memcpy((to)->at, (from)->at, (from)->count * sizeof *(from)->at)) &&    \
                          ((to)->count = (from)->count, true))

static uint32_t *new_map(size_t count) {
    uint32_t *map = xalloc((count + 1) * sizeof *map);
    for (size_t i = 0; map && i <= count; i++)
        map[i] = TIMELINE_NONE;
    return map;
}

bool answer_begin(struct replay *r) {
    const struct timeline *real = r->real;
    r->tl = timeline_create();
    r->blocks = new_map(real->blocks.count);
    r->phases = new_map(real->phases.count);
    r->uses = xcalloc(real->blocks.count + 1, sizeof *r->uses);
    struct timeline *tl = r->tl;
    if (!tl || !r->blocks || !r->phases || !r->uses || !copy_strings(r) ||
        !COPY_ARRAY(&tl->frames, &real->frames) || !COPY_ARRAY(&tl->stacks, &real->stacks) ||
        !COPY_ARRAY(&tl->devices, &real->devices) || !COPY_ARRAY(&tl->streams, &real->streams) ||
        !array_reserve(&tl->events, real->events.count) ||
        !array_reserve(&tl->blocks, real->blocks.count)) {
        replay_fail_memory(r);
        return false;
    }
    tl->has = real->has | TIMELINE_HAS_ADDRESS | TIMELINE_HAS_BLOCK_BYTES | TIMELINE_HAS_SEGMENTS;
    tl->title = real->title;
    tl->source_kind = timeline_string(tl, "replay");
    tl->framework = timeline_string(tl, r->framework->name);
    const struct replay_config *config = r->config;
    tl->alloc_settings = config->settings_text ? timeline_string(tl, config->settings_text)
                         : config->settings    ? 0
                                               : real->alloc_settings;
    return true;
}

/* --- events --- */

static struct timeline_event event_of(const struct replay_device *d, enum event_kind kind) {
    const struct replay *r = d->replay;
    const struct timeline *real = r->real;
    struct timeline_event event = {.kind = (uint8_t)kind, .device = d->result.device};
    if (real->events.count > 0) {
        uint32_t at = d->now < real->events.count ? d->now : (uint32_t)real->events.count - 1;
        event.time_ns = real->events.at[at].time_ns;
    }
    return event;
}

static uint32_t push(struct replay *r, const struct timeline_event *event) {
    uint32_t index = timeline_add_event(r->tl, event);
    if (index == TIMELINE_NONE)
        replay_fail_memory(r);
    return index;
}

static uint32_t add_block_event(struct replay_device *d, enum event_kind kind, uint32_t block) {
    const struct timeline_block *b = &d->replay->tl->blocks.at[block];
    struct timeline_event event = event_of(d, kind);
    event.bytes = b->requested_bytes;
    event.address = b->address;
    event.ref = block;
    event.stream = b->stream;
    return push(d->replay, &event);
}

/* --- blocks --- */

static uint32_t add_block(struct replay *r, const struct timeline_block *block, uint32_t origin) {
    uint32_t index = timeline_add_block(r->tl, block);
    if (index == TIMELINE_NONE || !array_push(&r->origins, origin)) {
        replay_fail_memory(r);
        return TIMELINE_NONE;
    }
    if (origin != TIMELINE_NONE)
        r->blocks[origin] = index;
    return index;
}

/* What the request carries; nothing where it is none of the recorded blocks. */
static struct timeline_block block_of(const struct replay_device *d,
                                      const struct alloc_entry *entry) {
    const struct replay *r = d->replay;
    struct timeline_block block = {.phase = TIMELINE_NONE,
                                   .category = CATEGORY_UNKNOWN,
                                   .dtype = DTYPE_NONE,
                                   .device = d->result.device};
    if (d->block != TIMELINE_NONE)
        block = r->real->blocks.at[d->block];
    else if (d->now < r->real->events.count)
        block.stream = r->real->events.at[d->now].stream;
    if (block.phase != TIMELINE_NONE)
        block.phase = block.phase < r->real->phases.count ? r->phases[block.phase] : TIMELINE_NONE;
    const struct span *at = spans_find(&d->mapped, entry->address);
    block.segment = at ? at->value : TIMELINE_NONE;
    block.address = entry->address;
    block.requested_bytes = entry->bytes;
    block.block_bytes = entry->block_bytes;
    block.alloc_event = block.free_event = block.complete_event = TIMELINE_NONE;
    block.small_pool = entry->small_pool;
    block.pending_at_start = false;
    return block;
}

void answer_alloc(struct replay_device *d, const struct alloc_entry *entry) {
    struct replay *r = d->replay;
    struct timeline_block block = block_of(d, entry);
    uint32_t index = add_block(r, &block, d->block);
    if (index != TIMELINE_NONE && !d->filling)
        r->tl->blocks.at[index].alloc_event = add_block_event(d, EVENT_ALLOC, index);
}

static uint32_t newest_block(const struct replay *r) {
    return (uint32_t)r->tl->blocks.count - 1;
}

void answer_free_requested(struct replay_device *d, const struct alloc_entry *entry) {
    struct replay *r = d->replay;
    uint32_t block = d->block == TIMELINE_NONE ? newest_block(r) : r->blocks[d->block];
    const struct span span = {.start = entry->address, .end = entry->address + 1, .value = block};
    if (!spans_add(&d->pending, span))
        replay_fail_memory(r);
    if (d->filling)
        r->tl->blocks.at[block].pending_at_start = true;
    else
        r->tl->blocks.at[block].free_event = add_block_event(d, EVENT_FREE_REQUESTED, block);
}

void answer_free_completed(struct replay_device *d, const struct alloc_entry *entry) {
    struct replay *r = d->replay;
    const struct span *at = spans_find(&d->pending, entry->address);
    assert(at);
    if (!at)
        return;
    uint32_t block = at->value;
    if (!spans_cut(&d->pending, entry->address, entry->address + 1))
        replay_fail_memory(r);
    if (d->filling)
        answer_forget_block(r, block);
    else
        r->tl->blocks.at[block].complete_event = add_block_event(d, EVENT_FREE_COMPLETED, block);
}

void answer_start_block(struct replay_device *d, uint32_t origin) {
    struct replay *r = d->replay;
    struct timeline_block block = r->real->blocks.at[origin];
    const struct span *at = spans_find(&d->mapped, block.address);
    block.segment = at ? at->value : TIMELINE_NONE;
    block.free_event = block.complete_event = TIMELINE_NONE;
    block.phase = TIMELINE_NONE;
    uint32_t index = add_block(r, &block, origin);
    const struct span span = {.start = block.address, .end = block.address + 1, .value = index};
    if (index != TIMELINE_NONE && block.pending_at_start && !spans_add(&d->pending, span))
        replay_fail_memory(r);
}

/* --- segments --- */

static uint32_t add_segment(struct replay_device *d, const struct alloc_entry *entry,
                            uint32_t event) {
    struct timeline_segment segment = {.address = entry->address,
                                       .bytes = entry->bytes,
                                       .alloc_event = event,
                                       .free_event = TIMELINE_NONE,
                                       .pool_id = {entry->pool_id[0], entry->pool_id[1]},
                                       .device = d->result.device,
                                       .small_pool = entry->small_pool,
                                       .expandable = entry->expandable};
    uint32_t index = TIMELINE_NONE;
    if (timeline_stream(d->replay->tl, entry->stream, &segment.stream))
        index = timeline_add_segment(d->replay->tl, &segment);
    if (index == TIMELINE_NONE)
        replay_fail_memory(d->replay);
    return index;
}

/* The segment of a reservation's memory that touches the newly mapped; TIMELINE_NONE. */
static uint32_t touching_segment(const struct replay_device *d, const struct alloc_entry *entry) {
    const uint64_t beside[] = {entry->address - 1, entry->address + entry->bytes};
    for (size_t i = 0; i < 2; i++) {
        const struct span *at = spans_find(&d->mapped, beside[i]);
        if (!at || !at->joins)
            continue;
        const struct timeline_segment *s = &d->replay->tl->segments.at[at->value];
        if (s->small_pool == entry->small_pool &&
            replay_stream(d->replay->tl, s->stream) == entry->stream)
            return at->value;
    }
    return TIMELINE_NONE;
}

/* A segment that began in the run spans all that was ever mapped of it; one of the start keeps its
 * bytes, which counters take as reserved. */
static void widen(struct timeline_segment *s, const struct alloc_entry *entry) {
    uint64_t end = s->address + s->bytes, mapped_end = entry->address + entry->bytes;
    if (s->alloc_event == TIMELINE_NONE)
        return;
    if (mapped_end > end)
        end = mapped_end;
    if (entry->address < s->address)
        s->address = entry->address;
    s->bytes = end - s->address;
}

static void grow(struct replay_device *d, const struct alloc_entry *entry) {
    struct replay *r = d->replay;
    uint64_t end = entry->address + entry->bytes;
    if (entry->bytes == 0 || spans_overlap(&d->mapped, entry->address, end)) {
        if (replay_ok(r))
            error_set(&r->error, ERROR_BAD_INPUT, "event %u: memory at 0x%llx is mapped twice",
                      d->now, (unsigned long long)entry->address);
        return;
    }
    uint32_t event = d->filling ? TIMELINE_NONE : (uint32_t)r->tl->events.count;
    uint32_t segment = entry->expandable ? touching_segment(d, entry) : TIMELINE_NONE;
    if (segment == TIMELINE_NONE)
        segment = add_segment(d, entry, event);
    else
        widen(&r->tl->segments.at[segment], entry);
    const struct span span = {
        .start = entry->address, .end = end, .value = segment, .joins = entry->expandable};
    if (!spans_add(&d->mapped, span))
        replay_fail_memory(r);
    if (d->filling || segment == TIMELINE_NONE)
        return;
    struct timeline_event e =
        event_of(d, entry->expandable ? EVENT_SEGMENT_MAP : EVENT_SEGMENT_ALLOC);
    e.bytes = entry->bytes;
    e.address = entry->address;
    e.ref = segment;
    e.stream = r->tl->segments.at[segment].stream;
    push(r, &e);
}

static void shrink(struct replay_device *d, const struct alloc_entry *entry) {
    struct replay *r = d->replay;
    const struct span *at = spans_find(&d->mapped, entry->address);
    assert(at);
    if (!at)
        return;
    uint32_t segment = at->value;
    if (!spans_cut(&d->mapped, entry->address, entry->address + entry->bytes))
        replay_fail_memory(r);
    if (d->filling)
        return;
    struct timeline_event e =
        event_of(d, entry->expandable ? EVENT_SEGMENT_UNMAP : EVENT_SEGMENT_FREE);
    e.bytes = entry->bytes;
    e.address = entry->address;
    e.ref = segment;
    e.stream = r->tl->segments.at[segment].stream;
    uint32_t event = push(r, &e);
    if (!entry->expandable)
        r->tl->segments.at[segment].free_event = event;
}

void answer_segment(struct replay_device *d, const struct alloc_entry *entry) {
    if (entry->kind == ALLOC_ENTRY_SEGMENT_ALLOC || entry->kind == ALLOC_ENTRY_SEGMENT_MAP)
        grow(d, entry);
    else
        shrink(d, entry);
}

void answer_start_segment(struct replay_device *d, const struct timeline_segment *from) {
    struct replay *r = d->replay;
    struct timeline_segment segment = *from;
    segment.free_event = TIMELINE_NONE;
    uint32_t index = timeline_add_segment(r->tl, &segment);
    const struct span span = {.start = segment.address,
                              .end = segment.address + segment.bytes,
                              .value = index,
                              .joins = segment.expandable};
    if (index == TIMELINE_NONE || !spans_add(&d->mapped, span))
        replay_fail_memory(r);
}

/* --- the rest --- */

void answer_oom(struct replay_device *d, const struct alloc_entry *entry) {
    struct replay *r = d->replay;
    struct timeline_event event = event_of(d, EVENT_OOM);
    struct timeline_oom oom = {.event = (uint32_t)r->tl->events.count,
                               .rounded_bytes = entry->bytes};
    d->result.ooms++;
    if (d->filling)
        return;
    if (d->block != TIMELINE_NONE) {
        oom.op = r->real->blocks.at[d->block].op;
        oom.owner = r->real->blocks.at[d->block].owner;
    }
    event.bytes = entry->bytes;
    event.ref = (uint32_t)r->tl->ooms.count;
    if (!timeline_stream(r->tl, entry->stream, &event.stream) || !array_push(&r->tl->ooms, oom))
        replay_fail_memory(r);
    else
        push(r, &event);
}

static void copy_phase_begin(struct replay *r, uint32_t origin) {
    struct timeline_phase phase = r->real->phases.at[origin];
    phase.begin_event = (uint32_t)r->tl->events.count;
    phase.end_event = TIMELINE_NONE;
    if (phase.parent != TIMELINE_NONE)
        phase.parent =
            phase.parent < r->real->phases.count ? r->phases[phase.parent] : TIMELINE_NONE;
    r->phases[origin] = timeline_add_phase(r->tl, &phase);
    if (r->phases[origin] == TIMELINE_NONE)
        replay_fail_memory(r);
}

void answer_copy(struct replay_device *d, uint32_t index) {
    struct replay *r = d->replay;
    struct timeline_event event = r->real->events.at[index];
    if (event.kind == EVENT_PHASE_BEGIN) {
        copy_phase_begin(r, event.ref);
        event.ref = r->phases[event.ref];
    } else if (event.kind == EVENT_PHASE_END) {
        event.ref = r->phases[event.ref];
        if (event.ref == TIMELINE_NONE)
            return;
        r->tl->phases.at[event.ref].end_event = (uint32_t)r->tl->events.count;
    } else if (event.kind == EVENT_STREAM_USE) {
        event.ref = r->blocks[event.ref];
        event.address = r->tl->blocks.at[event.ref].address;
    }
    if (replay_ok(r))
        push(r, &event);
}

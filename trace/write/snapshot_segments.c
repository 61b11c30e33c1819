/* snapshot_segments.c: the state at the end, segment by segment; see snapshot_out.h. */
#include "end_state.h"
#include "error.h"
#include "snapshot_out.h"
#include "timeline.h"

/* The live blocks of one mapped range: state.live[first, first + count). */
struct range {
    const struct span *span;
    uint8_t device;
    size_t first, count;
};

static void write_free(struct snapshot_out *s, uint64_t from, uint64_t to, uint32_t *items) {
    if (from == to)
        return;
    pickle_out_item(&s->p, items);
    pickle_out_dict(&s->p);
    snapshot_number(s, WORD_address, from);
    snapshot_number(s, WORD_size, to - from);
    snapshot_number(s, WORD_requested_size, 0);
    snapshot_choice(s, WORD_state, WORD_inactive);
    snapshot_word(s, WORD_frames);
    pickle_out_list(&s->p);
    pickle_out_end_dict(&s->p);
}

static bool is_pending(const struct timeline_block *b) {
    return b->free_event != TIMELINE_NONE || b->pending_at_start;
}

static bool write_live(struct snapshot_out *s, const struct timeline_block *b, uint32_t *items) {
    pickle_out_item(&s->p, items);
    pickle_out_dict(&s->p);
    snapshot_number(s, WORD_address, b->address);
    snapshot_number(s, WORD_size, b->block_bytes);
    snapshot_number(s, WORD_requested_size, b->requested_bytes);
    snapshot_choice(s, WORD_state,
                    is_pending(b) ? WORD_active_pending_free : WORD_active_allocated);
    bool ok = snapshot_block_stack(s, b);
    pickle_out_end_dict(&s->p);
    return ok;
}

static bool write_blocks(struct snapshot_out *s, const struct end_state *state,
                         const struct range *r) {
    uint32_t items = 0;
    uint64_t at = r->span->start;
    snapshot_word(s, WORD_blocks);
    pickle_out_list(&s->p);
    for (size_t i = r->first; i < r->first + r->count; i++) {
        const struct timeline_block *b = &s->tl->blocks.at[state->live.at[i]];
        write_free(s, at, b->address, &items);
        if (!write_live(s, b, &items))
            return false;
        at = b->address + b->block_bytes;
    }
    write_free(s, at, r->span->end, &items);
    pickle_out_end_list(&s->p, items);
    return true;
}

static void write_sums(struct snapshot_out *s, const struct end_state *state,
                       const struct range *r) {
    uint64_t allocated = 0, active = 0, requested = 0;
    for (size_t i = r->first; i < r->first + r->count; i++) {
        const struct timeline_block *b = &s->tl->blocks.at[state->live.at[i]];
        allocated += is_pending(b) ? 0 : b->block_bytes;
        active += b->block_bytes;
        requested += b->requested_bytes;
    }
    snapshot_number(s, WORD_total_size, r->span->end - r->span->start);
    snapshot_number(s, WORD_allocated_size, allocated);
    snapshot_number(s, WORD_active_size, active);
    snapshot_number(s, WORD_requested_size, requested);
}

static bool write_segment(struct snapshot_out *s, const struct end_state *state,
                          const struct range *r) {
    const struct timeline_segment *at = &s->tl->segments.at[r->span->value];
    pickle_out_dict(&s->p);
    snapshot_number(s, WORD_device, r->device);
    snapshot_number(s, WORD_address, r->span->start);
    write_sums(s, state, r);
    snapshot_number(s, WORD_stream, s->tl->streams.at[at->stream]);
    snapshot_choice(s, WORD_segment_type, at->small_pool ? WORD_small : WORD_large);
    snapshot_pair(s, WORD_segment_pool_id, at->pool_id);
    snapshot_word(s, WORD_is_expandable);
    pickle_out_bool(&s->p, at->expandable);
    bool ok = snapshot_stack(s, at->stack) && write_blocks(s, state, r);
    pickle_out_end_dict(&s->p);
    return ok;
}

/* Which live blocks lie in the span whole; those before it lie nowhere. */
static void find_blocks(struct snapshot_out *s, const struct end_state *state, struct range *r,
                        size_t *next) {
    for (; *next < state->live.count; ++*next) {
        const struct timeline_block *b = &s->tl->blocks.at[state->live.at[*next]];
        if (b->device > r->device || (b->device == r->device && b->address >= r->span->start))
            break;
        s->losses.homeless++;
    }
    r->first = *next;
    for (; *next < state->live.count; ++*next) {
        const struct timeline_block *b = &s->tl->blocks.at[state->live.at[*next]];
        if (b->device != r->device || b->address >= r->span->end ||
            b->block_bytes > r->span->end - b->address)
            break;
    }
    r->count = *next - r->first;
}

static bool write_all(struct snapshot_out *s, const struct end_state *state) {
    uint32_t items = 0;
    size_t next = 0;
    snapshot_word(s, WORD_segments);
    pickle_out_list(&s->p);
    for (size_t d = 0; d < state->mapped.count; d++) {
        struct spans_cursor cursor = {0, 0};
        const struct span *span;
        while ((span = spans_next(&state->mapped.at[d], &cursor))) {
            struct range r = {.span = span, .device = (uint8_t)d};
            find_blocks(s, state, &r, &next);
            pickle_out_item(&s->p, &items);
            if (!write_segment(s, state, &r))
                return false;
        }
    }
    pickle_out_end_list(&s->p, items);
    s->losses.homeless += state->live.count - next;
    return true;
}

bool snapshot_segments(struct snapshot_out *s, struct error *err) {
    struct end_state state;
    if (!end_state_find(s->tl, &state, err))
        return false;
    bool ok = write_all(s, &state) || error_host_memory(err);
    end_state_fini(&state);
    return ok;
}

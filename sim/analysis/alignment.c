/* alignment.c: see alignment.h. Every pass is linear in events; only the match of differing middles
 * is more (diff.h). */
#include "alignment.h"

#include <string.h>

#include "counters.h"
#include "diff.h"
#include "error.h"
#include "timeline.h"

static_assert(ALIGNMENT_NONE == DIFF_NONE, "partners come straight from the diff");

/* --- one side --- */

/* Stream index -> order of appearance; 0 is the default stream, others count from 1. */
struct stream_order {
    uint16_t *rank; /* 0: not seen yet, or the default stream */
    uint16_t seen;
};

static uint16_t rank_stream(struct stream_order *order, uint16_t stream) {
    if (stream == 0)
        return 0;
    if (order->rank[stream] == 0)
        order->rank[stream] = ++order->seen;
    return order->rank[stream];
}

static struct alignment_item make_alloc(const struct timeline *tl, uint32_t event) {
    const struct timeline_event *e = &tl->events.at[event];
    const struct timeline_block *b = &tl->blocks.at[e->ref];
    struct alignment_item item = {
        .bytes = b->requested_bytes,
        .offset = UINT64_MAX,
        .event = event,
        .block = e->ref,
        .segment = b->segment == TIMELINE_NONE ? ALIGNMENT_NONE : b->segment,
    };
    if (item.segment != ALIGNMENT_NONE)
        item.offset = b->address - tl->segments.at[item.segment].address;
    return item;
}

static struct alignment_item make_oom(const struct timeline_event *e, uint32_t event) {
    return (struct alignment_item){.bytes = e->bytes,
                                   .offset = UINT64_MAX,
                                   .event = event,
                                   .block = ALIGNMENT_NONE,
                                   .segment = ALIGNMENT_NONE};
}

static bool add_items(struct alignment_side *side, struct stream_order *order) {
    const struct timeline *tl = side->tl;
    struct counters c;
    counters_start(tl, side->device, &c);
    for (uint32_t i = 0; i < side->end; i++) {
        const struct timeline_event *e = &tl->events.at[i];
        if (e->device != side->device)
            continue;
        counters_apply(tl, side->device, i, &c);
        if (i < side->begin || (e->kind != EVENT_ALLOC && e->kind != EVENT_OOM))
            continue;
        struct alignment_item item = e->kind == EVENT_ALLOC ? make_alloc(tl, i) : make_oom(e, i);
        item.stream = rank_stream(order, e->stream);
        item.allocated = c.allocated;
        item.request = side->requests;
        if (item.block != ALIGNMENT_NONE) {
            side->item_of_block[item.block] = (uint32_t)side->items.count;
            side->requests++;
        }
        if (!array_push(&side->items, item))
            return false;
    }
    return true;
}

bool alignment_side_init(struct alignment_side *side, const struct timeline *tl, uint8_t device,
                         uint32_t begin, uint32_t end, struct error *err) {
    memset(side, 0, sizeof *side);
    side->tl = tl;
    side->device = device;
    side->begin = begin;
    side->is_window = begin > 0 || (tl->has & TIMELINE_RELATIVE);
    side->end = end < tl->events.count ? end : (uint32_t)tl->events.count;
    for (size_t i = 0; i < tl->blocks.count && !side->is_window; i++)
        side->is_window =
            tl->blocks.at[i].alloc_event == TIMELINE_NONE && tl->blocks.at[i].device == device;
    struct stream_order order = {.rank = xcalloc(tl->streams.count + 1, sizeof *order.rank)};
    side->item_of_block = xalloc((tl->blocks.count + 1) * sizeof *side->item_of_block);
    bool ok = order.rank && side->item_of_block;
    if (ok) {
        memset(side->item_of_block, 0xff, (tl->blocks.count + 1) * sizeof *side->item_of_block);
        ok = add_items(side, &order);
    }
    xfree(order.rank);
    if (ok)
        return true;
    alignment_side_fini(side);
    return error_host_memory(err);
}

void alignment_side_fini(struct alignment_side *side) {
    array_fini(&side->items);
    xfree(side->item_of_block);
    side->item_of_block = NULL;
}

void alignment_gap(const struct alignment_side *side, uint32_t item, uint32_t *begin,
                   uint32_t *end) {
    *begin = item == 0 ? side->begin : side->items.at[item - 1].event + 1;
    *end = item < side->items.count ? side->items.at[item].event : side->end;
}

uint32_t alignment_next_answer(const struct alignment_side *side, uint32_t at, uint32_t end) {
    for (; at < end; at++) {
        const struct timeline_event *e = &side->tl->events.at[at];
        if (e->kind >= EVENT_SEGMENT_ALLOC && e->kind <= EVENT_SEGMENT_UNMAP &&
            e->device == side->device)
            break;
    }
    return at;
}

uint32_t alignment_next_free(const struct alignment_side *side, uint32_t at, uint32_t end) {
    for (; at < end; at++) {
        const struct timeline_event *e = &side->tl->events.at[at];
        if (e->kind == EVENT_FREE_REQUESTED && e->device == side->device &&
            side->item_of_block[e->ref] != ALIGNMENT_NONE)
            break;
    }
    return at;
}

/* splitmix64's finalizer: sums of it tell sets of sizes apart */
static uint64_t scatter(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

struct alignment_older alignment_older_frees(const struct alignment_side *side, uint32_t begin,
                                             uint32_t end) {
    struct alignment_older older = {0};
    for (uint32_t i = begin; i < end; i++) {
        const struct timeline_event *e = &side->tl->events.at[i];
        if (e->kind != EVENT_FREE_REQUESTED || e->device != side->device ||
            side->item_of_block[e->ref] != ALIGNMENT_NONE)
            continue;
        uint64_t bytes = side->tl->blocks.at[e->ref].requested_bytes;
        older.count++;
        older.bytes += bytes;
        older.mark += scatter(bytes);
    }
    return older;
}

/* --- the match --- */

static const char *const difference_names[ALIGNMENT_DIFFERENCE_COUNT] = {
#define X(id, name) name,
    ALIGNMENT_DIFFERENCES(X)
#undef X
};

const char *alignment_difference_name(enum alignment_difference difference) {
    return difference_names[difference];
}

static struct alignment_scope find_scope(const struct alignment_side *a,
                                         const struct alignment_side *b) {
    uint32_t both = a->tl->has & b->tl->has, either = a->tl->has | b->tl->has;
    bool is_whole = !a->is_window && !b->is_window;
    bool segments =
        is_whole && (both & TIMELINE_HAS_SEGMENTS) && !(either & TIMELINE_SUMS_SEGMENTS);
    return (struct alignment_scope){
        .sizes_are_requested = (both & TIMELINE_HAS_REQUESTED) != 0,
        .streams = (both & TIMELINE_HAS_STREAM) != 0,
        .frees = (either & TIMELINE_FREES_BY_SIZE) == 0,
        .segments = segments,
        .offsets = segments && (both & TIMELINE_HAS_ADDRESS),
    };
}

static uint64_t compared_bytes(const struct alignment_side *side, const struct alignment_item *item,
                               const struct alignment_scope *scope) {
    if (scope->sizes_are_requested || item->block == ALIGNMENT_NONE)
        return item->bytes;
    return side->tl->blocks.at[item->block].block_bytes;
}

/* A key for the diff: equal items have equal keys. Distinct ones share a key only for sizes of 2^46
 * and more. */
static uint64_t item_key(const struct alignment_side *side, const struct alignment_item *item,
                         const struct alignment_scope *scope) {
    uint64_t stream = scope->streams ? item->stream : 0;
    uint64_t is_oom = item->block == ALIGNMENT_NONE;
    return (compared_bytes(side, item, scope) << 17) ^ (stream << 1) ^ is_oom;
}

static uint64_t *make_keys(const struct alignment_side *side, const struct alignment_scope *scope) {
    uint64_t *keys = xalloc((side->items.count + 1) * sizeof *keys);
    for (size_t i = 0; keys && i < side->items.count; i++)
        keys[i] = item_key(side, &side->items.at[i], scope);
    return keys;
}

uint64_t *alignment_keys(const struct alignment_side *side, const struct alignment_side *other) {
    struct alignment_scope scope = find_scope(side, other);
    return make_keys(side, &scope);
}

static bool match(const struct alignment_side *simulated, const struct alignment_side *real,
                  struct alignment *out, struct error *err) {
    out->partner = xalloc((simulated->items.count + 1) * sizeof *out->partner);
    uint64_t *a = make_keys(simulated, &out->scope), *b = make_keys(real, &out->scope);
    bool ok = a && b && out->partner;
    if (!ok)
        error_host_memory(err);
    else
        ok = diff_match(a, simulated->items.count, b, real->items.count, out->partner, err);
    xfree(a);
    xfree(b);
    return ok;
}

/* --- the comparison of matched pairs --- */

struct judge {
    const struct alignment_side *simulated, *real;
    struct alignment *out;
    uint32_t *stamp; /* by real item: the pair in whose gap it is freed, + 1 */
    /* by simulated segment: the real one, ALIGNMENT_NONE: not used yet */
    uint32_t *segment_partner;
    bool *is_segment_taken; /* by real segment */
};

static bool judge_init(struct judge *j, const struct alignment_side *simulated,
                       const struct alignment_side *real, struct alignment *out) {
    size_t segments = simulated->tl->segments.count;
    *j = (struct judge){.simulated = simulated, .real = real, .out = out};
    j->stamp = xcalloc(real->items.count + 1, sizeof *j->stamp);
    j->segment_partner = xalloc((segments + 1) * sizeof *j->segment_partner);
    j->is_segment_taken = xcalloc(real->tl->segments.count + 1, sizeof *j->is_segment_taken);
    if (!j->stamp || !j->segment_partner || !j->is_segment_taken)
        return false;
    memset(j->segment_partner, 0xff, (segments + 1) * sizeof *j->segment_partner);
    return true;
}

static void judge_fini(struct judge *j) {
    xfree(j->stamp);
    xfree(j->segment_partner);
    xfree(j->is_segment_taken);
}

static bool has_equal_older_frees(const struct judge *j, uint32_t simulated, uint32_t real) {
    uint32_t begin, end;
    alignment_gap(j->simulated, simulated, &begin, &end);
    struct alignment_older a = alignment_older_frees(j->simulated, begin, end);
    alignment_gap(j->real, real, &begin, &end);
    struct alignment_older b = alignment_older_frees(j->real, begin, end);
    return a.count == b.count && a.bytes == b.bytes && a.mark == b.mark;
}

static bool has_equal_frees(struct judge *j, uint32_t simulated, uint32_t real) {
    uint32_t begin, end, stamp = real + 1, in_real = 0, in_both = 0, in_simulated = 0;
    bool is_window = j->simulated->is_window || j->real->is_window;
    if (is_window && simulated == 0 && real == 0)
        return true;
    if (is_window && !has_equal_older_frees(j, simulated, real))
        return false;
    alignment_gap(j->real, real, &begin, &end);
    for (uint32_t i = alignment_next_free(j->real, begin, end); i < end;
         i = alignment_next_free(j->real, i + 1, end), in_real++)
        j->stamp[j->real->item_of_block[j->real->tl->events.at[i].ref]] = stamp;
    alignment_gap(j->simulated, simulated, &begin, &end);
    for (uint32_t i = alignment_next_free(j->simulated, begin, end); i < end;
         i = alignment_next_free(j->simulated, i + 1, end), in_simulated++) {
        uint32_t item = j->simulated->item_of_block[j->simulated->tl->events.at[i].ref];
        uint32_t partner = j->out->partner[item];
        in_both += partner != ALIGNMENT_NONE && j->stamp[partner] == stamp;
    }
    return in_real == in_simulated && in_both == in_real;
}

static bool has_equal_segments(const struct judge *j, uint32_t simulated, uint32_t real) {
    uint32_t a, a_end, b, b_end;
    alignment_gap(j->simulated, simulated, &a, &a_end);
    alignment_gap(j->real, real, &b, &b_end);
    for (;; a++, b++) {
        a = alignment_next_answer(j->simulated, a, a_end);
        b = alignment_next_answer(j->real, b, b_end);
        if (a == a_end || b == b_end)
            return a == a_end && b == b_end;
        const struct timeline_event *x = &j->simulated->tl->events.at[a];
        const struct timeline_event *y = &j->real->tl->events.at[b];
        if (x->kind != y->kind || x->bytes != y->bytes)
            return false;
    }
}

static bool is_same_segment(struct judge *j, uint32_t simulated, uint32_t real) {
    if (j->segment_partner[simulated] == ALIGNMENT_NONE && !j->is_segment_taken[real]) {
        j->segment_partner[simulated] = real;
        j->is_segment_taken[real] = true;
    }
    return j->segment_partner[simulated] == real;
}

static bool has_equal_offset(struct judge *j, uint32_t simulated, uint32_t real) {
    const struct alignment_item *a = &j->simulated->items.at[simulated],
                                *b = &j->real->items.at[real];
    if (a->segment == ALIGNMENT_NONE || b->segment == ALIGNMENT_NONE)
        return true;
    return is_same_segment(j, a->segment, b->segment) && a->offset == b->offset;
}

static enum alignment_difference judge_pair(struct judge *j, uint32_t simulated, uint32_t real) {
    const struct alignment_scope *scope = &j->out->scope;
    bool is_request = j->simulated->items.at[simulated].block != ALIGNMENT_NONE;
    bool frees = !scope->frees || has_equal_frees(j, simulated, real);
    bool segments = !scope->segments || has_equal_segments(j, simulated, real);
    bool offset = !scope->offsets || has_equal_offset(j, simulated, real);
    if (is_request) {
        j->out->matched++;
        j->out->equal_frees += frees;
        j->out->equal_segments += segments;
        j->out->equal_offsets += offset;
        j->out->equal += frees && segments && offset;
    }
    return !frees      ? ALIGNMENT_FREE_SET_DIFFERS
           : !segments ? ALIGNMENT_SEGMENT_DIFFERS
           : !offset   ? ALIGNMENT_OFFSET_DIFFERS
                       : ALIGNMENT_NONE_DIFFERS;
}

/* The next item of each side has no partner on the other, or one side has: which difference is
 * that? */
static enum alignment_difference judge_unmatched(const struct judge *j, uint32_t simulated,
                                                 bool in_simulated, uint32_t real, bool in_real) {
    if (!in_real || !in_simulated)
        return in_real ? ALIGNMENT_MISSING_DIFFERS : ALIGNMENT_EXTRA_DIFFERS;
    const struct alignment_item *a = &j->simulated->items.at[simulated],
                                *b = &j->real->items.at[real];
    if ((a->block == ALIGNMENT_NONE) != (b->block == ALIGNMENT_NONE))
        return ALIGNMENT_OOM_DIFFERS;
    if (compared_bytes(j->simulated, a, &j->out->scope) !=
        compared_bytes(j->real, b, &j->out->scope))
        return ALIGNMENT_SIZE_DIFFERS;
    return ALIGNMENT_STREAM_DIFFERS;
}

static void note_first(struct judge *j, enum alignment_difference difference, uint32_t simulated,
                       uint32_t real) {
    if (difference == ALIGNMENT_NONE_DIFFERS || j->out->first != ALIGNMENT_NONE_DIFFERS)
        return;
    j->out->first = difference;
    j->out->first_simulated = simulated;
    j->out->first_real = real;
}

static void judge_all(struct judge *j) {
    uint32_t a = 0, b = 0, a_count = (uint32_t)j->simulated->items.count;
    uint32_t b_count = (uint32_t)j->real->items.count;
    while (a < a_count || b < b_count) {
        uint32_t a_from = a, b_from = b;
        while (a < a_count && j->out->partner[a] == ALIGNMENT_NONE)
            a++;
        uint32_t b_next = a < a_count ? j->out->partner[a] : b_count;
        b = b_next;
        if (a > a_from || b > b_from)
            note_first(j, judge_unmatched(j, a_from, a > a_from, b_from, b > b_from), a_from,
                       b_from);
        if (a < a_count) {
            note_first(j, judge_pair(j, a, b), a, b);
            a++;
            b++;
        }
    }
}

bool alignment_find(const struct alignment_side *simulated, const struct alignment_side *real,
                    struct alignment *out, struct error *err) {
    memset(out, 0, sizeof *out);
    out->scope = find_scope(simulated, real);
    if (!match(simulated, real, out, err)) {
        alignment_fini(out);
        return false;
    }
    struct judge j;
    bool ok = judge_init(&j, simulated, real, out);
    if (ok)
        judge_all(&j);
    judge_fini(&j);
    if (ok)
        return true;
    alignment_fini(out);
    return error_host_memory(err);
}

void alignment_fini(struct alignment *alignment) {
    xfree(alignment->partner);
    alignment->partner = NULL;
}

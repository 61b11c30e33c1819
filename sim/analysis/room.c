/* room.c: see room.h. */
#include "room.h"

#include <string.h>

#include "checked.h"
#include "error.h"
#include "pinning.h"
#include "release.h"
#include "timeline.h"

/* Segments and pages are counted in these; one of an odd size counts as the less. */
#define UNIT_BYTES CACHING_SMALL_SEGMENT_BYTES

struct view {
    const struct timeline *tl;
    const struct pinning *pinning;
    const struct placement *placement;
    const struct room_options *options;
};

static const struct timeline_block *block_at(const struct view *v, uint32_t index) {
    return &v->tl->blocks.at[v->placement->blocks.at[index]];
}

/* Does the range serve the stream's requests of that kind? */
static bool is_home(const struct view *v, const struct placement_range *r, bool is_small) {
    return r->is_small == is_small && !pinning_is_private(v->tl, r) &&
           v->tl->segments.at[r->segment].stream == v->options->stream;
}

/* --- what is there --- */

static void find_cached(const struct view *v, struct room *out) {
    for (size_t i = 0; i < v->placement->gaps.count; i++) {
        const struct placement_gap *gap = &v->placement->gaps.at[i];
        const struct placement_range *r = &v->placement->ranges.at[gap->range];
        if (is_home(v, r, true) && gap->bytes > out->cached_small_bytes)
            out->cached_small_bytes = gap->bytes;
        /* Smaller ones serve nobody: such requests go to the small pool. */
        if (is_home(v, r, false) && gap->bytes > CACHING_SMALL_MAX_BYTES &&
            gap->bytes > out->cached_bytes)
            out->cached_bytes = gap->bytes;
    }
    if (out->cached_small_bytes > CACHING_SMALL_MAX_BYTES)
        out->cached_small_bytes = CACHING_SMALL_MAX_BYTES;
}

/* What the driver would give once everything idle is given back. */
static uint64_t available_bytes(const struct view *v) {
    uint64_t sum;
    return checked_add(v->options->device_free_bytes, v->pinning->idle_bytes, &sum)
               ? sum
               : v->options->device_free_bytes;
}

static void find_new(const struct view *v, struct room *out) {
    const struct caching_sizes *sizes = &v->options->sizes;
    out->has_new = v->options->has_device_free;
    if (!out->has_new)
        return;
    uint64_t available = available_bytes(v);
    uint64_t page = sizes->large_segment_bytes;
    if (sizes->expandable)
        out->new_bytes = available / page * page;
    else if (available >= CACHING_LARGE_MIN_BYTES)
        out->new_bytes = available / UNIT_BYTES * UNIT_BYTES;
    if (out->new_bytes == 0 && available >= CACHING_SMALL_SEGMENT_BYTES)
        out->new_bytes = CACHING_SMALL_MAX_BYTES;
}

/* --- in place: neighbours that leave a hole large enough --- */

struct hole {
    bool found;
    uint32_t first, end; /* of the placement's blocks */
    uint64_t bytes;
};

static uint64_t end_before(const struct view *v, const struct pin *pin, uint32_t block) {
    if (block == pin->first_block)
        return v->placement->ranges.at[pin->range].address;
    const struct timeline_block *b = block_at(v, block - 1);
    return b->address + b->block_bytes;
}

static uint64_t start_behind(const struct view *v, const struct pin *pin, uint32_t block) {
    const struct placement_range *r = &v->placement->ranges.at[pin->range];
    return block == pin->first_block + pin->blocks ? r->address + r->bytes
                                                   : block_at(v, block)->address;
}

/* Two ends move over the blocks: [first, end) is the shortest row from `first` on that is enough. */
static void slide(const struct view *v, const struct pin *pin, uint64_t rounded,
                  struct hole *best) {
    uint32_t last = pin->first_block + pin->blocks, end = pin->first_block;
    uint64_t bytes = 0;
    for (uint32_t first = pin->first_block; first <= last; first++) {
        uint64_t from = end_before(v, pin, first);
        if (end < first)
            end = first;
        while (end < last && start_behind(v, pin, end) - from < rounded)
            bytes += block_at(v, end++)->block_bytes;
        uint64_t hole = start_behind(v, pin, end) - from;
        if (caching_sizes_serve(&v->options->sizes, rounded, hole) &&
            (!best->found || bytes < best->bytes))
            *best = (struct hole){true, first, end, bytes};
        if (first < end)
            bytes -= block_at(v, first)->block_bytes;
    }
}

/* Segments without a live block have no pin. */
static bool has_idle_home(const struct view *v, uint64_t rounded) {
    for (size_t i = 0; i < v->placement->gaps.count; i++) {
        const struct placement_gap *gap = &v->placement->gaps.at[i];
        if (is_home(v, &v->placement->ranges.at[gap->range], rounded <= CACHING_SMALL_MAX_BYTES) &&
            caching_sizes_serve(&v->options->sizes, rounded, gap->bytes))
            return true;
    }
    return false;
}

static bool find_in_place(const struct view *v, struct room *out) {
    struct room_way *way = &out->in_place;
    struct hole best = {0};
    way->is_exact = true;
    way->is_possible = has_idle_home(v, out->rounded_bytes);
    if (way->is_possible)
        return true;
    for (size_t i = 0; i < v->pinning->pins.count; i++) {
        const struct pin *pin = &v->pinning->pins.at[i];
        if (is_home(v, &v->placement->ranges.at[pin->range],
                    out->rounded_bytes <= CACHING_SMALL_MAX_BYTES))
            slide(v, pin, out->rounded_bytes, &best);
    }
    way->is_possible = best.found;
    way->bytes = best.bytes;
    for (uint32_t i = best.first; i < best.end; i++)
        if (!array_push(&way->blocks, v->placement->blocks.at[i]))
            return false;
    return true;
}

/* --- from the driver: segments and pages that come free --- */

/* What one item of release.h stands for. */
struct holding {
    uint32_t first_block, end_block;
};

struct holdings {
    ARRAY(struct release_item) items;
    ARRAY(struct holding) of;
};

static uint64_t bytes_of(const struct view *v, uint32_t first, uint32_t end) {
    uint64_t sum = 0;
    for (uint32_t i = first; i < end; i++)
        sum += block_at(v, i)->block_bytes;
    return sum;
}

static bool add_holding(struct holdings *h, uint64_t bytes, struct release_item item,
                        struct holding of) {
    uint64_t units = bytes / UNIT_BYTES;
    item.units = units > UINT32_MAX ? UINT32_MAX : (uint32_t)units;
    return array_push(&h->items, item) && array_push(&h->of, of);
}

/* Neighbouring pages share the block across their border. */
static bool add_pages(const struct view *v, const struct pin *pin, struct holdings *h) {
    struct pinning_pages pages = pinning_pages_of(v->tl, v->placement, pin->range, pin->first_block,
                                                  v->options->sizes.large_segment_bytes);
    struct pinning_page page;
    uint32_t end_before = pin->first_block;
    bool is_first = true;
    while (pinning_next_page(&pages, &page)) {
        uint32_t own = page.first_block > end_before ? page.first_block : end_before;
        struct release_item item = {.cost = bytes_of(v, page.first_block, page.end_block)};
        item.cost_after = is_first ? item.cost : bytes_of(v, own, page.end_block);
        if (own > page.end_block)
            item.cost_after = 0;
        /* A page that is idle is given back in any case. */
        bool is_idle = page.first_block == page.end_block;
        if (!add_holding(h, is_idle ? 0 : page.end - page.start, item,
                         (struct holding){page.first_block, page.end_block}))
            return false;
        end_before = page.end_block;
        is_first = false;
    }
    return true;
}

static bool collect(const struct view *v, struct holdings *h) {
    for (size_t i = 0; i < v->pinning->pins.count; i++) {
        const struct pin *pin = &v->pinning->pins.at[i];
        const struct placement_range *r = &v->placement->ranges.at[pin->range];
        struct release_item whole = {.cost = pin->live_bytes, .cost_after = pin->live_bytes};
        if (pinning_is_private(v->tl, r))
            continue;
        bool ok =
            r->is_expandable
                ? add_pages(v, pin, h)
                : add_holding(h, r->bytes, whole,
                              (struct holding){pin->first_block, pin->first_block + pin->blocks});
        if (!ok)
            return false;
    }
    return true;
}

/* The blocks of the chosen, each once: items of one range come in the order of its blocks. */
static bool take_chosen(const struct view *v, const struct holdings *h, const bool *chosen,
                        struct room_way *way) {
    bool *goes = xcalloc(v->placement->blocks.count + 1, sizeof *goes);
    if (!goes)
        return false;
    for (size_t i = 0; i < h->of.count; i++)
        for (uint32_t b = h->of.at[i].first_block; chosen[i] && b < h->of.at[i].end_block; b++)
            goes[b] = true;
    bool ok = true;
    for (uint32_t b = 0; ok && b < v->placement->blocks.count; b++)
        if (goes[b]) {
            way->bytes += block_at(v, b)->block_bytes;
            ok = array_push(&way->blocks, v->placement->blocks.at[b]);
        }
    xfree(goes);
    return ok;
}

/* The driver's memory that is missing, with all that is idle given back. */
static uint64_t missing_bytes(const struct view *v, const struct room *room) {
    const struct caching_sizes *sizes = &v->options->sizes;
    uint64_t available = available_bytes(v);
    uint64_t need = room->segment_bytes;
    if (sizes->expandable) { /* free bytes where the reservation grows are not counted on */
        bool is_small = room->rounded_bytes <= CACHING_SMALL_MAX_BYTES;
        uint64_t page = is_small ? CACHING_SMALL_SEGMENT_BYTES : sizes->large_segment_bytes;
        need = (room->rounded_bytes + page - 1) / page * page;
    }
    return need > available ? need - available : 0;
}

static bool find_by_driver(const struct view *v, struct room *out, struct error *err) {
    struct room_way *way = &out->by_driver;
    struct holdings h = {0};
    if (!v->options->has_device_free)
        return true;
    uint64_t missing = missing_bytes(v, out), units = missing / UNIT_BYTES;
    units += missing % UNIT_BYTES != 0;
    bool ok = collect(v, &h);
    bool *chosen = ok ? xcalloc(h.items.count + 1, sizeof *chosen) : NULL;
    if (chosen) {
        ok = release_choose(h.items.at, h.items.count, units, chosen, &way->is_possible,
                            &way->is_exact, err) &&
             (!way->is_possible || take_chosen(v, &h, chosen, way) || error_host_memory(err));
    } else {
        ok = error_host_memory(err);
    }
    way->is_exact = way->is_exact && !v->options->sizes.expandable;
    xfree(chosen);
    array_fini(&h.items);
    array_fini(&h.of);
    return ok;
}

bool room_find(const struct timeline *tl, const struct pinning *pinning, uint64_t bytes,
               const struct room_options *options, struct room *out, struct error *err) {
    const struct view v = {tl, pinning, &pinning->placement, options};
    memset(out, 0, sizeof *out);
    if (!pinning->is_known)
        return true;
    find_cached(&v, out);
    find_new(&v, out);
    out->bytes = bytes;
    if (bytes == 0)
        return true;
    out->rounded_bytes = caching_sizes_round(options->sizes.divisions, bytes);
    out->segment_bytes =
        caching_sizes_segment(options->sizes.large_segment_bytes, out->rounded_bytes);
    bool ok = find_in_place(&v, out) || error_host_memory(err);
    if (ok && find_by_driver(&v, out, err))
        return true;
    room_fini(out);
    return false;
}

void room_fini(struct room *room) {
    array_fini(&room->in_place.blocks);
    array_fini(&room->by_driver.blocks);
}

const struct room_way *room_best(const struct room *room) {
    const struct room_way *a = &room->in_place, *b = &room->by_driver;
    if (!a->is_possible || !b->is_possible)
        return a->is_possible ? a : b->is_possible ? b : NULL;
    return b->bytes < a->bytes ? b : a;
}

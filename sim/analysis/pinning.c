/* pinning.c: see pinning.h. */
#include "pinning.h"

#include <stdlib.h>
#include <string.h>

#include "caching_sizes.h"
#include "error.h"
#include "timeline.h"

static const struct timeline_block *block_at(const struct timeline *tl,
                                             const struct placement *placement, uint32_t index) {
    return &tl->blocks.at[placement->blocks.at[index]];
}

bool pinning_is_private(const struct timeline *tl, const struct placement_range *range) {
    const uint64_t *id = tl->segments.at[range->segment].pool_id;
    return id[0] != 0 || id[1] != 0;
}

/* --- pages --- */

struct pinning_pages pinning_pages_of(const struct timeline *tl, const struct placement *placement,
                                      uint32_t range, uint32_t first_block,
                                      uint64_t large_page_bytes) {
    const struct placement_range *r = &placement->ranges.at[range];
    return (struct pinning_pages){.tl = tl,
                                  .placement = placement,
                                  .range = range,
                                  .next_block = first_block,
                                  .page_bytes =
                                      r->is_small ? CACHING_SMALL_SEGMENT_BYTES : large_page_bytes,
                                  .next = r->address};
}

bool pinning_next_page(struct pinning_pages *pages, struct pinning_page *out) {
    const struct placement *p = pages->placement;
    const struct placement_range *r = &p->ranges.at[pages->range];
    if (r->address + r->bytes - pages->next < pages->page_bytes)
        return false;
    out->start = pages->next;
    out->end = pages->next = out->start + pages->page_bytes;
    uint32_t at = pages->next_block;
    while (at < p->blocks.count) {
        const struct timeline_block *b = block_at(pages->tl, p, at);
        if (b->address + b->block_bytes > out->start)
            break;
        at++;
    }
    out->first_block = at;
    while (at < p->blocks.count && block_at(pages->tl, p, at)->address < out->end)
        at++;
    out->end_block = at;
    pages->next_block = out->first_block;
    return true;
}

/* --- pins --- */

struct finder {
    const struct timeline *tl;
    struct pinning *out;
    uint64_t large_page_bytes;
    uint32_t next_block, next_gap;
};

static uint64_t bytes_of(const struct finder *f, uint32_t first, uint32_t end) {
    uint64_t sum = 0;
    for (uint32_t i = first; i < end; i++)
        sum += block_at(f->tl, &f->out->placement, i)->block_bytes;
    return sum;
}

static void offer_way(struct pin *pin, uint32_t first, uint32_t end, uint64_t bytes,
                      uint64_t gain) {
    bool better = pin->go_blocks == 0 || bytes < pin->go_bytes ||
                  (bytes == pin->go_bytes && gain > pin->gain_bytes);
    if (!better)
        return;
    pin->go_first = first;
    pin->go_blocks = end - first;
    pin->go_bytes = bytes;
    pin->gain_bytes = gain;
}

/* Free pages are idle; of the others the one with the fewest bytes in blocks is the way. */
static void look_at_pages(struct finder *f, struct pin *pin) {
    struct pinning_pages pages = pinning_pages_of(f->tl, &f->out->placement, pin->range,
                                                  pin->first_block, f->large_page_bytes);
    struct pinning_page page;
    uint32_t last_first = UINT32_MAX, last_end = 0;
    uint64_t gain = 0;
    while (pinning_next_page(&pages, &page)) {
        if (page.first_block == page.end_block) {
            f->out->idle_bytes += pages.page_bytes;
            continue;
        }
        /* Neighbouring pages under the same blocks are gained together. */
        bool same = page.first_block == last_first && page.end_block == last_end;
        gain = same ? gain + pages.page_bytes : pages.page_bytes;
        last_first = page.first_block;
        last_end = page.end_block;
        offer_way(pin, page.first_block, page.end_block,
                  bytes_of(f, page.first_block, page.end_block), gain);
    }
}

static void measure_gaps(struct finder *f, uint32_t range, struct pin *pin) {
    const struct placement *p = &f->out->placement;
    for (; f->next_gap < p->gaps.count && p->gaps.at[f->next_gap].range == range; f->next_gap++) {
        uint64_t bytes = p->gaps.at[f->next_gap].bytes;
        pin->free_bytes += bytes;
        if (bytes > pin->largest_gap_bytes)
            pin->largest_gap_bytes = bytes;
    }
}

static bool look_at_range(struct finder *f, uint32_t range) {
    const struct placement *p = &f->out->placement;
    const struct placement_range *r = &p->ranges.at[range];
    bool is_private = pinning_is_private(f->tl, r);
    struct pin pin = {.range = range, .first_block = f->next_block};
    while (f->next_block < p->blocks.count &&
           block_at(f->tl, p, f->next_block)->address < r->address + r->bytes)
        f->next_block++;
    while (pin.first_block < f->next_block &&
           block_at(f->tl, p, pin.first_block)->address < r->address)
        pin.first_block++; /* in no range: bad data */
    pin.blocks = f->next_block - pin.first_block;
    measure_gaps(f, range, &pin);
    if (pin.blocks == 0) {
        f->out->idle_bytes += is_private ? 0 : r->bytes;
        f->out->idle_ranges += !is_private;
        return true;
    }
    pin.live_bytes = bytes_of(f, pin.first_block, f->next_block);
    if (r->is_expandable && !is_private)
        look_at_pages(f, &pin);
    else if (!is_private)
        offer_way(&pin, pin.first_block, f->next_block, pin.live_bytes, r->bytes);
    return array_push(&f->out->pins, pin);
}

static int order_pins(const void *left, const void *right) {
    const struct pin *a = left, *b = right;
    if (a->free_bytes != b->free_bytes)
        return a->free_bytes > b->free_bytes ? -1 : 1;
    return (a->range > b->range) - (a->range < b->range);
}

bool pinning_look(const struct timeline *tl, uint64_t large_page_bytes, struct pinning *out) {
    struct finder f = {.tl = tl, .out = out, .large_page_bytes = large_page_bytes};
    out->is_known = true;
    out->idle_bytes = 0;
    out->idle_ranges = 0;
    array_clear(&out->pins);
    for (uint32_t i = 0; i < out->placement.ranges.count; i++)
        if (!look_at_range(&f, i))
            return false;
    if (out->pins.count > 1)
        qsort(out->pins.at, out->pins.count, sizeof *out->pins.at, order_pins);
    return true;
}

bool pinning_find(const struct timeline *tl, uint8_t device, uint32_t event,
                  uint64_t large_page_bytes, struct pinning *out, struct error *err) {
    memset(out, 0, sizeof *out);
    if (!placement_is_known(tl))
        return true;
    if (!placement_find(tl, device, event, &out->placement, err))
        return false;
    if (pinning_look(tl, large_page_bytes, out))
        return true;
    pinning_fini(out);
    return error_host_memory(err);
}

void pinning_fini(struct pinning *pinning) {
    placement_fini(&pinning->placement);
    array_fini(&pinning->pins);
}

const struct pin *pinning_cheapest(const struct pinning *pinning) {
    const struct pin *best = NULL;
    for (size_t i = 0; i < pinning->pins.count; i++) {
        const struct pin *pin = &pinning->pins.at[i];
        if (pin->go_blocks > 0 &&
            (!best || pin->go_bytes < best->go_bytes ||
             (pin->go_bytes == best->go_bytes && pin->gain_bytes > best->gain_bytes)))
            best = pin;
    }
    return best;
}

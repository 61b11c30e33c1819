/* map.c: see map.h. */
#include "map.h"

#include <stdlib.h>

#include "checked.h"
#include "liveness.h"
#include "space.h"
#include "timeline.h"

/* --- which ranges make an item, and in which order --- */

struct key {
    uint64_t pool[2], start, address; /* start: of the first range of its segment */
    uint32_t segment, range;
    uint16_t stream;
    bool is_small;
};

static int by_number(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_pools(const struct key *a, const struct key *b) {
    int order = by_number(a->is_small, b->is_small);
    order = order ? order : by_number(a->pool[0], b->pool[0]);
    order = order ? order : by_number(a->pool[1], b->pool[1]);
    return order ? order : by_number(a->stream, b->stream);
}

static int compare_keys(const void *x, const void *y) {
    const struct key *a = x, *b = y;
    int order = compare_pools(a, b);
    order = order ? order : by_number(a->start, b->start);
    order = order ? order : by_number(a->segment, b->segment);
    return order ? order : by_number(a->address, b->address);
}

static struct key key_of(const struct space *space, uint32_t range) {
    const struct placement_range *r = &space->placement.ranges.at[range];
    const struct timeline_segment *s = &space->tl->segments.at[r->segment];
    return (struct key){.pool = {s->pool_id[0], s->pool_id[1]},
                        .start = s->expandable ? s->address : r->address,
                        .address = r->address,
                        .segment = r->segment,
                        .range = range,
                        .stream = s->stream,
                        .is_small = s->small_pool};
}

/* A hole is shown no longer than the longest range: a reservation is much of the address space. */
static void place_ranges(struct map *map, const struct space *space, struct map_item *item) {
    const struct placement_range *ranges = space->placement.ranges.at;
    uint64_t longest = 0, end = 0;
    for (uint32_t i = item->first; i < item->end; i++)
        if (ranges[map->order.at[i]].bytes > longest)
            longest = ranges[map->order.at[i]].bytes;
    for (uint32_t i = item->first; i < item->end; i++) {
        const struct placement_range *r = &ranges[map->order.at[i]];
        if (i > item->first && r->address > end)
            item->span += r->address - end < longest ? r->address - end : longest;
        map->ranges.at[map->order.at[i]].at = item->span;
        if (!checked_add(item->span, r->bytes, &item->span))
            item->span = UINT64_MAX;
        item->bytes += r->bytes;
        end = r->address + r->bytes;
    }
}

static bool add_range(struct map *map, const struct key *key, const struct key *before) {
    bool same = before && compare_pools(key, before) == 0;
    struct map_item item = {.segment = key->segment,
                            .first = (uint32_t)map->order.count,
                            .end = (uint32_t)map->order.count};
    if (!same || before->segment != key->segment) {
        struct map_section section = {.first = (uint32_t)map->items.count,
                                      .end = (uint32_t)map->items.count};
        if ((!same && !array_push(&map->sections, section)) || !array_push(&map->items, item))
            return false;
        array_last(&map->sections)->end++;
    }
    array_last(&map->items)->end++;
    map->ranges.at[key->range].item = (uint32_t)map->items.count - 1;
    return array_push(&map->order, key->range);
}

static bool find_items(struct map *map, const struct space *space) {
    size_t count = space->placement.ranges.count;
    ARRAY(struct key) keys = {0};
    array_clear(&map->order);
    array_clear(&map->items);
    array_clear(&map->sections);
    bool good = array_reserve(&keys, count) && array_reserve(&map->ranges, count);
    for (uint32_t i = 0; good && i < count; i++)
        keys.at[keys.count++] = key_of(space, i);
    map->ranges.count = good ? count : 0;
    if (good && count > 1)
        qsort(keys.at, count, sizeof *keys.at, compare_keys);
    for (size_t i = 0; good && i < count; i++)
        good = add_range(map, &keys.at[i], i > 0 ? &keys.at[i - 1] : NULL);
    for (size_t i = 0; good && i < map->items.count; i++)
        place_ranges(map, space, &map->items.at[i]);
    array_fini(&keys);
    return good;
}

/* --- what is in them --- */

static void add_block(struct map_item *item, const struct timeline_block *b, uint32_t event) {
    item->blocks++;
    if (block_is_pending(b, event)) {
        item->pending += b->block_bytes;
        return;
    }
    item->used += b->block_bytes;
    if (b->requested_bytes < b->block_bytes)
        item->rounding += b->block_bytes - b->requested_bytes;
}

static void sum_up(struct map *map, const struct space *space) {
    const struct placement *p = &space->placement;
    uint32_t block = 0, gap = 0;
    for (size_t i = 0; i < map->items.count; i++) {
        struct map_item *item = &map->items.at[i];
        item->used = item->pending = item->free = item->largest_free = item->rounding = 0;
        item->blocks = 0;
    }
    for (uint32_t r = 0; r < p->ranges.count; r++) {
        struct map_range *range = &map->ranges.at[r];
        struct map_item *item = &map->items.at[range->item];
        uint64_t start = p->ranges.at[r].address, end = start + p->ranges.at[r].bytes;
        while (block < p->blocks.count && space->tl->blocks.at[p->blocks.at[block]].address < start)
            block++;
        range->first_block = block;
        for (; block < p->blocks.count; block++) {
            const struct timeline_block *b = &space->tl->blocks.at[p->blocks.at[block]];
            if (b->address >= end)
                break;
            add_block(item, b, space->moment - 1);
        }
        range->end_block = block;
        range->first_gap = gap;
        for (; gap < p->gaps.count && p->gaps.at[gap].range == r; gap++) {
            item->free += p->gaps.at[gap].bytes;
            if (p->gaps.at[gap].bytes > item->largest_free)
                item->largest_free = p->gaps.at[gap].bytes;
        }
        range->end_gap = gap;
    }
}

bool map_read(struct map *map, const struct space *space) {
    if (map->serial != space->serial) {
        map->serial = space->serial;
        map->look.width = 0; /* has to be arranged anew */
        if (!find_items(map, space)) {
            map->serial = 0;
            array_clear(&map->items);
            array_clear(&map->sections);
            map->lines = 0;
            return false;
        }
    }
    if (map->items.count > 0)
        sum_up(map, space);
    return true;
}

void map_fini(struct map *map) {
    array_fini(&map->ranges);
    array_fini(&map->order);
    array_fini(&map->items);
    array_fini(&map->sections);
}

/* --- rows --- */

static int width_of(const struct map_item *item, double bytes_per_pixel, int least, int most) {
    double pixels = (double)item->span / bytes_per_pixel;
    return pixels >= most ? most : pixels < least ? least : (int)(pixels + 0.5);
}

static bool same_look(const struct map_look *a, const struct map_look *b) {
    return a->width == b->width && a->gap == b->gap && a->least == b->least &&
           a->large == b->large && a->small == b->small;
}

void map_arrange(struct map *map, const struct space *space, const struct map_look *look) {
    if (same_look(&map->look, look))
        return;
    map->look = *look;
    int line = 0, most = look->width < 20000 ? look->width * 1000 : 20000000;
    for (size_t s = 0; s < map->sections.count; s++) {
        struct map_section *section = &map->sections.at[s];
        int x = 0;
        section->line = line;
        for (uint32_t i = section->first; i < section->end; i++) {
            struct map_item *item = &map->items.at[i];
            bool is_small = space->tl->segments.at[item->segment].small_pool;
            item->width = width_of(item, is_small ? look->small : look->large, look->least, most);
            if (x > 0 && x + item->width > look->width) {
                line = line < MAP_LINES_MAX ? line + 1 : line;
                x = 0;
            }
            item->line = line;
            item->x = x;
            x += item->width;
            line += (x - 1) / look->width;
            x -= (x - 1) / look->width * look->width;
            x += look->gap;
            line = line < MAP_LINES_MAX ? line : MAP_LINES_MAX;
        }
        line++;
    }
    map->lines = line;
}

uint64_t map_place(const struct map *map, const struct map_item *item, uint64_t at) {
    uint64_t start = (uint64_t)item->line * (uint64_t)map->look.width + (uint64_t)item->x;
    uint64_t fine = (uint64_t)item->width * MAP_FINE;
    if (at >= item->span) /* also what reaches out of its segment: bad data */
        return start * MAP_FINE + fine;
    return start * MAP_FINE + (uint64_t)((double)at / (double)item->span * (double)fine + 0.5);
}

/* --- what is at a pixel --- */

/* What of the span has the most of the pixel so far. */
struct search {
    uint64_t first, end; /* the pixel */
    uint64_t best;
    struct map_hit *hit;
};

static void offer(struct search *s, uint64_t from, uint64_t to, struct map_hit candidate) {
    uint64_t first = from > s->first ? from : s->first, end = to < s->end ? to : s->end;
    if (first >= end || end - first <= s->best)
        return;
    s->best = end - first;
    *s->hit = candidate;
}

static void search_range(const struct map *map, const struct space *space, uint32_t index,
                         struct search *s) {
    const struct placement *p = &space->placement;
    const struct map_range *range = &map->ranges.at[index];
    const struct placement_range *r = &p->ranges.at[index];
    const struct map_item *item = &map->items.at[range->item];
    for (uint32_t i = range->first_block; i < range->end_block; i++) {
        const struct timeline_block *b = &space->tl->blocks.at[p->blocks.at[i]];
        uint64_t at = range->at + (b->address - r->address);
        offer(s, map_place(map, item, at), map_place(map, item, at + b->block_bytes),
              (struct map_hit){item, index, p->blocks.at[i], b->address, b->block_bytes});
    }
    for (uint32_t i = range->first_gap; i < range->end_gap; i++) {
        const struct placement_gap *gap = &p->gaps.at[i];
        uint64_t at = range->at + (gap->address - r->address);
        offer(s, map_place(map, item, at), map_place(map, item, at + gap->bytes),
              (struct map_hit){item, index, TIMELINE_NONE, gap->address, gap->bytes});
    }
}

static void search_item(const struct map *map, const struct space *space,
                        const struct map_item *item, struct search *s) {
    uint64_t end = 0, address = 0;
    for (uint32_t i = item->first; i < item->end; i++) {
        uint32_t index = map->order.at[i];
        const struct placement_range *r = &space->placement.ranges.at[index];
        const struct map_range *range = &map->ranges.at[index];
        if (i > item->first && r->address > address)
            offer(s, map_place(map, item, end), map_place(map, item, range->at),
                  (struct map_hit){item, TIMELINE_NONE, TIMELINE_NONE, address,
                                   r->address - address});
        end = range->at + r->bytes;
        address = r->address + r->bytes;
        if (map_place(map, item, end) > s->first && map_place(map, item, range->at) < s->end)
            search_range(map, space, index, s);
    }
}

bool map_at(const struct map *map, const struct space *space, int line, int x,
            struct map_hit *hit) {
    if (line < 0 || x < 0 || x >= map->look.width)
        return false;
    uint64_t pixel = (uint64_t)line * (uint64_t)map->look.width + (uint64_t)x;
    struct search s = {pixel * MAP_FINE, (pixel + 1) * MAP_FINE, 0, hit};
    size_t low = 0, high = map->items.count; /* the last item that begins at or before it */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (map_place(map, &map->items.at[middle], 0) <= s.first)
            low = middle;
        else
            high = middle;
    }
    if (low < map->items.count)
        search_item(map, space, &map->items.at[low], &s);
    return s.best > 0;
}

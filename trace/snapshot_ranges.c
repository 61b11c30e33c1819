/* snapshot_ranges.c: see snapshot_build.h. Mapped memory as intervals; a piece cut in its middle
 * becomes two. */
#include "error.h"
#include "snapshot_build.h"

bool ranges_add(struct build *b, struct addrmap *map, const struct build_range *range) {
    if (range->end <= range->start)
        return true;
    if (b->ranges.count >= UINT32_MAX || !array_push(&b->ranges, *range) ||
        !addrmap_put(map, range->start, (uint32_t)(b->ranges.count - 1)))
        return build_no_memory(b);
    return true;
}

/* The first range that touches [start, end); false: none. */
static bool find_overlap(struct build *b, const struct addrmap *map, uint64_t start, uint64_t end,
                         struct addrmap_at *at) {
    bool more;
    if (addrmap_floor(map, start, at)) {
        if (b->ranges.at[addrmap_value(map, *at)].end > start)
            return true;
        more = addrmap_next(map, at);
    } else {
        more = addrmap_first(map, at);
    }
    return more && addrmap_key(map, *at) < end;
}

bool ranges_cut(struct build *b, struct addrmap *map, uint64_t start, uint64_t end,
                uint32_t *first) {
    struct addrmap_at at;
    *first = TIMELINE_NONE;
    if (end <= start)
        return true; /* nothing; a cut of nothing would go on forever */
    while (find_overlap(b, map, start, end, &at)) {
        struct build_range cut = b->ranges.at[addrmap_value(map, at)];
        if (*first == TIMELINE_NONE)
            *first = cut.segment;
        addrmap_remove(map, cut.start, addrmap_value(map, at));
        struct build_range left = cut, right = cut;
        left.end = start;
        right.start = end;
        if ((cut.start < start && !ranges_add(b, map, &left)) ||
            (cut.end > end && !ranges_add(b, map, &right)))
            return false;
    }
    return true;
}

struct build_range *ranges_find(struct build *b, const struct addrmap *map, uint64_t address) {
    struct addrmap_at at;
    if (!addrmap_floor(map, address, &at))
        return NULL;
    struct build_range *range = &b->ranges.at[addrmap_value(map, at)];
    return address < range->end ? range : NULL;
}

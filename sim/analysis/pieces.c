/* pieces.c: see pieces.h. Every step that finds what the rules exclude marks the whole as broken: a
 * wrong figure is worse than none. */
#include "pieces.h"

#include <string.h>

#include "placement.h"
#include "timeline.h"

static bool new_piece(struct pieces *p, struct piece value, uint32_t *index) {
    if (p->unused.count > 0) {
        *index = array_pop(&p->unused);
        p->all.at[*index] = value;
        return true;
    }
    *index = (uint32_t)p->all.count;
    return p->all.count < PIECE_NONE && array_push(&p->all, value);
}

static bool add_free(struct pieces *p, uint32_t index) {
    p->all.at[index].is_free = true;
    return address_map_put(&p->by_address, p->all.at[index].address, index);
}

/* The start state: pieces of one plain range, in address order. */
static bool append(struct pieces *p, uint64_t address, uint64_t bytes, uint32_t *last,
                   uint32_t *index) {
    struct piece piece = {
        .address = address, .bytes = bytes, .previous = *last, .next = PIECE_NONE};
    if (!new_piece(p, piece, index))
        return false;
    if (*last != PIECE_NONE)
        p->all.at[*last].next = *index;
    *last = *index;
    return true;
}

static bool append_free(struct pieces *p, uint64_t from, uint64_t to, uint32_t *last) {
    uint32_t index;
    return from >= to || (append(p, from, to - from, last, &index) && add_free(p, index));
}

static bool start_range(struct pieces *p, const struct placement *placement,
                        const struct placement_range *r, size_t *next_block) {
    uint64_t at = r->address, end = r->address + r->bytes;
    uint32_t last = PIECE_NONE;
    for (; *next_block < placement->blocks.count; (*next_block)++) {
        uint32_t block = placement->blocks.at[*next_block];
        const struct timeline_block *b = &p->tl->blocks.at[block];
        if (b->address >= end)
            break;
        if (r->is_expandable)
            continue;
        if (b->address < at || b->block_bytes > end - b->address) {
            p->is_broken = true;
            continue;
        }
        if (!append_free(p, at, b->address, &last) ||
            !append(p, b->address, b->block_bytes, &last, &p->of_block[block]))
            return false;
        at = b->address + b->block_bytes;
    }
    return r->is_expandable || append_free(p, at, end, &last);
}

bool pieces_init(struct pieces *p, const struct timeline *tl, const struct placement *placement) {
    memset(p, 0, sizeof *p);
    p->tl = tl;
    p->of_block = xalloc((tl->blocks.count + 1) * sizeof *p->of_block);
    if (!p->of_block)
        return false;
    memset(p->of_block, 0xff, tl->blocks.count * sizeof *p->of_block);
    size_t next_block = 0;
    for (size_t i = 0; i < placement->ranges.count; i++)
        if (!start_range(p, placement, &placement->ranges.at[i], &next_block))
            return false;
    return true;
}

void pieces_fini(struct pieces *p) {
    array_fini(&p->all);
    array_fini(&p->unused);
    address_map_fini(&p->by_address);
    xfree(p->of_block);
    p->of_block = NULL;
}

static bool is_split(const struct piece *piece) {
    return piece->previous != PIECE_NONE || piece->next != PIECE_NONE;
}

static bool is_in_plain_segment(const struct pieces *p, const struct timeline_block *b) {
    return b->segment != TIMELINE_NONE && !p->tl->segments.at[b->segment].expandable;
}

/* Cuts the high part off a piece and frees it. */
static bool split_off(struct pieces *p, uint32_t index, uint64_t keep) {
    struct piece *low = &p->all.at[index];
    struct piece high = {.address = low->address + keep,
                         .bytes = low->bytes - keep,
                         .previous = index,
                         .next = low->next};
    uint32_t rest;
    if (!new_piece(p, high, &rest))
        return false;
    low = &p->all.at[index]; /* the array may have moved */
    low->bytes = keep;
    if (low->next != PIECE_NONE)
        p->all.at[low->next].previous = rest;
    low->next = rest;
    return add_free(p, rest);
}

bool pieces_take(struct pieces *p, uint32_t block, struct piece_change *change) {
    *change = (struct piece_change){0, 0};
    const struct timeline_block *b = &p->tl->blocks.at[block];
    if (p->is_broken || !is_in_plain_segment(p, b))
        return true;
    uint32_t index = address_map_get(&p->by_address, b->address);
    if (index == ADDRESS_MAP_NONE || p->all.at[index].bytes < b->block_bytes) {
        p->is_broken = true;
        return true;
    }
    struct piece *piece = &p->all.at[index];
    bool was_split = is_split(piece);
    uint64_t rest = piece->bytes - b->block_bytes;
    address_map_remove(&p->by_address, piece->address);
    piece->is_free = false;
    p->of_block[block] = index;
    if (was_split)
        *change = (struct piece_change){-(int64_t)b->block_bytes, rest > 0 ? 0 : -1};
    else if (rest > 0)
        *change = (struct piece_change){(int64_t)rest, 1};
    return rest == 0 || split_off(p, index, b->block_bytes);
}

/* Lets `low` swallow its next piece, which is free. */
static bool swallow_next(struct pieces *p, uint32_t low) {
    uint32_t high = p->all.at[low].next;
    p->all.at[low].bytes += p->all.at[high].bytes;
    p->all.at[low].next = p->all.at[high].next;
    if (p->all.at[high].next != PIECE_NONE)
        p->all.at[p->all.at[high].next].previous = low;
    return array_push(&p->unused, high);
}

static bool is_free_piece(const struct pieces *p, uint32_t index) {
    return index != PIECE_NONE && p->all.at[index].is_free;
}

static void forget_free(struct pieces *p, uint32_t index, struct piece_change *change) {
    address_map_remove(&p->by_address, p->all.at[index].address);
    change->bytes -= (int64_t)p->all.at[index].bytes;
    change->blocks--;
}

bool pieces_return(struct pieces *p, uint32_t block, struct piece_change *change) {
    *change = (struct piece_change){0, 0};
    uint32_t index = p->of_block[block];
    if (p->is_broken || index == PIECE_NONE)
        return true;
    p->of_block[block] = PIECE_NONE;
    uint32_t previous = p->all.at[index].previous, next = p->all.at[index].next;
    if (is_free_piece(p, next)) {
        forget_free(p, next, change);
        if (!swallow_next(p, index))
            return false;
    }
    if (is_free_piece(p, previous)) {
        forget_free(p, previous, change);
        if (!swallow_next(p, previous))
            return false;
        index = previous;
    }
    if (is_split(&p->all.at[index])) {
        change->bytes += (int64_t)p->all.at[index].bytes;
        change->blocks++;
    }
    return add_free(p, index);
}

bool pieces_add_segment(struct pieces *p, uint32_t segment) {
    const struct timeline_segment *s = &p->tl->segments.at[segment];
    if (p->is_broken || s->expandable)
        return true;
    uint32_t last = PIECE_NONE;
    return append_free(p, s->address, s->address + s->bytes, &last);
}

bool pieces_remove_segment(struct pieces *p, uint32_t segment) {
    const struct timeline_segment *s = &p->tl->segments.at[segment];
    if (p->is_broken || s->expandable)
        return true;
    uint32_t index = address_map_get(&p->by_address, s->address);
    if (index == ADDRESS_MAP_NONE || is_split(&p->all.at[index])) {
        p->is_broken = true;
        return true;
    }
    address_map_remove(&p->by_address, s->address);
    return array_push(&p->unused, index);
}

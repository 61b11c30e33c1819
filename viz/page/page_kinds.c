/* page_kinds.c: see page_kinds.h. */
#include "page_kinds.h"

#include <string.h>

#include "timeline.h"
#include "track.h"
#include "xalloc.h"

const enum owner_grouping page_groupings[PAGE_GROUPING_COUNT] = {
#define X(id) [PAGE_BY_##id] = OWNER_BY_##id,
    PAGE_GROUPINGS(X)
#undef X
};

static size_t slot_of(const struct page_kinds *kinds, const struct page_kind *kind) {
    uint64_t hash = kind->kept;
    for (int i = 0; i < PAGE_GROUPING_COUNT; i++)
        hash = (hash ^ kind->key[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
    size_t mask = kinds->slots.count - 1, at = (size_t)(hash >> 32) & mask;
    while (kinds->slots.at[at] != 0 &&
           memcmp(array_at(&kinds->kinds, kinds->slots.at[at] - 1), kind, sizeof *kind) != 0)
        at = (at + 1) & mask;
    return at;
}

/* Keeps the table at most half full; a power of two. */
static bool grow(struct page_kinds *kinds) {
    if (kinds->slots.count > 2 * kinds->kinds.count + 2)
        return true;
    size_t count = kinds->slots.count ? 2 * kinds->slots.count : 64;
    if (!array_reserve(&kinds->slots, count))
        return false;
    kinds->slots.count = count;
    memset(kinds->slots.at, 0, count * sizeof *kinds->slots.at);
    for (size_t i = 0; i < kinds->kinds.count; i++)
        kinds->slots.at[slot_of(kinds, &kinds->kinds.at[i])] = (uint32_t)i + 1;
    return true;
}

static bool find_kind(struct page_kinds *kinds, const struct page_kind *kind, uint32_t *index) {
    if (!grow(kinds))
        return false;
    size_t at = slot_of(kinds, kind);
    if (kinds->slots.at[at] == 0) {
        if (!array_push(&kinds->kinds, *kind))
            return false;
        kinds->slots.at[at] = (uint32_t)kinds->kinds.count;
    }
    *index = kinds->slots.at[at] - 1;
    return true;
}

static bool add_block(struct page_kinds *kinds, struct track *track, uint32_t block) {
    struct page_kind kind = {.kept = track->tl->blocks.at[block].free_event == TIMELINE_NONE};
    for (int i = 0; i < PAGE_GROUPING_COUNT; i++)
        if (!owners_key_of(&track->owners, page_groupings[i], block, &kind.key[i]))
            return false;
    if (kinds->kinds.count >= PAGE_KINDS_MAX && grow(kinds) &&
        kinds->slots.at[slot_of(kinds, &kind)] == 0) {
        uint64_t category = kind.key[PAGE_BY_CATEGORY];
        memset(&kind, 0, sizeof kind);
        kind.key[PAGE_BY_CATEGORY] = category;
        kinds->merged++;
    }
    return find_kind(kinds, &kind, &kinds->of[block]);
}

bool page_kinds_build(struct page_kinds *kinds, struct track *track) {
    memset(kinds, 0, sizeof *kinds);
    size_t blocks = track->tl->blocks.count;
    kinds->of = xcalloc(blocks + 1, sizeof *kinds->of);
    bool ok = kinds->of != NULL;
    for (uint32_t i = 0; ok && i < blocks; i++)
        if (track->tl->blocks.at[i].device == track->device)
            ok = add_block(kinds, track, i);
    return ok;
}

void page_kinds_fini(struct page_kinds *kinds) {
    array_fini(&kinds->kinds);
    array_fini(&kinds->slots);
    xfree(kinds->of);
    kinds->of = NULL;
}

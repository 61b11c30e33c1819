/* live_list.c: see live_list.h. */
#include "live_list.h"

#include "timeline.h"
#include "xalloc.h"

void live_list_init(struct live_list *list, const struct lod *lod) {
    memset(list, 0, sizeof *list);
    list->lod = lod;
    live_list_clear(list);
}

void live_list_fini(struct live_list *list) {
    array_fini(&list->slots);
    xfree(list->slot_of);
    list->slot_of = NULL;
}

void live_list_clear(struct live_list *list) {
    array_clear(&list->slots);
    list->spare = LIVE_NO_SLOT;
    for (int g = 0; g < LOD_GROUPS; g++)
        list->first[g] = list->last[g] = LIVE_NO_SLOT;
}

/* `slot_of` is never cleared: an entry counts only when its slot names the block. */
static uint32_t find(const struct live_list *list, uint32_t block) {
    if (!list->slot_of || block >= list->lod->tl->blocks.count)
        return LIVE_NO_SLOT;
    uint32_t slot = list->slot_of[block];
    return slot < list->slots.count && list->slots.at[slot].block == block ? slot : LIVE_NO_SLOT;
}

static bool take_slot(struct live_list *list, uint32_t *slot) {
    if (list->spare != LIVE_NO_SLOT) {
        *slot = list->spare;
        list->spare = list->slots.at[*slot].next;
        return true;
    }
    struct live_slot empty = {0};
    if (list->slots.count >= LIVE_NO_SLOT || !array_push(&list->slots, empty))
        return false;
    *slot = (uint32_t)list->slots.count - 1;
    return true;
}

bool live_list_add(struct live_list *list, uint32_t block) {
    const struct timeline *tl = list->lod->tl;
    uint32_t slot;
    if (block >= tl->blocks.count || find(list, block) != LIVE_NO_SLOT)
        return true;
    if (!list->slot_of && !(list->slot_of = xcalloc(tl->blocks.count, sizeof *list->slot_of)))
        return false;
    if (!take_slot(list, &slot))
        return false;
    unsigned group = lod_group(list->lod, block);
    list->slots.at[slot] = (struct live_slot){.bytes = tl->blocks.at[block].block_bytes,
                                              .block = block,
                                              .next = LIVE_NO_SLOT,
                                              .previous = list->last[group],
                                              .group = (uint8_t)group};
    if (list->last[group] == LIVE_NO_SLOT)
        list->first[group] = slot;
    else
        list->slots.at[list->last[group]].next = slot;
    list->last[group] = slot;
    list->slot_of[block] = slot;
    return true;
}

void live_list_remove(struct live_list *list, uint32_t block) {
    uint32_t slot = find(list, block);
    if (slot == LIVE_NO_SLOT)
        return;
    struct live_slot *s = &list->slots.at[slot];
    if (s->previous == LIVE_NO_SLOT)
        list->first[s->group] = s->next;
    else
        list->slots.at[s->previous].next = s->next;
    if (s->next == LIVE_NO_SLOT)
        list->last[s->group] = s->previous;
    else
        list->slots.at[s->next].previous = s->previous;
    s->block = TIMELINE_NONE;
    s->next = list->spare;
    list->spare = slot;
}

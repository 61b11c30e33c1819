/* block_groups.c: see block_groups.h. */
#include "block_groups.h"

#include <string.h>

void block_groups_fini(struct block_groups *groups) {
    for (int i = 0; i < BLOCK_GROUPS_SIDES; i++) {
        key_index_fini(&groups->sides[i].keys);
        array_fini(&groups->sides[i].group);
    }
    if (groups->has_names)
        strtab_fini(&groups->names);
    groups->has_names = false;
    array_fini(&groups->by_name);
    array_fini(&groups->name_of);
}

bool block_groups_start(struct block_groups *groups, enum owner_grouping grouping,
                        enum language language, struct owners *first, struct owners *second) {
    if (groups->has_names)
        strtab_fini(&groups->names);
    groups->has_names = strtab_init(&groups->names);
    groups->grouping = grouping;
    groups->language = language;
    groups->sides[0].owners = first;
    groups->sides[1].owners = second;
    for (int i = 0; i < BLOCK_GROUPS_SIDES; i++) {
        key_index_clear(&groups->sides[i].keys);
        array_clear(&groups->sides[i].group);
    }
    array_clear(&groups->by_name);
    array_clear(&groups->name_of);
    return groups->has_names;
}

/* The group of a name: an old one, or a new one. */
static bool group_of_name(struct block_groups *groups, const char *name, uint32_t *group) {
    uint32_t string;
    if (!strtab_add(&groups->names, name, strlen(name), &string))
        return false;
    while (groups->by_name.count <= string)
        if (!array_push(&groups->by_name, 0))
            return false;
    uint32_t *known = array_at(&groups->by_name, string);
    if (*known == 0) {
        if (!array_push(&groups->name_of, string))
            return false;
        *known = (uint32_t)groups->name_of.count;
    }
    *group = *known - 1;
    return true;
}

bool block_groups_find(struct block_groups *groups, int side, uint32_t block, uint32_t *group) {
    struct owners *owners = groups->sides[side].owners;
    uint64_t key;
    uint32_t at;
    if (!owners_key_of(owners, groups->grouping, block, &key) ||
        !key_index_add(&groups->sides[side].keys, key, &at))
        return false;
    if (at == groups->sides[side].group.count) {
        char buffer[256];
        const char *name = owners_key_name(owners, groups->grouping, key, groups->language, buffer);
        uint32_t found;
        if (!group_of_name(groups, name, &found) || !array_push(&groups->sides[side].group, found))
            return false;
    }
    *group = *array_at(&groups->sides[side].group, at);
    return true;
}

uint32_t block_groups_count(const struct block_groups *groups) {
    return (uint32_t)groups->name_of.count;
}

const char *block_groups_name(const struct block_groups *groups, uint32_t group) {
    return strtab_text(&groups->names, *array_at(&groups->name_of, group));
}

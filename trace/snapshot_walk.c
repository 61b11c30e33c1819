/* snapshot_walk.c: reading the records of snapshot.h by their handles. */
#include "snapshot.h"

static uint32_t first_chunk(const struct snapshot *s, uint32_t list) {
    if (list >= s->pickle.containers.count || s->pickle.containers.at[list].kind != PICKLE_LIST)
        return 0;
    return s->pickle.containers.at[list].record;
}

void snapshot_walk_begin(struct snapshot *s, uint32_t list, struct snapshot_walk *walk) {
    *walk = (struct snapshot_walk){.chunk = first_chunk(s, list)};
}

bool snapshot_walk_next(struct snapshot *s, struct snapshot_walk *walk, uint32_t *handle) {
    while (walk->chunk != 0) {
        const struct snapshot_chunk *chunk = array_at(&s->chunks, walk->chunk - 1);
        while (walk->index < chunk->count) {
            if (s->items_left == 0)
                return false;
            s->items_left--;
            *handle = s->items.at[chunk->first + walk->index++];
            if (*handle != NO_HANDLE)
                return true;
        }
        *walk = (struct snapshot_walk){.chunk = chunk->next};
    }
    return false;
}

uint32_t snapshot_list_count(const struct snapshot *s, uint32_t list) {
    return first_chunk(s, list) == 0 ? 0 : s->pickle.containers.at[list].count;
}

uint32_t snapshot_record(const struct snapshot *s, uint32_t handle, enum snapshot_role role) {
    if (handle >= s->pickle.containers.count)
        return NO_HANDLE;
    const struct pickle_container *c = &s->pickle.containers.at[handle];
    return c->kind == PICKLE_DICT && c->role == role ? c->record : NO_HANDLE;
}

void snapshot_pool_id(const struct snapshot *s, uint32_t tuple, uint64_t pool_id[2]) {
    pool_id[0] = pool_id[1] = 0;
    if (tuple >= s->pickle.containers.count)
        return;
    const struct pickle_container *c = &s->pickle.containers.at[tuple];
    if (c->kind != PICKLE_TUPLE || c->record == 0)
        return;
    pool_id[0] = s->tuples.at[2 * (c->record - 1)];
    pool_id[1] = s->tuples.at[2 * (c->record - 1) + 1];
}

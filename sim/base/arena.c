/* arena.c: see arena.h. */
#include "arena.h"

#include <stdint.h>
#include <string.h>

#include "xalloc.h"

struct arena_block {
    struct arena_block *previous;
    size_t used, capacity;
    max_align_t data[];
};

enum { FIRST_BLOCK_BYTES = 16 * 1024, LARGEST_BLOCK_BYTES = 1024 * 1024 };

static struct arena_block *add_block(struct arena *arena, size_t need) {
    size_t capacity = arena->last ? arena->last->capacity * 2 : FIRST_BLOCK_BYTES;
    if (capacity > LARGEST_BLOCK_BYTES)
        capacity = LARGEST_BLOCK_BYTES;
    if (capacity < need)
        capacity = need;
    struct arena_block *block = xalloc(sizeof *block + capacity);
    if (!block)
        return NULL;
    block->previous = arena->last;
    block->used = 0;
    block->capacity = capacity;
    arena->last = block;
    arena->total_bytes += capacity;
    return block;
}

void *arena_alloc(struct arena *arena, size_t bytes) {
    const size_t align = sizeof(max_align_t);
    if (bytes > SIZE_MAX / 2)
        return NULL;
    size_t need = (bytes + align - 1) / align * align;
    struct arena_block *block = arena->last;
    if (!block || block->capacity - block->used < need) {
        block = add_block(arena, need);
        if (!block)
            return NULL;
    }
    void *p = (unsigned char *)block->data + block->used;
    block->used += need;
    return p;
}

void *arena_calloc(struct arena *arena, size_t count, size_t bytes) {
    if (bytes != 0 && count > SIZE_MAX / bytes)
        return NULL;
    void *p = arena_alloc(arena, count * bytes);
    if (p)
        memset(p, 0, count * bytes);
    return p;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length) {
    char *copy = arena_alloc(arena, length + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text) {
    return arena_strndup(arena, text, strlen(text));
}

void arena_fini(struct arena *arena) {
    struct arena_block *block = arena->last;
    while (block) {
        struct arena_block *previous = block->previous;
        xfree(block);
        block = previous;
    }
    arena->last = NULL;
    arena->total_bytes = 0;
}

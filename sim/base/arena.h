/* arena.h: memory that is freed all at once. Blocks of growing size in a list; nothing moves.
 *
 *   last -> [block header | used ........ | free ]  -> previous block -> ...
 *
 * Ownership: the arena owns what it hands out; arena_fini frees everything. Zero bytes are an empty arena. */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *last;
    size_t total_bytes; /* taken from the host */
};

void *arena_alloc(struct arena *arena,
                  size_t bytes); /* aligned for any type; NULL: host memory exhausted */
void *arena_calloc(struct arena *arena, size_t count, size_t bytes);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_strdup(struct arena *arena, const char *text);
void arena_fini(struct arena *arena);

#endif

/* strtab.h: interned strings. Equal texts have equal ids; id 0 is the empty string ("none").
 * Ids count up in order of first use, so they are deterministic. Texts are NUL-terminated and live as long as the table. */
#ifndef STRTAB_H
#define STRTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "array.h"

struct strtab_entry {
    const char *text;
    uint32_t length, hash;
};

struct strtab {
    struct arena arena;
    ARRAY(struct strtab_entry) entries;
    uint32_t *slots; /* open addressing; 0 = free, else id + 1 */
    size_t slot_count;
};

bool strtab_init(struct strtab *table); /* false: host memory exhausted */
void strtab_fini(struct strtab *table);
/* Interns and returns the id in *id. False: host memory exhausted or 2^32 strings. */
bool strtab_add(struct strtab *table, const char *text, size_t length, uint32_t *id);
/* The id of a text that is there, else 0. */
uint32_t strtab_find(const struct strtab *table, const char *text, size_t length);
const char *strtab_text(const struct strtab *table, uint32_t id);
size_t strtab_length(const struct strtab *table, uint32_t id);
size_t strtab_count(const struct strtab *table);
size_t strtab_bytes(const struct strtab *table); /* of host memory */

#endif

/* strtab.c: see strtab.h. FNV-1a over the bytes, linear probing, at most half full. */
#include "strtab.h"

#include <assert.h>
#include <string.h>

static uint32_t hash_bytes(const char *text, size_t length) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

static uint32_t *find_slot(const struct strtab *table, const char *text, size_t length,
                           uint32_t hash) {
    size_t mask = table->slot_count - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &table->slots[i];
        if (*slot == 0)
            return slot;
        const struct strtab_entry *e = &table->entries.at[*slot - 1];
        if (e->hash == hash && e->length == length && memcmp(e->text, text, length) == 0)
            return slot;
    }
}

static bool grow(struct strtab *table) {
    size_t count = table->slot_count ? table->slot_count * 2 : 64;
    uint32_t *slots = xcalloc(count, sizeof *slots);
    if (!slots)
        return false;
    for (size_t id = 0; id < table->entries.count; id++) {
        size_t i = table->entries.at[id].hash & (count - 1);
        while (slots[i])
            i = (i + 1) & (count - 1);
        slots[i] = (uint32_t)id + 1;
    }
    xfree(table->slots);
    table->slots = slots;
    table->slot_count = count;
    return true;
}

bool strtab_init(struct strtab *table) {
    memset(table, 0, sizeof *table);
    uint32_t id;
    if (!strtab_add(table, "", 0, &id)) {
        strtab_fini(table);
        return false;
    }
    assert(id == 0);
    return true;
}

void strtab_fini(struct strtab *table) {
    array_fini(&table->entries);
    arena_fini(&table->arena);
    xfree(table->slots);
    memset(table, 0, sizeof *table);
}

bool strtab_add(struct strtab *table, const char *text, size_t length, uint32_t *id) {
    if (length > UINT32_MAX || table->entries.count >= UINT32_MAX - 1)
        return false;
    if ((table->entries.count + 1) * 2 > table->slot_count && !grow(table))
        return false;
    uint32_t hash = hash_bytes(text, length);
    uint32_t *slot = find_slot(table, text, length, hash);
    if (*slot == 0) {
        struct strtab_entry e = {.length = (uint32_t)length, .hash = hash};
        e.text = arena_strndup(&table->arena, text, length);
        if (!e.text || !array_push(&table->entries, e))
            return false;
        *slot = (uint32_t)table->entries.count;
    }
    *id = *slot - 1;
    return true;
}

uint32_t strtab_find(const struct strtab *table, const char *text, size_t length) {
    uint32_t slot = *find_slot(table, text, length, hash_bytes(text, length));
    return slot ? slot - 1 : 0;
}

const char *strtab_text(const struct strtab *table, uint32_t id) {
    assert(id < table->entries.count);
    return table->entries.at[id].text;
}

size_t strtab_length(const struct strtab *table, uint32_t id) {
    assert(id < table->entries.count);
    return table->entries.at[id].length;
}

size_t strtab_count(const struct strtab *table) {
    return table->entries.count;
}

size_t strtab_bytes(const struct strtab *table) {
    return table->arena.total_bytes + array_bytes(&table->entries) +
           table->slot_count * sizeof *table->slots;
}

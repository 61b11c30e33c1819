/* strings.c: see strings.h. */
#include "strings.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

struct entry {
    uint64_t hash;
    size_t bytes;
    char *text;
};

struct strings {
    pthread_mutex_t lock;
    struct entry *entries; /* id - 1 */
    uint32_t count, room, taken;
    uint32_t *slots; /* ids; 0: free */
    uint32_t slot_count;
};

struct strings *strings_create(void) {
    struct strings *s = calloc(1, sizeof *s);
    if (s && pthread_mutex_init(&s->lock, NULL) != 0) {
        free(s);
        return NULL;
    }
    return s;
}

/* FNV-1a */
static uint64_t hash_of(const char *text, size_t bytes) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return hash;
}

static uint32_t *slot_of(const struct strings *s, uint64_t hash, const char *text, size_t bytes) {
    uint32_t mask = s->slot_count - 1, at = (uint32_t)(hash >> 20) & mask;
    for (; s->slots[at]; at = (at + 1) & mask) {
        const struct entry *e = &s->entries[s->slots[at] - 1];
        if (e->hash == hash && e->bytes == bytes && memcmp(e->text, text, bytes) == 0)
            break;
    }
    return &s->slots[at];
}

/* At most half full. */
static bool grow_slots(struct strings *s) {
    if (s->slot_count > 2 * s->count + 2)
        return true;
    uint32_t count = s->slot_count ? 2 * s->slot_count : 256, *old = s->slots;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    s->slots = slots;
    s->slot_count = count;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct entry *e = &s->entries[i];
        *slot_of(s, e->hash, e->text, e->bytes) = i + 1;
    }
    free(old);
    return true;
}

/* Returns the id; 0: no memory. */
static uint32_t add(struct strings *s, uint64_t hash, const char *text, size_t bytes) {
    if (s->count == s->room) {
        uint32_t room = s->room ? 2 * s->room : 256;
        struct entry *moved = realloc(s->entries, room * sizeof *moved);
        if (!moved)
            return 0;
        s->entries = moved;
        s->room = room;
    }
    char *copy = malloc(bytes);
    if (!copy)
        return 0;
    memcpy(copy, text, bytes);
    struct entry *entry = &s->entries[s->count++];
    entry->hash = hash;
    entry->bytes = bytes;
    entry->text = copy;
    return s->count;
}

/* Not within a character of UTF-8. */
static size_t cut(const char *text, size_t bytes) {
    if (bytes <= STRINGS_LONGEST)
        return bytes;
    bytes = STRINGS_LONGEST;
    while (bytes > STRINGS_LONGEST - 4 && ((unsigned char)text[bytes] & 0xc0) == 0x80)
        bytes--;
    return bytes;
}

uint32_t strings_id(struct strings *s, const char *text) {
    if (!text || !*text)
        return 0;
    size_t bytes = cut(text, strnlen(text, STRINGS_LONGEST + 1));
    uint64_t hash = hash_of(text, bytes);
    uint32_t id = 0;
    pthread_mutex_lock(&s->lock);
    if (grow_slots(s)) {
        uint32_t *slot = slot_of(s, hash, text, bytes);
        if (!*slot)
            *slot = add(s, hash, text, bytes);
        id = *slot;
    }
    pthread_mutex_unlock(&s->lock);
    return id;
}

uint32_t strings_id_wide(struct strings *s, const void *wide) {
    const wchar_t *at = wide;
    char text[4096];
    size_t used = 0;
    for (; at && *at && used + 4 < sizeof text; at++) {
        unsigned long c = (unsigned long)*at;
        if (c < 0x80) {
            text[used++] = (char)c;
        } else if (c < 0x800) {
            text[used++] = (char)(0xc0 | c >> 6);
            text[used++] = (char)(0x80 | (c & 0x3f));
        } else if (c < 0x10000 && (c < 0xd800 || c > 0xdfff)) {
            text[used++] = (char)(0xe0 | c >> 12);
            text[used++] = (char)(0x80 | (c >> 6 & 0x3f));
            text[used++] = (char)(0x80 | (c & 0x3f));
        } else if (c >= 0x10000 && c < 0x110000) {
            text[used++] = (char)(0xf0 | c >> 18);
            text[used++] = (char)(0x80 | (c >> 12 & 0x3f));
            text[used++] = (char)(0x80 | (c >> 6 & 0x3f));
            text[used++] = (char)(0x80 | (c & 0x3f));
        } else {
            text[used++] = '?';
        }
    }
    text[used] = '\0';
    return strings_id(s, text);
}

void strings_take_new(struct strings *s,
                      void (*take)(void *user, uint32_t id, const char *text, size_t bytes),
                      void *user) {
    pthread_mutex_lock(&s->lock);
    uint32_t count = s->count;
    for (; s->taken < count; s->taken++) {
        struct entry e = s->entries[s->taken];
        /* the writer may wait for a disk; texts stay where they are */
        pthread_mutex_unlock(&s->lock);
        take(user, s->taken + 1, e.text, e.bytes);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

/* tl_build.h: a timeline as text, for tests. One item a line; '#' begins a comment; words are
 * separated by blanks.
 *
 *   device 80GiB 500MiB [NAME]            total and context
 *   start segment s0 2MiB small           there before the first event (large, expandable likewise)
 *   start block z 512 at=s0+0 activation  alive before the first event
 *   t=10                                  the clock of all that follows (else +1 an event)
 *   segment s0 2MiB small                 SEGMENT_ALLOC; addresses are given out upwards, 1 GiB
 * apart map s1 20MiB / unmap s1 20MiB+2MiB    of an expandable one (made by its first map); unmap
 *                                         OFFSET+BYTES
 *   free_segment s0
 *   alloc a 100 [at=s0+512] [block=512] [stream=1] [op=aten::mm] [owner=m.x] [name=weight] [large]
 *       [parameter]                       block size: rounded up to 512 unless given
 *   free a                                FREE_REQUESTED and FREE_COMPLETED
 *   request a / complete a                one of them
 *   oom 20MiB [MESSAGE...]                (rounded) request
 *   begin step_1 / end                    phases; '_' in a name stands for a blank
 *
 * tl_build() fails the test with the line on any mistake. */
#ifndef TL_BUILD_H
#define TL_BUILD_H

#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "timeline.h"
#include "units.h"

enum { TL_NAMES = 4096, TL_WORDS = 24, TL_PHASES = 32 };

struct tl_builder {
    struct timeline *tl;
    char (*blocks)[32], (*segments)[32]; /* names by index */
    uint64_t clock, next_address;
    uint32_t open[TL_PHASES];
    size_t open_count;
    char line[512], *word[TL_WORDS], nothing[1]; /* words that are not there are empty */
    size_t words;
};

static inline uint64_t tl_bytes(struct tl_builder *b, const char *text) {
    uint64_t bytes = 0;
    if (!units_parse_bytes(text, &bytes))
        fail_msg("size '%s' in '%s'", text, b->line);
    return bytes;
}

static inline uint32_t tl_event(struct tl_builder *b, struct timeline_event event) {
    event.time_ns = b->clock++;
    return timeline_add_event(b->tl, &event);
}

/* The latest thing of that name, so that names can be used again. */
static inline uint32_t tl_find(struct tl_builder *b, char (*names)[32], size_t count,
                               const char *name) {
    for (size_t i = count; i-- > 0;)
        if (strcmp(names[i], name) == 0)
            return (uint32_t)i;
    fail_msg("no '%s' for '%s'", name, b->line);
    return TIMELINE_NONE;
}

static inline uint32_t tl_find_block(struct tl_builder *b, const char *name) {
    return tl_find(b, b->blocks, b->tl->blocks.count, name);
}

static inline uint32_t tl_find_segment(struct tl_builder *b, const char *name) {
    return tl_find(b, b->segments, b->tl->segments.count, name);
}

static inline void tl_name(char (*names)[32], uint32_t index, const char *name) {
    assert_true(index < TL_NAMES && strlen(name) < 32);
    memcpy(names[index], name, strlen(name) + 1);
}

static inline bool tl_has_word(struct tl_builder *b, const char *word) {
    for (size_t i = 1; i < b->words; i++)
        if (strcmp(b->word[i], word) == 0)
            return true;
    return false;
}

static inline const char *tl_option(struct tl_builder *b, const char *key) {
    for (size_t i = 1; i < b->words; i++)
        if (strncmp(b->word[i], key, strlen(key)) == 0)
            return b->word[i] + strlen(key);
    return NULL;
}

static inline uint32_t tl_text_option(struct tl_builder *b, const char *key) {
    const char *text = tl_option(b, key);
    return text ? timeline_string(b->tl, text) : 0;
}

static inline uint32_t tl_add_segment(struct tl_builder *b, size_t at, uint32_t alloc_event,
                                      bool expandable) {
    struct timeline_segment s = {.address = b->next_address,
                                 .bytes = expandable ? 0 : tl_bytes(b, b->word[at + 1]),
                                 .alloc_event = alloc_event,
                                 .free_event = TIMELINE_NONE,
                                 .small_pool = tl_has_word(b, "small"),
                                 .expandable = expandable};
    b->next_address += GIB * 64;
    b->tl->has |= TIMELINE_HAS_SEGMENTS;
    uint32_t index = timeline_add_segment(b->tl, &s);
    tl_name(b->segments, index, b->word[at]);
    return index;
}

static inline void tl_segment(struct tl_builder *b) {
    uint32_t index = tl_add_segment(b, 1, (uint32_t)b->tl->events.count, false);
    const struct timeline_segment *s = &b->tl->segments.at[index];
    tl_event(b, (struct timeline_event){.kind = EVENT_SEGMENT_ALLOC,
                                        .ref = index,
                                        .bytes = s->bytes,
                                        .address = s->address});
}

static inline void tl_map(struct tl_builder *b, bool is_map) {
    uint32_t index = TIMELINE_NONE;
    for (uint32_t i = 0; i < b->tl->segments.count; i++)
        if (strcmp(b->segments[i], b->word[1]) == 0)
            index = i;
    if (index == TIMELINE_NONE)
        index = tl_add_segment(b, 1, (uint32_t)b->tl->events.count, true);
    char *plus = strchr(b->word[2], '+');
    uint64_t offset = 0;
    if (plus) {
        *plus = '\0';
        offset = tl_bytes(b, b->word[2]);
    }
    uint64_t bytes = tl_bytes(b, plus ? plus + 1 : b->word[2]);
    struct timeline_segment *s = &b->tl->segments.at[index];
    if (!plus && is_map)
        offset = s->bytes; /* appended */
    if (is_map)
        s->bytes += bytes;
    tl_event(b, (struct timeline_event){.kind = is_map ? EVENT_SEGMENT_MAP : EVENT_SEGMENT_UNMAP,
                                        .ref = index,
                                        .bytes = bytes,
                                        .address = s->address + offset});
}

static inline void tl_free_segment(struct tl_builder *b) {
    uint32_t index = tl_find_segment(b, b->word[1]);
    struct timeline_segment *s = &b->tl->segments.at[index];
    s->free_event = tl_event(
        b, (struct timeline_event){
               .kind = EVENT_SEGMENT_FREE, .ref = index, .bytes = s->bytes, .address = s->address});
}

static inline void tl_place(struct tl_builder *b, struct timeline_block *block) {
    const char *at = tl_option(b, "at=");
    if (!at)
        return;
    char name[32] = "";
    const char *plus = strchr(at, '+');
    assert_true(plus && plus - at < 32);
    memcpy(name, at, (size_t)(plus - at));
    block->segment = tl_find_segment(b, name);
    block->address = b->tl->segments.at[block->segment].address + tl_bytes(b, plus + 1);
    block->small_pool = b->tl->segments.at[block->segment].small_pool;
    b->tl->has |= TIMELINE_HAS_ADDRESS;
}

static inline uint8_t tl_category(struct tl_builder *b) {
    for (size_t i = 1; i < b->words; i++)
        if (category_find(b->word[i]) != CATEGORY_UNKNOWN)
            return (uint8_t)category_find(b->word[i]);
    return CATEGORY_UNKNOWN;
}

static inline uint16_t tl_stream(struct tl_builder *b) {
    const char *stream = tl_option(b, "stream=");
    uint16_t index = 0;
    assert_true(timeline_stream(b->tl, stream ? tl_bytes(b, stream) : 0, &index));
    return index;
}

static inline uint32_t tl_add_block(struct tl_builder *b, size_t at, uint32_t alloc_event) {
    uint64_t bytes = tl_bytes(b, b->word[at + 1]);
    const char *size = tl_option(b, "block=");
    struct timeline_block block = {
        .requested_bytes = bytes,
        .block_bytes = size ? tl_bytes(b, size) : (bytes + 511) / 512 * 512,
        .alloc_event = alloc_event,
        .free_event = TIMELINE_NONE,
        .complete_event = TIMELINE_NONE,
        .segment = TIMELINE_NONE,
        .owner = tl_text_option(b, "owner="),
        .op = tl_text_option(b, "op="),
        .name = tl_text_option(b, "name="),
        .phase = b->open_count ? b->open[b->open_count - 1] : TIMELINE_NONE,
        .stream = tl_stream(b),
        .category = tl_category(b),
        .small_pool = bytes <= MIB && !tl_has_word(b, "large"),
        .pending_at_start = tl_has_word(b, "pending"),
    };
    tl_place(b, &block);
    if (block.category != CATEGORY_UNKNOWN)
        b->tl->has |= TIMELINE_HAS_CATEGORY;
    if (block.owner)
        b->tl->has |= TIMELINE_HAS_OWNER;
    uint32_t index = timeline_add_block(b->tl, &block);
    tl_name(b->blocks, index, b->word[at]);
    return index;
}

static inline void tl_alloc(struct tl_builder *b) {
    uint32_t index = tl_add_block(b, 1, (uint32_t)b->tl->events.count);
    const struct timeline_block *block = &b->tl->blocks.at[index];
    tl_event(b, (struct timeline_event){.kind = EVENT_ALLOC,
                                        .ref = index,
                                        .bytes = block->requested_bytes,
                                        .address = block->address,
                                        .stream = block->stream});
}

static inline void tl_free(struct tl_builder *b, bool request, bool complete) {
    uint32_t index = tl_find_block(b, b->word[1]);
    struct timeline_block *block = &b->tl->blocks.at[index];
    struct timeline_event e = {.ref = index,
                               .bytes = block->requested_bytes,
                               .address = block->address,
                               .stream = block->stream};
    e.kind = EVENT_FREE_REQUESTED;
    if (request)
        block->free_event = tl_event(b, e);
    e.kind = EVENT_FREE_COMPLETED;
    if (complete)
        block->complete_event = tl_event(b, e);
}

static inline void tl_begin(struct tl_builder *b) {
    for (char *p = b->word[1]; *p; p++)
        if (*p == '_' && strncmp(b->word[1], "zero_grad", 9) != 0 && !strchr(b->word[1], '#'))
            *p = ' ';
    uint32_t phase = (uint32_t)b->tl->phases.count;
    struct timeline_phase p = {.name = timeline_string(b->tl, b->word[1]),
                               .end_event = TIMELINE_NONE,
                               .parent = b->open_count ? b->open[b->open_count - 1] : TIMELINE_NONE,
                               .depth = (uint16_t)b->open_count};
    p.begin_event = tl_event(b, (struct timeline_event){.kind = EVENT_PHASE_BEGIN, .ref = phase});
    timeline_add_phase(b->tl, &p);
    assert_true(b->open_count < TL_PHASES);
    b->open[b->open_count++] = phase;
    b->tl->has |= TIMELINE_HAS_PHASE;
}

static inline void tl_end(struct tl_builder *b) {
    assert_true(b->open_count > 0);
    uint32_t phase = b->open[--b->open_count];
    b->tl->phases.at[phase].end_event =
        tl_event(b, (struct timeline_event){.kind = EVENT_PHASE_END, .ref = phase});
}

static inline void tl_oom(struct tl_builder *b, const char *message) {
    uint64_t bytes = tl_bytes(b, b->word[1]);
    struct timeline_oom oom = {.event = (uint32_t)b->tl->events.count,
                               .requested_bytes = bytes,
                               .rounded_bytes = bytes,
                               .segment_bytes = bytes,
                               .op = tl_text_option(b, "op="),
                               .owner = tl_text_option(b, "owner="),
                               .message = *message ? timeline_string(b->tl, message) : 0};
    assert_true(array_push(&b->tl->ooms, oom));
    tl_event(b, (struct timeline_event){
                    .kind = EVENT_OOM, .ref = (uint32_t)b->tl->ooms.count - 1, .bytes = bytes});
}

static inline void tl_device(struct tl_builder *b) {
    struct timeline_device device = {
        .name = timeline_string(b->tl, b->words > 3 ? b->word[3] : "test device"),
        .total_bytes = tl_bytes(b, b->word[1]),
        .context_bytes = tl_bytes(b, b->word[2])};
    assert_true(array_push(&b->tl->devices, device));
    b->tl->has |= TIMELINE_HAS_DEVICE;
}

static inline void tl_line(struct tl_builder *b, const char *message) {
    const char *w = b->word[0];
    if (strncmp(w, "t=", 2) == 0) {
        b->clock = tl_bytes(b, w + 2);
        b->tl->has |= TIMELINE_HAS_TIME;
    } else if (strcmp(w, "device") == 0)
        tl_device(b);
    else if (strcmp(w, "start") == 0 && strcmp(b->word[1], "segment") == 0)
        tl_add_segment(b, 2, TIMELINE_NONE, false);
    else if (strcmp(w, "start") == 0)
        tl_add_block(b, 2, TIMELINE_NONE);
    else if (strcmp(w, "segment") == 0)
        tl_segment(b);
    else if (strcmp(w, "free_segment") == 0)
        tl_free_segment(b);
    else if (strcmp(w, "map") == 0 || strcmp(w, "unmap") == 0)
        tl_map(b, *w == 'm');
    else if (strcmp(w, "alloc") == 0)
        tl_alloc(b);
    else if (strcmp(w, "free") == 0)
        tl_free(b, true, true);
    else if (strcmp(w, "request") == 0)
        tl_free(b, true, false);
    else if (strcmp(w, "complete") == 0)
        tl_free(b, false, true);
    else if (strcmp(w, "begin") == 0)
        tl_begin(b);
    else if (strcmp(w, "end") == 0)
        tl_end(b);
    else if (strcmp(w, "oom") == 0)
        tl_oom(b, message);
    else
        fail_msg("what is '%s'?", w);
}

/* Cuts one line into words. Returns what follows the second word and op= and owner=, for a free
 * text. */
static inline const char *tl_split(struct tl_builder *b, const char *text, size_t length) {
    assert_true(length < sizeof b->line);
    memcpy(b->line, text, length);
    b->line[length] = '\0';
    b->words = 0;
    for (size_t i = 0; i < TL_WORDS; i++)
        b->word[i] = b->nothing;
    const char *rest = "";
    for (char *p = b->line; *p && *p != '#';) {
        p += strspn(p, " ");
        if (!*p || *p == '#')
            break;
        if (b->words >= 2 && !*rest && strncmp(p, "op=", 3) != 0 && strncmp(p, "owner=", 6) != 0)
            rest = text + (p - b->line);
        assert_true(b->words < TL_WORDS);
        b->word[b->words++] = p;
        p += strcspn(p, " ");
        if (*p)
            *p++ = '\0';
    }
    return rest;
}

/* Adds lines to a timeline that has been begun. */
static inline void tl_add(struct tl_builder *b, const char *text) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        const char *rest = tl_split(b, text, length);
        char message[512] = "";
        if (*rest)
            memcpy(message, rest, length - (size_t)(rest - text));
        if (b->words > 0)
            tl_line(b, message);
        text += length + (text[length] == '\n');
    }
}

static inline void tl_begin_build(struct tl_builder *b) {
    memset(b, 0, sizeof *b);
    b->tl = timeline_create();
    b->blocks = calloc(TL_NAMES, sizeof *b->blocks);
    b->segments = calloc(TL_NAMES, sizeof *b->segments);
    b->next_address = GIB;
    assert_true(b->tl && b->blocks && b->segments);
    b->tl->has = TIMELINE_HAS_BLOCK_BYTES | TIMELINE_HAS_REQUESTED | TIMELINE_HAS_STREAM |
                 TIMELINE_HAS_HISTORY;
}

static inline struct timeline *tl_end_build(struct tl_builder *b) {
    struct error err = {0};
    free(b->blocks);
    free(b->segments);
    assert_ok(timeline_check(b->tl, &err), err);
    return b->tl;
}

static inline struct timeline *tl_build(const char *text) {
    struct tl_builder b;
    tl_begin_build(&b);
    tl_add(&b, text);
    return tl_end_build(&b);
}

#endif

/* snapshot_frames.c: stacks as lists of dicts that share what is the same; see snapshot_out.h. */
#include <string.h>

#include "snapshot_out.h"
#include "text.h"
#include "timeline.h"

/* The memo's number of entry `id`, PICKLE_UNKNOWN where it is new. NULL: host memory. */
static uint32_t *slot(void *at, size_t *count, size_t *capacity, uint32_t id) {
    uint32_t *list;
    memcpy(&list, at, sizeof list);
    if (id >= *capacity && !array_grow(at, capacity, (size_t)id + 1, sizeof *list))
        return NULL;
    memcpy(&list, at, sizeof list);
    while (*count <= id)
        list[(*count)++] = PICKLE_UNKNOWN;
    return &list[id];
}

#define SLOT(array, id) slot((void *)&(array)->at, &(array)->count, &(array)->capacity, id)

static bool frame(struct snapshot_out *s, struct timeline_frame f) {
    uint32_t id;
    const uint32_t key[3] = {f.function, f.file, f.line};
    if (!strtab_add(&s->frames, (const char *)key, sizeof key, &id))
        return false;
    uint32_t *kept = SLOT(&s->frame_dicts, id);
    if (!kept)
        return false;
    if (*kept != PICKLE_UNKNOWN) {
        pickle_out_again(&s->p, *kept);
        return true;
    }
    pickle_out_dict(&s->p);
    snapshot_word(s, WORD_name);
    snapshot_text(s, f.function);
    snapshot_word(s, WORD_filename);
    snapshot_text(s, f.file);
    snapshot_number(s, WORD_line, f.line);
    pickle_out_end_dict(&s->p);
    *kept = pickle_out_keep(&s->p);
    return true;
}

static bool frames(struct snapshot_out *s, const struct timeline_frame *at, uint32_t count,
                   uint32_t *kept) {
    if (*kept != PICKLE_UNKNOWN) {
        pickle_out_again(&s->p, *kept);
        return true;
    }
    uint32_t items = 0;
    pickle_out_list(&s->p);
    for (uint32_t i = 0; i < count; i++) {
        pickle_out_item(&s->p, &items);
        if (!frame(s, at[i]))
            return false;
    }
    pickle_out_end_list(&s->p, items);
    *kept = pickle_out_keep(&s->p);
    return true;
}

bool snapshot_stack(struct snapshot_out *s, uint32_t stack) {
    const struct timeline_stack *at = &s->tl->stacks.at[stack];
    uint32_t *kept = stack == 0 ? &s->no_frames : SLOT(&s->stacks, stack);
    snapshot_word(s, WORD_frames);
    return kept && frames(s, at->count > 0 ? &s->tl->frames.at[at->first] : NULL, at->count, kept);
}

/* Innermost first: the tensor in its module, then the op that asked for it. */
bool snapshot_block_stack(struct snapshot_out *s, const struct timeline_block *block) {
    if (block->stack != 0 || (block->op == 0 && block->owner == 0 && block->name == 0))
        return snapshot_stack(s, block->stack);
    uint32_t id;
    const uint32_t key[3] = {block->name, block->op, block->owner};
    struct timeline_frame at[2];
    uint32_t count = 0;
    if (block->name)
        at[count++] = (struct timeline_frame){.function = block->name, .file = block->owner};
    if (block->op || !block->name)
        at[count++] = (struct timeline_frame){.function = block->op, .file = block->owner};
    if (!strtab_add(&s->made, (const char *)key, sizeof key, &id))
        return false;
    uint32_t *kept = SLOT(&s->made_stacks, id);
    s->losses.made_frames++;
    snapshot_word(s, WORD_frames);
    return kept && frames(s, at, count, kept);
}

/* holders.c: see holders.h. */
#include "holders.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "frames.h"
#include "liveness.h"
#include "text.h"
#include "timeline.h"

void holder_sum_add(struct holder_sum *sum, const struct timeline_block *block) {
    sum->bytes += block->block_bytes;
    sum->requested_bytes += block->requested_bytes;
    sum->blocks++;
}

static void add_sum(struct holder_sum *to, const struct holder_sum *from) {
    to->bytes += from->bytes;
    to->requested_bytes += from->requested_bytes;
    to->blocks += from->blocks;
}

void holders_by_category(const struct timeline *tl, uint8_t device, uint32_t event,
                         struct holder_sum out[CATEGORY_COUNT]) {
    memset(out, 0, CATEGORY_COUNT * sizeof *out);
    for (size_t i = 0; i < tl->blocks.count; i++) {
        const struct timeline_block *b = &tl->blocks.at[i];
        if (b->device == device && block_is_live(b, event))
            holder_sum_add(&out[b->category], b);
    }
}

static void frame_text(const struct timeline *tl, uint32_t stack, struct text *out) {
    const struct timeline_frame *f = frames_best(tl, stack);
    if (f)
        frames_add(tl, f, out);
}

/* The name of the row a block belongs to, interned in the list. `scratch` is reused. */
static bool row_name(const struct timeline *tl, const struct timeline_block *b, enum holder_key key,
                     struct text *scratch, struct holder_list *out, uint32_t *name) {
    if (key == HOLDER_BY_OP) {
        const char *op = timeline_text(tl, b->op);
        return strtab_add(&out->strings, op, strlen(op), name);
    }
    scratch->length = 0;
    text_add(scratch, "");
    frame_text(tl, b->stack, scratch);
    return !scratch->failed && strtab_add(&out->strings, text_get(scratch), scratch->length, name);
}

/* Rows are indexed by their name's id while they are filled. */
static bool add_block(const struct timeline_block *b, uint32_t name, struct holder_list *out) {
    while (out->rows.count <= name) {
        struct holder_entry empty = {.name = (uint32_t)out->rows.count};
        if (!array_push(&out->rows, empty))
            return false;
    }
    holder_sum_add(&out->rows.at[name].sum, b);
    holder_sum_add(&out->total, b);
    return true;
}

/* Ids count up in order of first use, so they break ties as deterministically as names would. */
static int compare_entries(const void *left, const void *right) {
    const struct holder_entry *a = left, *b = right;
    if (a->sum.bytes != b->sum.bytes)
        return a->sum.bytes > b->sum.bytes ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static void drop_empty(struct holder_list *out) {
    size_t kept = 0;
    for (size_t i = 0; i < out->rows.count; i++)
        if (out->rows.at[i].sum.blocks > 0)
            out->rows.at[kept++] = out->rows.at[i];
    out->rows.count = kept;
}

/* Folds all rows beyond `top` into one; a single one stays as it is. */
static void fold_rest(uint32_t top, struct holder_list *out) {
    if (top == 0 || out->rows.count <= (size_t)top + 1)
        return;
    struct holder_entry others = {.is_others = true};
    for (size_t i = top; i < out->rows.count; i++)
        add_sum(&others.sum, &out->rows.at[i].sum);
    out->rows.at[top] = others;
    out->rows.count = (size_t)top + 1;
}

static bool fill_list(const struct timeline *tl, uint8_t device, uint32_t event,
                      enum holder_key key, struct text *scratch, struct holder_list *out) {
    for (size_t i = 0; i < tl->blocks.count; i++) {
        const struct timeline_block *b = &tl->blocks.at[i];
        uint32_t name;
        if (b->device != device || !block_is_live(b, event))
            continue;
        if (!row_name(tl, b, key, scratch, out, &name) || !add_block(b, name, out))
            return false;
    }
    return true;
}

bool holder_list_find(const struct timeline *tl, uint8_t device, uint32_t event,
                      enum holder_key key, uint32_t top, struct holder_list *out,
                      struct error *err) {
    memset(out, 0, sizeof *out);
    if (!strtab_init(&out->strings))
        return error_host_memory(err);
    struct text scratch = {0};
    bool ok = fill_list(tl, device, event, key, &scratch, out);
    text_fini(&scratch);
    if (!ok) {
        holder_list_fini(out);
        return error_host_memory(err);
    }
    drop_empty(out);
    if (out->rows.count > 0)
        qsort(out->rows.at, out->rows.count, sizeof *out->rows.at, compare_entries);
    fold_rest(top, out);
    return true;
}

void holder_list_fini(struct holder_list *list) {
    array_fini(&list->rows);
    strtab_fini(&list->strings);
}

/* Keeps the `top` largest in a min-heap whose root is the one to give way: n log top, no copy of
 * all live blocks. */
static bool is_before(const struct timeline *tl, uint32_t a, uint32_t b) {
    uint64_t x = tl->blocks.at[a].block_bytes, y = tl->blocks.at[b].block_bytes;
    return x != y ? x > y : a < b;
}

static void sift_down(const struct timeline *tl, uint32_t *heap, size_t count, size_t at) {
    for (;;) {
        size_t worst = at, left = 2 * at + 1, right = left + 1;
        if (left < count && is_before(tl, heap[worst], heap[left]))
            worst = left;
        if (right < count && is_before(tl, heap[worst], heap[right]))
            worst = right;
        if (worst == at)
            return;
        uint32_t swap = heap[at];
        heap[at] = heap[worst];
        heap[worst] = swap;
        at = worst;
    }
}

static void make_heap(const struct timeline *tl, uint32_t *heap, size_t count) {
    for (size_t i = count / 2; i-- > 0;)
        sift_down(tl, heap, count, i);
}

static bool keep_largest(const struct timeline *tl, uint32_t block, uint32_t top,
                         struct holder_blocks *out) {
    if (out->rows.count < top) {
        if (!array_push(&out->rows, block))
            return false;
        if (out->rows.count == top)
            make_heap(tl, out->rows.at, top);
        return true;
    }
    if (top > 0 && is_before(tl, block, out->rows.at[0])) {
        out->rows.at[0] = block;
        sift_down(tl, out->rows.at, top, 0);
    }
    return true;
}

/* The heap's root is the last row: taking it off again and again sorts from the end. */
static void sort_heap(const struct timeline *tl, struct holder_blocks *out) {
    size_t count = out->rows.count;
    make_heap(tl, out->rows.at, count);
    while (count > 1) {
        uint32_t last = out->rows.at[0];
        out->rows.at[0] = out->rows.at[--count];
        out->rows.at[count] = last;
        sift_down(tl, out->rows.at, count, 0);
    }
}

bool holder_blocks_find(const struct timeline *tl, uint8_t device, uint32_t event, uint32_t top,
                        struct holder_blocks *out, struct error *err) {
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < tl->blocks.count; i++) {
        const struct timeline_block *b = &tl->blocks.at[i];
        if (b->device != device || !block_is_live(b, event))
            continue;
        if (!keep_largest(tl, i, top, out)) {
            holder_blocks_fini(out);
            return error_host_memory(err);
        }
    }
    if (out->rows.count > 1)
        sort_heap(tl, out);
    return true;
}

void holder_blocks_fini(struct holder_blocks *blocks) {
    array_fini(&blocks->rows);
}

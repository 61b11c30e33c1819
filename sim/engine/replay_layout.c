/* replay_layout.c: the model's memory after the last event against the recorded one: every piece of
 * mapped memory and every block in use. Free blocks are the gaps between them on both sides. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "caching.h"
#include "checked.h"
#include "replay_core.h"

struct item {
    uint64_t start, end;
    uint64_t requested; /* of blocks */
    uint64_t stream;
    bool is_block; /* else mapped memory */
    bool pending, small_pool, expandable;
};

struct layout {
    ARRAY(struct item) items;
    bool failed; /* host memory */
};

static void add_item(struct layout *layout, const struct item *item) {
    if (!array_push(&layout->items, *item))
        layout->failed = true;
}

static int order_items(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->is_block != y->is_block)
        return x->is_block - y->is_block;
    return (x->end > y->end) - (x->end < y->end);
}

/* Mapped pieces of a reservation that touch are one, wherever they were cut when recorded. */
static void join_pieces(struct layout *layout) {
    size_t kept = 0, last = SIZE_MAX; /* last: the piece of mapped memory before */
    for (size_t i = 0; i < layout->items.count; i++) {
        struct item item = layout->items.at[i];
        struct item *before = last == SIZE_MAX ? NULL : &layout->items.at[last];
        if (!item.is_block && before && item.expandable && before->expandable &&
            before->end == item.start && before->stream == item.stream &&
            before->small_pool == item.small_pool) {
            before->end = item.end;
            continue;
        }
        if (!item.is_block)
            last = kept;
        layout->items.at[kept++] = item;
    }
    layout->items.count = kept;
}

static void finish(struct layout *layout) {
    if (layout->items.count > 0)
        qsort(layout->items.at, layout->items.count, sizeof *layout->items.at, order_items);
    join_pieces(layout);
}

/* --- the model's --- */

static void visit(void *user, const struct caching_block *block) {
    struct layout *layout = user;
    bool used = block->state == CACHING_BLOCK_ALLOCATED || block->state == CACHING_BLOCK_PENDING;
    struct item item = {.start = block->address,
                        .end = block->address + block->bytes,
                        .stream = block->stream,
                        .small_pool = block->small_pool,
                        .expandable = block->expandable};
    if (block->state == CACHING_BLOCK_UNMAPPED)
        return;
    if (!block->expandable && block->address == block->segment_address) {
        struct item whole = item;
        whole.end = block->segment_address + block->segment_bytes;
        add_item(layout, &whole);
    } else if (block->expandable) {
        add_item(layout, &item);
    }
    if (!used)
        return;
    item.is_block = true;
    item.requested = block->requested_bytes;
    item.pending = block->state == CACHING_BLOCK_PENDING;
    add_item(layout, &item);
}

/* --- the recorded --- */

static bool find_mapped(const struct replay_device *d, struct spans *mapped) {
    const struct timeline *real = d->replay->real;
    for (size_t i = 0; i < real->segments.count; i++) {
        const struct timeline_segment *s = &real->segments.at[i];
        const struct span span = {
            .start = s->address, .end = s->address + s->bytes, .value = (uint32_t)i};
        if (s->device == d->result.device && s->alloc_event == TIMELINE_NONE && s->bytes > 0 &&
            !spans_overlap(mapped, span.start, span.end) && !spans_add(mapped, span))
            return false;
    }
    for (size_t i = 0; i < d->answers.count; i++) {
        const struct timeline_event *e = &real->events.at[d->answers.at[i]];
        struct span span = {.start = e->address, .end = e->address, .value = e->ref};
        if (e->bytes == 0 || !checked_add(e->address, e->bytes, &span.end))
            continue;
        bool ok = spans_cut(mapped, span.start, span.end);
        if (!ok || (replay_is_growth(e) && !spans_add(mapped, span)))
            return false;
    }
    return true;
}

static bool find_recorded(const struct replay_device *d, struct layout *layout) {
    const struct timeline *real = d->replay->real;
    struct spans mapped = {0};
    bool ok = find_mapped(d, &mapped);
    struct spans_cursor cursor = {0};
    for (const struct span *span; (span = spans_next(&mapped, &cursor)) != NULL;) {
        const struct timeline_segment *s = &real->segments.at[span->value];
        const struct item item = {.start = span->start,
                                  .end = span->end,
                                  .stream = replay_stream(real, s->stream),
                                  .small_pool = s->small_pool,
                                  .expandable = s->expandable};
        add_item(layout, &item);
    }
    spans_fini(&mapped);
    for (size_t i = 0; i < real->blocks.count; i++) {
        const struct timeline_block *b = &real->blocks.at[i];
        if (b->device != d->result.device || b->complete_event != TIMELINE_NONE)
            continue;
        const struct item item = {.start = b->address,
                                  .end = b->address + b->block_bytes,
                                  .requested = b->requested_bytes,
                                  .stream = replay_stream(real, b->stream),
                                  .is_block = true,
                                  .pending = b->pending_at_start || b->free_event != TIMELINE_NONE,
                                  .small_pool = b->small_pool,
                                  .expandable = false};
        add_item(layout, &item);
    }
    return ok && !layout->failed;
}

/* --- the comparison --- */

static bool is_equal(const struct item *a, const struct item *b) {
    return a->start == b->start && a->end == b->end && a->stream == b->stream &&
           a->is_block == b->is_block &&
           (!a->is_block || (a->requested == b->requested && a->pending == b->pending)) &&
           (a->is_block || a->small_pool == b->small_pool);
}

static const char *describe(const struct layout *layout, size_t index, char *out, size_t size) {
    if (index >= layout->items.count)
        return "nothing more";
    const struct item *item = &layout->items.at[index];
    snprintf(out, size, "%s%s of %" PRIu64 " bytes at 0x%" PRIx64 " (requested %" PRIu64 ")",
             item->pending ? "pending " : "", item->is_block ? "block" : "segment",
             item->end - item->start, item->start, item->requested);
    return out;
}

static bool compare(struct replay_device *d, const struct layout *recorded,
                    const struct layout *model) {
    size_t count =
        recorded->items.count < model->items.count ? recorded->items.count : model->items.count;
    size_t i = 0;
    while (i < count && is_equal(&recorded->items.at[i], &model->items.at[i]))
        i++;
    if (i == recorded->items.count && i == model->items.count)
        return true;
    char left[REPLAY_TEXT_BYTES], right[REPLAY_TEXT_BYTES];
    replay_differ(d, (uint32_t)d->replay->real->events.count,
                  describe(recorded, i, left, sizeof left), "%s",
                  describe(model, i, right, sizeof right));
    return false;
}

bool replay_compare_layout(struct replay_device *d) {
    struct layout recorded = {0}, model = {0};
    caching_visit(d->al, visit, &model);
    bool ok = find_recorded(d, &recorded) && !model.failed;
    bool equal = false;
    if (ok) {
        finish(&recorded);
        finish(&model);
        equal = compare(d, &recorded, &model);
    } else {
        replay_fail_memory(d->replay);
    }
    array_fini(&recorded.items);
    array_fini(&model.items);
    return equal;
}

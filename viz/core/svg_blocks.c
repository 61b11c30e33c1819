/* svg_blocks.c: see svg_blocks.h. */
#include "svg_blocks.h"

#include <stdlib.h>

#include "draw.h"
#include "text.h"

enum { BLOCKS_MAX = 5000, HEIGHT_MIN = 2 };

/* One piece of a block, and the block it is part of. */
struct part {
    struct piece piece;
    int x;
};

struct block {
    uint64_t area;
    size_t first, count; /* parts */
};

struct parts {
    ARRAY(struct part) list;
    ARRAY(struct block) blocks;
};

static int by_block(const void *a, const void *b) {
    const struct part *p = a, *q = b;
    if (p->piece.block != q->piece.block)
        return p->piece.block < q->piece.block ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

/* The largest first; of equal ones the oldest. */
static int by_area(const void *a, const void *b) {
    const struct block *p = a, *q = b;
    if (p->area != q->area)
        return p->area < q->area ? 1 : -1;
    return (p->first > q->first) - (p->first < q->first);
}

static bool collect(const struct draw_list *list, const struct draw_command *c,
                    struct parts *parts) {
    for (int x = 0; x < c->w; x++) {
        size_t count;
        const struct piece *pieces = draw_blocks_at(list, c, x, &count);
        for (size_t i = 0; i < count; i++) {
            struct part part = {pieces[i], x};
            if (!array_push(&parts->list, part))
                return false;
        }
    }
    if (parts->list.count > 0)
        qsort(parts->list.at, parts->list.count, sizeof *parts->list.at, by_block);
    return true;
}

static bool group(struct parts *parts) {
    for (size_t i = 0, end; i < parts->list.count; i = end) {
        struct block block = {.first = i};
        int highest = 0;
        for (end = i; end < parts->list.count &&
                      parts->list.at[end].piece.block == parts->list.at[i].piece.block;
             end++) {
            int height = parts->list.at[end].piece.bottom - parts->list.at[end].piece.top;
            highest = height > highest ? height : highest;
            block.area += (uint64_t)height;
        }
        block.count = end - i;
        if (highest >= HEIGHT_MIN && !array_push(&parts->blocks, block))
            return false;
    }
    if (parts->blocks.count > 0)
        qsort(parts->blocks.at, parts->blocks.count, sizeof *parts->blocks.at, by_area);
    return true;
}

/* Along the upper edge from part `first`, back along the lower one to it; they lie side by side. */
static void add_run(const struct draw_command *c, const struct part *first, size_t count,
                    struct text *out) {
    text_format(out, "M%d %d", c->x + first[0].x, first[0].piece.top);
    for (size_t i = 1; i < count; i++)
        if (first[i].piece.top != first[i - 1].piece.top)
            text_format(out, "H%dV%d", c->x + first[i].x, first[i].piece.top);
    text_format(out, "H%dV%d", c->x + first[count - 1].x + 1, first[count - 1].piece.bottom);
    for (size_t i = count - 1; i > 0; i--)
        if (first[i].piece.bottom != first[i - 1].piece.bottom)
            text_format(out, "H%dV%d", c->x + first[i].x, first[i - 1].piece.bottom);
    text_format(out, "H%dZ", c->x + first[0].x);
}

static void write_block(const struct draw_list *list, const struct draw_command *c,
                        const struct part *parts, size_t count, struct text *out) {
    const struct band_style *style = &list->styles.at[c->size + parts[0].piece.group];
    text_format(out,
                "<path fill=\"#%06x\" stroke=\"#%06x\" stroke-opacity=\"0.3\" "
                "stroke-width=\"0.4\" d=\"",
                theme_shade(style->color, parts[0].piece.block) & 0xffffff,
                c->separator & 0xffffff);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && parts[end].x == parts[end - 1].x + 1; end++) {
        }
        add_run(c, parts + i, end - i, out);
    }
    text_add(out, "\"/>\n");
}

void svg_blocks(const struct draw_list *list, const struct draw_command *c, struct text *out) {
    struct parts parts = {0};
    if (!collect(list, c, &parts) || !group(&parts))
        out->failed = true;
    for (size_t i = 0; i < parts.blocks.count && i < BLOCKS_MAX && !out->failed; i++)
        write_block(list, c, parts.list.at + parts.blocks.at[i].first, parts.blocks.at[i].count,
                    out);
    array_fini(&parts.list);
    array_fini(&parts.blocks);
}

/* draw_dump.c: a draw list as text. */
#include "draw.h"
#include "text.h"

static void dump_columns(const struct draw_list *list, const struct draw_command *c, size_t each,
                         struct text *out) {
    const int32_t *values = list->values.at + c->data;
    for (int x = 0; x < c->w;) {
        const int32_t *column = values + (size_t)x * each;
        int end = x + 1;
        while (end < c->w &&
               memcmp(values + (size_t)end * each, column, each * sizeof *column) == 0)
            end++;
        text_format(out, "  %d..%d:", x, end - 1);
        for (size_t i = 0; i < each; i++)
            text_format(out, " %d", column[i]);
        text_add(out, "\n");
        x = end;
    }
}

static bool same_pieces(const struct draw_list *list, const struct draw_command *c, int x, int y) {
    size_t count, other;
    const struct piece *a = draw_blocks_at(list, c, x, &count);
    const struct piece *b = draw_blocks_at(list, c, y, &other);
    bool same = count == other;
    for (size_t i = 0; same && i < count; i++)
        same = a[i].top == b[i].top && a[i].bottom == b[i].bottom && a[i].block == b[i].block;
    return same;
}

static void dump_blocks(const struct draw_list *list, const struct draw_command *c,
                        struct text *out) {
    for (int x = 0, end; x < c->w; x = end) {
        size_t count;
        const struct piece *pieces = draw_blocks_at(list, c, x, &count);
        for (end = x + 1; end < c->w && same_pieces(list, c, x, end); end++) {
        }
        if (count == 0)
            continue;
        text_format(out, "  %d..%d:", x, end - 1);
        for (size_t i = 0; i < count; i++)
            text_format(out, " %u:%d-%d", pieces[i].block, pieces[i].bottom, pieces[i].top);
        text_add(out, "\n");
    }
}

static void dump_command(const struct draw_list *list, const struct draw_command *c,
                         struct text *out) {
    switch (c->kind) {
    case DRAW_RECT:
        text_format(out, "rect %d %d %dx%d #%08x\n", c->x, c->y, c->w, c->h, c->color);
        break;
    case DRAW_LINE:
        text_format(out, "line %d %d to %d %d #%08x\n", c->x, c->y, c->x + c->w, c->y + c->h,
                    c->color);
        break;
    case DRAW_TEXT:
        text_format(out, "text %d %d %d%s #%08x ", c->x, c->y, c->size, c->bold ? " bold" : "",
                    c->color);
        text_add_bytes(out, list->chars.at + c->data, c->length);
        text_add(out, "\n");
        break;
    case DRAW_CLIP:
        text_format(out, "clip %d %d %dx%d\n", c->x, c->y, c->w, c->h);
        break;
    case DRAW_UNCLIP:
        text_add(out, "unclip\n");
        break;
    case DRAW_BANDS:
        text_format(out, "bands %d %d %dx%d %d\n", c->x, c->y, c->w, c->h, c->count);
        dump_columns(list, c, (size_t)c->count + 1, out);
        break;
    case DRAW_BLOCKS:
        text_format(out, "blocks %d %d %dx%d\n", c->x, c->y, c->w, c->h);
        dump_blocks(list, c, out);
        break;
    case DRAW_PIXELS:
        text_format(out, "pixels %d %d %dx%d\n", c->x, c->y, c->w, c->h);
        break;
    case DRAW_STEPS:
        text_format(out, "steps %d %d %dx%d thickness %d%s #%08x\n", c->x, c->y, c->w, c->h,
                    c->size, c->dashed ? " dashed" : "", c->color);
        dump_columns(list, c, 1, out);
        break;
    }
}

void draw_dump(const struct draw_list *list, struct text *out) {
    text_format(out, "picture %dx%d\n", list->width, list->height);
    for (size_t i = 0; i < list->commands.count; i++)
        dump_command(list, &list->commands.at[i], out);
}

/* draw.c: see draw.h. */
#include "draw.h"

#include <string.h>

void draw_start(struct draw_list *list, int width, int height) {
    list->width = width;
    list->height = height;
    array_clear(&list->commands);
    array_clear(&list->values);
    array_clear(&list->chars);
    array_clear(&list->styles);
    array_clear(&list->pieces);
    list->failed = false;
}

void draw_fini(struct draw_list *list) {
    array_fini(&list->commands);
    array_fini(&list->values);
    array_fini(&list->chars);
    array_fini(&list->styles);
    array_fini(&list->pieces);
}

static bool add(struct draw_list *list, const struct draw_command *command) {
    if (!array_push(&list->commands, *command))
        list->failed = true;
    return !list->failed;
}

void draw_rect(struct draw_list *list, int x, int y, int w, int h, uint32_t color) {
    struct draw_command c = {.kind = DRAW_RECT, .x = x, .y = y, .w = w, .h = h, .color = color};
    if (w > 0 && h > 0)
        add(list, &c);
}

void draw_frame(struct draw_list *list, int x, int y, int w, int h, uint32_t color) {
    draw_rect(list, x, y, w, 1, color);
    draw_rect(list, x, y + h - 1, w, 1, color);
    draw_rect(list, x, y + 1, 1, h - 2, color);
    draw_rect(list, x + w - 1, y + 1, 1, h - 2, color);
}

void draw_line(struct draw_list *list, int x0, int y0, int x1, int y1, uint32_t color) {
    struct draw_command c = {
        .kind = DRAW_LINE, .x = x0, .y = y0, .w = x1 - x0, .h = y1 - y0, .color = color, .size = 1};
    add(list, &c);
}

void draw_text(struct draw_list *list, int x, int y, int size, bool bold, uint32_t color,
               const char *text) {
    struct draw_command c = {.kind = DRAW_TEXT,
                             .x = x,
                             .y = y,
                             .color = color,
                             .size = size,
                             .bold = bold,
                             .data = list->chars.count,
                             .length = strlen(text)};
    if (c.length == 0)
        return;
    if (!array_reserve(&list->chars, c.data + c.length)) {
        list->failed = true;
        return;
    }
    memcpy(list->chars.at + c.data, text, c.length);
    list->chars.count += c.length;
    add(list, &c);
}

void draw_clip(struct draw_list *list, int x, int y, int w, int h) {
    struct draw_command c = {.kind = DRAW_CLIP, .x = x, .y = y, .w = w, .h = h};
    add(list, &c);
}

void draw_unclip(struct draw_list *list) {
    struct draw_command c = {.kind = DRAW_UNCLIP};
    add(list, &c);
}

static int32_t *add_values(struct draw_list *list, struct draw_command *c, size_t count) {
    c->data = list->values.count;
    c->length = count;
    if (!array_reserve(&list->values, list->values.count + count)) {
        list->failed = true;
        return NULL;
    }
    memset(list->values.at + c->data, 0, count * sizeof *list->values.at);
    list->values.count += count;
    return add(list, c) ? list->values.at + c->data : NULL;
}

static int32_t *add_styled(struct draw_list *list, struct draw_command *c,
                           const struct band_style *styles, size_t values) {
    if (c->w <= 0 || c->h <= 0)
        return NULL;
    c->size = (int)list->styles.count;
    for (int i = 0; i < c->count; i++)
        if (!array_push(&list->styles, styles[i])) {
            list->failed = true;
            return NULL;
        }
    return add_values(list, c, values);
}

int32_t *draw_bands(struct draw_list *list, int x, int y, int w, int h, int count,
                    const struct band_style *styles, uint32_t separator, int phase) {
    struct draw_command c = {.kind = DRAW_BANDS,
                             .x = x,
                             .y = y,
                             .w = w,
                             .h = h,
                             .count = count,
                             .separator = separator,
                             .phase = phase};
    return add_styled(list, &c, styles, (size_t)w * ((size_t)count + 1));
}

bool draw_blocks(struct draw_list *list, int x, int y, int w, int h, int count,
                 const struct band_style *styles, uint32_t separator, int phase) {
    struct draw_command c = {.kind = DRAW_BLOCKS,
                             .x = x,
                             .y = y,
                             .w = w,
                             .h = h,
                             .count = count,
                             .separator = separator,
                             .phase = phase};
    int32_t *first = add_styled(list, &c, styles, (size_t)w + 1);
    if (first)
        first[0] = (int32_t)list->pieces.count;
    return first != NULL;
}

void draw_blocks_column(struct draw_list *list, int column, const struct piece *pieces,
                        size_t count) {
    const struct draw_command *c = array_last(&list->commands);
    size_t end = list->pieces.count + count;
    assert(c->kind == DRAW_BLOCKS && column < c->w);
    if (end > INT32_MAX || !array_reserve(&list->pieces, end)) {
        list->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        list->pieces.at[list->pieces.count++] = pieces[i];
    list->values.at[c->data + (size_t)column + 1] = (int32_t)end;
}

const struct piece *draw_blocks_at(const struct draw_list *list, const struct draw_command *c,
                                   int column, size_t *count) {
    const int32_t *first = list->values.at + c->data + (size_t)column;
    *count = (size_t)(first[1] - first[0]);
    return list->pieces.at + first[0];
}

void draw_pixels(struct draw_list *list, int x, int y, int w, int h, const uint32_t *pixels,
                 size_t pitch) {
    struct draw_command c = {
        .kind = DRAW_PIXELS, .x = x, .y = y, .w = w, .h = h, .pixels = pixels, .pitch = pitch};
    if (w > 0 && h > 0)
        add(list, &c);
}

int32_t *draw_steps(struct draw_list *list, int x, int y, int w, int h, int thickness, bool dashed,
                    uint32_t color) {
    struct draw_command c = {.kind = DRAW_STEPS,
                             .x = x,
                             .y = y,
                             .w = w,
                             .h = h,
                             .color = color,
                             .size = thickness,
                             .dashed = dashed};
    if (w <= 0 || h <= 0)
        return NULL;
    return add_values(list, &c, (size_t)w);
}

/* font.c: see font.h. Glyphs are kept in an open-addressing table by (code, size, weight). */
#include "font.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "font_data.h"
#include "font_ft.h"
#include "utf8.h"
#include "xalloc.h"

struct font_slot {
    uint64_t key; /* 0 = free */
    struct glyph glyph;
    uint8_t *owned;
};

struct font {
    struct font_ft *ft; /* NULL: embedded only */
    struct font_slot *slots;
    size_t slot_count, used;
    uint32_t missing;                                 /* the first character that became a box */
    int metrics_size, metrics_ascent, metrics_height; /* of the last size asked */
};

/* Where Linux distributions keep the fonts of the fallback chain; the first that has a glyph draws
 * it. */
static const struct {
    const char *path;
    long face;
    bool bold;
} places[] = {
    {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", 0, false},
    {"/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf", 0, true},
    {"/usr/share/fonts/TTF/DejaVuSans.ttf", 0, false},
    {"/usr/share/fonts/TTF/DejaVuSans-Bold.ttf", 0, true},
    {"/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf", 0, false},
    {"/usr/share/fonts/dejavu-sans-fonts/DejaVuSans-Bold.ttf", 0, true},
    {"/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc", 2, false}, /* simplified Chinese */
    {"/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc", 2, false},
    {"/usr/share/fonts/truetype/wqy/wqy-microhei.ttc", 0, false},
    {"/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc", 0, false},
    {"/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf", 0, false},
    {"/usr/share/fonts/opentype/unifont/unifont.otf", 0, false},
};

struct font *font_create_embedded(void) {
    struct font *font = xcalloc(1, sizeof *font);
    if (!font)
        return NULL;
    font->slot_count = 512;
    font->slots = xcalloc(font->slot_count, sizeof *font->slots);
    if (font->slots)
        return font;
    xfree(font);
    return NULL;
}

/* "FILE:3" names face 3; a colon without digits after it belongs to the name. */
static bool add_named(struct font *font, const char *path, struct error *err) {
    const char *colon = strrchr(path, ':');
    char *end = NULL;
    long face = colon ? strtol(colon + 1, &end, 10) : 0;
    bool has_face = colon && end != colon + 1 && *end == '\0' && face >= 0 && face < 1000;
    char *file = xstrndup(path, has_face ? (size_t)(colon - path) : strlen(path));
    if (!file)
        return error_host_memory(err);
    bool added = font->ft && font_ft_add(font->ft, file, has_face ? face : 0, false);
    xfree(file);
    return added || error_set(err, ERROR_IO_READ, "%s: not a font that can be read", path);
}

struct font *font_create(const char *path, struct error *err) {
    struct font *font = font_create_embedded();
    if (!font) {
        error_host_memory(err);
        return NULL;
    }
    font->ft = font_ft_create();
    if (path && *path && !add_named(font, path, err)) {
        font_destroy(font);
        return NULL;
    }
    if (font->ft)
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
            font_ft_add(font->ft, places[i].path, places[i].face, places[i].bold);
    return font;
}

void font_destroy(struct font *font) {
    if (!font)
        return;
    for (size_t i = 0; i < font->slot_count; i++)
        xfree(font->slots[i].owned);
    xfree(font->slots);
    font_ft_destroy(font->ft);
    xfree(font);
}

/* Whole factors; the cell is 16 high for texts of 12 to 19 pixels. */
static int embedded_factor(int size) {
    int factor = (size + 4) / 13;
    return factor > 0 ? factor : 1;
}

static bool metrics(struct font *font, int size) {
    if (font->metrics_size != size) {
        font->metrics_size = size;
        if (!font->ft ||
            !font_ft_metrics(font->ft, size, &font->metrics_ascent, &font->metrics_height))
            font->metrics_height = 0;
    }
    return font->metrics_height > 0;
}

int font_line(struct font *font, int size) {
    return metrics(font, size) ? font->metrics_height : FONT_CELL_HEIGHT * embedded_factor(size);
}

static const struct font_cell *find_cell(uint32_t code) {
    size_t low = 0, high = font_cell_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (font_cells[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < font_cell_count && font_cells[low].code == code ? &font_cells[low] : NULL;
}

static const struct font_wide_cell *find_wide(uint32_t code) {
    size_t low = 0, high = font_wide_cell_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (font_wide_cells[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < font_wide_cell_count && font_wide_cells[low].code == code ? &font_wide_cells[low]
                                                                           : NULL;
}

/* 3x5 hex digits for the box, 15 bits a digit, top row first. */
static const uint16_t tiny_digits[16] = {0x7b6f, 0x2c97, 0x73e7, 0x73cf, 0x5bc9, 0x79cf,
                                         0x79ef, 0x7249, 0x7bef, 0x7bcf, 0x7bed, 0x6bae,
                                         0x7927, 0x6b6e, 0x79e7, 0x79e4};

static void set_pixel(uint8_t *coverage, int width, int x, int y, int factor) {
    for (int dy = 0; dy < factor; dy++)
        memset(coverage + (size_t)(y * factor + dy) * (size_t)width + (size_t)(x * factor), 255,
               (size_t)factor);
}

static void paint_tiny(uint8_t *coverage, int width, int x, int y, unsigned digit, int factor) {
    for (int row = 0; row < 5; row++)
        for (int column = 0; column < 3; column++)
            if (tiny_digits[digit] >> (14 - row * 3 - column) & 1)
                set_pixel(coverage, width, x + column, y + row, factor);
}

/* A box with the code in two rows of hex digits: what no font can draw can still be looked up. */
static void paint_box(uint8_t *coverage, int width, uint32_t code, int factor) {
    enum { BOX = 13, TOP = 1 };
    for (int i = 0; i < BOX; i++) {
        set_pixel(coverage, width, i, TOP, factor);
        set_pixel(coverage, width, i, TOP + 14, factor);
        set_pixel(coverage, width, 0, TOP + 1 + i, factor);
        set_pixel(coverage, width, BOX - 1, TOP + 1 + i, factor);
    }
    int digits = code > 0xffff ? 6 : 4, each = digits / 2;
    int left = digits == 4 ? 3 : 1;
    for (int i = 0; i < digits; i++) {
        unsigned digit = code >> (4 * (digits - 1 - i)) & 15;
        paint_tiny(coverage, width, left + i % each * 4, TOP + 2 + i / each * 6, digit, factor);
    }
}

static void paint_cell(uint8_t *coverage, int width, const struct font_cell *cell, bool bold,
                       int factor) {
    for (int y = 0; y < FONT_CELL_HEIGHT; y++)
        for (int x = 0; x < FONT_CELL_WIDTH; x++) {
            unsigned row = cell->rows[y];
            if (bold)
                row |= row >> 1;
            if (row >> (7 - x) & 1)
                set_pixel(coverage, width, x, y, factor);
        }
}

static void paint_wide(uint8_t *coverage, int width, const struct font_wide_cell *cell, bool bold,
                       int factor) {
    for (int y = 0; y < FONT_CELL_HEIGHT; y++)
        for (int x = 0; x < FONT_WIDE; x++) {
            unsigned row = cell->rows[y];
            if (bold)
                row |= row >> 1;
            if (row >> (15 - x) & 1)
                set_pixel(coverage, width, x, y, factor);
        }
}

static bool make_embedded(struct font *font, uint32_t code, int size, bool bold,
                          struct font_slot *slot) {
    const struct font_cell *cell = find_cell(code);
    const struct font_wide_cell *wide = cell ? NULL : find_wide(code);
    int factor = embedded_factor(size);
    struct glyph *glyph = &slot->glyph;
    glyph->width = (cell ? FONT_CELL_WIDTH : wide ? FONT_WIDE : 14) * factor;
    glyph->height = FONT_CELL_HEIGHT * factor;
    glyph->advance = (cell ? FONT_ADVANCE : wide ? FONT_WIDE : 14) * factor;
    glyph->top = (font_line(font, size) - glyph->height) / 2;
    slot->owned = xcalloc((size_t)glyph->width, (size_t)glyph->height);
    if (!slot->owned)
        return false;
    if (cell)
        paint_cell(slot->owned, glyph->width, cell, bold, factor);
    else if (wide)
        paint_wide(slot->owned, glyph->width, wide, bold, factor);
    else
        paint_box(slot->owned, glyph->width, code, factor);
    if (!cell && !wide && font->missing == 0)
        font->missing = code;
    glyph->coverage = slot->owned;
    return true;
}

static bool make_outline(struct font *font, uint32_t code, int size, bool bold,
                         struct font_slot *slot) {
    struct font_ft_glyph from;
    if (!metrics(font, size) || !font_ft_render(font->ft, code, size, bold, &from))
        return false;
    slot->glyph = (struct glyph){.width = from.width,
                                 .height = from.height,
                                 .left = from.left,
                                 .top = font->metrics_ascent - from.above,
                                 .advance = from.advance};
    if (from.width <= 0 || from.height <= 0)
        return true;
    slot->owned = xalloc((size_t)from.width * (size_t)from.height);
    if (!slot->owned)
        return false;
    for (int y = 0; y < from.height; y++)
        memcpy(slot->owned + (size_t)y * (size_t)from.width,
               from.coverage + (size_t)y * (size_t)from.pitch, (size_t)from.width);
    slot->glyph.coverage = slot->owned;
    return true;
}

bool font_has(struct font *font, uint32_t code) {
    struct font_ft_glyph glyph;
    return find_cell(code) || find_wide(code) ||
           (font->ft && font_ft_render(font->ft, code, 16, false, &glyph));
}

uint32_t font_missing(const struct font *font) {
    return font->missing;
}

static struct font_slot *find_slot(struct font_slot *slots, size_t count, uint64_t key) {
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (count - 1);
    while (slots[at].key != 0 && slots[at].key != key)
        at = (at + 1) & (count - 1);
    return &slots[at];
}

static bool grow(struct font *font) {
    size_t count = font->slot_count * 2;
    struct font_slot *slots = xcalloc(count, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < font->slot_count; i++)
        if (font->slots[i].key != 0)
            *find_slot(slots, count, font->slots[i].key) = font->slots[i];
    xfree(font->slots);
    font->slots = slots;
    font->slot_count = count;
    return true;
}

const struct glyph *font_glyph(struct font *font, uint32_t code, int size, bool bold) {
    static const struct glyph nothing = {0};
    uint64_t key = ((uint64_t)code << 16 | (uint64_t)(size & 0x7fff) << 1 | bold) + 1;
    struct font_slot *slot = find_slot(font->slots, font->slot_count, key);
    if (slot->key != 0)
        return &slot->glyph;
    if (font->used * 2 >= font->slot_count) {
        if (!grow(font))
            return &nothing;
        slot = find_slot(font->slots, font->slot_count, key);
    }
    struct font_slot made = {.key = key};
    if (!make_outline(font, code, size, bold, &made) &&
        !make_embedded(font, code, size, bold, &made)) {
        xfree(made.owned);
        return &nothing;
    }
    *slot = made;
    font->used++;
    return &slot->glyph;
}

int font_width(struct font *font, const char *text, size_t length, int size, bool bold) {
    int width = 0;
    for (const char *p = text, *end = text + length; p < end && width < 1 << 20;)
        width += font_glyph(font, utf8_next(&p, end), size, bold)->advance;
    return width;
}

/* Bytes of the longest head of `text` (or tail, `from_end`) that is at most `width` pixels and
 * `room` bytes, at code points. */
static size_t fit(struct font *font, const char *text, size_t length, int width, size_t room,
                  int size, bool bold, bool from_end) {
    size_t kept = 0;
    int used = 0;
    while (kept < length) {
        size_t next = kept + 1;
        if (from_end)
            while (next < length && ((unsigned char)text[length - next] & 0xc0) == 0x80)
                next++;
        else
            while (next < length && ((unsigned char)text[next] & 0xc0) == 0x80)
                next++;
        const char *at = from_end ? text + length - next : text + kept;
        used += font_width(font, at, next - kept, size, bold);
        if (used > width || next > room)
            break;
        kept = next;
    }
    return kept;
}

const char *font_shorten(struct font *font, const char *text, int width, int size, bool bold,
                         char *out, size_t out_bytes) {
    static const char dots[] = "\xe2\x80\xa6";
    size_t length = strlen(text);
    if (length < out_bytes && length < 4096 &&
        font_width(font, text, length, size, bold) <= width) {
        memcpy(out, text, length + 1);
        return out;
    }
    int left = width - font_width(font, dots, 3, size, bold);
    out[0] = '\0';
    if (left < 0 || out_bytes < 16)
        return out;
    size_t room = out_bytes - 4; /* the dots and the end */
    size_t head = fit(font, text, length, left * 2 / 5, room * 2 / 5, size, bold, false);
    size_t tail =
        fit(font, text + head, length - head, left - left * 2 / 5, room - head, size, bold, true);
    memcpy(out, text, head);
    memcpy(out + head, dots, 3);
    memcpy(out + head + 3, text + length - tail, tail);
    out[head + 3 + tail] = '\0';
    return out;
}

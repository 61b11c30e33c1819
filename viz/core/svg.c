/* svg.c: see svg.h. Bands become one path each: along the upper edge and back along the lower one,
 * a vertex where the level changes. Patterns are overlaid as a second fill. */
#include "svg.h"

#include "draw.h"
#include "svg_blocks.h"
#include "text.h"
#include "utf8.h"

static void add_escaped(struct text *out, const char *at, size_t length) {
    const char *end = at + length;
    while (at < end) {
        uint32_t code = utf8_next(&at, end);
        char bytes[4];
        if (code == '&')
            text_add(out, "&amp;");
        else if (code == '<')
            text_add(out, "&lt;");
        else if (code == '>')
            text_add(out, "&gt;");
        else
            text_add_bytes(out, bytes, utf8_put(code, bytes));
    }
}

static void add_fill(struct text *out, const char *attribute, uint32_t color) {
    text_format(out, " %s=\"#%06x\"", attribute, color & 0xffffff);
    uint32_t alpha = color >> 24;
    if (alpha < 255)
        text_format(out, " %s-opacity=\"%u.%02u\"", attribute, alpha / 255,
                    alpha * 100 / 255 % 100);
}

static int32_t edge(const int32_t *values, const struct draw_command *c, int x, int band) {
    int32_t y = values[(size_t)x * ((size_t)c->count + 1) + (size_t)band];
    return y < c->y ? c->y : y > c->y + c->h ? c->y + c->h : y;
}

static void add_upper_edge(struct text *out, const int32_t *values, const struct draw_command *c,
                           int band) {
    text_format(out, "M%d %d", c->x, edge(values, c, 0, band + 1));
    for (int x = 1; x < c->w; x++)
        if (edge(values, c, x, band + 1) != edge(values, c, x - 1, band + 1))
            text_format(out, "H%dV%d", c->x + x, edge(values, c, x, band + 1));
    text_format(out, "H%d", c->x + c->w);
}

static void add_lower_edge(struct text *out, const int32_t *values, const struct draw_command *c,
                           int band) {
    text_format(out, "V%d", edge(values, c, c->w - 1, band));
    for (int x = c->w - 2; x >= 0; x--)
        if (edge(values, c, x, band) != edge(values, c, x + 1, band))
            text_format(out, "H%dV%d", c->x + x + 1, edge(values, c, x, band));
    text_format(out, "H%dZ", c->x);
}

static bool has_area(const int32_t *values, const struct draw_command *c, int band) {
    for (int x = 0; x < c->w; x++)
        if (edge(values, c, x, band) != edge(values, c, x, band + 1))
            return true;
    return false;
}

static void write_bands(const struct draw_list *list, const struct draw_command *c,
                        struct text *out) {
    static const char *const fills[] = {NULL, "diagonals", "dots", "hatch", "backslashes"};
    const int32_t *values = list->values.at + c->data;
    for (int band = 0; band < c->count; band++) {
        if (!has_area(values, c, band))
            continue;
        const struct band_style *style = &list->styles.at[c->size + band];
        struct text path = {0};
        add_upper_edge(&path, values, c, band);
        add_lower_edge(&path, values, c, band);
        if (style->color >> 24 != 0) {
            text_add(out, "<path");
            add_fill(out, "fill", style->color);
            if (c->separator) {
                add_fill(out, "stroke", c->separator);
                text_add(out, " stroke-width=\"0.4\"");
            }
            text_format(out, " d=\"%s\"/>\n", text_get(&path));
        }
        if (fills[style->pattern])
            text_format(out, "<path fill=\"url(#%s)\" d=\"%s\"/>\n", fills[style->pattern],
                        text_get(&path));
        out->failed = out->failed || path.failed;
        text_fini(&path);
    }
}

static void write_steps(const struct draw_list *list, const struct draw_command *c,
                        struct text *out) {
    const int32_t *y = list->values.at + c->data;
    text_add(out, "<path fill=\"none\"");
    add_fill(out, "stroke", c->color);
    text_format(out, " stroke-width=\"%d\"%s d=\"M%d %d", c->size,
                c->dashed ? " stroke-dasharray=\"5 3\"" : "", c->x, y[0]);
    for (int x = 1; x < c->w; x++)
        if (y[x] != y[x - 1])
            text_format(out, "H%dV%d", c->x + x, y[x]);
    text_format(out, "H%d\"/>\n", c->x + c->w);
}

static void write_text(const struct draw_list *list, const struct draw_command *c,
                       struct text *out) {
    text_format(out, "<text x=\"%d\" y=\"%d\" font-size=\"%d\"%s", c->x, c->y + c->size, c->size,
                c->bold ? " font-weight=\"bold\"" : "");
    add_fill(out, "fill", c->color);
    text_add(out, ">");
    add_escaped(out, list->chars.at + c->data, c->length);
    text_add(out, "</text>\n");
}

static void write_rect(const struct draw_command *c, struct text *out) {
    text_format(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", c->x, c->y, c->w, c->h);
    add_fill(out, "fill", c->color);
    text_add(out, "/>\n");
}

static void write_command(const struct draw_list *list, const struct draw_command *c, size_t index,
                          struct text *out) {
    switch (c->kind) {
    case DRAW_RECT:
        write_rect(c, out);
        break;
    case DRAW_LINE:
        text_format(out, "<path fill=\"none\" stroke-width=\"%d\"", c->size);
        add_fill(out, "stroke", c->color);
        text_format(out, " d=\"M%d.5 %d.5L%d.5 %d.5\"/>\n", c->x, c->y, c->x + c->w, c->y + c->h);
        break;
    case DRAW_TEXT:
        write_text(list, c, out);
        break;
    case DRAW_CLIP:
        text_format(out,
                    "<clipPath id=\"c%zu\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
                    "</clipPath><g clip-path=\"url(#c%zu)\">\n",
                    index, c->x, c->y, c->w, c->h, index);
        break;
    case DRAW_UNCLIP:
        text_add(out, "</g>\n");
        break;
    case DRAW_BANDS:
        write_bands(list, c, out);
        break;
    case DRAW_BLOCKS:
        svg_blocks(list, c, out);
        break;
    case DRAW_PIXELS: /* never in a list for a file */
        break;
    case DRAW_STEPS:
        write_steps(list, c, out);
        break;
    }
}

static const char head[] =
    "<defs>\n"
    "<pattern id=\"diagonals\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
    "<path d=\"M-1 5L5 -1M3 13L13 3\" stroke=\"#fff\" stroke-opacity=\"0.4\" "
    "stroke-width=\"1.4\"/></pattern>\n"
    "<pattern id=\"dots\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"1\" height=\"1\" fill-opacity=\"0.5\"/></pattern>\n"
    "<pattern id=\"backslashes\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
    "<path d=\"M0 0L8 8M-4 4L4 12M4 -4L12 4\" stroke-opacity=\"0.4\" stroke=\"#000\" "
    "stroke-width=\"1.4\"/></pattern>\n"
    "<pattern id=\"hatch\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
    "<path d=\"M0 0L8 8M0 8L8 0\" stroke=\"#888\" stroke-opacity=\"0.6\"/></pattern>\n"
    "</defs>\n";

void svg_write(const struct draw_list *list, struct text *out) {
    text_format(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                "viewBox=\"0 0 %d %d\" font-family=\"DejaVu Sans, Verdana, Noto Sans CJK SC, "
                "WenQuanYi Micro Hei, Microsoft YaHei, PingFang SC, sans-serif\" "
                "xml:space=\"preserve\" shape-rendering=\"crispEdges\" "
                "text-rendering=\"geometricPrecision\">\n",
                list->width, list->height, list->width, list->height);
    text_add(out, head);
    for (size_t i = 0; i < list->commands.count; i++)
        write_command(list, &list->commands.at[i], i, out);
    text_add(out, "</svg>\n");
}

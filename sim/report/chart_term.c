/* chart_term.c: see chart_term.h. */
#include "chart_term.h"

#include <string.h>

#include "curve.h"
#include "error.h"
#include "format.h"
#include "peak.h"
#include "phases.h"
#include "text.h"
#include "timeline.h"
#include "units.h"

enum {
    LABEL_WIDTH = 12,
    MIN_WIDTH = 40,
    MAX_WIDTH = 1000,
    MIN_HEIGHT = 4,
    MAX_HEIGHT = 200,
    EIGHTHS = 8
};
enum { EMPTY = CATEGORY_COUNT }; /* above the stack */
enum { PHASE_ROWS = 2 };

/* A letter and an ANSI 256 colour for each band; the colours follow the viewer's. */
static const struct {
    char letter;
    uint8_t colour;
} bands[CATEGORY_COUNT] = {
    [CATEGORY_OUTSIDE] = {'o', 240},   [CATEGORY_PARAMETER] = {'P', 33},
    [CATEGORY_OPTIMIZER] = {'S', 99},  [CATEGORY_GRADIENT] = {'G', 208},
    [CATEGORY_INPUT] = {'I', 44},      [CATEGORY_ACTIVATION] = {'A', 35},
    [CATEGORY_KV_CACHE] = {'K', 220},  [CATEGORY_TEMPORARY] = {'T', 203},
    [CATEGORY_WORKSPACE] = {'W', 178}, [CATEGORY_COMMUNICATION] = {'C', 170},
    [CATEGORY_UNKNOWN] = {'?', 245},
};

enum sign {
    SIGN_RESERVED,
    SIGN_CAPACITY,
    SIGN_PEAK,
    SIGN_AXIS,
    SIGN_CORNER,
    SIGN_FLOOR,
    SIGN_COUNT
};

static const char *const signs[2][SIGN_COUNT] = {
    {"-", "=", "v", "|", "+", "-"},
    {"╌", "━", "▼", "│", "└", "─"},
};

static const char *const eighth_blocks[EIGHTHS + 1] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

struct chart {
    const struct timeline *tl;
    struct chart_term_options options;
    uint32_t columns, height;
    struct curve curve;
    struct peaks peaks;
    uint64_t outside, capacity, top; /* capacity 0: unknown or above the picture */
    uint64_t left_out;               /* outside, but not in the picture */
    int colour, background;          /* of the terminal now; -1: its own */
    struct text *out;
};

static const char *sign(const struct chart *c, enum sign s) {
    return signs[c->options.has_unicode][s];
}

/* --- colours --- */

static void set_colours(struct chart *c, int colour, int background) {
    if (!c->options.has_colour || (colour == c->colour && background == c->background))
        return;
    text_add(c->out, "\x1b[0m");
    if (colour >= 0)
        text_format(c->out, "\x1b[38;5;%dm", colour);
    if (background >= 0)
        text_format(c->out, "\x1b[48;5;%dm", background);
    c->colour = colour;
    c->background = background;
}

static void trim_blanks(struct text *out) {
    while (out->length > 0 && out->at[out->length - 1] == ' ')
        out->at[--out->length] = '\0';
}

/* Blanks at the end are left out; coloured ones are the picture. */
static void end_line(struct chart *c) {
    if (!c->options.has_colour || c->background < 0)
        trim_blanks(c->out);
    set_colours(c, -1, -1);
    text_add(c->out, "\n");
}

/* --- the plot --- */

static int band_at(const struct chart *c, const struct curve_column *col, double height) {
    double sum = (double)c->outside;
    if (height < sum)
        return CATEGORY_OUTSIDE;
    for (int band = 0; band < CATEGORY_COUNT; band++) {
        sum += (double)col->by_category[band];
        if (height < sum)
            return band;
    }
    return EMPTY;
}

/* The bands of a cell from the bottom up, probed in the middle of each eighth. */
static void probe_cell(const struct chart *c, const struct curve_column *col, uint32_t row,
                       int cell[EIGHTHS]) {
    double unit = (double)c->top / c->height;
    for (int i = 0; i < EIGHTHS; i++)
        cell[i] = band_at(c, col, unit * (row + (i + 0.5) / EIGHTHS));
}

static int colour_of(int band) {
    return band == EMPTY ? -1 : bands[band].colour;
}

static int most_frequent(const int cell[EIGHTHS]) {
    int best = cell[0], best_count = 0;
    for (int i = 0; i < EIGHTHS; i++) {
        int count = 0;
        for (int k = 0; k < EIGHTHS; k++)
            count += cell[k] == cell[i];
        if (count > best_count) {
            best = cell[i];
            best_count = count;
        }
    }
    return best;
}

/* A cell can show two bands: the lower one as a block of eighths, the upper one as its background.
 */
static void write_bands(struct chart *c, const int cell[EIGHTHS]) {
    if (!c->options.has_colour || !c->options.has_unicode) {
        int band = most_frequent(cell);
        if (c->options.has_colour)
            set_colours(c, -1, colour_of(band));
        char letter = band == EMPTY || c->options.has_colour ? ' ' : bands[band].letter;
        text_add_bytes(c->out, &letter, 1);
        return;
    }
    int lower = cell[0], upper = cell[EIGHTHS - 1], count = 0;
    while (count < EIGHTHS && cell[count] == lower)
        count++;
    set_colours(c, colour_of(lower), lower == upper ? -1 : colour_of(upper));
    text_add(c->out, lower == EMPTY ? " " : eighth_blocks[count]);
}

static uint32_t row_of(const struct chart *c, uint64_t bytes) {
    double row = (double)bytes / (double)c->top * c->height;
    return row < c->height ? (uint32_t)row : c->height - 1;
}

static void write_cell(struct chart *c, uint32_t row, uint32_t column) {
    const struct curve_column *col = &c->curve.columns.at[column];
    int cell[EIGHTHS];
    probe_cell(c, col, row, cell);
    bool is_empty = cell[0] == EMPTY;
    if (is_empty && col->reserved > 0 && row == row_of(c, c->outside + col->reserved)) {
        set_colours(c, 250, -1);
        text_add(c->out, sign(c, SIGN_RESERVED));
    } else if (is_empty && c->capacity > 0 && row == row_of(c, c->capacity)) {
        set_colours(c, 196, -1);
        text_add(c->out, sign(c, SIGN_CAPACITY));
    } else {
        write_bands(c, cell);
    }
}

static void write_label(struct chart *c, uint32_t row) {
    bool is_labelled = row + 1 == c->height || (row > 0 && row == c->height / 2);
    double value = (double)c->top / c->height * (row + 1);
    if (!is_labelled)
        text_format(c->out, "%*s", LABEL_WIDTH, "");
    else if (c->top >= GIB)
        text_format(c->out, "%*.1f GiB ", LABEL_WIDTH - 5, value / (double)GIB);
    else
        text_format(c->out, "%*.1f MiB ", LABEL_WIDTH - 5, value / (double)MIB);
    text_add(c->out, sign(c, SIGN_AXIS));
}

static void write_plot(struct chart *c) {
    for (uint32_t row = c->height; row-- > 0;) {
        write_label(c, row);
        for (uint32_t column = 0; column < c->columns; column++)
            write_cell(c, row, column);
        end_line(c);
    }
    text_format(c->out, "%*s%s", LABEL_WIDTH, "0 ", sign(c, SIGN_CORNER));
    for (uint32_t column = 0; column < c->columns; column++)
        text_add(c->out, sign(c, SIGN_FLOOR));
    end_line(c);
}

/* --- around it --- */

static void write_peak(struct chart *c) {
    struct text note = {0};
    uint32_t event = c->peaks.allocated.event;
    uint32_t column = event == TIMELINE_NONE ? 0 : curve_column_of(&c->curve, event);
    char bytes[UNITS_TEXT_BYTES];
    text_format(&note, "peak %s %s", units_format_bytes(c->peaks.allocated.bytes, bytes),
                timeline_knows(c->tl, FIGURE_ALLOCATED) ? "allocated" : "in use");
    if (phase_at(c->tl, c->options.device, event) != TIMELINE_NONE) {
        text_add(&note, ", ");
        phase_path(c->tl, phase_at(c->tl, c->options.device, event), &note);
    }
    size_t width = format_width(text_get(&note), note.length);
    bool is_left = column + 2 + width > c->columns && column > width;
    int before = (int)(LABEL_WIDTH + 1 + column - (is_left ? (uint32_t)width + 1 : 0));
    text_format(c->out, "%*s", before, "");
    if (is_left) {
        format_safe(c->out, text_get(&note));
        text_format(c->out, " %s", sign(c, SIGN_PEAK));
    } else {
        text_format(c->out, "%s ", sign(c, SIGN_PEAK));
        format_safe_cut(c->out, text_get(&note),
                        c->columns > column + 2 ? c->columns - column - 2 : 0);
    }
    text_add(c->out, "\n");
    if (note.failed)
        c->out->failed = true;
    text_fini(&note);
}

/* One row of names at a depth: a bar where a phase begins, its name as far as it fits. */
static void place_phase(const struct chart *c, const struct timeline_phase *p, char *row) {
    uint32_t last = (uint32_t)c->tl->events.count - 1;
    uint32_t end = p->end_event == TIMELINE_NONE || p->end_event > last ? last : p->end_event;
    uint32_t from = curve_column_of(&c->curve, p->begin_event),
             to = curve_column_of(&c->curve, end);
    const char *name = timeline_text(c->tl, p->name);
    memset(row + from, ' ', to > from ? to - from : 0);
    row[from] = '|';
    for (uint32_t i = from + 1; i < c->columns && i <= to && *name; i++, name++) {
        unsigned char byte = (unsigned char)*name;
        row[i] = byte < 32 || byte > 126 ? '?' : (char)byte;
    }
}

static void write_phases(struct chart *c) {
    char row[MAX_WIDTH + 1];
    for (unsigned depth = 0; depth < PHASE_ROWS; depth++) {
        bool has_phase = false;
        memset(row, ' ', c->columns);
        for (size_t i = 0; i < c->tl->phases.count; i++) {
            const struct timeline_phase *p = &c->tl->phases.at[i];
            if (p->depth != depth || p->device != c->options.device ||
                p->begin_event >= c->tl->events.count)
                continue;
            place_phase(c, p, row);
            has_phase = true;
        }
        size_t length = c->columns;
        while (length > 0 && row[length - 1] == ' ')
            length--;
        row[length] = '\0';
        if (has_phase)
            text_format(c->out, "%*s%s\n", LABEL_WIDTH + 1, "", row);
    }
}

static void write_swatch(struct chart *c, int band) {
    if (c->options.has_colour) {
        set_colours(c, -1, bands[band].colour);
        text_add(c->out, "  ");
        set_colours(c, -1, -1);
    } else {
        text_add_bytes(c->out, &bands[band].letter, 1);
    }
}

static void write_legend_entry(struct chart *c, size_t *line, int band, uint64_t value) {
    char bytes[UNITS_TEXT_BYTES];
    size_t width = strlen(category_english((enum category)band)) + UNITS_TEXT_BYTES / 2 + 6;
    if (*line + width > c->columns + LABEL_WIDTH) {
        trim_blanks(c->out);
        text_format(c->out, "\n%*s", LABEL_WIDTH + 1, "");
        *line = LABEL_WIDTH;
    }
    write_swatch(c, band);
    text_format(c->out, " %s %s   ", category_english((enum category)band),
                units_format_bytes(value, bytes));
    *line += width;
}

static void write_legend(struct chart *c) {
    char bytes[UNITS_TEXT_BYTES];
    size_t line = LABEL_WIDTH;
    text_format(c->out, "%*s", LABEL_WIDTH + 1, "at peak: ");
    if (c->outside > 0)
        write_legend_entry(c, &line, CATEGORY_OUTSIDE, c->outside);
    for (int band = 0; band < CATEGORY_COUNT; band++)
        if (c->peaks.category[band].bytes > 0)
            write_legend_entry(c, &line, band, c->peaks.at_allocated.by_category[band]);
    trim_blanks(c->out);
    text_add(c->out, "\n");
    if (!(c->tl->has & TIMELINE_HAS_SEGMENTS))
        return;
    text_format(c->out, "%*s%s %s%s, at most %s", LABEL_WIDTH + 1, "", sign(c, SIGN_RESERVED),
                timeline_knows(c->tl, FIGURE_DEVICE_USE) ? "used of the device" : "reserved",
                c->outside ? " and outside" : "",
                units_format_bytes(c->outside + c->peaks.reserved.bytes, bytes));
    if (c->peaks.has_device)
        text_format(c->out, "   %s capacity %s%s", sign(c, SIGN_CAPACITY),
                    units_format_bytes(c->peaks.total_bytes, bytes),
                    !c->capacity  ? ", above the chart"
                    : c->left_out ? " less the context"
                                  : "");
    text_add(c->out, "\n");
    if (c->left_out > 0)
        text_format(c->out, "%*scontext, libraries %s: left out of the chart\n", LABEL_WIDTH + 1,
                    "", units_format_bytes(c->left_out, bytes));
}

/* The capacity belongs into the picture when it does not dwarf the rest, and so does what is outside
 * the allocator. */
static void choose_scale(struct chart *c) {
    uint64_t active = c->peaks.active.bytes, reserved = c->peaks.reserved.bytes;
    c->outside = c->peaks.has_device ? c->peaks.context_bytes : 0;
    c->top = c->outside + (active > reserved ? active : reserved);
    if (c->outside > c->top / 3) {
        c->left_out = c->outside;
        c->top -= c->outside;
        c->outside = 0;
    }
    uint64_t total = c->peaks.total_bytes > c->left_out ? c->peaks.total_bytes - c->left_out : 0;
    if (c->peaks.has_device && total > 0 && total / 2 <= c->top) {
        c->capacity = total;
        c->top = c->capacity > c->top ? c->capacity : c->top;
    }
    if (c->top == 0)
        c->top = 1;
}

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high) {
    return value < low ? low : value > high ? high : value;
}

bool chart_term_write(const struct timeline *tl, const struct chart_term_options *options,
                      struct text *out, struct error *err) {
    struct chart c = {.tl = tl, .options = *options, .out = out, .colour = -1, .background = -1};
    c.columns = clamp(options->width, MIN_WIDTH, MAX_WIDTH) - LABEL_WIDTH - 1;
    c.height = clamp(options->height, MIN_HEIGHT, MAX_HEIGHT);
    struct curve_options curve = {.device = options->device,
                                  .axis = options->by_time ? CURVE_BY_TIME : CURVE_BY_EVENT,
                                  .columns = c.columns};
    if (!curve_build(tl, &curve, &c.curve, err))
        return false;
    peak_find(tl, options->device, &c.peaks);
    choose_scale(&c);
    write_peak(&c);
    write_plot(&c);
    write_phases(&c);
    write_legend(&c);
    curve_fini(&c.curve);
    return !out->failed || error_host_memory(err);
}

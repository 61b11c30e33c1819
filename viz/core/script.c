/* script.c: see script.h. */
#include "script.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "draw.h"
#include "error.h"
#include "file.h"
#include "input.h"
#include "keys.h"
#include "picture.h"
#include "state.h"
#include "text.h"

enum { LINE_BYTES = 1024, WORDS = 12 };

struct line {
    char text[LINE_BYTES];
    const char *word[WORDS]; /* missing ones are "" */
    int count;
};

struct run {
    struct app *app;
    const struct line *line;
    struct text *out;
    struct error *err;
};

void script_start(struct script *script, const char *name, const char *text) {
    *script = (struct script){name, text, 0};
}

bool script_is_done(const struct script *script) {
    return *script->at == '\0';
}

static bool take_line(struct script *script, struct line *line, struct error *err) {
    size_t length = strcspn(script->at, "\n");
    memset(line, 0, sizeof *line);
    for (int i = 0; i < WORDS; i++)
        line->word[i] = "";
    script->line++;
    if (length >= sizeof line->text)
        return error_set(err, ERROR_USAGE, "line of %zu bytes, at most %d", length, LINE_BYTES - 1);
    memcpy(line->text, script->at, length);
    script->at += length + (script->at[length] == '\n');
    for (char *p = line->text; *p;) {
        while (isspace((unsigned char)*p))
            *p++ = '\0';
        if (*p == '\0' || *p == '#')
            break;
        if (line->count == WORDS)
            return error_set(err, ERROR_USAGE, "more than %d words", WORDS);
        line->word[line->count++] = p;
        if (line->count == 2 && strcmp(line->word[0], "type") == 0)
            break; /* all the rest */
        while (*p && !isspace((unsigned char)*p))
            p++;
    }
    return true;
}

static bool read_number(const struct run *run, int word, double *value) {
    char *end;
    const char *text = run->line->word[word];
    *value = strtod(text, &end);
    if (end == text || *end != '\0' || !(*value > -1e15 && *value < 1e15))
        return error_set(run->err, ERROR_USAGE, "'%s': a number is expected", text);
    return true;
}

static bool read_pixel(const struct run *run, int word, int *value) {
    double number;
    if (!read_number(run, word, &number))
        return false;
    if (number < -100000 || number > 100000)
        return error_set(run->err, ERROR_USAGE, "'%s': not a pixel", run->line->word[word]);
    *value = (int)number;
    return true;
}

static bool do_key(const struct run *run) {
    struct input in = {.kind = INPUT_KEY};
    if (!keys_parse(run->line->word[1], &in.key, &in.mods))
        return error_set(run->err, ERROR_USAGE, "'%s': no such key", run->line->word[1]);
    app_input(run->app, &in);
    return true;
}

static bool do_wheel(const struct run *run) {
    struct input in = {.kind = INPUT_WHEEL};
    if (!read_pixel(run, 1, &in.x) || !read_pixel(run, 2, &in.y) || !read_number(run, 3, &in.wheel))
        return false;
    app_input(run->app, &in);
    return true;
}

/* How a button is used: what stands after the numbers of `click` and `drag`. */
struct hand {
    int button, clicks;
    unsigned mods;
};

static bool read_hand(const struct run *run, int from, struct hand *hand) {
    static const struct {
        const char *word;
        int button, clicks;
        unsigned mods;
    } words[] = {{"left", BUTTON_LEFT, 0, 0},   {"middle", BUTTON_MIDDLE, 0, 0},
                 {"right", BUTTON_RIGHT, 0, 0}, {"double", 0, 2, 0},
                 {"shift", 0, 0, MOD_SHIFT},    {"ctrl", 0, 0, MOD_CTRL}};
    enum { HOWS = sizeof words / sizeof words[0] };
    *hand = (struct hand){BUTTON_LEFT, 1, 0};
    for (int i = from; i < run->line->count; i++) {
        size_t k = 0;
        while (k < HOWS && strcmp(words[k].word, run->line->word[i]) != 0)
            k++;
        if (k == HOWS)
            return error_set(run->err, ERROR_USAGE,
                             "'%s': left, middle, right, double, shift or ctrl is expected",
                             run->line->word[i]);
        hand->button = words[k].button ? words[k].button : hand->button;
        hand->clicks = words[k].clicks ? words[k].clicks : hand->clicks;
        hand->mods |= words[k].mods;
    }
    return true;
}

static void send(const struct run *run, enum input_kind kind, int x, int y,
                 const struct hand *hand) {
    struct input in = {.kind = kind,
                       .x = x,
                       .y = y,
                       .button = hand->button,
                       .clicks = hand->clicks,
                       .mods = hand->mods};
    app_input(run->app, &in);
}

static bool do_move(const struct run *run) {
    static const struct hand none = {0, 0, 0};
    int x = 0, y = 0;
    if (!read_pixel(run, 1, &x) || !read_pixel(run, 2, &y))
        return false;
    send(run, INPUT_MOTION, x, y, &none);
    return true;
}

static bool do_click(const struct run *run) {
    struct hand hand;
    int x = 0, y = 0;
    if (!read_pixel(run, 1, &x) || !read_pixel(run, 2, &y) || !read_hand(run, 3, &hand))
        return false;
    send(run, INPUT_MOTION, x, y, &hand);
    for (int i = 1; i <= hand.clicks; i++) {
        struct hand each = hand;
        each.clicks = i;
        send(run, INPUT_PRESS, x, y, &each);
        send(run, INPUT_RELEASE, x, y, &each);
    }
    return true;
}

static bool do_drag(const struct run *run) {
    struct hand hand;
    int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    if (!read_pixel(run, 1, &x0) || !read_pixel(run, 2, &y0) || !read_pixel(run, 3, &x1) ||
        !read_pixel(run, 4, &y1) || !read_hand(run, 5, &hand))
        return false;
    send(run, INPUT_MOTION, x0, y0, &hand);
    send(run, INPUT_PRESS, x0, y0, &hand);
    send(run, INPUT_MOTION, (x0 + x1) / 2, (y0 + y1) / 2, &hand);
    send(run, INPUT_MOTION, x1, y1, &hand);
    send(run, INPUT_RELEASE, x1, y1, &hand);
    return true;
}

static bool do_resize(const struct run *run) {
    int w = 0, h = 0;
    if (!read_pixel(run, 1, &w) || !read_pixel(run, 2, &h))
        return false;
    if (w < 1 || h < 1 || w > 16384 || h > 16384)
        return error_set(run->err, ERROR_USAGE, "%d x %d: not a size", w, h);
    struct input in = {.kind = INPUT_RESIZE, .x = w, .y = h};
    app_input(run->app, &in);
    return true;
}

/* The words after the command as one text. */
static const char *rest_of(const struct line *line, char out[LINE_BYTES]) {
    size_t at = 0;
    out[0] = '\0';
    for (int i = 1; i < line->count; i++)
        at += (size_t)snprintf(out + at, LINE_BYTES - at, "%s%s", i > 1 ? " " : "", line->word[i]);
    return out;
}

static bool do_type(const struct run *run) {
    struct input in = {.kind = INPUT_TEXT, .text = run->line->word[1]};
    app_input(run->app, &in);
    return true;
}

static bool do_goto(const struct run *run) {
    char state[LINE_BYTES + 8], where[LINE_BYTES];
    if (strchr(rest_of(run->line, where), ';'))
        return error_set(run->err, ERROR_USAGE, "goto '%s': no such moment", where);
    snprintf(state, sizeof state, "at=%s", where);
    return state_apply(run->app, state, run->err);
}

static bool do_state(const struct run *run) {
    char state[LINE_BYTES];
    if (run->line->count > 1)
        return state_apply(run->app, rest_of(run->line, state), run->err);
    state_write(run->app, run->out);
    text_add(run->out, "\n");
    return true;
}

static bool do_tick(const struct run *run) {
    char *end;
    long ms = strtol(run->line->word[1], &end, 10);
    if (end == run->line->word[1] || strcmp(end, "ms") != 0 || ms < 0 || ms > 10000000)
        return error_set(run->err, ERROR_USAGE, "tick '%s': milliseconds, as 16ms",
                         run->line->word[1]);
    struct input in = {.kind = INPUT_TICK, .milliseconds = (uint32_t)ms};
    app_input(run->app, &in);
    return true;
}

static bool query(const struct run *run, uint64_t *value) {
    if (app_query(run->app, run->line->word[1], value))
        return true;
    struct text names = {0};
    for (unsigned i = 0; app_query_name(i); i++)
        text_format(&names, " %s", app_query_name(i));
    error_set(run->err, ERROR_USAGE, "'%s': no such value; there are%s", run->line->word[1],
              text_get(&names));
    text_fini(&names);
    return false;
}

static bool do_expect(const struct run *run) {
    uint64_t value;
    char *end;
    const char *text = run->line->word[2];
    if (!query(run, &value))
        return false;
    unsigned long long wanted = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0')
        return error_set(run->err, ERROR_USAGE, "'%s': a whole number is expected", text);
    if (value == wanted)
        return true;
    return error_set(run->err, ERROR_BAD_INPUT, "%s is %llu, expected %llu", run->line->word[1],
                     (unsigned long long)value, wanted);
}

static bool do_show(const struct run *run) {
    uint64_t value;
    if (!query(run, &value))
        return false;
    text_format(run->out, "%s %llu\n", run->line->word[1], (unsigned long long)value);
    return true;
}

bool script_save(struct app *app, enum picture_kind kind, const char *path, struct error *err) {
    struct text out = {0};
    bool saved =
        picture_of(app, kind, &out, err) && file_write(path, text_get(&out), out.length, err);
    text_fini(&out);
    return saved;
}

/* A picture of another size is that of a window of that size: it is put back afterwards. */
static bool do_shot(const struct run *run) {
    const char *path = run->line->word[1], *size = run->line->word[2];
    enum picture_kind kind = picture_kind_of(path);
    uint64_t was[2];
    struct input in = {.kind = INPUT_RESIZE};
    if (kind == PICTURE_KINDS)
        return error_set(run->err, ERROR_USAGE,
                         "shot '%s': the file's name ends in .png, .svg, .draw, .csv or .json",
                         path);
    if (!*size)
        return script_save(run->app, kind, path, run->err);
    if (!picture_parse_size(size, &in.x, &in.y, run->err))
        return false;
    app_query(run->app, "width", &was[0]);
    app_query(run->app, "height", &was[1]);
    app_input(run->app, &in);
    bool saved = script_save(run->app, kind, path, run->err);
    in.x = (int)was[0];
    in.y = (int)was[1];
    app_input(run->app, &in);
    return saved;
}

static bool do_svg(const struct run *run) {
    return script_save(run->app, PICTURE_SVG, run->line->word[1], run->err);
}

static bool do_dump(const struct run *run) {
    return script_save(run->app, PICTURE_DUMP, run->line->word[1], run->err);
}

static bool do_csv(const struct run *run) {
    return script_save(run->app, PICTURE_CSV, run->line->word[1], run->err);
}

static bool do_copy(const struct run *run) {
    struct text out = {0};
    app_copy(run->app, &out);
    bool saved = out.failed ? error_host_memory(run->err)
                            : file_write(run->line->word[1], text_get(&out), out.length, run->err);
    text_fini(&out);
    return saved;
}

static const struct {
    const char *name;
    int least, most; /* words after it */
    bool (*run)(const struct run *run);
} commands[] = {
    {"key", 1, 1, do_key},           {"wheel", 3, 3, do_wheel},         {"click", 2, 5, do_click},
    {"drag", 4, 6, do_drag},         {"move", 2, 2, do_move},           {"resize", 2, 2, do_resize},
    {"goto", 1, WORDS - 1, do_goto}, {"tick", 1, 1, do_tick},           {"expect", 2, 2, do_expect},
    {"show", 1, 1, do_show},         {"shot", 1, 2, do_shot},           {"svg", 1, 1, do_svg},
    {"dump", 1, 1, do_dump},         {"copy", 1, 1, do_copy},           {"csv", 1, 1, do_csv},
    {"type", 1, 1, do_type},         {"state", 0, WORDS - 1, do_state},
};

static bool run_line(const struct run *run) {
    const struct line *line = run->line;
    if (line->count == 0)
        return true;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(line->word[0], commands[i].name) != 0)
            continue;
        int words = line->count - 1;
        if (words < commands[i].least || words > commands[i].most)
            return error_set(run->err, ERROR_USAGE, "%s: %d words follow, expected %d",
                             commands[i].name, words, commands[i].least);
        return commands[i].run(run);
    }
    return error_set(run->err, ERROR_USAGE, "'%s': no such command", line->word[0]);
}

bool script_step(struct script *script, struct app *app, struct text *out, struct error *err) {
    struct line line;
    bool done = take_line(script, &line, err);
    if (done) {
        struct run run = {app, &line, out, err};
        done = run_line(&run);
    }
    return done || error_wrap(err, "%s:%u", script->name, script->line);
}

/* view_options.c: see view_options.h. One table: parsing and --help read it. */
#include "view_options.h"

#include <string.h>

#include "error.h"
#include "picture.h"
#include "text.h"

static bool set_parameter(struct view_options *o, const char *value, struct error *err) {
    if (!strchr(value, '='))
        return error_set(err, ERROR_USAGE, "--set '%s': expected NAME=VALUE", value);
    if (o->source.set_count == VIEW_SETS_MAX)
        return error_set(err, ERROR_USAGE, "more than %d --set", VIEW_SETS_MAX);
    o->sets[o->source.set_count++] = value;
    return true;
}

static bool set_cudnn(struct view_options *o, const char *value, struct error *err) {
    (void)err;
    o->source.cudnn = value;
    return true;
}

static bool set_framework(struct view_options *o, const char *value, struct error *err) {
    (void)err;
    o->source.framework = value;
    return true;
}

static bool set_device(struct view_options *o, const char *value, struct error *err) {
    (void)err;
    o->source.device = value;
    return true;
}

static bool set_allocator(struct view_options *o, const char *value, struct error *err) {
    (void)err;
    o->source.allocator = value;
    return true;
}

static bool set_alloc(struct view_options *o, const char *value, struct error *err) {
    (void)err;
    o->source.alloc_settings = value;
    return true;
}

static bool set_max_requests(struct view_options *o, const char *value, struct error *err) {
    return source_parse_count("--max-requests", value, &o->source.max_requests, err);
}

static bool set_max_instructions(struct view_options *o, const char *value, struct error *err) {
    return source_parse_count("--max-instructions", value, &o->source.max_instructions, err);
}

static bool set_max_memory(struct view_options *o, const char *value, struct error *err) {
    return source_parse_memory(value, &o->source, err);
}

static bool set_size(struct view_options *o, const char *value, struct error *err) {
    return picture_parse_size(value, &o->app.width, &o->app.height, err);
}

static bool set_scale(struct view_options *o, const char *value, struct error *err) {
    return picture_parse_scale(value, &o->app.scale_percent, err);
}

static bool set_theme(struct view_options *o, const char *value, struct error *err) {
    o->theme_given = true;
    o->app.theme = theme_find(value);
    return o->app.theme != THEME_COUNT ||
           error_set(err, ERROR_USAGE, "--theme '%s': dark, light or contrast", value);
}

static bool set_palette(struct view_options *o, const char *value, struct error *err) {
    o->app.palette = &o->palette;
    return palette_read(value, &o->palette, err);
}

static bool set_language(struct view_options *o, const char *value, struct error *err) {
    o->language = value;
    return strcmp(value, "en") == 0 || strcmp(value, "zh") == 0 ||
           error_set(err, ERROR_USAGE, "unknown language '%s'; known: en zh", value);
}

static bool set_font(struct view_options *o, const char *value, struct error *err) {
    (void)err;
    o->app.embedded_font = strcmp(value, "embedded") == 0;
    o->app.font = o->app.embedded_font ? NULL : value;
    return true;
}

static bool set_script(struct view_options *o, const char *value, struct error *err) {
    (void)err;
    o->script = value;
    return true;
}

static bool set_at(struct view_options *o, const char *value, struct error *err) {
    (void)err;
    o->at = value;
    return true;
}

static bool set_state(struct view_options *o, const char *value, struct error *err) {
    (void)err;
    o->state = value;
    return true;
}

static bool set_replay(struct view_options *o, const char *value, struct error *err) {
    (void)value, (void)err;
    return o->replay = true;
}

static bool set_window(struct view_options *o, const char *value, struct error *err) {
    (void)value, (void)err;
    return o->window = true;
}

static bool set_no_remember(struct view_options *o, const char *value, struct error *err) {
    (void)value, (void)err;
    return o->no_remember = true;
}

static bool set_help(struct view_options *o, const char *value, struct error *err) {
    (void)value, (void)err;
    return o->help = true;
}

static const struct {
    const char *name, *value, *doc; /* value NULL: a switch */
    bool (*set)(struct view_options *o, const char *value, struct error *err);
} options[] = {
    {"--set", "NAME=VALUE", "a parameter of the scenario; may be given again", set_parameter},
    {"--framework", "NAME", "the framework that is modelled", set_framework},
    {"--cudnn", "VERSION", "another cuDNN than the framework's, or none", set_cudnn},
    {"--device", "NAME", "the card that is modelled", set_device},
    {"--alloc", "SETTINGS", "allocator settings, as PYTORCH_ALLOC_CONF", set_alloc},
    {"--allocator", "NAME", "another allocator than PyTorch's own", set_allocator},
    {"--max-requests", "COUNT", "stop a scenario after so many requests", set_max_requests},
    {"--max-instructions", "COUNT", "and Lua instructions", set_max_instructions},
    {"--max-memory", "SIZE", "memory of this machine for a file", set_max_memory},
    {"--replay", NULL, "one file, and over it the same run with --alloc, --allocator, --device",
     set_replay},
    {"--size", "WxH", "of the window or picture (1280x800)", set_size},
    {"--scale", "FACTOR", "of texts and margins, 0.5 to 4 (VRAMSIM_SCALE)", set_scale},
    {"--theme", "NAME", "dark, light or contrast", set_theme},
    {"--palette", "FILE", "colours of the bands, lines category = RRGGBB [pattern]", set_palette},
    {"--lang", "en|zh", "language of the texts (VRAMSIM_LANG, else the locale)", set_language},
    {"--font", "FILE[:face]",
     "first of the fonts (VRAMSIM_FONT); \"embedded\": the program's own alone", set_font},
    {"--at", "MOMENT", "where the cursor begins: peak, oom, event N, \"step 2 backward\" ...",
     set_at},
    {"--state", "TEXT", "what is shown, as Ctrl+Shift+C copies it", set_state},
    {"--script", "FILE", "run the commands of a file, without a window", set_script},
    {"--window", NULL, "run the script in a window", set_window},
    {"--no-remember", NULL, "neither begin as the last window was left nor remember this one",
     set_no_remember},
    {"--help", NULL, "this text", set_help},
};

enum { OPTIONS = sizeof options / sizeof options[0] };

/* "--name value" or "--name=value" at argv[*i], which moves to the last word taken. */
static bool parse_option(struct view_options *o, int argc, char **argv, int *i, struct error *err) {
    const char *word = argv[*i], *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    for (int k = 0; k < OPTIONS; k++) {
        if (strlen(options[k].name) != length || strncmp(word, options[k].name, length) != 0)
            continue;
        if (!options[k].value)
            return options[k].set(o, NULL, err);
        if (!equals && *i + 1 >= argc)
            return error_set(err, ERROR_USAGE, "%s: a value is expected: %s", word,
                             options[k].value);
        return options[k].set(o, equals ? equals + 1 : argv[++*i], err);
    }
    return error_set(err, ERROR_USAGE, "%s: no such option (--help lists them)", word);
}

bool view_options_parse(struct view_options *o, int argc, char **argv, struct error *err) {
    memset(o, 0, sizeof *o);
    o->source.sets = o->sets;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!parse_option(o, argc, argv, &i, err))
                return false;
        } else if (o->file_count < VIEW_FILES_MAX) {
            o->files[o->file_count++] = argv[i];
        } else {
            return error_set(err, ERROR_USAGE, "%s: more than %d files", argv[i], VIEW_FILES_MAX);
        }
    }
    if (o->help)
        return true;
    if (o->file_count == 0)
        return error_set(err, ERROR_USAGE, "no file (--help lists the options)");
    if (o->replay)
        return o->file_count == 1 ||
               error_set(err, ERROR_USAGE, "--replay takes one file, not %d", o->file_count);
    return source_check_options(o->files, (size_t)o->file_count, &o->source, err);
}

void view_options_help(struct text *out) {
    text_add(out,
             "vramsim-view FILE [FILE2...] [options]: scrub a memory timeline, or two over each "
             "other.\nA file is a scenario (.lua) or a trace.\n\n");
    for (int i = 0; i < OPTIONS; i++)
        text_format(out, "  %-18s %-12s %s\n", options[i].name,
                    options[i].value ? options[i].value : "", options[i].doc);
    text_add(out, "\nKeys: press ? in the window. Exit codes: 0 good, 1 a script's expectation "
                  "failed, 2 usage or bad\nscenario, 3 bad trace, 4 no window or cannot write.\n");
}

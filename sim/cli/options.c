/* options.c: the command line, from one table of options. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "nearest.h"
#include "picture.h"
#include "theme.h"
#include "units.h"

enum option_id {
    OPT_SET,
    OPT_SET_B,
    OPT_FRAMEWORK,
    OPT_CUDNN,
    OPT_DEVICE,
    OPT_ALLOC,
    OPT_ALLOCATOR,
    OPT_OUTPUT,
    OPT_FORMAT,
    OPT_JSON,
    OPT_CSV,
    OPT_PNG,
    OPT_SVG,
    OPT_HTML,
    OPT_SIZE,
    OPT_SCALE,
    OPT_THEME,
    OPT_PALETTE,
    OPT_LANG,
    OPT_FONT,
    OPT_AT,
    OPT_STATE,
    OPT_NEED,
    OPT_MEMORY_FRACTION,
    OPT_SUMMARY,
    OPT_QUIET,
    OPT_ALL,
    OPT_VIEW,
    OPT_NO_VIEW,
    OPT_KINDS,
    OPT_CALLS,
    OPT_COLOUR,
    OPT_TOLERANCE,
    OPT_MAX_REQUESTS,
    OPT_MAX_INSTRUCTIONS,
    OPT_MAX_MEMORY,
    OPT_HELP_SCENARIO,
    OPT_HELP
};

struct option {
    enum option_id id;
    const char *name, *argument; /* NULL: a switch */
    const char *commands;        /* " run view " ..., "*": all */
    const char *help;
};

static const struct option options[] = {
    {OPT_SET, "--set", "NAME=VALUE", " run render view validate dump replay convert compare ",
     "a parameter of the scenario (repeatable)"},
    {OPT_SET_B, "--set-b", "NAME=VALUE", " compare ", "likewise, of the second one alone"},
    {OPT_FRAMEWORK, "--framework", "NAME", " run render view validate dump replay convert compare ",
     "modelled release (vramsim frameworks)"},
    {OPT_CUDNN, "--cudnn", "VERSION", " run render view validate dump replay convert compare ",
     "another cuDNN than the release's own, or none: what attention asks it on H100, B200"},
    {OPT_DEVICE, "--device", "NAME[:total=SIZE,context=SIZE]",
     " run render view validate dump replay convert compare ", "the card (vramsim devices)"},
    {OPT_ALLOC, "--alloc", "SETTINGS", " run render view validate dump replay convert compare ",
     "allocator settings, as PYTORCH_ALLOC_CONF"},
    {OPT_ALLOCATOR, "--allocator", "NAME", " run render view validate dump replay convert compare ",
     "another allocator than PyTorch's own (vramsim allocators)"},
    {OPT_OUTPUT, "-o", "FILE", " render ",
     "where to (repeatable); its ending is the kind: .png .svg .html .csv .json"},
    {OPT_OUTPUT, "-o", "FILE", " run convert ",
     "where to; its ending is the format: .vrt .json .csv .perfetto .pickle"},
    {OPT_OUTPUT, "-o", "FILE", " scenario ", "where to, else standard output"},
    {OPT_OUTPUT, "-o", "FILE", " capture ", "where to (vramsim.%h.%p.vrt)"},
    {OPT_FORMAT, "--format", "NAME", " run convert ",
     "the format of -o, whatever its name ends in"},
    {OPT_JSON, "--json", "FILE", " run validate info replay compare ",
     "write the result as JSON; - is standard output"},
    {OPT_CSV, "--csv", "FILE", " run replay ",
     "write a row an event; of a replay both curves, a row a request"},
    {OPT_PNG, "--png", "FILE", " run replay ", "write the picture of the timeline"},
    {OPT_SVG, "--svg", "FILE", " run replay ", "likewise, as vectors"},
    {OPT_HTML, "--html", "FILE", " run replay ",
     "write a page that shows the timeline in a browser, without a network"},
    {OPT_SIZE, "--size", "WxH", " run render view replay ",
     "size: of a picture, else 1600x900; of a window, else 1280x800"},
    {OPT_SCALE, "--scale", "FACTOR", " run render view replay ",
     "of texts and margins, 0.5 to 4 (VRAMSIM_SCALE)"},
    {OPT_THEME, "--theme", "NAME", " run render view replay ", "dark, light, contrast"},
    {OPT_PALETTE, "--palette", "FILE", " run render view replay ",
     "colours of the bands, lines category = RRGGBB [pattern]"},
    {OPT_LANG, "--lang", "LANG", " run render view replay ", "language of the picture: en, zh"},
    {OPT_FONT, "--font", "FILE[:face]", " run render view replay ",
     "first of the fonts (VRAMSIM_FONT); \"embedded\": the program's own alone"},
    {OPT_AT, "--at", "MOMENT", " run render info view replay ",
     "the picture's cursor, and fragmentation then: peak, reserved, oom, start, end, event N, "
     "time T, divergence (of two files), or a phase: \"step 2 backward\""},
    {OPT_STATE, "--state", "TEXT", " run render view replay ",
     "what is shown, as Ctrl+Shift+C in the viewer copies it: \"group=op;view=100..2000\""},
    {OPT_NEED, "--need", "SIZE", " run info replay ",
     "and what must go for a request of that size, e.g. 512MiB"},
    {OPT_MEMORY_FRACTION, "--memory-fraction", "FRACTION", " replay ",
     "what a trace's program set (set_per_process_memory_fraction); with --device, its card"},
    {OPT_SUMMARY, "--summary", NULL, " run ", "also the table of torch.cuda.memory_summary()"},
    {OPT_QUIET, "--quiet", NULL, " capture run validate info replay compare ",
     "no report on the terminal"},
    {OPT_ALL, "--all", NULL, " replay ", "try the useful settings and rank them"},
    {OPT_VIEW, "--view", NULL, " run replay ", "open the viewer"},
    {OPT_NO_VIEW, "--no-view", NULL, " run replay ", "do not open the viewer"},
    {OPT_KINDS, "--kinds", "LIST", " capture ",
     "what is recorded: memory, or with commas also kernel, copy, overhead; all"},
    {OPT_CALLS, "--calls", NULL, " capture ",
     "also by the CUDA runtime's entry points, as is done where there is no CUPTI"},
    {OPT_COLOUR, "--color", "WHEN", " run ", "auto, always, never"},
    {OPT_TOLERANCE, "--tolerance", "PERCENT", " validate ",
     "allowed error of peak allocated and reserved, e.g. 2%"},
    {OPT_TOLERANCE, "--tolerance", "PERCENT|SIZE", " compare ",
     "allowed growth of peak allocated and reserved, e.g. 2%, 64MiB"},
    {OPT_MAX_REQUESTS, "--max-requests", "COUNT",
     " run render view validate dump replay convert compare ",
     "stop a scenario after so many requests (4,000,000)"},
    {OPT_MAX_INSTRUCTIONS, "--max-instructions", "COUNT",
     " run render view validate dump replay convert compare ",
     "and Lua instructions (500,000,000)"},
    {OPT_MAX_MEMORY, "--max-memory", "SIZE",
     " run render view validate info dump replay convert compare ",
     "memory of this machine for a scenario (2GiB) or a trace"},
    {OPT_HELP_SCENARIO, "--help-scenario", NULL, " run ", "list the scenario's parameters"},
    {OPT_HELP, "--help", NULL, "*", "this text"},
};

enum { OPTION_COUNT = sizeof options / sizeof options[0] };

static bool takes(const struct option *o, const struct command *command) {
    char word[32];
    if (o->commands[0] == '*')
        return true;
    snprintf(word, sizeof word, " %s ", command->name);
    return strstr(o->commands, word) != NULL;
}

void options_print(const struct command *command) {
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (takes(&options[i], command)) {
            char left[64];
            snprintf(left, sizeof left, "%s %s", options[i].name,
                     options[i].argument ? options[i].argument : "");
            printf("  %-46s %s\n", left, options[i].help);
        }
}

/* The row of a command's own, where a name has several; else any of that name. */
static const struct option *find(const char *name, size_t length, const struct command *command) {
    const struct option *found = NULL;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *o = &options[i];
        if (strlen(o->name) != length || memcmp(o->name, name, length) != 0)
            continue;
        if (takes(o, command))
            return o;
        found = o;
    }
    return found;
}

/* "2%", "2", "0.5%" in percent; "0.02" would be 0.02 %. */
static bool parse_tolerance(const char *text, double *out, uint64_t *bytes, struct error *err) {
    char *end;
    double v = strtod(text, &end);
    bool has_unit = end != text && *end != '\0' && strcmp(end, "%") != 0;
    if (has_unit && units_parse_bytes(text, bytes) && *bytes > 0)
        return true;
    if (end == text || (*end != '\0' && strcmp(end, "%") != 0) || !(v >= 0 && v <= 1000))
        return error_set(err, ERROR_USAGE, "--tolerance '%s': expected a percentage such as 2%%",
                         text);
    *out = v / 100;
    return true;
}

static bool parse_fraction(const char *text, double *out, struct error *err) {
    char *end;
    *out = strtod(text, &end);
    return (end != text && *end == '\0' && *out > 0 && *out <= 1) ||
           error_set(err, ERROR_USAGE,
                     "--memory-fraction '%s': expected more than 0 and at most 1, such as 0.9",
                     text);
}

static bool parse_need(const char *text, uint64_t *out, struct error *err) {
    return (units_parse_bytes(text, out) && *out > 0) ||
           error_set(err, ERROR_USAGE, "--need '%s': expected a size such as 512MiB", text);
}

static bool parse_when(const char *text, enum cli_when *out, struct error *err) {
    static const char *const words[] = {"auto", "always", "never"};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = (enum cli_when)i;
            return true;
        }
    return error_set(err, ERROR_USAGE, "--color '%s': expected auto, always or never", text);
}

static bool add_output(struct cli *cli, const char *value, struct error *err) {
    if (cli->output_count == CLI_MAX_OUTPUTS)
        return error_set(err, ERROR_USAGE, "more than %d -o", CLI_MAX_OUTPUTS);
    cli->outputs[cli->output_count++] = cli->output = value;
    return true;
}

static bool check_kinds(const char *list, struct error *err) {
    static const char *const known[] = {"memory", "kernel", "copy", "overhead", "all"};
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ","), i = 0;
        while (i < 5 && (strlen(known[i]) != length || memcmp(known[i], at, length) != 0))
            i++;
        if (i == 5)
            return error_set(err, ERROR_USAGE,
                             "--kinds '%s': known are memory kernel copy overhead all, with commas "
                             "between",
                             list);
        at += length;
        if (*at == '\0')
            return true;
    }
}

static bool check_language(const char *name, struct error *err) {
    return strcmp(name, "en") == 0 || strcmp(name, "zh") == 0 ||
           error_set(err, ERROR_USAGE, "unknown language '%s'; known: en zh", name);
}

static bool add_set(struct cli *cli, const char *text, struct error *err) {
    if (!strchr(text, '=') || text[0] == '=')
        return error_set(err, ERROR_USAGE, "--set '%s': expected NAME=VALUE", text);
    if (cli->source.set_count == CLI_MAX_SETS)
        return error_set(err, ERROR_USAGE, "more than %d --set", CLI_MAX_SETS);
    cli->sets[cli->source.set_count++] = text;
    cli->source.sets = cli->sets;
    return true;
}

static bool add_set_b(struct cli *cli, const char *text, struct error *err) {
    if (!strchr(text, '=') || text[0] == '=')
        return error_set(err, ERROR_USAGE, "--set-b '%s': expected NAME=VALUE", text);
    if (cli->set_b_count == CLI_MAX_SETS)
        return error_set(err, ERROR_USAGE, "more than %d --set-b", CLI_MAX_SETS);
    cli->sets_b[cli->set_b_count++] = text;
    return true;
}

static bool apply(struct cli *cli, const struct option *o, const char *value, struct error *err) {
    if (!value) /* a switch */
        value = "";
    switch (o->id) {
    case OPT_SET:
        return add_set(cli, value, err);
    case OPT_SET_B:
        return add_set_b(cli, value, err);
    case OPT_FRAMEWORK:
        cli->source.framework = value;
        break;
    case OPT_CUDNN:
        cli->source.cudnn = value;
        break;
    case OPT_DEVICE:
        cli->source.device = value;
        break;
    case OPT_ALLOC:
        cli->source.alloc_settings = value;
        break;
    case OPT_ALLOCATOR:
        cli->source.allocator = value;
        break;
    case OPT_OUTPUT:
        return add_output(cli, value, err);
    case OPT_FORMAT:
        cli->format = value;
        break;
    case OPT_JSON:
        cli->json = value;
        break;
    case OPT_CSV:
        cli->csv = value;
        break;
    case OPT_PNG:
        cli->png = value;
        break;
    case OPT_SVG:
        cli->svg = value;
        break;
    case OPT_HTML:
        cli->html = value;
        break;
    case OPT_SIZE:
        cli->size = value;
        return picture_parse_size(value, &cli->width, &cli->height, err);
    case OPT_SCALE:
        cli->scale = value;
        return picture_parse_scale(value, &cli->scale_percent, err);
    case OPT_THEME:
        cli->theme = value;
        if (theme_find(value) == THEME_COUNT)
            return error_set(err, ERROR_USAGE, "unknown theme '%s'; known: dark light contrast",
                             value);
        break;
    case OPT_PALETTE:
        cli->palette_file = value;
        cli->has_palette = true;
        return palette_read(value, &cli->palette, err);
    case OPT_LANG:
        cli->lang = value;
        return check_language(value, err);
    case OPT_FONT:
        cli->font = value;
        break;
    case OPT_STATE:
        cli->state = value;
        break;
    case OPT_AT:
        cli->at = value;
        break;
    case OPT_NEED:
        return parse_need(value, &cli->need_bytes, err);
    case OPT_MEMORY_FRACTION:
        return parse_fraction(value, &cli->memory_fraction, err);
    case OPT_SUMMARY:
        cli->summary = true;
        break;
    case OPT_QUIET:
        cli->quiet = true;
        break;
    case OPT_ALL:
        cli->all = true;
        break;
    case OPT_VIEW:
        cli->view = CLI_ALWAYS;
        break;
    case OPT_NO_VIEW:
        cli->view = CLI_NEVER;
        break;
    case OPT_KINDS:
        cli->kinds = value;
        return check_kinds(value, err);
    case OPT_CALLS:
        cli->capture_calls = true;
        break;
    case OPT_COLOUR:
        return parse_when(value, &cli->colour, err);
    case OPT_TOLERANCE:
        return parse_tolerance(value, &cli->tolerance, &cli->tolerance_bytes, err);
    case OPT_MAX_REQUESTS:
        cli->max_requests = value;
        return source_parse_count(o->name, value, &cli->source.max_requests, err);
    case OPT_MAX_INSTRUCTIONS:
        cli->max_instructions = value;
        return source_parse_count(o->name, value, &cli->source.max_instructions, err);
    case OPT_MAX_MEMORY:
        cli->max_memory = value;
        return source_parse_memory(value, &cli->source, err);
    case OPT_HELP_SCENARIO:
        cli->help_scenario = true;
        break;
    case OPT_HELP:
        cli->help = true;
        break;
    }
    return true;
}

static bool add_file(struct cli *cli, const struct command *command, const char *path,
                     struct error *err) {
    if (cli->file_count == command->files_max)
        return error_set(err, ERROR_USAGE, "'%s' is one file too many; usage: vramsim %s", path,
                         command->usage);
    cli->files[cli->file_count++] = path;
    return true;
}

/* The scenario among the words, also when it comes after the unknown option. */
static const char *find_scenario(int argc, char **argv) {
    for (int i = 0; i < argc; i++)
        if (argv[i][0] != '-' && source_is_scenario(argv[i]))
            return argv[i];
    return NULL;
}

/* Whether the scenario declares a parameter of that name. */
static bool is_parameter(const char *scenario, const struct cli *cli, const char *name,
                         size_t length) {
    struct scenario_info info;
    struct error ignored = {0}; /* what is wrong with the scenario is told when it runs */
    struct source_options only = {.library_dir = cli->source.library_dir};
    if (!scenario || !source_parameters(scenario, &only, &info, &ignored))
        return false;
    bool found = false;
    for (size_t i = 0; i < info.params.count; i++)
        found = found || (strlen(info.params.at[i].name) == length &&
                          memcmp(info.params.at[i].name, name, length) == 0);
    scenario_info_fini(&info);
    return found;
}

static bool unknown_option(const struct cli *cli, const struct command *command, int argc,
                           char **argv, int at, struct error *err) {
    const char *arg = argv[at], *equals = strchr(arg, '=');
    size_t length = equals ? (size_t)(equals - arg) : strlen(arg);
    struct nearest nearest = {.word = arg, .length = length};
    char hint[NEAREST_HINT_BYTES];
    const char *value = equals ? equals + 1 : at + 1 < argc ? argv[at + 1] : "VALUE";
    if (length > 2 && arg[1] == '-' && takes(find("--set", 5, command), command) &&
        is_parameter(find_scenario(argc, argv), cli, arg + 2, length - 2))
        return error_set(err, ERROR_USAGE,
                         "%s: unknown option '%s'; a parameter is given as --set %.*s=%s",
                         command->name, arg, (int)length - 2, arg + 2, value);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (takes(&options[i], command))
            nearest_offer(&nearest, options[i].name);
    return error_set(err, ERROR_USAGE, "%s: unknown option '%s'%s; vramsim %s --help lists them",
                     command->name, arg, nearest_hint(&nearest, hint), command->name);
}

static bool ends_in(const char *path, const char *ending) {
    size_t n = strlen(path), k = strlen(ending);
    return n > k && strcmp(path + n - k, ending) == 0;
}

/* The ending of a file tells programs its kind; that of another option's kind is a slip. */
static bool check_endings(const struct cli *cli, struct error *err) {
    const struct {
        const char *option, *file, *ending;
    } kinds[] = {{"--json", cli->json, ".json"},
                 {"--csv", cli->csv, ".csv"},
                 {"--png", cli->png, ".png"},
                 {"--svg", cli->svg, ".svg"},
                 {"--html", cli->html, ".html"}};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    for (size_t i = 0; i < KINDS; i++)
        for (size_t k = 0; k < KINDS; k++)
            if (i != k && kinds[i].file && ends_in(kinds[i].file, kinds[k].ending))
                return error_set(err, ERROR_USAGE, "%s %s: the ending is of another kind: %s %s",
                                 kinds[i].option, kinds[i].file, kinds[k].option, kinds[i].file);
    return true;
}

/* Settings that would be left without effect. An unknown allocator is told of later. */
static bool check_settings(const struct cli *cli, struct error *err) {
    const struct alloc_ops *row = cli->source.allocator ? alloc_find(cli->source.allocator) : NULL;
    if (!row || row->heeds_settings || !cli->source.alloc_settings)
        return true;
    return error_set(err, ERROR_USAGE,
                     "--allocator %s has no use for PyTorch's settings: without --alloc",
                     row->name);
}

bool options_parse(struct cli *cli, const struct command *command, int argc, char **argv,
                   struct error *err) {
    bool only_files = false;
    cli->tolerance = -1;
    for (int i = 0; i < argc; i++) {
        const char *arg = argv[i];
        if (only_files || arg[0] != '-' || arg[1] == '\0') {
            if (!add_file(cli, command, arg, err))
                return false;
            continue;
        }
        if (strcmp(arg, "--") == 0 && command->run == cmd_capture) {
            cli->rest = argv + i + 1;
            break;
        }
        if (strcmp(arg, "--") == 0) {
            only_files = true;
            continue;
        }
        if (strcmp(arg, "-h") == 0)
            arg = "--help";
        const char *equals = strchr(arg, '=');
        const struct option *o = find(arg, equals ? (size_t)(equals - arg) : strlen(arg), command);
        if (!o || !takes(o, command))
            return unknown_option(cli, command, argc, argv, i, err);
        const char *value = equals ? equals + 1 : NULL;
        if (o->argument && !value && ++i < argc)
            value = argv[i];
        if (o->argument && !value)
            return error_set(err, ERROR_USAGE, "%s needs %s", o->name, o->argument);
        if (!o->argument && equals)
            return error_set(err, ERROR_USAGE, "%s takes no value", o->name);
        if (!apply(cli, o, value, err))
            return false;
    }
    if (!cli->help && cli->file_count < command->files_min)
        return error_set(err, ERROR_USAGE,
                         "%s: a file is missing; usage: vramsim %s (vramsim %s --help)",
                         command->name, command->usage, command->name);
    return check_settings(cli, err) && check_endings(cli, err);
}

/* need.c: what a scenario that does not fit would take, and whether expandable segments help: it is
 * simulated again. */
#include "need.h"

#include <string.h>

#include "cli.h"
#include "peak.h"
#include "report.h"
#include "text.h"
#include "timeline.h"

struct outcome {
    bool fits;
    uint64_t device_bytes;
};

/* False: interrupted. A run that fails otherwise (a limit, host memory) leaves *known off. */
static bool run_again(const struct cli *cli, const struct source_options *options, bool *known,
                      struct outcome *out, struct error *err) {
    struct source_result result;
    *known = source_run(cli->files[0], options, &result, err);
    if (!*known)
        return err->code != ERROR_INTERRUPTED;
    struct peaks peaks;
    peak_find(result.timeline, 0, &peaks);
    *out = (struct outcome){result.timeline->ooms.count == 0, peaks.device_bytes};
    source_result_fini(&result);
    return true;
}

static bool can_expand(const struct cli *cli, const struct source_result *result) {
    const char *settings = cli->source.alloc_settings;
    return !cli->source.allocator && result->settings.backend == ALLOC_BACKEND_NATIVE &&
           !(settings && strstr(settings, "expandable_segments"));
}

static bool find_expandable(const struct cli *cli, struct report_need *need, struct error *err) {
    struct source_options options = cli->source;
    options.print = NULL;
    struct text settings = {0};
    struct outcome outcome = {0};
    if (options.alloc_settings && *options.alloc_settings)
        text_format(&settings, "%s,", options.alloc_settings);
    text_add(&settings, "expandable_segments:True");
    options.alloc_settings = text_get(&settings);
    bool ok = settings.failed || run_again(cli, &options, &need->has_expandable, &outcome, err);
    if (need->has_expandable) {
        need->fits_with_expandable = outcome.fits;
        need->expandable_bytes = outcome.device_bytes;
    }
    text_fini(&settings);
    return ok;
}

/* One that takes a share of the device has no answer without an end to it. */
static bool has_need(const struct cli *cli) {
    const struct alloc_ops *row = cli->source.allocator ? alloc_find(cli->source.allocator) : NULL;
    return !row || !row->needs_device;
}

bool need_find(const struct cli *cli, const struct source_result *result, struct report_need *need,
               struct error *err) {
    memset(need, 0, sizeof *need);
    if (!result->is_scenario || result->timeline->ooms.count == 0)
        return true;
    struct source_options options = cli->source;
    struct outcome outcome;
    bool known;
    options.print = NULL;
    options.unlimited_device = true;
    if (has_need(cli)) {
        if (!run_again(cli, &options, &known, &outcome, err))
            return false;
        if (known && outcome.fits)
            need->bytes = outcome.device_bytes;
    }
    return !can_expand(cli, result) || find_expandable(cli, need, err);
}

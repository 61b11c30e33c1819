/* report.c: see report.h. */
#include "report.h"

#include <string.h>

#include "error.h"
#include "phases.h"
#include "text.h"
#include "timeline.h"

enum { TOP_MODULES = 8, MODULE_DEPTH = 5, TOP_OPS = 10, TOP_BLOCKS = 10 };

const char *report_param(const struct report_run *run, const char *name) {
    for (size_t i = 0; i < run->param_count; i++)
        if (strcmp(run->params[i].name, name) == 0)
            return run->params[i].value;
    return NULL;
}

static void find_ooms(struct report *r) {
    ooms_find(r->tl, r->device, &r->ooms);
    bool goes_on =
        r->run->end == REPORT_END_UNKNOWN ? r->ooms.went_on : r->run->end == REPORT_END_FINISHED;
    r->fits = r->ooms.count == 0 || goes_on;
    r->caught = r->fits ? r->ooms.count : r->ooms.count - 1;
    r->oom = r->fits ? r->ooms.first : r->ooms.last;
}

static bool has_ops(const struct timeline *tl) {
    for (size_t i = 0; i < tl->blocks.count; i++)
        if (tl->blocks.at[i].op)
            return true;
    return false;
}

static bool find_holders(struct report *r, struct error *err) {
    uint32_t event = r->peaks.allocated.event;
    struct holder_tree_options options = {
        .depth = MODULE_DEPTH, .top = TOP_MODULES, .fold_indices = true};
    holders_by_category(r->tl, r->device, event, r->categories);
    r->ops_are_frames = !has_ops(r->tl) && (r->tl->has & TIMELINE_HAS_STACK);
    enum holder_key key = r->ops_are_frames ? HOLDER_BY_FRAME : HOLDER_BY_OP;
    return holder_tree_find(r->tl, r->device, event, &options, &r->modules, err) &&
           holder_list_find(r->tl, r->device, event, key, TOP_OPS, &r->ops, err) &&
           holder_blocks_find(r->tl, r->device, event, TOP_BLOCKS, &r->blocks, err);
}

bool report_init(struct report *report, const struct timeline *tl, const struct report_run *run,
                 struct error *err) {
    memset(report, 0, sizeof *report);
    report->tl = tl;
    report->run = run;
    report->device = run->device_ordinal;
    find_ooms(report);
    peak_find(tl, report->device, &report->peaks);
    uint64_t max_split = run->max_split_bytes ? run->max_split_bytes : UINT64_MAX;
    if (steps_find(tl, report->device, &report->steps, err) && find_holders(report, err) &&
        fragmentation_find(tl, report->device, report->peaks.allocated.event,
                           &report->fragmentation, err) &&
        pools_find(tl, report->device, UINT32_MAX, max_split, &report->pools, err))
        return true;
    report_fini(report);
    return false;
}

void report_fini(struct report *report) {
    steps_fini(&report->steps);
    holder_tree_fini(&report->modules);
    holder_list_fini(&report->ops);
    holder_blocks_fini(&report->blocks);
}

void report_place(const struct timeline *tl, uint8_t device, uint32_t event, struct text *out) {
    uint32_t phase = phase_at(tl, device, event);
    if (event == TIMELINE_NONE)
        text_add(out, "before the first event");
    else if (phase == TIMELINE_NONE)
        text_add(out, "outside any phase");
    else
        phase_path(tl, phase, out);
}

const char *report_device_name(const struct report *report) {
    const struct timeline *tl = report->tl;
    if (report->run->device)
        return report->run->device;
    return report->device < tl->devices.count
               ? timeline_text(tl, tl->devices.at[report->device].name)
               : "";
}

const char *report_framework(const struct report *report) {
    return report->run->framework ? report->run->framework
                                  : timeline_text(report->tl, report->tl->framework);
}

const char *report_title(const struct report *report) {
    return report->run->scenario ? report->run->scenario
                                 : timeline_text(report->tl, report->tl->title);
}

uint64_t report_shortfall(const struct timeline_oom *oom) {
    uint64_t need = oom->segment_bytes ? oom->segment_bytes : oom->rounded_bytes;
    return need > oom->device_free_bytes ? need - oom->device_free_bytes : 0;
}

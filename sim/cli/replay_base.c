/* replay_base.c: see replay_base.h. */
#include "replay_base.h"

#include "ooms.h"
#include "source.h"
#include "text.h"
#include "timeline.h"
#include "units.h"

bool replay_base_ran_out(const struct source_result *base, uint8_t device) {
    struct ooms ooms;
    ooms_find(base->timeline, device, &ooms);
    return base->is_scenario ? base->ran_out : ooms.count > 0 && !ooms.went_on;
}

void replay_base_note_card(const struct source_result *base, const char *asked,
                           uint64_t capacity_bytes, struct text *out) {
    char bytes[UNITS_TEXT_BYTES];
    if (asked || base->is_scenario || (base->timeline->has & TIMELINE_HAS_DEVICE))
        return;
    if (capacity_bytes > 0)
        text_format(out,
                    "note: as its out-of-memory shows, the process could get %s of its card; "
                    "--device NAME names another\n",
                    units_format_bytes(capacity_bytes, bytes));
    else
        text_add(out,
                 "note: the trace does not name its card, so nothing is refused; --device NAME "
                 "says which\n");
}

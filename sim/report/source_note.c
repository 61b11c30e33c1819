/* source_note.c: see source_note.h. */
#include "source_note.h"

#include <stddef.h>
#include <stdint.h>

#include "text.h"
#include "timeline.h"

static const struct {
    uint32_t bit; /* enum timeline_has */
    const char *words;
} gaps[] = {
    {TIMELINE_DEVICE_USE,
     "samples of the whole device: every program's memory, contexts included; what the allocator "
     "had of it is unknown"},
    {TIMELINE_SUMS_BLOCKS,
     "blocks are differences between recorded totals, versions of a tensor, or all that a stack "
     "holds: not each is an allocation"},
    {TIMELINE_SUMS_SEGMENTS,
     "of segments only the total was recorded: where blocks lie is unknown"},
    {TIMELINE_FREES_BY_SIZE,
     "frees name no address: each ends the newest block of its size, which may be another; sums "
     "are exact"},
    {TIMELINE_RELATIVE,
     "what lived before the first event is unknown: all figures count from there"},
};

void source_note(const struct timeline *tl, struct text *out) {
    bool is_said = false;
    for (size_t i = 0; i < sizeof gaps / sizeof gaps[0]; i++) {
        bool is_shown = (tl->has & gaps[i].bit) != 0;
        if (gaps[i].bit != TIMELINE_DEVICE_USE && (tl->has & TIMELINE_DEVICE_USE))
            is_shown = false; /* said already */
        if (is_shown)
            text_format(out, "%snote: %s\n", out->length > 0 && !is_said ? "\n" : "",
                        gaps[i].words);
        is_said |= is_shown;
    }
}

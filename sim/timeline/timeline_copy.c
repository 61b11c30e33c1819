/* timeline_copy.c: see timeline.h. */
#include <string.h>

#include "timeline.h"

/* Texts keep their numbers: none of them is there twice. */
static bool copy_strings(struct strtab *to, const struct strtab *from) {
    for (uint32_t i = 1; i < strtab_count(from); i++) {
        uint32_t id;
        if (!strtab_add(to, strtab_text(from, i), strtab_length(from, i), &id))
            return false;
    }
    return true;
}

#define COPY(member)                                                                               \
    (array_reserve_tight(&to->member, from->member.count) &&                                       \
     (from->member.count == 0 || memcpy(to->member.at, from->member.at,                            \
                                        from->member.count * sizeof *from->member.at) != NULL) &&  \
     (to->member.count = from->member.count, true))

static bool copy_rows(struct timeline *to, const struct timeline *from) {
    return COPY(events) && COPY(blocks) && COPY(segments) && COPY(phases) && COPY(frames) &&
           COPY(stacks) && COPY(ooms) && COPY(devices) && COPY(streams);
}

struct timeline *timeline_copy(const struct timeline *from) {
    struct timeline *to = timeline_create();
    if (!to || !copy_strings(&to->strings, &from->strings) || !copy_rows(to, from)) {
        timeline_destroy(to);
        return NULL;
    }
    to->has = from->has;
    to->title = from->title;
    to->source_kind = from->source_kind;
    to->framework = from->framework;
    to->alloc_settings = from->alloc_settings;
    to->warnings = from->warnings;
    to->first_warning = from->first_warning;
    return to;
}

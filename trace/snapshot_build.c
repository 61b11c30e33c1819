/* snapshot_build.c: what all steps from records to a timeline use; see snapshot_build.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emit.h"
#include "error.h"
#include "foreign_text.h"
#include "snapshot_build.h"

bool build_no_memory(struct build *b) {
    return error_host_memory(b->err);
}

void build_warn(struct build *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    emit_warn_args(b->tl, format, args);
    va_end(args);
}

bool build_device(struct build *b, uint32_t ordinal, struct build_device **device) {
    size_t i = 0;
    while (i < b->devices.count && b->devices.at[i].ordinal < ordinal)
        i++;
    if (i == b->devices.count || b->devices.at[i].ordinal != ordinal) {
        if (!array_reserve(&b->devices, b->devices.count + 1))
            return build_no_memory(b);
        memmove(b->devices.at + i + 1, b->devices.at + i,
                (b->devices.count - i) * sizeof *b->devices.at);
        b->devices.at[i] = (struct build_device){.ordinal = ordinal, .near_range = NO_HANDLE};
        b->devices.count++;
    }
    *device = &b->devices.at[i];
    return true;
}

bool build_stream(struct build *b, uint64_t handle, uint16_t *index) {
    uint32_t found = 0;
    if (handle != 0 && !addrmap_find(&b->streams, handle, &found)) {
        if (b->tl->streams.count > UINT16_MAX)
            return error_set(b->err, ERROR_LIMIT, "more than 65,535 streams");
        if (!array_push(&b->tl->streams, handle))
            return build_no_memory(b);
        found = (uint32_t)(b->tl->streams.count - 1);
        if (!addrmap_put(&b->streams, handle, found))
            return build_no_memory(b);
    }
    *index = (uint16_t)found;
    return true;
}

bool build_string(struct build *b, uint32_t id, uint32_t *string) {
    if (b->strings.at[id] != 0) {
        *string = b->strings.at[id] - 1;
        return true;
    }
    const char *text = strtab_text(&b->s->pickle.strings, id);
    size_t length = strtab_length(&b->s->pickle.strings, id);
    bool ok = foreign_text_intern(&b->tl->strings, text, length, string) || build_no_memory(b);
    if (ok)
        b->strings.at[id] = *string + 1;
    return ok;
}

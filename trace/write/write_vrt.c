/* write_vrt.c: our own format, which holds all of a timeline. */
#include <string.h>

#include "error.h"
#include "text.h"
#include "timeline.h"
#include "vrt_format.h"
#include "vrt_write.h"
#include "writer.h"

static bool add(void *user, const void *bytes, size_t count, struct error *err) {
    struct text *out = user;
    text_add_bytes(out, bytes, count);
    return !out->failed || error_host_memory(err);
}

static bool write(const struct timeline *tl, struct text *out, struct text *losses,
                  struct error *err) {
    (void)losses;
    struct vrt_out vrt = {.write = add, .user = out};
    bool is_simulated = strcmp(timeline_text(tl, tl->source_kind), "simulation") == 0;
    return vrt_write_all(&vrt, is_simulated ? VRT_SIMULATOR : VRT_CONVERTER, tl, err);
}

const struct writer writer_vrt = {
    .name = "vrt",
    .doc = "our own format: everything, compact",
    .ending = ".vrt",
    .write = write,
};

/* fuzz_room.c: any bytes as a trace file; at its beginning, middle and end is found what pins segments and what must go
 * for a request. What must go is live, and no more than there is. */
#include <stdlib.h>

#include "error.h"
#include "fuzz.h"
#include "importer.h"
#include "pinning.h"
#include "room.h"
#include "timeline.h"

static void look_at_way(const struct pinning *pinning, const struct room_way *way) {
    uint64_t live = 0;
    for (size_t i = 0; i < pinning->pins.count; i++)
        live += pinning->pins.at[i].live_bytes;
    if (way->blocks.count > pinning->placement.blocks.count || way->bytes > live ||
        (!way->is_possible && way->blocks.count > 0))
        abort();
}

static void look_at_pins(const struct pinning *pinning) {
    for (size_t i = 0; i < pinning->pins.count; i++) {
        const struct pin *pin = &pinning->pins.at[i];
        if (pin->blocks == 0 || pin->go_first + pin->go_blocks > pinning->placement.blocks.count ||
            pin->go_bytes > pin->live_bytes)
            abort();
    }
}

static void look(const struct timeline *tl, uint32_t event, uint64_t bytes, bool expandable) {
    struct pinning pinning;
    struct room room;
    struct error err = {0};
    struct room_options options = {.sizes = caching_sizes_default(),
                                   .has_device_free = true,
                                   .device_free_bytes = expandable ? UINT64_MAX - 1 : 3 << 20};
    options.sizes.expandable = expandable;
    if (!pinning_find(tl, 0, event, options.sizes.large_segment_bytes, &pinning, &err))
        abort();
    look_at_pins(&pinning);
    if (!room_find(tl, &pinning, bytes, &options, &room, &err))
        abort();
    look_at_way(&pinning, &room.in_place);
    look_at_way(&pinning, &room.by_driver);
    room_fini(&room);
    pinning_fini(&pinning);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct timeline *tl = NULL;
    struct error err = {0};
    const struct trace_options options = {.max_memory_bytes = 32 << 20};
    if (!trace_import_bytes("fuzz", data, size, &options, &tl, NULL, &err))
        return 0;
    const uint32_t count = (uint32_t)tl->events.count;
    const uint32_t events[] = {TIMELINE_NONE, count / 2, count ? count - 1 : TIMELINE_NONE};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        look(tl, events[i], 1, false);
        look(tl, events[i], UINT64_C(20) << 20, i == 1);
        look(tl, events[i], UINT64_MAX, i == 2);
    }
    timeline_destroy(tl);
    return 0;
}

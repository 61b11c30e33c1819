/* room_json.c: see room_report.h; the form for programs. */
#include <inttypes.h>
#include <stdio.h>

#include "block_text.h"
#include "json_out.h"
#include "report.h"
#include "room_report.h"
#include "text.h"
#include "timeline.h"

/* Addresses are above 2^53: as text. */
static void add_address(struct json *j, uint64_t address) {
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, address);
    json_text(j, "address", text);
}

static void add_string(struct json *j, const char *key, const struct timeline *tl, uint32_t id) {
    json_text(j, key, id ? timeline_text(tl, id) : NULL);
}

static void add_event(struct json *j, const char *key, uint32_t event) {
    if (event == TIMELINE_NONE)
        json_null(j, key);
    else
        json_u64(j, key, event);
}

static void add_block(struct json *j, const struct timeline *tl, uint32_t index) {
    const struct timeline_block *b = &tl->blocks.at[index];
    struct text names = {0};
    json_object(j, NULL);
    add_address(j, b->address);
    json_u64(j, "bytes", b->block_bytes);
    if (tl->has & TIMELINE_HAS_CATEGORY)
        json_text(j, "category", category_key((enum category)b->category));
    add_string(j, "op", tl, b->op);
    add_string(j, "owner", tl, b->owner);
    add_string(j, "name", tl, b->name);
    if (!b->op && !b->owner && !b->name) {
        block_text_names(tl, b, &names);
        const char *frame = text_get(&names);
        json_text(j, "frame", *frame ? frame + 2 : NULL);
    }
    add_event(j, "allocated_event", b->alloc_event);
    add_event(j, "free_event", b->free_event);
    json_end(j);
    j->out->failed |= names.failed;
    text_fini(&names);
}

static void add_pin(struct json *j, const struct room_report *r, const struct pin *pin) {
    const struct placement *p = &r->pinning.placement;
    const struct placement_range *range = &p->ranges.at[pin->range];
    json_object(j, NULL);
    add_address(j, range->address);
    json_u64(j, "bytes", range->bytes);
    json_text(j, "pool", range->is_small ? "small" : "large");
    json_bool(j, "expandable", range->is_expandable);
    json_bool(j, "private", pinning_is_private(r->tl, range));
    json_u64(j, "live_bytes", pin->live_bytes);
    json_u64(j, "live_blocks", pin->blocks);
    json_u64(j, "free_bytes", pin->free_bytes);
    json_u64(j, "largest_free_bytes", pin->largest_gap_bytes);
    json_object(j, "release");
    json_u64(j, "gives_back_bytes", pin->gain_bytes);
    json_u64(j, "must_go_bytes", pin->go_bytes);
    json_array(j, "must_go");
    for (uint32_t i = 0; i < pin->go_blocks; i++)
        add_block(j, r->tl, p->blocks.at[pin->go_first + i]);
    json_end(j);
    json_end(j);
    json_end(j);
}

static void add_way(struct json *j, const char *key, const struct room_report *r,
                    const struct room_way *way) {
    if (!way->is_possible) {
        json_null(j, key);
        return;
    }
    json_object(j, key);
    json_u64(j, "must_go_bytes", way->bytes);
    json_bool(j, "exact", way->is_exact);
    json_array(j, "must_go");
    for (size_t i = 0; i < way->blocks.count; i++)
        add_block(j, r->tl, way->blocks.at[i]);
    json_end(j);
    json_end(j);
}

static void add_request(struct json *j, const struct room_report *r) {
    const struct room *room = &r->room;
    if (room->bytes == 0) {
        json_null(j, "request");
        return;
    }
    const struct room_way *best = room_best(room);
    json_object(j, "request");
    json_u64(j, "bytes", room->bytes);
    json_u64(j, "rounded_bytes", room->rounded_bytes);
    json_u64(j, "segment_bytes", room->segment_bytes);
    json_bool(j, "served", best && best->blocks.count == 0);
    add_way(j, "in_place", r, &room->in_place);
    add_way(j, "new_memory", r, &room->by_driver);
    json_end(j);
}

static void add_sums(struct json *j, const struct room_report *r) {
    const struct fragmentation_pool *f = &r->fragmentation.all;
    json_u64(j, "reserved_bytes", f->reserved_bytes);
    json_u64(j, "allocated_bytes", f->allocated_bytes);
    json_u64(j, "active_bytes", f->active_bytes);
    json_u64(j, "free_bytes", f->free_bytes);
    json_u64(j, "free_blocks", f->free_blocks);
    json_u64(j, "idle_bytes", r->pinning.idle_bytes);
    json_u64(j, "idle_segments", r->pinning.idle_ranges);
    json_u64(j, "inactive_split_bytes", f->inactive_split_bytes);
    json_object(j, "largest_request");
    json_u64(j, "cached_bytes", r->room.cached_bytes);
    json_u64(j, "cached_small_bytes", r->room.cached_small_bytes);
    if (r->room.has_new)
        json_u64(j, "new_memory_bytes", r->room.new_bytes);
    else
        json_null(j, "new_memory_bytes");
    json_end(j);
}

void room_report_json(const struct room_report *r, const char *key, struct json *j) {
    struct text place = {0};
    if (!r->pinning.is_known) {
        json_null(j, key);
        return;
    }
    report_place(r->tl, r->options.device, r->options.event, &place);
    json_object(j, key);
    json_u64(j, "device", r->options.device);
    add_event(j, "event", r->options.event);
    json_text(j, "phase", text_get(&place));
    json_text(j, "moment", r->options.where);
    add_sums(j, r);
    json_array(j, "segments");
    for (size_t i = 0; i < r->pinning.pins.count; i++)
        add_pin(j, r, &r->pinning.pins.at[i]);
    json_end(j);
    add_request(j, r);
    json_end(j);
    j->out->failed |= place.failed;
    text_fini(&place);
}

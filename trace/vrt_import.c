/* vrt_import.c: our own `.vrt` files; their format is trace/vrt's. */
#include "capture_records.h"
#include "error.h"
#include "importer.h"
#include "text.h"
#include "timeline.h"
#include "timeline_facts.h"
#include "vrt_format.h"
#include "vrt_read.h"

static bool add_warning(struct timeline *tl, struct text *text, struct error *err) {
    if (tl->warnings++ == 0)
        tl->first_warning = timeline_string(tl, text_get(text));
    bool ok = !text->failed;
    text_fini(text);
    return ok || error_host_memory(err);
}

/* What was lost within a capture. */
static bool warn_gaps(struct timeline *tl, const struct vrt_reader *r, struct error *err) {
    struct text text = {0};
    if (r->gaps.count == 0)
        return true;
    text_format(&text, "damaged at byte %llu", (unsigned long long)r->gaps.at[0].from);
    if (r->gaps.count > 1)
        text_format(&text, " and at %zu more places", r->gaps.count - 1);
    text_format(&text, ": %llu bytes are passed over, %llu blocks",
                (unsigned long long)r->lost_bytes, (unsigned long long)r->lost_blocks);
    if (r->lost_records > 0)
        text_format(&text, " with %llu records%s", (unsigned long long)r->lost_records,
                    r->lost_blocks > 1 ? " or more" : "");
    return add_warning(tl, &text, err);
}

/* What a person should know of a file that is not whole. */
static bool warn(struct timeline *tl, const struct vrt_reader *r, size_t length,
                 struct error *err) {
    struct text text = {0};
    if (!warn_gaps(tl, r, err))
        return false;
    if (r->has_ended && r->offset == length)
        return true;
    if (r->damaged_at != VRT_UNKNOWN)
        text_format(&text, "damaged at byte %llu (%s): the file is read up to byte %llu of %zu",
                    (unsigned long long)r->damaged_at, r->damage, (unsigned long long)r->offset,
                    length);
    else if (r->has_ended)
        text_format(&text, "%llu bytes follow the end of the recording",
                    (unsigned long long)(length - r->offset));
    else
        text_format(&text, "the recording was not ended: its last %llu bytes are left out",
                    (unsigned long long)(length - r->offset));
    return add_warning(tl, &text, err);
}

static bool read_all(struct vrt_reader *r, const uint8_t *data, size_t length, struct error *err) {
    if (!vrt_reader_take(r, data, length, err))
        return false;
    if (r->offset == 0)
        return error_set(err, ERROR_BAD_INPUT, "cut off within its header, at byte %zu", length);
    bool is_empty = r->tl->events.count == 0 && r->tl->blocks.count == 0;
    if (is_empty && r->damaged_at != VRT_UNKNOWN)
        return error_set(err, ERROR_BAD_INPUT, "damaged at byte %llu, before its first events: %s",
                         (unsigned long long)r->damaged_at, r->damage);
    if (r->gaps.count > 0 && r->records == 0)
        return error_set(
            err, ERROR_BAD_INPUT, "damaged at byte %llu: all %llu blocks of its events are lost",
            (unsigned long long)r->gaps.at[0].from, (unsigned long long)r->lost_blocks);
    if (is_empty && !r->has_ended && r->records == 0)
        return error_set(err, ERROR_BAD_INPUT, "cut off before its first events, at byte %zu",
                         length);
    return timeline_check(r->tl, err) || error_wrap(err, "the file lies");
}

static bool take_records(void *records, const uint8_t *bytes, size_t length, struct error *err) {
    return capture_records_add(records, bytes, length, err);
}

/* A capture's file has records instead of tables. */
static bool build(const struct vrt_reader *r, struct capture_records *records, struct error *err) {
    records->lost_bytes = r->lost_bytes;
    return r->records == 0 || (capture_records_build(records, r->tl, err) &&
                               (timeline_check(r->tl, err) || error_wrap(err, "the file lies")));
}

static bool import(const uint8_t *data, size_t length, const struct trace_options *options,
                   struct timeline *tl, struct trace_facts *facts, struct error *err) {
    struct vrt_reader r;
    struct capture_records records = {0};
    vrt_reader_init(&r, tl);
    r.take_records = take_records;
    r.records_user = &records;
    r.max_bytes = options->max_memory_bytes;
    r.progress = options->progress;
    r.user = options->user;
    bool ok = read_all(&r, data, length, err) && build(&r, &records, err) &&
              warn(tl, &r, length, err) && timeline_facts(tl, "vrt", facts, err);
    vrt_reader_fini(&r);
    capture_records_fini(&records);
    return ok;
}

const struct importer importer_vrt = {
    .name = "vrt",
    .doc = "our own format, as vramsim convert and capture write it",
    .probe = vrt_is_one,
    .import = import,
};

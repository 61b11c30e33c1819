/* timeline_fields.h: a timeline as tables of named members, for those who write all of it down or compare all of it:
 * files, and tests that nothing is lost. A member that is added to timeline.h gets its row in timeline_fields.c.
 *
 * Strings are apart: they are named by id. The members of the timeline itself are a table of one row, its streams one of
 * plain numbers. */
#ifndef TIMELINE_FIELDS_H
#define TIMELINE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct timeline;

/* Ids are those of files: a row is added at the end, none is taken away. */
enum timeline_table_id {
    TIMELINE_TABLE_RUN, /* the timeline's own members: one row */
    TIMELINE_TABLE_STREAMS,
    TIMELINE_TABLE_DEVICES,
    TIMELINE_TABLE_FRAMES,
    TIMELINE_TABLE_STACKS,
    TIMELINE_TABLE_SEGMENTS,
    TIMELINE_TABLE_PHASES,
    TIMELINE_TABLE_OOMS,
    TIMELINE_TABLE_BLOCKS,
    TIMELINE_TABLE_EVENTS,
    TIMELINE_TABLE_COUNT
};

enum timeline_field_type {
    TIMELINE_FIELD_NUMBER,
    TIMELINE_FIELD_BOOL,
    TIMELINE_FIELD_STRING, /* an id */
    TIMELINE_FIELD_INDEX,  /* of 32 bits; TIMELINE_NONE: none */
    TIMELINE_FIELD_KIND,   /* enum event_kind, enum category, enum dtype: named in files */
    TIMELINE_FIELD_CATEGORY,
    TIMELINE_FIELD_DTYPE
};

struct timeline_field {
    const char *name;
    uint16_t id; /* of the member in files, within its table; never used again */
    uint16_t offset;
    uint8_t bytes; /* 1, 2, 4, 8 */
    uint8_t type;  /* enum timeline_field_type */
    uint8_t
        /* the table that an index or a plain number points into; else TIMELINE_TABLE_COUNT */
        target;
    /* of an INDEX: an event that names this row, of this kind; else EVENT_KIND_COUNT */
    uint8_t link;
};

struct timeline_table {
    const char *name;
    size_t row_bytes;
    const struct timeline_field *fields;
    size_t field_count;
};

const struct timeline_table *timeline_table(enum timeline_table_id id);
size_t timeline_rows(const struct timeline *tl, enum timeline_table_id id);
/* `row` < timeline_rows(). */
const void *timeline_row(const struct timeline *tl, enum timeline_table_id id, size_t row);
/* The first row, to be written; not for RUN. */
char *timeline_rows_at(struct timeline *tl, enum timeline_table_id id);
/* Rows of zero bytes behind those that are there; NULL: host memory, or too many. Not for RUN. */
void *timeline_add_rows(struct timeline *tl, enum timeline_table_id id, size_t count);
/* Room for so many rows in all. False: host memory, or too many. Not for RUN. */
bool timeline_reserve_rows(struct timeline *tl, enum timeline_table_id id, size_t count);

uint64_t timeline_field_get(const struct timeline_field *field, const void *row);
void timeline_field_set(const struct timeline_field *field, void *row, uint64_t value);

/* Of bit `bit` of timeline.has, "block_bytes"; NULL: there is no such bit. */
const char *timeline_has_name(unsigned bit);

/* Are two timelines alike in every member, strings by their texts? False: the error names the first
 * difference. */
bool timeline_equal(const struct timeline *a, const struct timeline *b, struct error *err);

#endif

/* vrt_link.c: which members of a table are told by the events; see vrt_table.h. */
#include "timeline.h"
#include "vrt_table.h"

const struct timeline_field *vrt_link_of(uint8_t kind, enum timeline_table_id *table) {
    uint8_t wanted = kind == EVENT_SEGMENT_MAP ? EVENT_SEGMENT_ALLOC : kind; /* a reservation */
    for (unsigned t = 0; t < TIMELINE_TABLE_COUNT; t++) {
        *table = (enum timeline_table_id)t;
        const struct timeline_table *rows = timeline_table(*table);
        for (size_t f = 0; f < rows->field_count; f++)
            if (rows->fields[f].link == wanted)
                return &rows->fields[f];
    }
    return NULL;
}

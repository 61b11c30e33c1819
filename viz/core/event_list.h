/* event_list.h: the rows of the table of events: all events, or those of the blocks that are lit. */
#ifndef EVENT_LIST_H
#define EVENT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array.h"

struct app;

struct event_list {
    bool some;    /* `rows` holds their events, in order; else each event is a row */
    uint64_t key; /* app_lit_key of the rows */
    ARRAY(uint32_t) rows;
    bool follows; /* the table stands at `moment` */
    uint32_t moment;
};

void event_list_fini(struct event_list *list);
/* Brings the rows up to date. False: host memory; there are then no rows. */
bool event_list_read(struct app *app, struct event_list *list);
size_t event_list_count(const struct app *app, const struct event_list *list);
uint32_t event_list_at(const struct event_list *list, size_t row);
/* The row of the last event at or before this one; 0 before the first. */
size_t event_list_row(const struct event_list *list, uint32_t event);
/* The block that an event is about; TIMELINE_NONE: none. */
uint32_t event_list_block(const struct app *app, uint32_t event);

#endif

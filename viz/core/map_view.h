/* map_view.h: the address map as the viewer shows it: what of it is in the pane, at the cursor of the
 * first timeline. */
#ifndef MAP_VIEW_H
#define MAP_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"
#include "map.h"
#include "pinning.h"
#include "room.h"
#include "space.h"

struct app;
struct draw_list;

struct map_view {
    bool built; /* the space is begun: when the map is looked at for the first time */
    struct space space;
    struct map map;
    struct pinning pinning; /* its placement is the space's */
    struct room room;
    uint32_t facts_moment;
    bool facts_valid;
    int scroll;            /* first row shown */
    double zoom;           /* 0: 1 */
    ARRAY(uint16_t) cover; /* parts of each pixel in MAP_FINEs, by style */
};

void map_view_fini(struct map_view *view);

/* Where the parts of the pane are. */
struct map_places {
    struct rect rows, facts; /* facts: no size where there is little room */
    int pitch, bar;          /* of a row: from one to the next, of what is filled */
    int shown;               /* rows that there is room for */
};
struct map_places map_view_places(struct app *app);

/* Reads and arranges the map at the cursor. False: host memory. */
bool map_view_read(struct app *app, const struct map_places *places);
/* A slice of the space. False: host memory. */
bool map_view_is_building(const struct app *app);
bool map_view_build(struct app *app, uint32_t events);
/* Reads what pins the segments, and what would be served. False: host memory. */
bool map_view_read_facts(struct app *app);
/* What is at a point of the picture. */
bool map_view_at(struct app *app, const struct map_places *places, int x, int y,
                 struct map_hit *hit);

void map_rows_draw(struct app *app, struct draw_list *list, const struct map_places *places);
/* `hit` NULL: of all. */
void map_facts_draw(struct app *app, struct draw_list *list, const struct map_places *places,
                    const struct map_hit *hit);

#endif

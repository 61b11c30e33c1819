/* plates.h: texts on plates of the plot's ground, none over another: the later one moves. */
#ifndef PLATES_H
#define PLATES_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

struct app;
struct draw_list;

enum { PLATES_MAX = 32 };

struct plates {
    const struct rect *bounds; /* they stay inside */
    struct rect kept[PLATES_MAX];
    int count;
};

/* What plates shall leave free. */
void plates_keep(struct plates *plates, struct rect rect);
/* At (x, y) or as near as there is room; a text without room is left out. */
void plates_draw(struct app *app, struct draw_list *list, struct plates *plates, int x, int y,
                 uint32_t color, bool bold, const char *text);

#endif

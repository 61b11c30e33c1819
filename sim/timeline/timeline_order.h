/* timeline_order.h: the rows of blocks and segments in the order in which they came to be: those from before the first
 * event first, the rest as their events come. Who reads a part of a timeline (a file that was cut off) then has in its
 * first rows all that the first events are about.
 *
 * Importers learn of what lived before as late as its free, or only from the state at the end. */
#ifndef TIMELINE_ORDER_H
#define TIMELINE_ORDER_H

#include <stdbool.h>

struct timeline;

/* Only numbers of rows change. Time: one walk, where they are in order already. False: host memory; the timeline is
 * whole, but some of its rows may be renumbered already. */
bool timeline_order_rows(struct timeline *tl);

#endif

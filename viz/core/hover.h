/* hover.h: the row of the owners under the pointer: its blocks are lit while it is there, in place of
 * the search's. */
#ifndef HOVER_H
#define HOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "owner_tree.h"
#include "search.h"

struct app;

/* With more blocks a row's are told one by one: those too small to be seen are then not lit. */
enum { HOVER_BLOCKS = 1 << 20 };

struct hover {
    bool on;
    struct owner_node node;
    struct search search; /* its blocks; not active where there are too many */
    uint32_t serial;      /* another with each change */
};

/* NULL: none. */
void hover_set(struct app *app, const struct owner_node *node);
void hover_fini(struct app *app);
bool hover_has(const struct app *app, uint32_t block);

#endif

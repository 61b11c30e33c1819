/* release.h: the cheapest choice of things to give up for so much memory.
 *
 * Items stand in a row; each brings `units` and costs bytes. An item that is `chained` shares a part of
 * its cost with the one before it (two pages under one block): it costs `cost_after` where that one is
 * chosen too. Exact by dynamic programming; where that would take too long, a good choice by price. */
#ifndef RELEASE_H
#define RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct release_item {
    uint64_t cost, cost_after; /* cost_after <= cost; not chained: equal */
    uint32_t units;
};

/* Sets chosen[i]. *possible off: all together do not bring `need` units. *exact: none is cheaper.
 * False: host memory. */
bool release_choose(const struct release_item *items, size_t count, uint64_t need, bool *chosen,
                    bool *possible, bool *exact, struct error *err);

#endif

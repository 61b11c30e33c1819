/* need.h: see need.c. */
#ifndef NEED_H
#define NEED_H

#include <stdbool.h>

struct cli;
struct error;
struct report_need;
struct source_result;

/* For a simulated run out of memory; all unknown for others. False: interrupted. */
bool need_find(const struct cli *cli, const struct source_result *result, struct report_need *need,
               struct error *err);

#endif

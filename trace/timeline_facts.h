/* timeline_facts.h: the figures of facts.h, for formats that have none of their own: told from the timeline. */
#ifndef TIMELINE_FACTS_H
#define TIMELINE_FACTS_H

#include <stdbool.h>

#include "facts.h"

struct error;
struct timeline;

/* `tl` passes timeline_check(); `kind` is a literal. *facts is empty before. */
bool timeline_facts(const struct timeline *tl, const char *kind, struct trace_facts *facts,
                    struct error *err);

#endif

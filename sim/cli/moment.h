/* moment.h: --at and --need: fragmentation at one moment of a run. */
#ifndef MOMENT_H
#define MOMENT_H

#include <stdbool.h>

#include "alloc_settings.h"
#include "room_report.h"

struct cli;
struct error;
struct timeline;

/* Whether the options ask for it. */
bool moment_is_asked(const struct cli *cli);
/* The options' event and words. --at "oom" is the last one; --need alone means it, else the peak of
 * allocated. False (ERROR_USAGE): there is no such moment. */
bool moment_find(const struct cli *cli, const struct timeline *tl, uint8_t device, uint32_t *event,
                 const char **where, struct error *err);
/* As the options say, or at an out-of-memory for the request that failed. `settings` NULL: those of
 * the timeline. The report is the caller's (room_report_fini). */
bool moment_report(const struct cli *cli, const struct timeline *tl, uint8_t device,
                   const struct alloc_settings *settings, struct room_report *out,
                   struct error *err);
/* Likewise at an event. */
bool moment_report_at(const struct timeline *tl, uint8_t device, uint32_t event, const char *where,
                      uint64_t need_bytes, const struct alloc_settings *settings,
                      struct room_report *out, struct error *err);

#endif

/* replay_base.h: the run as it was, for both forms of `vramsim replay`: one change, and --all. */
#ifndef REPLAY_BASE_H
#define REPLAY_BASE_H

#include <stdbool.h>
#include <stdint.h>

struct source_result;
struct text;

/* An out-of-memory ended it: a simulated run says so, a recording shows nothing after its last one. */
bool replay_base_ran_out(const struct source_result *base, uint8_t device);
/* A note where nobody names the card (`asked`: --device, or NULL): what then bounds the process.
 * `capacity_bytes`: what it could get, 0: not known. */
void replay_base_note_card(const struct source_result *base, const char *asked,
                           uint64_t capacity_bytes, struct text *out);

#endif

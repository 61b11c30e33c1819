/* search.h: a filter that is on: which blocks of a track pass, how many they are, when they live.
 *
 * Ownership: borrows the track, owns the rest. Zero bytes with a track: no filter is on. */
#ifndef SEARCH_H
#define SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "filter.h"
#include "lod.h"

struct error;
struct live_set;
struct track;

struct search {
    const struct track *track;
    bool active;
    struct filter filter;
    uint64_t *bits;  /* a bit a block, those of other devices off; `alive` apart */
    uint32_t count;  /* of all */
    uint64_t bytes;  /* of all, each counted once */
    bool summed;     /* `lod` is there */
    struct lod lod;  /* of those blocks alone, by the track's groups */
    uint8_t *groups; /* the lod's */
};

void search_fini(struct search *search);
void search_clear(struct search *search);
/* Blanks alone: as search_clear. False: what filter_parse and filter_run say; all is then as it was. */
bool search_set(struct search *search, const char *text, struct error *err);
/* The blocks that `has` says, in place of a filter. False: host memory; nothing is then on. */
bool search_set_blocks(struct search *search, bool (*has)(const void *user, uint32_t block),
                       const void *user, struct error *err);
/* Whether a block passes at the moment of the cursor. */
bool search_has(const struct search *search, uint32_t block, uint32_t moment);
/* How many of the set's blocks pass, and their bytes. */
uint32_t search_sum(const struct search *search, const struct live_set *set, uint32_t moment,
                    uint64_t *bytes);
/* The next block in order of allocation (those from before the recording first), from the one given
 * or, with TIMELINE_NONE, from a moment; after the last the first. TIMELINE_NONE: none passes. */
uint32_t search_next(const struct search *search, uint32_t block, uint32_t moment, bool forward);
/* The track's groups are others now. */
void search_forget_groups(struct search *search);
/* Builds the lod of the blocks that pass; NULL: no filter is on, or host memory. */
const struct lod *search_lod(struct search *search);

#endif

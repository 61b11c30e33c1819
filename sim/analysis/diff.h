/* diff.h: which items of two sequences correspond: a longest common subsequence where that is
 * cheap.
 *
 * Equal beginnings and ends are matched first, so equal sequences cost one pass. The middle is
 * matched by E. Myers' greedy algorithm ("An O(ND) difference algorithm", 1986) up to a bound of
 * differences; where the bound is reached, the furthest point so far is taken as settled and the
 * search begins anew there. So time is bounded by items * bound, and the result is minimal wherever
 * the sequences differ in fewer places than the bound. */
#ifndef DIFF_H
#define DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define DIFF_NONE UINT32_MAX

/* partner[i] = the index in b that a[i] is matched with, or DIFF_NONE; rising. Counts below 2^31.
 * False: host memory, or too many items. */
bool diff_match(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                uint32_t *partner, struct error *err);

#endif

/* releases.h: the allocator's rules of any 2.x release, for tests of releases that the program does
 * not offer. What came with which release: docs/allocators.md. */
#ifndef RELEASES_H
#define RELEASES_H

#include "framework.h"

/* An initialiser; `minor_` may be computed. */
#define RELEASE(name_, minor_)                                                                     \
    {                                                                                              \
        .name = (name_),                                                                           \
        .tie_rule = (minor_) >= 13   ? TIE_OLDER_SEGMENT                                           \
                    : (minor_) == 12 ? TIE_OLDER_BLOCK                                             \
                                     : TIE_LOWER_ADDRESS,                                          \
        .inner_redirect_wins = (minor_) >= 10, .redirect_suspends = (minor_) < 13,                 \
        .full_fraction_lifts_limit = (minor_) >= 10, .drops_small_reservation = (minor_) >= 14,    \
        .async_trims_on_oom = (minor_) >= 14, .alloc_sizes_from_large_segment = (minor_) >= 10,    \
        .divisions_rest_after_last = (minor_) >= 10,                                               \
        .alloc_options =                                                                           \
            ((minor_) >= 9 ? ALLOC_OPTION_CAPTURE_REUSE | ALLOC_OPTION_PINNED_SEGMENT |            \
                                 ALLOC_OPTION_PINNED_CATCH_ALL                                     \
                           : 0U) |                                                                 \
            ((minor_) >= 10 ? ALLOC_OPTION_MEMORY_FRACTION : 0U) |                                 \
            ((minor_) >= 11 ? ALLOC_OPTION_LARGE_SEGMENT : 0U) |                                   \
            ((minor_) >= 12 ? ALLOC_OPTION_THROW_ON_OOM : 0U) |                                    \
            ((minor_) >= 14 ? ALLOC_OPTION_EXPANDABLE_RESERVE : 0U)                                \
    }

#endif

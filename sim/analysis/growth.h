/* growth.h: two runs of the same program, of two commits or two settings: what each phase and each place of the program
 * asks for, and what it holds at the peak, in both.
 *
 * A place is the module path where both sides know it, else the user's line of the stack (its function and file: lines
 * move from commit to commit), else the op; where one of the sides knows none of these, all is one place. Numbers within
 * a module path are one ("layers.*.fc"); the phases of all steps are: "step 2/forward" is "forward", and what PyTorch
 * marks within "optimizer" is that. So runs of more steps or layers keep their rows. Live blocks count as "active". */
#ifndef GROWTH_H
#define GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "strtab.h"

struct error;
struct timeline;

enum { GROWTH_SIDES = 2 };

enum growth_place { GROWTH_BY_MODULE, GROWTH_BY_FRAME, GROWTH_BY_OP, GROWTH_BY_NOTHING };

struct growth_value {
    uint64_t bytes[GROWTH_SIDES];
    uint64_t count[GROWTH_SIDES];
};

struct growth_row {
    uint32_t phase, place; /* in strings; 0: outside any phase; unknown */
    struct growth_value value;
};

struct growth_rows {
    ARRAY(struct growth_row) list; /* largest difference first, then by name */
};

struct growth {
    struct strtab strings; /* foreign texts */
    enum growth_place place;
    struct growth_rows phases;   /* the highest allocated bytes within; count: its requests */
    struct growth_rows at_peaks; /* by place: live at each side's own peak of allocated; blocks */
    struct growth_rows asked; /* by phase and place: requested bytes of the whole run; requests */
};

/* Of one device. False: host memory. growth_fini() frees in either case. */
bool growth_find(const struct timeline *const sides[GROWTH_SIDES], uint8_t device,
                 struct growth *out, struct error *err);
void growth_fini(struct growth *growth);

#endif

/* owners.h: who holds the memory at a moment: the live blocks, summed by a grouping, the largest
 * first.
 *
 * The rows sum to the allocated bytes of the moment. "module" folds numbers, so that the layers of
 * one kind are one row: "model.layers.*.mlp.up_proj". */
#ifndef OWNERS_H
#define OWNERS_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "i18n.h"
#include "key_index.h"
#include "live.h"
#include "owner_names.h"

struct error;
struct timeline;

/* id, word in files and options, title */
#define OWNER_GROUPINGS(X)                                                                         \
    X(MODULE, "module", TEXT_BY_MODULE)                                                            \
    X(PATH, "path", TEXT_BY_PATH)                                                                  \
    X(CATEGORY, "category", TEXT_BY_CATEGORY)                                                      \
    X(OP, "op", TEXT_BY_OP)                                                                        \
    X(NAME, "name", TEXT_BY_NAME)                                                                  \
    X(STACK, "stack", TEXT_BY_STACK)                                                               \
    X(DTYPE, "dtype", TEXT_BY_DTYPE)                                                               \
    X(STREAM, "stream", TEXT_BY_STREAM)                                                            \
    X(SIZE, "size", TEXT_BY_SIZE)

enum owner_grouping {
#define X(id, key, title) OWNER_BY_##id,
    OWNER_GROUPINGS(X)
#undef X
        OWNER_GROUPING_COUNT
};

/* By size: classes a factor of 4 or more apart, one of them up to and with the largest block of PyTorch's
 * small pool; "> 1 MiB, <= 4 MiB". The key is the class. */
enum { OWNER_SIZES = 9 };

struct owner_row {
    uint64_t key;                         /* what it means: the grouping's */
    uint64_t bytes, largest, kept_bytes;  /* kept: never freed in this trace */
    uint64_t by_category[CATEGORY_COUNT]; /* sums to bytes */
    uint32_t count;
    uint32_t oldest; /* block */
};

struct owners {
    const struct timeline *tl;
    struct owner_names names;
    enum owner_grouping grouping;
    ARRAY(struct owner_row) rows;
    struct key_index index; /* key -> row, as it was before sorting */
    uint64_t total_bytes;
    uint32_t total_count;
};

bool owners_init(struct owners *owners, const struct timeline *tl, struct error *err);
void owners_fini(struct owners *owners);
/* The best grouping for what this timeline knows. */
enum owner_grouping owners_default(const struct timeline *tl);
/* Does the timeline tell what this grouping is by? */
bool owners_knows(const struct timeline *tl, enum owner_grouping grouping);
enum text_id owners_title(enum owner_grouping grouping);
const char *owners_word(enum owner_grouping grouping);
/* Fills the rows. False: host memory exhausted, no rows. */
bool owners_read(struct owners *owners, enum owner_grouping grouping, const struct live_set *set);
enum owner_order { OWNER_BYTES, OWNER_COUNT, OWNER_LARGEST, OWNER_KEPT, OWNER_AGE };
/* Sorts the rows that are there; equal ones by bytes, then as they were named first. */
void owners_sort(struct owners *owners, enum owner_order order, bool falling);
/* The row's name, in `language`; valid until the next owners_read, or in `buffer`. */
const char *owners_name(const struct owners *owners, const struct owner_row *row,
                        enum language language, char buffer[256]);
/* What a block is summed under, and the name of that: what the rows are made of. False: host memory. */
bool owners_key_of(struct owners *owners, enum owner_grouping grouping, uint32_t block,
                   uint64_t *key);
const char *owners_key_name(const struct owners *owners, enum owner_grouping grouping, uint64_t key,
                            enum language language, char buffer[256]);
/* The category with the most bytes: the row's colour. */
enum category owners_category(const struct owner_row *row);

#endif

/* peaks.c: see peaks.h. A stack of maxima, each higher than the one above it; every bucket is
 * pushed and popped once. */
#include "peaks.h"

#include "array.h"
#include "error.h"
#include "lod.h"

struct hill {
    struct peak peak;
    uint64_t left_valley; /* lowest since the next higher maximum on the left */
};

struct hills {
    ARRAY(struct hill) stack;
    struct peaks *out;
    uint64_t least; /* prominence */
};

static void keep(struct hills *hills, const struct peak *peak) {
    struct peaks *out = hills->out;
    if (peak->prominence < hills->least || peak->prominence == 0)
        return;
    size_t at = out->count;
    while (at > 0 && (out->at[at - 1].prominence < peak->prominence ||
                      (out->at[at - 1].prominence == peak->prominence &&
                       out->at[at - 1].moment > peak->moment)))
        at--;
    if (at == PEAKS_MAX)
        return;
    if (out->count < PEAKS_MAX)
        out->count++;
    for (size_t i = out->count - 1; i > at; i--)
        out->at[i] = out->at[i - 1];
    out->at[at] = *peak;
}

/* Takes the top hill, beyond which something higher (or the border) comes after a valley. Returns
 * its left valley. */
static uint64_t finish_top(struct hills *hills, uint64_t right_valley) {
    struct hill hill = array_pop(&hills->stack);
    uint64_t valley = hill.left_valley > right_valley ? hill.left_valley : right_valley;
    if (hill.peak.bytes > valley)
        hill.peak.prominence = hill.peak.bytes - valley;
    keep(hills, &hill.peak);
    return hill.left_valley;
}

bool peaks_find(const struct lod *lod, struct peaks *out, struct error *err) {
    struct hills hills = {.out = out, .least = lod->peak.max / 50};
    out->count = 0;
    uint64_t low = UINT64_MAX; /* lowest since the top of the stack */
    for (size_t i = 0; i < lod->node_count[0]; i++) {
        const struct lod_node *node = &lod->nodes[0][i];
        if (node->min < low)
            low = node->min;
        while (hills.stack.count > 0 && array_last(&hills.stack)->peak.bytes < node->max) {
            uint64_t left = finish_top(&hills, low);
            if (left < low)
                low = left;
        }
        struct hill hill = {{node->arg, node->max, 0}, hills.stack.count > 0 ? low : 0};
        if (!array_push(&hills.stack, hill)) {
            array_fini(&hills.stack);
            return error_host_memory(err);
        }
        low = node->min;
    }
    while (hills.stack.count > 0)
        finish_top(&hills, 0); /* the border */
    array_fini(&hills.stack);
    return true;
}

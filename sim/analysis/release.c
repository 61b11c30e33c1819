/* release.c: see release.h.
 *
 * best[k][s] is the lowest cost of bringing at least k units with the items so far; s tells whether the
 * last of them is chosen. For each item, k and s one bit remembers whether the item before it was. */
#include "release.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "xalloc.h"

#define NEVER UINT64_MAX
enum { STATES = 2, BITS_AT_MOST = 1 << 27 };

struct table {
    uint64_t (*best)[STATES], (*next)[STATES];
    uint8_t *bits;
    size_t need;
};

static void set_bit(uint8_t *bits, size_t at) {
    bits[at / 8] = (uint8_t)(bits[at / 8] | 1u << at % 8);
}

static bool get_bit(const uint8_t *bits, size_t at) {
    return bits[at / 8] >> at % 8 & 1;
}

static size_t bit_at(const struct table *t, size_t item, size_t k, unsigned state) {
    return (item * (t->need + 1) + k) * STATES + state;
}

static uint64_t add(uint64_t a, uint64_t b) {
    return a > NEVER - b ? NEVER : a + b;
}

/* Keeps the cheaper of the two ways into a state. */
static void enter(struct table *t, size_t item, size_t k, unsigned state, uint64_t from_left,
                  uint64_t from_chosen) {
    bool is_chosen = from_chosen < from_left;
    t->next[k][state] = is_chosen ? from_chosen : from_left;
    if (is_chosen)
        set_bit(t->bits, bit_at(t, item, k, state));
}

static void consider(struct table *t, size_t index, const struct release_item *item) {
    for (size_t k = 0; k <= t->need; k++) {
        size_t rest = k > item->units ? k - item->units : 0;
        enter(t, index, k, 0, t->best[k][0], t->best[k][1]);
        enter(t, index, k, 1, add(t->best[rest][0], item->cost),
              add(t->best[rest][1], item->cost_after));
    }
    uint64_t(*swap)[STATES] = t->best;
    t->best = t->next;
    t->next = swap;
}

static void trace_back(const struct table *t, const struct release_item *items, size_t count,
                       bool *chosen) {
    size_t k = t->need;
    unsigned state = t->best[k][1] < t->best[k][0];
    for (size_t i = count; i-- > 0;) {
        bool before = get_bit(t->bits, bit_at(t, i, k, state));
        chosen[i] = state == 1;
        if (chosen[i])
            k = k > items[i].units ? k - items[i].units : 0;
        state = before;
    }
}

static bool choose_exactly(const struct release_item *items, size_t count, size_t need,
                           bool *chosen) {
    struct table t = {.need = need};
    t.best = xcalloc(need + 1, sizeof *t.best);
    t.next = xcalloc(need + 1, sizeof *t.next);
    t.bits = xcalloc(count * (need + 1) * STATES / 8 + 1, 1);
    bool ok = t.best && t.next && t.bits;
    for (size_t k = 0; ok && k <= need; k++) {
        t.best[k][0] = k == 0 ? 0 : NEVER;
        t.best[k][1] = NEVER;
    }
    for (size_t i = 0; ok && i < count; i++)
        consider(&t, i, &items[i]);
    if (ok)
        trace_back(&t, items, count, chosen);
    xfree(t.best);
    xfree(t.next);
    xfree(t.bits);
    return ok;
}

/* --- by price --- */

struct offer {
    double price;
    size_t item;
};

static int order_offers(const void *left, const void *right) {
    const struct offer *a = left, *b = right;
    if (a->price != b->price)
        return a->price < b->price ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

static bool choose_by_price(const struct release_item *items, size_t count, uint64_t need,
                            bool *chosen) {
    struct offer *offers = xcalloc(count, sizeof *offers);
    if (!offers)
        return false;
    for (size_t i = 0; i < count; i++)
        offers[i] = (struct offer){
            items[i].units ? (double)items[i].cost / items[i].units : (double)NEVER, i};
    qsort(offers, count, sizeof *offers, order_offers);
    uint64_t got = 0;
    size_t used = 0;
    for (; used < count && got < need; used++) {
        chosen[offers[used].item] = true;
        got += items[offers[used].item].units;
    }
    while (used-- > 0) { /* the dearest first: is it still needed? */
        const struct release_item *item = &items[offers[used].item];
        if (got - item->units >= need) {
            chosen[offers[used].item] = false;
            got -= item->units;
        }
    }
    xfree(offers);
    return true;
}

bool release_choose(const struct release_item *items, size_t count, uint64_t need, bool *chosen,
                    bool *possible, bool *exact, struct error *err) {
    uint64_t sum = 0;
    memset(chosen, 0, count * sizeof *chosen);
    for (size_t i = 0; i < count; i++)
        sum += items[i].units;
    *possible = sum >= need;
    *exact = true;
    if (!*possible || need == 0)
        return true;
    *exact = need < BITS_AT_MOST / STATES / (count + 1);
    bool ok = *exact ? choose_exactly(items, count, (size_t)need, chosen)
                     : choose_by_price(items, count, need, chosen);
    return ok || error_host_memory(err);
}

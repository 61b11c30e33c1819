/* window.c: see window.h. */
#include "window.h"

#include "alignment.h"
#include "error.h"
#include "steps.h"

/* The border of every prefix of `key` (Knuth, Morris, Pratt). */
static void find_borders(const uint64_t *key, size_t count, uint32_t *border) {
    uint32_t length = 0;
    border[0] = 0;
    for (size_t i = 1; i < count; i++) {
        while (length > 0 && key[i] != key[length])
            length = border[length - 1];
        length += key[i] == key[length];
        border[i] = length;
    }
}

/* How often `part` stands in `whole`, and where it begins last. */
static uint32_t find_last(const uint64_t *whole, size_t count, const uint64_t *part,
                          size_t part_count, const uint32_t *border, size_t *last) {
    uint32_t places = 0, length = 0;
    for (size_t i = 0; i < count; i++) {
        while (length > 0 && (length == part_count || whole[i] != part[length]))
            length = border[length - 1];
        length += whole[i] == part[length];
        if (length == part_count) {
            places++;
            *last = i + 1 - part_count;
        }
    }
    return places;
}

static bool find_places(const struct alignment_side *simulated, const struct alignment_side *real,
                        size_t *last, uint32_t *places, struct error *err) {
    size_t count = real->items.count;
    *places = 0;
    if (count == 0 || count > simulated->items.count)
        return true;
    uint64_t *whole = alignment_keys(simulated, real), *part = alignment_keys(real, simulated);
    uint32_t *border = xalloc(count * sizeof *border);
    bool ok = whole && part && border;
    if (ok) {
        find_borders(part, count, border);
        *places = find_last(whole, simulated->items.count, part, count, border, last);
    }
    xfree(whole);
    xfree(part);
    xfree(border);
    return ok || error_host_memory(err);
}

/* The last steps, as many as are recorded. */
static uint32_t begin_of_steps(const struct steps *simulated, const struct steps *real) {
    size_t count = simulated->rows.count, wanted = real->rows.count > 0 ? real->rows.count : 1;
    if (count == 0)
        return 0;
    return simulated->rows.at[count - (wanted < count ? wanted : count)].begin_event;
}

bool window_find(const struct alignment_side *simulated, const struct steps *simulated_steps,
                 const struct alignment_side *real, const struct steps *real_steps,
                 struct window *out, struct error *err) {
    size_t at = 0;
    *out = (struct window){.end = simulated->end};
    if (!find_places(simulated, real, &at, &out->places, err))
        return false;
    if (out->places > 0) {
        const struct alignment_item *items = simulated->items.at;
        out->begin = items[at].event;
        out->end = items[at + real->items.count - 1].event + 1;
    } else {
        out->begin = begin_of_steps(simulated_steps, real_steps);
    }
    for (size_t i = 0; i < simulated->items.count && simulated->items.at[i].event < out->begin; i++)
        out->first_request += simulated->items.at[i].block != ALIGNMENT_NONE;
    return true;
}

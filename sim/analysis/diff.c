/* diff.c: see diff.h.
 *
 * Row d holds, for each diagonal k = x - y in -d, -d+2 .. d, the furthest x that d differences
 * reach; -1: none. Rows are kept, one behind the other, to walk back along the path: row d begins
 * at d * (d + 1) / 2. */
#include "diff.h"

#include "array.h"
#include "error.h"

enum {
    BOUND_MIN = 64,
    BOUND_MAX = 2048, /* rows of 8 MiB */
    WORK = 1 << 28    /* items * bound stays below it, while the bound is above BOUND_MIN */
};

struct stretch {
    const uint64_t *a, *b;
    int32_t n, m; /* left to match */
};

struct rows {
    ARRAY(int32_t) x;
};

static size_t row_begin(int32_t d) {
    return (size_t)d * ((size_t)d + 1) / 2;
}

static int32_t reach(const struct rows *rows, int32_t d, int32_t k) {
    return k < -d || k > d ? -1 : rows->x.at[row_begin(d) + (size_t)((k + d) / 2)];
}

/* Where diagonal k of row d starts, before equal items are followed: one step down (an item of b
 * alone) or right (of a alone) from row d - 1, whichever gets further. -1: neither is possible. */
static int32_t enter(const struct stretch *s, const struct rows *rows, int32_t d, int32_t k,
                     bool *is_down) {
    int32_t down = reach(rows, d - 1, k + 1), right = reach(rows, d - 1, k - 1);
    if (down >= 0 && down - k > s->m)
        down = -1;
    right = right >= 0 && right < s->n ? right + 1 : -1;
    *is_down = down >= right;
    return *is_down ? down : right;
}

static int32_t follow(const struct stretch *s, int32_t x, int32_t k) {
    while (x < s->n && x - k < s->m && s->a[x] == s->b[x - k])
        x++;
    return x;
}

static bool extend(const struct stretch *s, struct rows *rows, int32_t d) {
    for (int32_t k = -d; k <= d; k += 2) {
        bool is_down;
        int32_t x = d == 0 ? 0 : enter(s, rows, d, k, &is_down);
        int32_t reached = x < 0 ? -1 : follow(s, x, k);
        if (!array_push(&rows->x, reached))
            return false;
    }
    return true;
}

/* The diagonal of row d that is furthest along, towards the middle among equals. */
static int32_t furthest(const struct rows *rows, int32_t d) {
    int32_t best = 0;
    int64_t best_sum = -1;
    for (int32_t k = -d; k <= d; k += 2) {
        int32_t x = reach(rows, d, k);
        int64_t sum = 2 * (int64_t)x - k;
        bool is_nearer = (k < 0 ? -k : k) < (best < 0 ? -best : best);
        if (x >= 0 && (sum > best_sum || (sum == best_sum && is_nearer))) {
            best = k;
            best_sum = sum;
        }
    }
    return best;
}

static void walk_back(const struct stretch *s, const struct rows *rows, int32_t d, int32_t k,
                      uint32_t b_begin, uint32_t *partner) {
    for (;; d--) {
        bool is_down = false;
        int32_t x = reach(rows, d, k), from = d == 0 ? 0 : enter(s, rows, d, k, &is_down);
        while (x > from) {
            x--;
            partner[x] = b_begin + (uint32_t)(x - k);
        }
        if (d == 0)
            return;
        k += is_down ? 1 : -1;
    }
}

/* Matches a stretch up to its end or up to the bound; tells how far it came. */
static bool match_some(const struct stretch *s, int32_t bound, struct rows *rows, uint32_t b_begin,
                       uint32_t *partner, int32_t *a_done, int32_t *b_done) {
    array_clear(&rows->x);
    int32_t end = s->n - s->m, d = 0, k = 0;
    for (;; d++) {
        if (!extend(s, rows, d))
            return false;
        k = end;
        if ((d + end) % 2 == 0 && reach(rows, d, end) == s->n)
            break;
        if (d == bound) {
            k = furthest(rows, d);
            break;
        }
    }
    walk_back(s, rows, d, k, b_begin, partner);
    *a_done = reach(rows, d, k);
    *b_done = *a_done - k;
    return true;
}

static int32_t choose_bound(size_t items) {
    size_t bound = WORK / (items + 1);
    return bound < BOUND_MIN ? BOUND_MIN : bound > BOUND_MAX ? BOUND_MAX : (int32_t)bound;
}

static bool match_middle(struct stretch s, uint32_t b_begin, uint32_t *partner) {
    int32_t bound = choose_bound((size_t)s.n + (size_t)s.m);
    struct rows rows = {0};
    bool ok = true;
    while (ok && s.n > 0 && s.m > 0) {
        int32_t a_done = 0, b_done = 0;
        ok = match_some(&s, bound, &rows, b_begin, partner, &a_done, &b_done);
        s = (struct stretch){s.a + a_done, s.b + b_done, s.n - a_done, s.m - b_done};
        partner += a_done;
        b_begin += (uint32_t)b_done;
    }
    array_fini(&rows.x);
    return ok;
}

bool diff_match(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                uint32_t *partner, struct error *err) {
    if (a_count > INT32_MAX / 2 || b_count > INT32_MAX / 2)
        return error_set(err, ERROR_LIMIT, "%zu and %zu requests to compare, at most %d each",
                         a_count, b_count, INT32_MAX / 2);
    size_t begin = 0, tail = 0, less = a_count < b_count ? a_count : b_count;
    for (; begin < less && a[begin] == b[begin]; begin++)
        partner[begin] = (uint32_t)begin;
    for (; tail < less - begin && a[a_count - 1 - tail] == b[b_count - 1 - tail]; tail++)
        partner[a_count - 1 - tail] = (uint32_t)(b_count - 1 - tail);
    for (size_t i = begin; i < a_count - tail; i++)
        partner[i] = DIFF_NONE;
    struct stretch middle = {a + begin, b + begin, (int32_t)(a_count - tail - begin),
                             (int32_t)(b_count - tail - begin)};
    return match_middle(middle, (uint32_t)begin, partner + begin) || error_host_memory(err);
}

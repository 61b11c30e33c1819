/* pickle_runs.c: see pickle_runs.h. */
#include "pickle_runs.h"

#include <string.h>

enum {
    MAX_RUNS = 2048,  /* a file with more different ones gains nothing here */
    RUN_SLOTS = 8192, /* a power of two, at most a quarter full */
    SHORTEST = 2 * 8, /* bytes of a run worth keeping: two words make its hash */
    OP_MARK = '(',
    OP_APPENDS = 'e'
};

bool pickle_runs_init(struct pickle *p) {
    if (!p->handler.append_same)
        return true;
    if (!PICKLE_RESERVE(p, &p->runs, 1) || !PICKLE_RESERVE(p, &p->run_slots, RUN_SLOTS))
        return false;
    memset(p->run_slots.at, 0, RUN_SLOTS * sizeof *p->run_slots.at);
    p->runs.at[0] = (struct pickle_run){0}; /* before the first one */
    p->runs.count = 1;
    return true;
}

void pickle_runs_fini(struct pickle *p) {
    array_fini(&p->runs);
    array_fini(&p->run_slots);
}

static uint64_t word_at(const struct pickle *p, size_t at) {
    uint64_t word;
    memcpy(&word, p->data + at, sizeof word);
    return word;
}

/* The slot of the kept run with these bytes, else a free one. */
static uint16_t *find_slot(const struct pickle *p, size_t at, size_t bytes) {
    uint64_t hash = (word_at(p, at) ^ bytes) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ word_at(p, at + bytes / 2 - 4) ^ word_at(p, at + bytes - 8)) *
           UINT64_C(0xd1342543de82ef95);
    for (size_t i = hash >> 40 & (RUN_SLOTS - 1);; i = (i + 1) & (RUN_SLOTS - 1)) {
        const struct pickle_run *run = &p->runs.at[p->run_slots.at[i]];
        if (p->run_slots.at[i] == 0 ||
            (run->bytes == bytes && memcmp(p->data + run->at, p->data + at, bytes) == 0))
            return &p->run_slots.at[i];
    }
}

/* The run `id` came after the last one: it is foretold first when that one comes again. */
static void put_first(struct pickle *p, uint16_t id, size_t place) {
    uint16_t *after = p->runs.at[p->last_run].after;
    memmove(after + 1, after, place * sizeof *after);
    after[0] = id;
    p->last_run = id;
}

bool pickle_runs_keep(struct pickle *p, uint32_t list, size_t count) {
    size_t at = p->gets_begin, bytes = p->gets_end - at;
    if (p->runs.count == 0 || p->gets_end != p->op_at || bytes < SHORTEST || bytes > UINT32_MAX)
        return true;
    uint16_t *slot = find_slot(p, at, bytes);
    if (*slot == 0) {
        if (p->runs.count == MAX_RUNS)
            return true;
        if (!PICKLE_RESERVE(p, &p->runs, p->runs.count + 1))
            return false;
        *slot = (uint16_t)p->runs.count;
        p->runs.at[p->runs.count++] = (struct pickle_run){
            .at = at, .bytes = (uint32_t)bytes, .count = (uint32_t)count, .list = list};
    }
    const uint16_t *after = p->runs.at[p->last_run].after;
    size_t place = 0;
    while (place < PICKLE_RUNS_AFTER - 1 && after[place] != *slot)
        place++;
    put_first(p, *slot, place);
    return true;
}

/* Which of the runs that followed the last one follows here, at `at`; PICKLE_RUNS_AFTER: none. */
static size_t foretell(const struct pickle *p, size_t at) {
    const uint16_t *after = p->runs.at[p->last_run].after;
    size_t place = 0, left = p->length - at;
    for (; place < PICKLE_RUNS_AFTER; place++) {
        const struct pickle_run *run = &p->runs.at[after[place]];
        if (run->bytes == 0)
            return PICKLE_RUNS_AFTER;
        if (run->bytes < left && p->data[at + run->bytes] == OP_APPENDS &&
            memcmp(p->data + run->at, p->data + at, run->bytes) == 0)
            break;
    }
    return place;
}

bool pickle_runs_again(struct pickle *p) {
    size_t at = p->at + 1, place;
    if (p->runs.count == 0 || (place = foretell(p, at)) == PICKLE_RUNS_AFTER ||
        p->stack.count == pickle_fence(p))
        return false;
    uint16_t id = p->runs.at[p->last_run].after[place];
    const struct pickle_run *run = &p->runs.at[id];
    struct pickle_value top = p->stack.at[p->stack.count - 1];
    uint32_t list = (uint32_t)pickle_payload(top);
    if (pickle_tag(top) != PICKLE_LIST || p->containers.at[list].count > 0 ||
        !p->handler.append_same(p->handler.user, p, list, run->list, run->count))
        return false;
    put_first(p, id, place);
    p->containers.at[list].count = run->count;
    p->opcode_count += (uint64_t)run->count + 2;
    p->seen[OP_MARK] = p->seen[OP_APPENDS] = true;
    p->op_at = at + run->bytes;
    p->at = p->op_at + 1;
    return true;
}

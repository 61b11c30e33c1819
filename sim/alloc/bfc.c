/* bfc.c: see bfc.h.
 *
 *   region: one allocation of the driver     chunk: a piece of it, live or free
 *   bin i:  free chunks of [256 << i, 256 << (i + 1)) bytes, by size, then address; bin 20 is open
 *
 * Chunks are records in one array, linked in address order inside their region; free ones stand in
 * their bin as a sorted array. Lists are short: a run has thousands of chunks, not millions. */
#include "bfc.h"

#include <assert.h>
#include <string.h>

#include "array.h"
#include "bits.h"
#include "error.h"
#include "live_map.h"
#include "units.h"

enum { UNIT = 256, BINS = 21, NONE = -1 };

struct chunk {
    uint64_t address, bytes, requested;
    int32_t previous, next; /* in the region, by address; NONE: the end */
    int32_t region;
    bool live, unused; /* unused: a record in the free list of records */
};

struct region {
    uint64_t address, bytes;
    bool gone;
};

struct bin {
    ARRAY(int32_t) chunks; /* by size, then address */
};

struct bfc {
    struct alloc base;
    struct alloc_world world;
    struct bfc_options options;
    uint64_t limit, capacity, total;
    uint64_t pool;         /* bytes of all regions */
    uint64_t next_region;  /* bytes that the next extension asks for */
    uint64_t next_address; /* of the planner */
    ARRAY(struct chunk) chunks;
    ARRAY(int32_t) records; /* unused records */
    ARRAY(struct region) regions;
    struct bin bins[BINS];
    struct live_map live;
    struct alloc_stats stats;
    struct alloc_oom oom;
};

static uint64_t round_up(uint64_t bytes) {
    return bytes > UINT64_MAX - UNIT ? UINT64_MAX / UNIT * UNIT : (bytes + UNIT - 1) / UNIT * UNIT;
}

static unsigned bin_of(uint64_t bytes) {
    unsigned bin = bits_highest((bytes > UNIT ? bytes : UNIT) / UNIT);
    return bin < BINS ? bin : BINS - 1;
}

/* ---- bins ---- */

static bool comes_before(const struct bfc *al, int32_t a, int32_t b) {
    const struct chunk *x = &al->chunks.at[a], *y = &al->chunks.at[b];
    return x->bytes != y->bytes ? x->bytes < y->bytes : x->address < y->address;
}

/* The first place in a bin that does not come before `chunk`. */
static size_t place_of(const struct bfc *al, const struct bin *bin, int32_t chunk) {
    size_t low = 0, high = bin->chunks.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (comes_before(al, bin->chunks.at[middle], chunk))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Room was reserved (reserve_records), so this cannot fail. */
static void bin_add(struct bfc *al, int32_t chunk) {
    struct bin *bin = &al->bins[bin_of(al->chunks.at[chunk].bytes)];
    size_t at = place_of(al, bin, chunk);
    assert(bin->chunks.count < bin->chunks.capacity);
    memmove(bin->chunks.at + at + 1, bin->chunks.at + at,
            (bin->chunks.count - at) * sizeof bin->chunks.at[0]);
    bin->chunks.at[at] = chunk;
    bin->chunks.count++;
}

static void bin_remove(struct bfc *al, int32_t chunk) {
    struct bin *bin = &al->bins[bin_of(al->chunks.at[chunk].bytes)];
    size_t at = place_of(al, bin, chunk);
    assert(at < bin->chunks.count && bin->chunks.at[at] == chunk);
    memmove(bin->chunks.at + at, bin->chunks.at + at + 1,
            (bin->chunks.count - at - 1) * sizeof bin->chunks.at[0]);
    bin->chunks.count--;
}

/* ---- records ---- */

/* Everything that one request or free can need, so that no step fails half-way: two new records,
 * and a place for every record in every bin. */
static bool reserve_records(struct bfc *al) {
    size_t need = al->chunks.count + 2;
    if (!array_reserve(&al->chunks, need) || !array_reserve(&al->records, need) ||
        !live_map_reserve(&al->live))
        return false;
    for (unsigned i = 0; i < BINS; i++)
        if (!array_reserve(&al->bins[i].chunks, need))
            return false;
    return true;
}

static int32_t new_chunk(struct bfc *al, struct chunk chunk) {
    int32_t index;
    if (al->records.count > 0) {
        index = array_pop(&al->records);
    } else {
        index = (int32_t)al->chunks.count++;
    }
    al->chunks.at[index] = chunk;
    return index;
}

static void drop_chunk(struct bfc *al, int32_t chunk) {
    al->chunks.at[chunk].unused = true;
    al->records.at[al->records.count++] = chunk;
}

/* ---- statistics and entries ---- */

static void stat_up(struct alloc_stat *s, uint64_t n) {
    s->current += n;
    s->allocated += n;
    if (s->current > s->peak)
        s->peak = s->current;
}

static void stat_down(struct alloc_stat *s, uint64_t n) {
    s->current -= n;
    s->freed += n;
}

static void count_taken(struct bfc *al, const struct chunk *c) {
    const unsigned all = ALLOC_POOL_ALL;
    stat_up(&al->stats.allocation[all], 1);
    stat_up(&al->stats.active[all], 1);
    stat_up(&al->stats.allocated_bytes[all], c->bytes);
    stat_up(&al->stats.active_bytes[all], c->bytes);
    stat_up(&al->stats.requested_bytes[all], c->requested);
}

static void count_freed(struct bfc *al, const struct chunk *c) {
    const unsigned all = ALLOC_POOL_ALL;
    stat_down(&al->stats.allocation[all], 1);
    stat_down(&al->stats.active[all], 1);
    stat_down(&al->stats.allocated_bytes[all], c->bytes);
    stat_down(&al->stats.active_bytes[all], c->bytes);
    stat_down(&al->stats.requested_bytes[all], c->requested);
}

static void send(struct bfc *al, struct alloc_entry entry) {
    if (al->world.entry)
        al->world.entry(al->world.user, &entry);
}

static void send_chunk(struct bfc *al, enum alloc_entry_kind kind, const struct chunk *c,
                       uint64_t stream) {
    send(al, (struct alloc_entry){.kind = kind,
                                  .address = c->address,
                                  .bytes = c->requested,
                                  .block_bytes = c->bytes,
                                  .stream = stream,
                                  .segment_address = al->regions.at[c->region].address});
}

static void send_region(struct bfc *al, enum alloc_entry_kind kind, const struct region *r) {
    send(al, (struct alloc_entry){.kind = kind,
                                  .address = r->address,
                                  .bytes = r->bytes,
                                  .segment_address = r->address});
}

/* ---- regions ---- */

/* What the driver can still give; the factor of the retries is single precision, as in the source. */
static bool back_off(const struct bfc *al, uint64_t rounded, uint64_t *bytes) {
    while (al->pool + *bytes > al->capacity) {
        *bytes = round_up((uint64_t)((float)*bytes * 0.9f));
        if (*bytes < rounded)
            return false;
    }
    return true;
}

static bool add_region(struct bfc *al, uint64_t bytes) {
    struct region region = {.address = al->next_address, .bytes = bytes};
    if (!array_push(&al->regions, region))
        return false;
    uint64_t aligned = al->options.joining ? bytes : (bytes + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    al->next_address += aligned;
    al->pool += bytes;
    stat_up(&al->stats.segment[ALLOC_POOL_ALL], 1);
    stat_up(&al->stats.reserved_bytes[ALLOC_POOL_ALL], bytes);
    al->stats.num_device_alloc++;
    send_region(al, ALLOC_ENTRY_SEGMENT_ALLOC, &region);
    return true;
}

/* The last chunk of the region that ends at `address`; NONE: there is none. */
static int32_t chunk_ending_at(const struct bfc *al, uint64_t address) {
    for (size_t i = 0; i < al->chunks.count; i++) {
        const struct chunk *c = &al->chunks.at[i];
        if (!c->unused && c->next == NONE && c->address + c->bytes == address)
            return (int32_t)i;
    }
    return NONE;
}

static int32_t merge(struct bfc *al, int32_t left, int32_t right) {
    struct chunk *l = &al->chunks.at[left], *r = &al->chunks.at[right];
    l->bytes += r->bytes;
    l->next = r->next;
    if (r->next != NONE)
        al->chunks.at[r->next].previous = left;
    drop_chunk(al, right);
    return left;
}

/* Only neighbours that are free; `chunk` itself stands in no bin yet. */
static int32_t coalesce(struct bfc *al, int32_t chunk) {
    int32_t next = al->chunks.at[chunk].next;
    if (next != NONE && !al->chunks.at[next].live) {
        bin_remove(al, next);
        merge(al, chunk, next);
    }
    int32_t previous = al->chunks.at[chunk].previous;
    if (previous != NONE && !al->chunks.at[previous].live) {
        bin_remove(al, previous);
        chunk = merge(al, previous, chunk);
    }
    return chunk;
}

/* False: no memory of the device (or, with *failed, of the host). */
static bool extend(struct bfc *al, uint64_t rounded, bool *failed) {
    uint64_t available = (al->limit - al->pool) / UNIT * UNIT;
    if (rounded > available)
        return false;
    bool doubled = false;
    while (rounded > al->next_region) {
        al->next_region *= 2;
        doubled = true;
    }
    uint64_t bytes = al->next_region < available ? al->next_region : available;
    if (!back_off(al, rounded, &bytes))
        return false;
    if (!doubled)
        al->next_region *= 2;
    uint64_t address = al->next_address;
    if (!add_region(al, bytes)) {
        *failed = true;
        return false;
    }
    int32_t left = al->options.joining ? chunk_ending_at(al, address) : NONE;
    struct chunk c = {.address = al->regions.at[al->regions.count - 1].address,
                      .bytes = bytes,
                      .previous = left,
                      .next = NONE,
                      .region = (int32_t)al->regions.count - 1};
    int32_t chunk = new_chunk(al, c);
    if (left != NONE)
        al->chunks.at[left].next = chunk;
    bin_add(al, coalesce(al, chunk));
    return true;
}

/* ---- requests ---- */

static bool splits(const struct bfc *al, uint64_t chunk, uint64_t rounded) {
    uint64_t threshold = 128 * MIB;
    if (al->options.fragmentation_fraction > 0)
        threshold = (uint64_t)((double)al->limit * al->options.fragmentation_fraction);
    return chunk >= rounded * 2 || chunk - rounded >= threshold;
}

static int32_t find_free(struct bfc *al, uint64_t rounded) {
    for (unsigned i = bin_of(rounded); i < BINS; i++)
        for (size_t k = 0; k < al->bins[i].chunks.count; k++)
            if (al->chunks.at[al->bins[i].chunks.at[k]].bytes >= rounded)
                return al->bins[i].chunks.at[k];
    return NONE;
}

static uint64_t hand_out(struct bfc *al, int32_t chunk, uint64_t rounded, uint64_t requested,
                         uint64_t stream) {
    bin_remove(al, chunk);
    if (splits(al, al->chunks.at[chunk].bytes, rounded)) {
        struct chunk rest = al->chunks.at[chunk];
        rest.address += rounded;
        rest.bytes -= rounded;
        rest.previous = chunk;
        int32_t tail = new_chunk(al, rest);
        if (rest.next != NONE)
            al->chunks.at[rest.next].previous = tail;
        al->chunks.at[chunk].bytes = rounded;
        al->chunks.at[chunk].next = tail;
        bin_add(al, tail);
    }
    struct chunk *c = &al->chunks.at[chunk];
    c->live = true;
    c->requested = requested;
    live_map_add(&al->live, c->address, (uint32_t)chunk);
    count_taken(al, c);
    send_chunk(al, ALLOC_ENTRY_ALLOC, c, stream);
    return c->address;
}

/* Wholly free regions go when together with what is left they could serve the request. */
static bool collect_regions(struct bfc *al, uint64_t rounded) {
    uint64_t sum = 0;
    for (size_t i = 0; i < al->chunks.count; i++) {
        const struct chunk *c = &al->chunks.at[i];
        if (!c->unused && !c->live && c->bytes == al->regions.at[c->region].bytes)
            sum += c->bytes;
    }
    if (sum == 0 || rounded > al->limit - al->pool + sum)
        return false;
    for (size_t i = 0; i < al->chunks.count; i++) {
        struct chunk *c = &al->chunks.at[i];
        if (c->unused || c->live || c->bytes != al->regions.at[c->region].bytes)
            continue;
        struct region *region = &al->regions.at[c->region];
        bin_remove(al, (int32_t)i);
        drop_chunk(al, (int32_t)i);
        region->gone = true;
        al->pool -= region->bytes;
        stat_down(&al->stats.segment[ALLOC_POOL_ALL], 1);
        stat_down(&al->stats.reserved_bytes[ALLOC_POOL_ALL], region->bytes);
        al->stats.num_device_free++;
        send_region(al, ALLOC_ENTRY_SEGMENT_FREE, region);
    }
    return true;
}

static enum alloc_result out_of_memory(struct bfc *al, uint64_t bytes, uint64_t rounded,
                                       uint64_t stream) {
    uint64_t free_bytes = al->capacity - al->pool;
    al->stats.num_ooms++;
    al->oom =
        (struct alloc_oom){.requested_bytes = bytes,
                           .rounded_bytes = rounded,
                           .segment_bytes = rounded,
                           .device_total_bytes = al->total,
                           .device_free_bytes = free_bytes,
                           .allowed_bytes = al->limit,
                           .allocated_bytes = al->stats.allocated_bytes[ALLOC_POOL_ALL].current,
                           .reserved_bytes = al->pool};
    send(al,
         (struct alloc_entry){
             .kind = ALLOC_ENTRY_OOM, .address = free_bytes, .bytes = rounded, .stream = stream});
    return ALLOC_OOM;
}

static enum alloc_result bfc_take(struct alloc *base, uint64_t bytes, uint64_t stream,
                                  uint64_t *address) {
    struct bfc *al = (struct bfc *)base;
    uint64_t rounded = round_up(bytes);
    bool failed = false;
    if (!reserve_records(al))
        return ALLOC_HOST_MEMORY;
    int32_t chunk = find_free(al, rounded);
    if (chunk == NONE && extend(al, rounded, &failed))
        chunk = find_free(al, rounded);
    if (chunk == NONE && !failed && al->options.garbage_collection &&
        collect_regions(al, rounded) && extend(al, rounded, &failed))
        chunk = find_free(al, rounded);
    if (failed)
        return ALLOC_HOST_MEMORY;
    if (chunk == NONE)
        return out_of_memory(al, bytes, rounded, stream);
    *address = hand_out(al, chunk, rounded, bytes, stream);
    return ALLOC_OK;
}

static void bfc_free(struct alloc *base, uint64_t address) {
    struct bfc *al = (struct bfc *)base;
    uint32_t found = live_map_take(&al->live, address);
    assert(found != LIVE_NONE);
    int32_t chunk = (int32_t)found;
    struct chunk *c = &al->chunks.at[chunk];
    send_chunk(al, ALLOC_ENTRY_FREE_REQUESTED, c, 0);
    send_chunk(al, ALLOC_ENTRY_FREE_COMPLETED, c, 0);
    count_freed(al, c);
    c->live = false;
    bin_add(al, coalesce(al, chunk));
}

uint64_t bfc_chunk_bytes(const struct alloc *base, uint64_t address) {
    const struct bfc *al = (const struct bfc *)base;
    uint32_t chunk = live_map_find(&al->live, address);
    return chunk == LIVE_NONE ? 0 : al->chunks.at[chunk].bytes;
}

uint64_t bfc_next_region_bytes(const struct alloc *base) {
    return ((const struct bfc *)base)->next_region;
}

static void bfc_destroy(struct alloc *base) {
    struct bfc *al = (struct bfc *)base;
    array_fini(&al->chunks);
    array_fini(&al->records);
    array_fini(&al->regions);
    for (unsigned i = 0; i < BINS; i++)
        array_fini(&al->bins[i].chunks);
    live_map_fini(&al->live);
    xfree(al);
}

struct alloc *bfc_create(const struct alloc_config *config, const struct bfc_options *options,
                         struct error *err) {
    struct bfc *al = xcalloc(1, sizeof *al);
    if (!al) {
        error_host_memory(err);
        return NULL;
    }
    al->base.ops = options->growth ? &bfc_growth_ops : &bfc_ops;
    al->world = config->world;
    al->options = *options;
    al->total = config->total_bytes;
    al->capacity = config->capacity_bytes;
    al->limit = options->limit_bytes ? options->limit_bytes : config->total_bytes / 4 * 3;
    uint64_t first = options->growth && al->limit > 2 * MIB ? 2 * MIB : al->limit;
    al->next_region = round_up(first);
    al->next_address = ALLOC_FIRST_ADDRESS;
    al->stats.max_split_size = -1;
    if (!reserve_records(al)) {
        bfc_destroy(&al->base);
        error_host_memory(err);
        return NULL;
    }
    return &al->base;
}

static struct alloc *create_fixed(const struct alloc_config *config, struct error *err) {
    return bfc_create(config, &(struct bfc_options){.growth = false}, err);
}

static struct alloc *create_growing(const struct alloc_config *config, struct error *err) {
    return bfc_create(config, &(struct bfc_options){.growth = true}, err);
}

static const struct alloc_stats *bfc_stats(const struct alloc *base) {
    return &((const struct bfc *)base)->stats;
}

static const struct alloc_oom *bfc_last_oom(const struct alloc *base) {
    return &((const struct bfc *)base)->oom;
}

const struct alloc_ops bfc_ops = {
    .name = "bfc",
    .doc = "TensorFlow and JAX: three quarters of the device in one region",
    .needs_device = true,
    .create = create_fixed,
    .destroy = bfc_destroy,
    .take = bfc_take,
    .free = bfc_free,
    .stats = bfc_stats,
    .last_oom = bfc_last_oom,
};

const struct alloc_ops bfc_growth_ops = {
    .name = "bfc-growth",
    .doc = "likewise without preallocation: regions as needed, from 2 MiB on",
    .create = create_growing,
    .destroy = bfc_destroy,
    .take = bfc_take,
    .free = bfc_free,
    .stats = bfc_stats,
    .last_oom = bfc_last_oom,
};

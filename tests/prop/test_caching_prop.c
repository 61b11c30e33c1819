/* test_caching_prop.c: random operations on the caching allocator and on the naive model: every
 * result, address, entry and statistic must be equal after every operation. Arguments: operations
 * (default 200000) and first seed. A difference prints the seed of its round. */
#include "suite.h"

#include <stdlib.h>

#include "array.h"
#include "framework.h"
#include "naive_caching.h"
#include "releases.h"
#include "text.h"
#include "xalloc.h"

enum { ROUND_OPERATIONS = 1500, MOST_LIVE = 120 };

struct rig {
    struct alloc *al;
    struct naive *n;
    struct framework framework;
    uint32_t minor;
    uint64_t state; /* of the random numbers */
    uint64_t queued[NSTREAMS], done[NSTREAMS];
    ARRAY(struct nlog) log;
    ARRAY(uint64_t) event_stream;
    ARRAY(uint64_t) event_position;
    ARRAY(uint64_t) live;
    ARRAY(uint64_t) redirects; /* ids */
    bool capture;
    const char *operation;
};

static uint64_t rnd(struct rig *r, uint64_t below) {
    r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (r->state >> 33) % below;
}

static void on_entry(void *user, const struct alloc_entry *e) {
    struct rig *r = user;
    assert_true(array_push(&r->log, ((struct nlog){(int)e->kind, e->address, e->bytes})));
}

static uint64_t on_record(void *user, uint64_t stream) {
    struct rig *r = user;
    assert_true(array_push(&r->event_stream, stream));
    assert_true(array_push(&r->event_position, r->queued[stream]));
    return r->event_stream.count - 1;
}

static bool on_done(void *user, uint64_t event) {
    struct rig *r = user;
    return r->done[r->event_stream.at[event]] >= r->event_position.at[event];
}

static void on_wait(void *user, uint64_t event) {
    struct rig *r = user;
    uint64_t *done = &r->done[r->event_stream.at[event]];
    if (*done < r->event_position.at[event])
        *done = r->event_position.at[event];
}

static void on_stream_wait(void *user, uint64_t stream) {
    struct rig *r = user;
    r->done[stream] = r->queued[stream];
}

/* --- a round's configuration --- */

static void random_settings(struct rig *r, struct text *out) {
    text_format(out, "expandable_segments:%s", rnd(r, 3) ? "False" : "True");
    if (r->minor >= 11 && rnd(r, 5) == 0)
        text_format(out, ",large_segment_size_mb:%d", 11 + (int)rnd(r, 20));
    if (rnd(r, 3) == 0)
        text_format(out, ",max_split_size_mb:%d", 31 + (int)rnd(r, 30));
    if (rnd(r, 3) == 0)
        text_format(out, ",garbage_collection_threshold:0.%d", 1 + (int)rnd(r, 9));
    if (rnd(r, 4) == 0)
        text_format(out, ",roundup_power2_divisions:%d", 1 << rnd(r, 5));
    else if (rnd(r, 4) == 0)
        text_add(out, ",roundup_power2_divisions:[1:8,4:2,16:4,>:1]");
    if (r->minor >= 12 && rnd(r, 6) == 0)
        text_add(out, ",throw_on_cudamalloc_oom:True");
}

static void start_round(struct rig *r, uint64_t seed) {
    static const uint32_t minors[] = {6, 9, 11, 12, 13, 15};
    struct text conf = {0};
    struct error err;
    *r = (struct rig){.state = seed * 2 + 1};
    for (int i = 0; i < 4; i++)
        rnd(r, 2);
    r->minor = minors[rnd(r, 6)];
    r->framework = (struct framework)RELEASE("random", r->minor);
    struct alloc_config config = {.framework = &r->framework,
                                  .world = {.user = r,
                                            .entry = on_entry,
                                            .event_record = on_record,
                                            .event_done = on_done,
                                            .event_wait = on_wait,
                                            .stream_wait = on_stream_wait}};
    random_settings(r, &conf);
    assert_ok(alloc_settings_parse(text_get(&conf), &r->framework, &config.settings, &err), err);
    text_fini(&conf);
    config.capacity_bytes = (40 + rnd(r, rnd(r, 2) ? 600 : 3000)) * MIB;
    config.total_bytes = config.capacity_bytes + rnd(r, 200) * MIB;
    r->al = alloc_create(alloc_row(0), &config, &err);
    r->n = xcalloc(1, sizeof *r->n);
    assert_true(r->al && r->n);
    r->n->set = config.settings;
    r->n->minor = r->minor;
    r->n->total = config.total_bytes;
    r->n->capacity = config.capacity_bytes;
    r->n->next_at = ALLOC_FIRST_ADDRESS;
    r->n->next_number = 1;
    r->n->fraction = 1;
    if (rnd(r, 2) == 0) {
        double fraction = (double)(3 + rnd(r, 6)) / 8;
        caching_set_memory_fraction(r->al, fraction);
        r->n->has_limit = fraction < 1 || r->n->minor < 10;
        r->n->limit = (uint64_t)(fraction * (double)config.total_bytes);
    }
}

static void end_round(struct rig *r) {
    alloc_destroy(r->al);
    xfree(r->n);
    array_fini(&r->log);
    array_fini(&r->event_stream);
    array_fini(&r->event_position);
    array_fini(&r->live);
    array_fini(&r->redirects);
}

/* --- operations, on both --- */

static uint64_t random_bytes(struct rig *r) {
    static const uint64_t usual[] = {512,     4096,           MIB,      MIB + 1,
                                     3 * MIB, 10 * MIB - 512, 12 * MIB, 40 * MIB};
    switch (rnd(r, 6)) {
    case 0:
        return 1 + rnd(r, 5000);
    case 1:
        return 1 + rnd(r, 2 * MIB);
    case 2:
        return 1 + rnd(r, 12 * MIB);
    case 3:
        return 1 + rnd(r, 70 * MIB);
    default:
        return usual[rnd(r, sizeof usual / sizeof usual[0])];
    }
}

static void op_take(struct rig *r) {
    uint64_t bytes = random_bytes(r), stream = rnd(r, 3) ? 0 : rnd(r, NSTREAMS);
    uint64_t model = 0, naive = 0;
    r->operation = "take";
    enum alloc_result result = alloc_take(r->al, bytes, stream, &model);
    assert_int_equal(result, ntake(r->n, bytes, stream, &naive));
    assert_bytes_equal(model, naive);
    if (result == ALLOC_OK)
        assert_true(array_push(&r->live, model));
}

static void op_free(struct rig *r) {
    if (r->live.count == 0)
        return;
    size_t at = rnd(r, r->live.count);
    uint64_t address = r->live.at[at];
    r->live.at[at] = array_pop(&r->live);
    r->operation = "free";
    alloc_free(r->al, address);
    nfree(r->n, address);
}

static void op_record(struct rig *r) {
    if (r->live.count == 0)
        return;
    uint64_t address = r->live.at[rnd(r, r->live.count)], stream = rnd(r, NSTREAMS);
    r->operation = "record_stream";
    assert_int_equal(alloc_record_stream(r->al, address, stream), ALLOC_OK);
    nrecord_stream(r->n, address, stream);
}

static void op_work(struct rig *r) {
    uint64_t stream = rnd(r, NSTREAMS);
    r->operation = "work";
    if (rnd(r, 2))
        r->queued[stream]++;
    else if (r->done[stream] < r->queued[stream])
        r->done[stream]++;
    r->n->queued[stream] = r->queued[stream];
    r->n->done[stream] = r->done[stream];
}

static void op_empty_cache(struct rig *r) {
    r->operation = "empty_cache";
    assert_int_equal(alloc_empty_cache(r->al), ALLOC_OK);
    nrelease_all(r->n);
}

static void op_settings(struct rig *r) {
    struct text conf = {0};
    struct error err;
    r->operation = "settings";
    random_settings(r, &conf);
    if (caching_change_settings(r->al, text_get(&conf), &err))
        assert_ok(alloc_settings_change(text_get(&conf), &r->framework, &r->n->set, &err), err);
    text_fini(&conf);
}

static void op_pool(struct rig *r) {
    struct caching_pool_id id = {{0, 1 + rnd(r, 3)}};
    struct caching_filter all = {.all_streams = true};
    struct caching_pool_options options = {.use_on_oom = id.v[1] == 2, .no_split = id.v[1] == 3};
    r->operation = "pool";
    if (r->redirects.count < 3 && rnd(r, 2)) {
        assert_int_equal(caching_pool_create(r->al, id, options), ALLOC_OK);
        struct npool *p = nuse_pool(r->n, id.v[1]);
        p->use_on_oom |= options.use_on_oom;
        p->no_split |= options.no_split;
        assert_int_equal(caching_pool_begin(r->al, id, all), ALLOC_OK);
        npool_begin(r->n, id.v[1]);
        assert_true(array_push(&r->redirects, id.v[1]));
    } else if (r->redirects.count > 0) {
        id.v[1] = array_pop(&r->redirects);
        caching_pool_end(r->al, id);
        r->n->redirect_count--;
        for (uint64_t uses = rnd(r, 2) + 1; uses > 0; uses--) {
            caching_pool_release(r->al, id);
            for (int i = 0; i < r->n->pools; i++)
                if (r->n->p[i].id == id.v[1] && r->n->p[i].use_count > 0)
                    r->n->p[i].use_count--;
        }
    } else {
        r->capture = false;
    }
    r->capture = r->redirects.count > 0 && rnd(r, 4) == 0;
    caching_set_capture(r->al, r->capture);
    r->n->capture = r->capture;
}

static void op_empty_pool(struct rig *r) {
    struct caching_pool_id id = {{0, 1 + rnd(r, 3)}};
    r->operation = "empty pool";
    assert_int_equal(caching_empty_cache_pool(r->al, id), ALLOC_OK);
    for (int i = 0; i < r->n->pools; i++) {
        if (r->n->p[i].id != id.v[1] || r->n->p[i].use_count > 0)
            continue;
        uint64_t serial = r->n->p[i].serial;
        if (!nsuspended(r->n))
            nwait_all(r->n, true, serial);
        nrelease_private(r->n, true, serial);
        return;
    }
}

static void random_operation(struct rig *r) {
    uint64_t dice = rnd(r, 1000);
    bool full = r->live.count >= MOST_LIVE;
    if (dice < 440 && !full)
        op_take(r);
    else if (dice < 800)
        op_free(r);
    else if (dice < 880)
        op_record(r);
    else if (dice < 980)
        op_work(r);
    else if (dice < 983)
        op_empty_cache(r);
    else if (dice < 986)
        op_settings(r);
    else if (dice < 994)
        op_pool(r);
    else
        op_empty_pool(r);
}

/* --- comparing --- */

static void compare(struct rig *r) {
    struct alloc_stats model = *alloc_get_stats(r->al);
    model.max_split_size = r->n->stats.max_split_size;
    for (size_t i = 0; i < r->log.count || i < (size_t)r->n->logs; i++) {
        assert_true(i < r->log.count && i < (size_t)r->n->logs);
        assert_int_equal(r->log.at[i].kind, r->n->log[i].kind);
        assert_bytes_equal(r->log.at[i].at, r->n->log[i].at);
        assert_bytes_equal(r->log.at[i].bytes, r->n->log[i].bytes);
    }
    array_clear(&r->log);
    r->n->logs = 0;
    assert_memory_equal(&model, &r->n->stats, sizeof model);
    assert_memory_equal(r->done, r->n->done, sizeof r->done);
}

static uint64_t operations = 200000, first_seed = 1;

TEST(random_operations_equal_the_naive_model) {
    USE_STATE;
    uint64_t done = 0, ooms = 0, retries = 0, seed = first_seed;
    struct rig *r = xcalloc(1, sizeof *r);
    assert_non_null(r);
    for (; done < operations; seed++) {
        struct error err;
        start_round(r, seed);
        for (int i = 0; i < ROUND_OPERATIONS && done < operations; i++, done++) {
            random_operation(r);
            if (getenv("CACHING_PROP_VERBOSE"))
                print_message("seed %llu, %d: %s\n", (unsigned long long)seed, i, r->operation);
            compare(r);
        }
        assert_ok(caching_check(r->al, &err), err);
        ooms += r->n->stats.num_ooms;
        retries += r->n->stats.num_alloc_retries;
        end_round(r);
    }
    print_message("%llu operations in %llu rounds: %llu out of memory, %llu retries\n",
                  (unsigned long long)done, (unsigned long long)(seed - first_seed),
                  (unsigned long long)ooms, (unsigned long long)retries);
    xfree(r);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_operations_equal_the_naive_model)};
    if (argc > 1)
        operations = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

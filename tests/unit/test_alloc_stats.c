/* test_alloc_stats.c: every statistic of torch.cuda.memory_stats(), by its name, along the courses of data/alloc_stats, which the
 * real PyTorch has run (record.py there). No name of PyTorch may be missing here, and none may be here alone. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "caching.h"
#include "units.h"

enum { MOST = 400, MOST_LIVE = 26, NAME_BYTES = 128, TEXT_BYTES = 128 };

struct figure {
    char name[NAME_BYTES], value[TEXT_BYTES];
};

struct figures {
    struct figure at[MOST];
    size_t count;
};

/* --- ours --- */

static void add(struct figures *f, const char *name, const char *value) {
    assert_true(f->count < MOST);
    snprintf(f->at[f->count].name, NAME_BYTES, "%s", name);
    snprintf(f->at[f->count++].value, TEXT_BYTES, "%s", value);
}

static void add_number(struct figures *f, const char *name, long long value) {
    char text[TEXT_BYTES];
    snprintf(text, sizeof text, "%lld", value);
    add(f, name, text);
}

static void add_stat(struct figures *f, const char *name, const struct alloc_stat *s) {
    const uint64_t values[] = {s->allocated, s->current, s->freed, s->peak};
    static const char *const fields[] = {"allocated", "current", "freed", "peak"};
    char full[NAME_BYTES];
    for (size_t i = 0; i < 4; i++) {
        snprintf(full, sizeof full, "%s.%s", name, fields[i]);
        add_number(f, full, (long long)values[i]);
    }
}

static void add_classes(struct figures *f, const char *name, const struct alloc_stat *s) {
    static const char *const classes[] = {"all", "small_pool", "large_pool"};
    char full[NAME_BYTES];
    for (size_t i = 0; i < ALLOC_POOL_CLASS_COUNT; i++) {
        snprintf(full, sizeof full, "%s.%s", name, classes[i]);
        add_stat(f, full, &s[i]);
    }
}

static void list_figures(const struct alloc *al, struct figures *f) {
    const struct alloc_stats *s = alloc_get_stats(al);
    f->count = 0;
    add_classes(f, "allocation", s->allocation);
    add_classes(f, "allocated_bytes", s->allocated_bytes);
    add_classes(f, "active", s->active);
    add_classes(f, "active_bytes", s->active_bytes);
    add_classes(f, "requested_bytes", s->requested_bytes);
    add_classes(f, "segment", s->segment);
    add_classes(f, "reserved_bytes", s->reserved_bytes);
    add_classes(f, "inactive_split", s->inactive_split);
    add_classes(f, "inactive_split_bytes", s->inactive_split_bytes);
    add_stat(f, "oversize_allocations", &s->oversize_allocations);
    add_stat(f, "oversize_segments", &s->oversize_segments);
    add_number(f, "num_alloc_retries", (long long)s->num_alloc_retries);
    add_number(f, "num_ooms", (long long)s->num_ooms);
    add_number(f, "num_sync_all_streams", (long long)s->num_sync_all_streams);
    add_number(f, "num_device_alloc", (long long)s->num_device_alloc);
    add_number(f, "num_device_free", (long long)s->num_device_free);
    add_number(f, "num_oom_rejections", (long long)s->num_oom_rejections);
    add_number(f, "max_split_size", s->max_split_size);
    const struct caching_pool_reserved *r;
    for (uint32_t i = 0; (r = caching_pool_reserved_row(al, i)); i++) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "reserved_bytes_by_private_pools.%llu_%llu",
                 (unsigned long long)r->id.v[0], (unsigned long long)r->id.v[1]);
        add_classes(f, name, r->reserved_bytes);
    }
}

/* --- the recorded ones --- */

static struct figure *find(struct figures *f, const char *name) {
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->at[i].name, name) == 0)
            return &f->at[i];
    return NULL;
}

static void change(struct figures *f, const char *name, const char *value) {
    struct figure *known = find(f, name);
    if (strcmp(value, "-") == 0) {
        assert_non_null(known);
        *known = f->at[--f->count];
    } else if (known) {
        snprintf(known->value, TEXT_BYTES, "%s", value);
    } else {
        add(f, name, value);
    }
}

/* --- a course --- */

struct course {
    const char *path;
    int line;
    struct alloc *al;
    char names[MOST_LIVE][128];
    uint64_t addresses[MOST_LIVE];
    size_t live;
    struct figures real, model;
    bool compares; /* the figures of a `stats` are being read */
    size_t compared;
};

static const struct caching_pool_id pool_id = {{0, 1}};

static void compare(struct course *c) {
    if (!c->compares)
        return;
    c->compares = false;
    c->compared++;
    list_figures(c->al, &c->model);
    for (size_t i = 0; i < c->real.count; i++) {
        const struct figure *real = &c->real.at[i], *ours = find(&c->model, real->name);
        if (!ours || strcmp(ours->value, real->value) != 0)
            fail_msg("%s: stats before line %d: %s is %s, PyTorch says %s", c->path, c->line,
                     real->name, ours ? ours->value : "not there", real->value);
    }
    for (size_t i = 0; i < c->model.count; i++)
        if (!find(&c->real, c->model.at[i].name))
            fail_msg("%s: PyTorch has no %s", c->path, c->model.at[i].name);
}

static void start(struct course *c, uint64_t mib, const char *text) {
    struct alloc_config config = {.total_bytes = mib * MIB, .capacity_bytes = mib * MIB};
    struct error err;
    assert_ok(alloc_settings_parse(text, NULL, &config.settings, &err), err);
    c->al = alloc_create(alloc_row(0), &config, &err);
    assert_ok(c->al != NULL, err);
}

static void take(struct course *c, const char *name, const char *bytes) {
    assert_true(c->live < MOST_LIVE);
    snprintf(c->names[c->live], sizeof c->names[0], "%s", name);
    assert_int_equal(alloc_take(c->al, strtoull(bytes, NULL, 10), 0, &c->addresses[c->live++]),
                     ALLOC_OK);
}

static void give(struct course *c, const char *name) {
    size_t i = 0;
    while (i < c->live && strcmp(c->names[i], name) != 0)
        i++;
    assert_true(i < c->live);
    alloc_free(c->al, c->addresses[i]);
    c->live--;
    memcpy(c->names[i], c->names[c->live], sizeof c->names[0]);
    c->addresses[i] = c->addresses[c->live];
}

static void run_pool_command(struct course *c, const char *command) {
    static const struct caching_filter all = {.all_streams = true};
    static const struct caching_pool_options none = {0};
    if (strcmp(command, "pool") == 0) {
        assert_int_equal(caching_pool_create(c->al, pool_id, none), ALLOC_OK);
    } else if (strcmp(command, "begin") == 0) {
        assert_int_equal(caching_pool_begin(c->al, pool_id, all), ALLOC_OK);
    } else if (strcmp(command, "end") == 0) {
        caching_pool_end(c->al, pool_id);
        caching_pool_release(c->al, pool_id);
    } else if (strcmp(command, "drop") == 0) { /* a MemPool empties itself */
        caching_pool_release(c->al, pool_id);
        assert_int_equal(caching_empty_cache_pool(c->al, pool_id), ALLOC_OK);
    } else {
        fail_msg("%s:%d: what is '%s'?", c->path, c->line, command);
    }
}

static void run_command(struct course *c, const char *command, const char *a, const char *b) {
    struct error err;
    uint64_t address;
    if (strcmp(command, "take") == 0)
        take(c, a, b);
    else if (strcmp(command, "oom") == 0)
        assert_int_equal(alloc_take(c->al, strtoull(a, NULL, 10), 0, &address), ALLOC_OOM);
    else if (strcmp(command, "free") == 0)
        give(c, a);
    else if (strcmp(command, "empty_cache") == 0)
        assert_int_equal(alloc_empty_cache(c->al), ALLOC_OK);
    else if (strcmp(command, "fraction") == 0)
        alloc_set_memory_fraction(c->al, strtod(a, NULL));
    else if (strcmp(command, "change") == 0)
        assert_ok(caching_change_settings(c->al, a, &err), err);
    else if (strcmp(command, "reset_peak") == 0)
        caching_reset_peak_stats(c->al);
    else if (strcmp(command, "reset_sums") == 0)
        caching_reset_accumulated_stats(c->al);
    else if (strcmp(command, "stats") == 0)
        c->compares = true;
    else
        run_pool_command(c, command);
}

static void run_course(const char *name) {
    char path[512], line[256], command[NAME_BYTES], a[128], b[128], settings[128] = "";
    uint64_t mib = 0;
    snprintf(path, sizeof path, "%s/alloc_stats/%s.txt", TEST_DATA, name);
    FILE *file = fopen(path, "r");
    struct course *c = calloc(1, sizeof *c);
    assert_true(file && c);
    c->path = name;
    while (fgets(line, sizeof line, file)) {
        c->line++;
        int words = sscanf(line, "%127s %127s %127s", command, a, b);
        if (words < 1 || line[0] == '#')
            continue;
        if (line[0] == ' ') {
            change(&c->real, command, a);
            continue;
        }
        compare(c);
        if (strcmp(command, "device") == 0)
            mib = strtoull(a, NULL, 10);
        else if (strcmp(command, "settings") == 0)
            snprintf(settings, sizeof settings, "%s", a);
        else {
            if (!c->al)
                start(c, mib, settings);
            run_command(c, command, words > 1 ? a : "", words > 2 ? b : "");
        }
    }
    compare(c);
    fclose(file);
    assert_true(c->compared >= 8 && c->real.count >= 123);
    alloc_destroy(c->al);
    free(c);
}

TEST(every_statistic_is_pytorchs_with_oversize_blocks_pools_and_resets) {
    USE_STATE;
    run_course("plain");
}

TEST(every_statistic_is_pytorchs_with_reservations_garbage_collection_and_a_limit) {
    USE_STATE;
    run_course("expandable");
}

SUITE(
    cmocka_unit_test(every_statistic_is_pytorchs_with_oversize_blocks_pools_and_resets),
    cmocka_unit_test(every_statistic_is_pytorchs_with_reservations_garbage_collection_and_a_limit))

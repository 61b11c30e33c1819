/* test_ops_prop.c: every op of the table with arguments at random, right and wrong ones: nothing is left behind. What fits
 * is summed and run backward; then every reference is dropped and no storage may live.
 *
 * usage: test_ops_prop [TRIES [SEED]]       tries an op, 400 by default */
#include "suite.h"

#include <stdlib.h>

#include "log_sink.h"
#include "op.h"

static unsigned tries = 400;
static uint32_t first_seed = 1;

struct world {
    struct log_sink sink;
    struct device device;
    struct tape tape;
    ARRAY(struct tensor *) made; /* arguments, to be dropped */
    ARRAY(struct tensor **) lists;
    uint32_t seed;
};

static uint32_t next_random(struct world *w, uint32_t below) {
    w->seed = w->seed * 1664525u + 1013904223u;
    return (w->seed >> 8) % below;
}

static bool chance(struct world *w, uint32_t percent) {
    return next_random(w, 100) < percent;
}

static void begin(struct world *w, uint32_t seed) {
    struct error err;
    *w = (struct world){.sink = {.quiet = true}, .seed = seed};
    const struct tape_sink sink = log_sink_of(&w->sink);
    assert_ok(device_parse("A100-80GB", &w->device, &err), err);
    assert_true(tape_init(&w->tape, &sink, framework_row(next_random(w, 2)), &w->device));
    w->tape.grad_enabled = chance(w, 80);
}

static const struct shape pool[] = {
    {.ndim = 2, .size = {4, 8}},
    {.ndim = 1, .size = {8}},
    {.ndim = 2, .size = {8, 8}},
    {.ndim = 3, .size = {2, 4, 8}},
    {.ndim = 3, .size = {2, 8, 8}},
    {.ndim = 4, .size = {2, 4, 8, 8}},
    {.ndim = 4, .size = {2, 4, 6, 8}},
    {.ndim = 1, .size = {4}},
    {.ndim = 0},
    {.ndim = 2, .size = {8, 4}},
    {.ndim = 4, .size = {4, 4, 3, 3}},
    {.ndim = 2, .size = {0, 8}},
};
enum { POOL = sizeof pool / sizeof *pool };

static bool is_any(const char *name, size_t n, const char *const *words) {
    for (; *words; words++)
        if (strlen(*words) == n && strncmp(name, *words, n) == 0)
            return true;
    return false;
}

static enum dtype type_for(struct world *w, const char *name, size_t n) {
    static const char *const integers[] = {"indices", "index", "target", "offs", NULL};
    static const char *const masks[] = {"mask", "condition", NULL};
    static const enum dtype any[] = {DTYPE_FLOAT32, DTYPE_BFLOAT16, DTYPE_FLOAT16, DTYPE_INT64,
                                     DTYPE_BOOL};
    if (chance(w, 8))
        return any[next_random(w, 5)];
    return is_any(name, n, integers) ? DTYPE_INT64
           : is_any(name, n, masks)  ? DTYPE_BOOL
                                     : DTYPE_FLOAT32;
}

/* One shape for most arguments of a call, now and then another; sometimes seen in another order. */
static struct tensor *make_tensor(struct world *w, const char *name, size_t n,
                                  const struct shape *common) {
    const struct shape *shape = chance(w, 55) ? common : &pool[next_random(w, POOL)];
    struct tensor *t = aten_empty(&w->tape, shape, type_for(w, name, n));
    if (shape->ndim > 1 && chance(w, 15)) {
        struct tensor *turned = aten_transpose(&w->tape, t, -1, -2);
        tensor_unref(&w->tape, t);
        t = turned;
    }
    t->requires_grad =
        t->requires_grad || (dtype_is_float(t->dtype) && w->tape.grad_enabled && chance(w, 60));
    assert_true(array_push(&w->made, t));
    return t;
}

static int64_t small_integer(struct world *w) {
    return chance(w, 5) ? (int64_t)1 << next_random(w, 62) : (int64_t)next_random(w, 10) - 3;
}

static void make_list(struct world *w, struct op_arg *arg, const char *name, size_t n,
                      const struct shape *common) {
    arg->list_count = 1 + next_random(w, 3);
    arg->list = xcalloc(arg->list_count, sizeof *arg->list);
    assert_true(array_push(&w->lists, arg->list));
    for (size_t i = 0; i < arg->list_count; i++)
        arg->list[i] = make_tensor(w, name, n, common);
}

static void make_sizes(struct world *w, struct op_arg *arg, const struct shape *common) {
    arg->shape = *common;
    if (chance(w, 40)) {
        arg->shape.ndim = 1 + next_random(w, 4);
        for (unsigned i = 0; i < arg->shape.ndim; i++)
            arg->shape.size[i] = small_integer(w);
    }
}

static void make_argument(struct world *w, struct op_arg *arg, const char *name, size_t n,
                          char kind, const struct shape *common) {
    arg->given = true;
    if (kind == 'T' || (kind == 'X' && chance(w, 70)))
        arg->tensor = make_tensor(w, name, n, common);
    else if (kind == 'L')
        make_list(w, arg, name, n, common);
    else if (kind == 'I')
        make_sizes(w, arg, common);
    else if (kind == 'd') {
        arg->integer = 1 + next_random(w, DTYPE_COUNT - 1);
        arg->text = op_dtype_marker;
    } else if (kind == 's')
        arg->text = chance(w, 80) ? "channels_last" : "nonsense";
    else {
        arg->integer = kind == 'b' ? next_random(w, 2) : small_integer(w);
        arg->number = (double)arg->integer;
        arg->floating = chance(w, 50);
    }
}

/* As sim/scenario/ops.c does: at least one tensor among "tensor or number" arguments. */
static bool make_call(struct world *w, const struct op *op, struct op_call *call) {
    struct shape common = pool[next_random(w, POOL)];
    bool wants = false, found = false;
    unsigned count = 0;
    for (const char *p = op->signature; *p; count++) {
        size_t n = strcspn(p, ":");
        char kind = p[n + 1];
        bool optional = p[n + 2] == '?' || p[n + 2] == '=';
        assert_true(count < OP_MAX_ARGS);
        struct op_arg *arg = &call->arg[count];
        if (!optional || chance(w, 50)) {
            make_argument(w, arg, p, n, kind, &common);
        } else if (p[n + 2] == '=') {
            arg->number = strtod(p + n + 3, NULL);
            arg->integer = (int64_t)arg->number;
        }
        wants = wants || kind == 'X';
        found = found || arg->tensor;
        p += strcspn(p, " ");
        p += *p == ' ';
    }
    return !wants || found;
}

static const struct op *find_row(const char *name) {
    size_t i = 0;
    while (op_row(i) && strcmp(op_row(i)->name, name) != 0)
        i++;
    return op_row(i);
}

static void run_backward(struct world *w, struct tensor *t) {
    struct op_call sum = {.op = find_row("sum"), .arg = {{.given = true, .tensor = t}}};
    op_run(&w->tape, &sum);
    if (w->tape.status == TAPE_OK && sum.out[0]->requires_grad)
        backward_run(&w->tape, sum.out[0], NULL, false);
    tensor_unref(&w->tape, sum.out[0]);
}

static void drop_kept(struct world *w) { /* workspaces of a framework that keeps them */
    for (size_t i = 0; i < w->tape.workspaces.count; i++)
        tensor_unref(&w->tape, w->tape.workspaces.at[i].tensor);
    w->tape.workspaces.count = 0;
}

static bool end(struct world *w, const struct op *op, uint32_t seed) {
    for (size_t i = 0; i < w->made.count; i++) {
        struct tensor *t = w->made.at[i];
        tensor_unref(&w->tape, t->grad);
        t->grad = NULL;
        tensor_unref(&w->tape, t);
    }
    drop_kept(w);
    bool clean = w->tape.live_storages == 0 && !w->sink.broken &&
                 (w->tape.status != TAPE_OK || w->sink.live_count == 0);
    if (!clean)
        print_message("%s, seed %u: %llu storages left%s (%s)\n", op->name, seed,
                      (unsigned long long)w->tape.live_storages,
                      w->sink.broken ? ", the sink is broken" : "",
                      w->tape.status == TAPE_OK              ? "fine"
                      : w->tape.status == TAPE_OUT_OF_MEMORY ? "out of memory"
                                                             : w->tape.error.text);
    for (size_t i = 0; i < w->lists.count; i++)
        xfree(w->lists.at[i]);
    array_fini(&w->lists);
    array_fini(&w->made);
    tape_fini(&w->tape);
    log_sink_fini(&w->sink);
    return clean;
}

static bool try_op(const struct op *op, uint32_t seed, unsigned *left) {
    struct world w;
    struct op_call call = {.op = op};
    begin(&w, seed);
    w.sink.fail_at = chance(&w, 10) ? 1 + next_random(&w, 12) : 0;
    bool runs = make_call(&w, op, &call) && w.tape.status == TAPE_OK;
    if (runs)
        op_run(&w.tape, &call);
    bool ok = runs && w.tape.status == TAPE_OK;
    for (unsigned i = 0; i < call.out_count; i++)
        if (ok && i == 0 && call.out[0]->requires_grad && w.tape.grad_enabled &&
            dtype_is_float(call.out[0]->dtype))
            run_backward(&w, call.out[0]);
    for (unsigned i = 0; i < call.out_count; i++)
        tensor_unref(&w.tape, call.out[i]);
    for (size_t i = 0; i < call.out_list_count; i++)
        tensor_unref(&w.tape, call.out_list[i]);
    xfree(call.out_list);
    *left += !end(&w, op, seed);
    return ok;
}

TEST(no_op_leaves_anything_behind) {
    USE_STATE;
    unsigned left = 0;
    for (size_t row = 0; op_row(row); row++) {
        unsigned ran = 0, before = left;
        for (uint32_t i = 0; i < tries && left == before; i++)
            ran += try_op(op_row(row), first_seed + i * 7919u, &left);
        if (ran == 0)
            print_message("%s: never with arguments that fit\n", op_row(row)->name);
    }
    assert_int_equal(left, 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_op_leaves_anything_behind)};
    if (argc > 1)
        tries = (unsigned)strtoul(argv[1], NULL, 10);
    if (argc > 2)
        first_seed = (uint32_t)strtoul(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

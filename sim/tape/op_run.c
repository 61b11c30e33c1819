/* op_run.c: the one way into an op: autocast around it, its name in the trace, the record of it. */
#include "op.h"

#include <stdio.h>
#include <string.h>

/* The cached low-precision copy of a leaf (at::autocast::cached_cast): fp32 leaves that require
 * grad and are not views are cast once a region; in inference mode, each time (so 2.11 and 2.15 do). */
static struct tensor *autocast_cast(struct tape *tape, struct tensor *t, enum dtype dtype) {
    bool cached = t->dtype == DTYPE_FLOAT32 && t->requires_grad && !t->grad_fn && !t->is_view &&
                  dtype == tape->autocast && !tape->inference_mode;
    for (size_t i = 0; cached && i < tape->autocast_cache.count; i++)
        if (tape->autocast_cache.at[i].leaf == t)
            return tensor_ref(tape->autocast_cache.at[i].copy);
    const char *op = tape->op;
    tape->op = "aten::to";
    struct tensor *copy = aten_to(tape, t, dtype);
    tape->op = op;
    if (cached) {
        struct autocast_entry entry = {.leaf = tensor_ref(t), .copy = tensor_ref(copy)};
        if (!array_push(&tape->autocast_cache, entry)) {
            tensor_unref(tape, entry.leaf);
            tensor_unref(tape, entry.copy);
            tape_fail_memory(tape);
        }
    }
    return copy;
}

/* Only 16-bit and 32-bit floats on the device take part. */
static bool is_eligible(const struct tensor *t) {
    return t && !t->host && dtype_is_float(t->dtype) && t->dtype != DTYPE_FLOAT64 &&
           t->dtype != DTYPE_COMPLEX64;
}

static enum dtype autocast_target(const struct tape *tape, const struct op_call *call) {
    switch (call->op->autocast) {
    case AUTOCAST_LOW:
        return tape->autocast;
    case AUTOCAST_FP32:
        for (unsigned i = 0; i < OP_MAX_ARGS; i++) /* an explicit dtype argument decides itself */
            if (call->arg[i].given && call->arg[i].text == op_dtype_marker)
                return DTYPE_NONE;
        return DTYPE_FLOAT32;
    case AUTOCAST_FP32_DTYPE: /* see set_dtype */
    case AUTOCAST_NONE:
        break;
    }
    return DTYPE_NONE;
}

/* fp32_set_opt_dtype (ATen/autocast_mode.h): the op is asked for a float32 result by its dtype
 * argument, and casts its input itself or reads it as it is. */
static void set_dtype(struct op_call *call) {
    if (call->op->autocast != AUTOCAST_FP32_DTYPE || !is_eligible(call->arg[0].tensor))
        return;
    unsigned index = 0;
    for (const char *p = call->op->signature; *p; p++) {
        if (strncmp(p, "dtype:", 6) == 0 && !call->arg[index].given) {
            call->arg[index].given = true;
            call->arg[index].integer = DTYPE_FLOAT32;
            call->arg[index].text = op_dtype_marker;
        }
        index += *p == ' ';
    }
}

static void run_plain(struct tape *tape, struct op_call *call) {
    char name[64];
    const char *outer = tape->op;
    if (call->trace_name) {
        tape->op = call->trace_name;
    } else if (call->op->trace_name) {
        tape->op = call->op->trace_name;
    } else {
        uint32_t id = 0;
        int n = snprintf(name, sizeof name, "aten::%s", call->op->name);
        if (!strtab_add(&tape->strings, name, (size_t)n, &id))
            tape_fail_memory(tape);
        tape->op = strtab_text(&tape->strings, id);
    }
    call->op->run(tape, call);
    tape->op = outer;
}

/* A list whose tensors are cast one after the other, first to last (cached_cast of a TensorList):
 * new references, xfree'd with drop_casts; NULL when there is nothing to cast. */
static struct tensor **cast_list(struct tape *tape, const struct op_arg *arg, enum dtype target) {
    if (target == DTYPE_NONE || arg->list_count == 0)
        return NULL;
    struct tensor **casts = xalloc(arg->list_count * sizeof *casts);
    if (!casts)
        tape_fail_memory(tape);
    for (size_t i = 0; casts && i < arg->list_count; i++) {
        struct tensor *t = arg->list[i];
        casts[i] =
            is_eligible(t) && t->dtype != target ? autocast_cast(tape, t, target) : tensor_ref(t);
    }
    return casts;
}

static void drop_casts(struct tape *tape, struct tensor **casts, size_t count) {
    for (size_t i = 0; casts && i < count; i++)
        tensor_unref(tape, casts[i]);
    xfree(casts);
}

static void run_autocast(struct tape *tape, struct op_call *call) {
    set_dtype(call);
    enum dtype target = autocast_target(tape, call);
    struct tensor **cast_lists[OP_MAX_ARGS] = {NULL}, **lists[OP_MAX_ARGS];
    struct tensor *casts[OP_MAX_ARGS] = {NULL}, *originals[OP_MAX_ARGS];
    enum dtype region = tape->autocast;
    for (unsigned i = OP_MAX_ARGS; i-- > 0;) { /* the casts are C++ call arguments: last first */
        originals[i] = call->arg[i].tensor;
        lists[i] = call->arg[i].list;
        cast_lists[i] = cast_list(tape, &call->arg[i], target);
        if (cast_lists[i])
            call->arg[i].list = cast_lists[i];
        if (target == DTYPE_NONE || !is_eligible(originals[i]) || originals[i]->dtype == target)
            continue;
        casts[i] = autocast_cast(tape, originals[i], target);
        call->arg[i].tensor = casts[i];
    }
    tape->autocast = DTYPE_NONE; /* inside, autocast is off */
    run_plain(tape, call);
    tape->autocast = region;
    for (unsigned i = 0; i < OP_MAX_ARGS; i++) {
        call->arg[i].tensor = originals[i];
        call->arg[i].list = lists[i];
        tensor_unref(tape, casts[i]);
        drop_casts(tape, cast_lists[i], call->arg[i].list_count);
    }
}

static void record(struct tape *tape, struct op_call *call) {
    struct tensor *inputs[OP_MAX_ARGS];
    unsigned count = 0;
    for (unsigned i = 0; i < OP_MAX_ARGS; i++)
        if (call->arg[i].tensor)
            inputs[count++] = call->arg[i].tensor;
    struct tape_record r = {.op = call->op->name,
                            .owner = tape_owner(tape),
                            .inputs = inputs,
                            .outputs = call->out,
                            .input_count = count,
                            .output_count = call->out_count};
    r.node = call->out_count ? call->out[0]->grad_fn : NULL;
    tape->sink.record(tape->sink.user, &r);
}

void op_run(struct tape *tape, struct op_call *call) {
    if (tape->autocast != DTYPE_NONE && call->op->autocast != AUTOCAST_NONE)
        run_autocast(tape, call);
    else
        run_plain(tape, call);
    if (tape->sink.record && tape->status == TAPE_OK)
        record(tape, call);
}

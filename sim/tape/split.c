/* split.c: one tensor seen in parts along a dim. The gradient is one tensor: the parts' gradients
 * put together, zeros for a part without one (FunctionsManual.cpp split_with_sizes_backward). */
#include "op.h"

/* Lengths of parts: all `each` but the last, which is what is left, or as a shape says. */
struct parts {
    unsigned count;
    int64_t each, whole;
    const struct shape *sizes; /* NULL: even */
};

static int64_t length_of(const struct parts *parts, unsigned i) {
    if (parts->sizes)
        return parts->sizes->size[i];
    return i + 1 < parts->count ? parts->each : parts->whole - (int64_t)i * parts->each;
}

/* args: [0] dim; even parts: [1] their length, else [1 + i] length of part i. */
static void put_together(struct tape *tape, struct node *node, const struct parts *lengths,
                         struct tensor **grads, struct tensor **out) {
    const struct shape *shape = &node->edges[0].shape;
    struct tensor *parts[OP_MAX_OUTPUTS];
    for (unsigned i = 0; i < node->output_count; i++) {
        struct shape part = *shape;
        part.size[node->args[0]] = length_of(lengths, i);
        parts[i] = grads[i] ? tensor_ref(grads[i]) : aten_full(tape, &part, node->edges[0].dtype);
    }
    out[0] = aten_cat(tape, parts, node->output_count, node->args[0]);
    for (unsigned i = 0; i < node->output_count; i++)
        tensor_unref(tape, parts[i]);
}

static void backward_split(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    const struct parts lengths = {node->output_count, node->args[1],
                                  node->edges[0].shape.size[node->args[0]], NULL};
    put_together(tape, node, &lengths, grads, out);
}

static void backward_split_sizes(struct tape *tape, struct node *node, struct tensor **grads,
                                 struct tensor **out) {
    struct shape sizes = {.ndim = node->output_count};
    for (unsigned i = 0; i < node->output_count; i++)
        sizes.size[i] = node->args[1 + i];
    const struct parts lengths = {node->output_count, 0, 0, &sizes};
    put_together(tape, node, &lengths, grads, out);
}

static const struct backward_op split_backward = {"SplitBackward0", backward_split};
static const struct backward_op split_sizes_backward = {"SplitWithSizesBackward0",
                                                        backward_split_sizes};

static void split(struct tape *tape, struct op_call *call, const struct backward_op *backward,
                  unsigned dim, const struct parts *lengths) {
    struct tensor *t = call->arg[0].tensor;
    bool grad = tape->grad_enabled;
    struct node *node = node_create(tape, backward, &t, 1, lengths->count);
    if (node) {
        node->args[0] = dim;
        node->args[1] = lengths->each;
    }
    int64_t start = 0;
    tape->grad_enabled = false; /* one node for all parts */
    for (unsigned i = 0; i < lengths->count; i++) {
        struct tensor *part = aten_narrow(tape, t, dim, start, length_of(lengths, i));
        start = size_add(start, length_of(lengths, i));
        if (node && lengths->sizes)
            node->args[1 + i] = length_of(lengths, i);
        node_set_output(node, part, i);
        call->out[call->out_count++] = part;
    }
    tape->grad_enabled = grad;
    node_finish(tape, node);
}

static int64_t size_of(const struct op_call *call, unsigned dim) {
    const struct shape *shape = &call->arg[0].tensor->shape;
    return shape->ndim ? shape->size[dim] : 0;
}

/* Parts of `length`, the last what is left. */
static void split_even(struct tape *tape, struct op_call *call, unsigned dim, int64_t length) {
    int64_t n = size_of(call, dim);
    int64_t parts = size_div_up(n, length);
    if (parts < 1 || parts > OP_MAX_OUTPUTS) {
        tape_fail(tape, ERROR_BAD_SCENARIO, "%s: %lld parts; 1 to %d are possible", call->op->name,
                  (long long)parts, OP_MAX_OUTPUTS);
        call->out[call->out_count++] = tensor_ref(call->arg[0].tensor);
        return;
    }
    const struct parts lengths = {(unsigned)parts, length, n, NULL};
    split(tape, call, &split_backward, dim, &lengths);
}

static void run_split(struct tape *tape, struct op_call *call) {
    split_even(tape, call, op_dim(tape, call, &call->arg[2]), call->arg[1].integer);
}

static void run_chunk(struct tape *tape, struct op_call *call) {
    unsigned dim = op_dim(tape, call, &call->arg[2]);
    split_even(tape, call, dim, size_div_up(size_of(call, dim), call->arg[1].integer));
}

static void run_split_with_sizes(struct tape *tape, struct op_call *call) {
    const struct shape *lengths = &call->arg[1].shape;
    unsigned dim = op_dim(tape, call, &call->arg[2]);
    const struct shape *shape = &call->arg[0].tensor->shape;
    int64_t sum = 0;
    bool fits = true;
    for (unsigned i = 0; i < lengths->ndim; i++) {
        fits = fits && lengths->size[i] >= 0;
        sum = size_add(sum, lengths->size[i]);
    }
    if (!fits || shape->ndim == 0 || sum != shape->size[dim] || lengths->ndim == 0) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "split: parts %s of dim %u of %s",
                  shape_format(lengths, a, sizeof a), dim, shape_format(shape, b, sizeof b));
        call->out[call->out_count++] = tensor_ref(call->arg[0].tensor);
        return;
    }
    const struct parts parts = {lengths->ndim, 0, 0, lengths};
    split(tape, call, &split_sizes_backward, dim, &parts);
}

const struct op ops_split[] = {
    {"split", "self:T split_size:i dim:i=0", AUTOCAST_NONE, "views of split_size each along a dim",
     run_split, NULL},
    {"split_with_sizes", "self:T split_sizes:I dim:i=0", AUTOCAST_NONE,
     "views of given sizes along a dim", run_split_with_sizes, NULL},
    {"chunk", "self:T chunks:i dim:i=0", AUTOCAST_NONE, "views that part a dim in chunks",
     run_chunk, NULL},
    {0},
};

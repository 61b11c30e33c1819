/* einsum.c: sums of products by subscripts: "...a,ba->...b". Operands are brought to one order of
 * dims (output, then what is summed), and two at a time become one bmm of permuted and reshaped
 * views, copied where the strides do not allow a view (ATen/native/Linear.cpp einsum,
 * sumproduct_pair). From left to right, as without opt_einsum. */
#include <string.h>

#include "op.h"

enum { LABELS = 52, ELLIPSIS = LABELS, UNUSED = 255, MAX_OPERANDS = 8 };

/* One side of a comma: labels in order, ELLIPSIS for "...". */
struct term {
    uint8_t label[TENSOR_MAX_DIMS + 1];
    unsigned count;
    bool has_ellipsis;
};

struct equation {
    struct term in[MAX_OPERANDS], out;
    unsigned operands;
    bool has_output;
};

/* The place of every label among the dims of the permuted operands. */
struct plan {
    unsigned dims, out_dims;
    unsigned ellipsis_at, ellipsis_dims;
    uint8_t at[LABELS];
    unsigned used[TENSOR_MAX_DIMS]; /* operands left whose size there is not 1 */
};

/* A-Z before a-z: the order of what is summed. */
static int label_of(char c) {
    return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1;
}

static bool add_label(struct term *term, uint8_t label) {
    for (unsigned i = 0; i < term->count; i++)
        if (term->label[i] == label)
            return false;
    if (term->count == sizeof term->label)
        return false;
    term->label[term->count++] = label;
    term->has_ellipsis = term->has_ellipsis || label == ELLIPSIS;
    return true;
}

/* NULL, or what is wrong. */
static const char *parse(const char *text, struct equation *eq) {
    struct term *term = &eq->in[0];
    memset(eq, 0, sizeof *eq);
    eq->operands = 1;
    for (const char *p = text; *p; p++) {
        if (*p == ' ')
            continue;
        if (*p == ',' && !eq->has_output) {
            if (eq->operands == MAX_OPERANDS)
                return "has too many operands";
            term = &eq->in[eq->operands++];
        } else if (p[0] == '-' && p[1] == '>' && !eq->has_output) {
            eq->has_output = true;
            term = &eq->out;
            p++;
        } else if (p[0] == '.' && p[1] == '.' && p[2] == '.') {
            if (!add_label(term, ELLIPSIS))
                return "has more than one '...' in a term, or too many labels";
            p += 2;
        } else if (label_of(*p) < 0) {
            return "may have letters, '...', ',' and one '->'";
        } else if (!add_label(term, (uint8_t)label_of(*p))) {
            return "has a label twice in a term (diagonals are not modelled), or too many labels";
        }
    }
    return NULL;
}

static const char *check_operands(const struct equation *eq, struct plan *plan,
                                  struct tensor *const *ops, size_t count) {
    if (eq->operands != count)
        return "has another number of terms than there are operands";
    for (unsigned i = 0; i < eq->operands; i++) {
        unsigned named = eq->in[i].count - eq->in[i].has_ellipsis, ndim = ops[i]->shape.ndim;
        if (eq->in[i].has_ellipsis ? named > ndim : named != ndim)
            return "does not fit the dims of an operand";
        if (eq->in[i].has_ellipsis && ndim - named > plan->ellipsis_dims)
            plan->ellipsis_dims = ndim - named;
    }
    return NULL;
}

static void count_labels(const struct equation *eq, unsigned count[LABELS]) {
    memset(count, 0, LABELS * sizeof *count);
    for (unsigned i = 0; i < eq->operands; i++)
        for (unsigned k = 0; k < eq->in[i].count; k++)
            if (eq->in[i].label[k] != ELLIPSIS)
                count[eq->in[i].label[k]]++;
}

/* Output dims first, as written or (without "->") the labels seen once in order; then the rest. */
static const char *make_plan(const struct equation *eq, struct plan *plan) {
    unsigned count[LABELS];
    bool ellipsis_out = !eq->has_output;
    count_labels(eq, count);
    memset(plan->at, UNUSED, sizeof plan->at);
    plan->dims = eq->has_output ? 0 : plan->ellipsis_dims;
    for (unsigned k = 0; k < eq->out.count; k++) {
        uint8_t label = eq->out.label[k];
        if (label == ELLIPSIS) {
            ellipsis_out = true;
            plan->ellipsis_at = plan->dims;
            plan->dims += plan->ellipsis_dims;
        } else if (count[label] == 0) {
            return "has an output label that no operand has";
        } else {
            plan->at[label] = (uint8_t)plan->dims++;
        }
    }
    for (unsigned l = 0; l < LABELS && !eq->has_output; l++)
        if (count[l] == 1)
            plan->at[l] = (uint8_t)plan->dims++;
    plan->out_dims = plan->dims;
    if (!ellipsis_out) {
        plan->ellipsis_at = plan->dims;
        plan->dims += plan->ellipsis_dims;
    }
    for (unsigned l = 0; l < LABELS; l++)
        if (count[l] > 0 && plan->at[l] == UNUSED)
            plan->at[l] = (uint8_t)plan->dims++;
    return plan->dims > TENSOR_MAX_DIMS ? "has too many dims" : NULL;
}

/* The operand with its dims in the plan's order, missing ones of size 1. */
static struct tensor *align(struct tape *tape, struct tensor *t, const struct term *term,
                            struct plan *plan) {
    unsigned from[TENSOR_MAX_DIMS], dim = 0;
    for (unsigned i = 0; i < plan->dims; i++)
        from[i] = UNUSED;
    for (unsigned k = 0; k < term->count; k++) {
        if (term->label[k] != ELLIPSIS) {
            from[plan->at[term->label[k]]] = dim++;
            continue;
        }
        unsigned own = t->shape.ndim - (term->count - 1);
        for (unsigned j = plan->ellipsis_dims - own; j < plan->ellipsis_dims; j++)
            from[plan->ellipsis_at + j] = dim++;
    }
    struct tensor *all = tensor_ref(t);
    for (unsigned i = 0; i < plan->dims; i++) {
        if (from[i] != UNUSED)
            continue;
        struct tensor *bigger = aten_unsqueeze(tape, all, dim);
        tensor_unref(tape, all);
        all = bigger;
        from[i] = dim++;
    }
    struct tensor *out = aten_permute(tape, all, from);
    tensor_unref(tape, all);
    for (unsigned i = 0; i < plan->dims; i++)
        plan->used[i] += out->shape.ndim == plan->dims && out->shape.size[i] != 1;
    return out;
}

/* Dims of a product by where they have a size: both sides and the output, one side alone. */
struct dims {
    unsigned dim[TENSOR_MAX_DIMS], count;
    int64_t size;
};

static void add_dim(struct dims *dims, unsigned dim, int64_t size) {
    dims->dim[dims->count++] = dim;
    dims->size = size_mul(dims->size, size);
}

static void append(unsigned *order, unsigned *count, const struct dims *dims) {
    for (unsigned i = 0; i < dims->count; i++)
        order[(*count)++] = dims->dim[i];
}

static struct tensor *as_matrices(struct tape *tape, struct tensor *t, const struct dims *a,
                                  const struct dims *b, const struct dims *c,
                                  const struct dims *rest) {
    unsigned order[TENSOR_MAX_DIMS] = {0}, count = 0;
    append(order, &count, a);
    append(order, &count, b);
    append(order, &count, c);
    append(order, &count, rest);
    struct shape shape = {.ndim = 3, .size = {a->size, b->size, c->size}};
    struct tensor *permuted = aten_permute(tape, t, order);
    struct tensor *out = aten_reshape(tape, permuted, &shape);
    tensor_unref(tape, permuted);
    return out;
}

/* The product as it lies, batch, left, summed, right, in the order that the dims had. */
static struct tensor *restore(struct tape *tape, struct tensor *p, struct tensor *left,
                              struct tensor *right, const struct dims *const part[4]) {
    struct shape shape = {.ndim = 0};
    unsigned to[TENSOR_MAX_DIMS] = {0};
    for (unsigned k = 0; k < 4; k++)
        for (unsigned i = 0; i < part[k]->count; i++) {
            unsigned dim = part[k]->dim[i];
            to[dim] = shape.ndim;
            shape.size[shape.ndim++] = k == 2 ? 1 : (k == 3 ? right : left)->shape.size[dim];
        }
    struct tensor *view = aten_view(tape, p, &shape);
    struct tensor *out = aten_permute(tape, view, to);
    tensor_unref(tape, view);
    return out;
}

/* (left * right) summed over the dims of `mask`, which stay with size 1. */
static struct tensor *sum_of_products(struct tape *tape, struct tensor *left, struct tensor *right,
                                      uint32_t mask) {
    if (mask == 0)
        return aten_mul(tape, left, right);
    struct dims both = {.size = 1}, lo = {.size = 1}, ro = {.size = 1}, sum = {.size = 1};
    for (unsigned i = 0; i < left->shape.ndim; i++) {
        int64_t l = left->shape.size[i], r = right->shape.size[i];
        if ((mask >> i) & 1)
            add_dim(&sum, i, l);
        else if (l != 1 && r != 1)
            add_dim(&both, i, l);
        else if (l != 1)
            add_dim(&lo, i, l);
        else
            add_dim(&ro, i, r);
    }
    bool swap = tape->framework->einsum_keeps_output_order && lo.count > 0 && ro.count > 0 &&
                ro.dim[ro.count - 1] < lo.dim[0];
    if (swap) {
        struct tensor *t = left;
        struct dims d = lo;
        left = right;
        right = t;
        lo = ro;
        ro = d;
    }
    struct tensor *a = as_matrices(tape, left, &both, &lo, &sum, &ro);
    struct tensor *b = as_matrices(tape, right, &both, &sum, &ro, &lo);
    struct tensor *p = aten_bmm(tape, a, b);
    const struct dims *const part[4] = {&both, &lo, &sum, &ro};
    struct tensor *out =
        tape->status == TAPE_OK ? restore(tape, p, left, right, part) : tensor_ref(p);
    tensor_unref(tape, a);
    tensor_unref(tape, b);
    tensor_unref(tape, p);
    return out;
}

/* The next two: what only one of them has is summed at once; what no later operand has, in the
 * product. */
static struct tensor *contract(struct tape *tape, struct tensor *a, struct tensor *b,
                               struct plan *plan) {
    uint32_t both = 0, in_a = 0, in_b = 0;
    for (unsigned i = plan->out_dims; i < plan->dims; i++) {
        bool has_a = a->shape.size[i] != 1, has_b = b->shape.size[i] != 1;
        if (has_a && has_b) {
            if (--plan->used[i] == 1) {
                both |= UINT32_C(1) << i;
                plan->used[i] = 0;
            }
        } else if (plan->used[i] == 1 && (has_a || has_b)) {
            *(has_a ? &in_a : &in_b) |= UINT32_C(1) << i;
            plan->used[i] = 0;
        }
    }
    struct tensor *sa = in_a ? aten_sum_dims(tape, a, in_a, true) : tensor_ref(a);
    struct tensor *sb = in_b ? aten_sum_dims(tape, b, in_b, true) : tensor_ref(b);
    struct tensor *out = sum_of_products(tape, sa, sb, both);
    tensor_unref(tape, sa);
    tensor_unref(tape, sb);
    return out;
}

/* What is summed has size 1 by now, or (of a single operand) is summed now. */
static struct tensor *finish(struct tape *tape, struct tensor *t, const struct plan *plan,
                             unsigned operands) {
    if (plan->dims == plan->out_dims)
        return tensor_ref(t);
    struct shape shape = t->shape;
    shape.ndim = plan->out_dims;
    if (operands > 1)
        return aten_view(tape, t, &shape);
    uint32_t mask = ((UINT32_C(1) << plan->dims) - 1) & ~((UINT32_C(1) << plan->out_dims) - 1);
    return aten_sum_dims(tape, t, mask, false);
}

static bool sizes_fit(struct tensor *const *ops, unsigned count, const struct plan *plan) {
    for (unsigned i = 0; i < count; i++)
        for (unsigned d = 0; d < plan->dims; d++)
            if (ops[i]->shape.ndim != plan->dims ||
                (i > 0 && ops[i]->shape.size[d] != 1 && ops[0]->shape.size[d] != 1 &&
                 ops[i]->shape.size[d] != ops[0]->shape.size[d]))
                return false;
    return true;
}

static void run_einsum(struct tape *tape, struct op_call *call) {
    struct equation eq;
    struct plan plan = {.dims = 0};
    struct tensor **in = call->arg[1].list, *ops[MAX_OPERANDS] = {NULL};
    const char *wrong = parse(call->arg[0].text, &eq);
    unsigned count = eq.operands; /* at least one */
    wrong = wrong ? wrong : check_operands(&eq, &plan, in, call->arg[1].list_count);
    wrong = wrong ? wrong : make_plan(&eq, &plan);
    if (wrong) {
        tape_fail(tape, ERROR_BAD_SCENARIO, "einsum: '%s' %s", call->arg[0].text, wrong);
        struct shape none = {.ndim = 0};
        op_give(call, tape_new(tape, DTYPE_FLOAT32, &none));
        return;
    }
    for (unsigned i = 0; i < count; i++)
        ops[i] = align(tape, in[i], &eq.in[i], &plan);
    struct tensor *result = tensor_ref(ops[0]);
    if (tape->status == TAPE_OK && !sizes_fit(ops, count, &plan))
        tape_fail(tape, ERROR_BAD_SCENARIO, "einsum: '%s' does not fit the operands' sizes",
                  call->arg[0].text);
    for (unsigned i = 1; i < count && tape->status == TAPE_OK; i++) {
        struct tensor *next = contract(tape, result, ops[i], &plan);
        tensor_unref(tape, result);
        result = next;
    }
    struct tensor *out =
        tape->status == TAPE_OK ? finish(tape, result, &plan, count) : tensor_ref(result);
    tensor_unref(tape, result);
    for (unsigned i = 0; i < count; i++)
        tensor_unref(tape, ops[i]);
    op_give(call, out);
}

const struct op ops_einsum[] = {
    {"einsum", "equation:s operands:L", AUTOCAST_LOW, "a sum of products by subscripts", run_einsum,
     NULL},
    {0},
};

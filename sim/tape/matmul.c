/* matmul.c: matrix products and their library workspaces: mm, bmm, addmm, baddbmm.
 *
 * A product asks for its output first, then for the workspace of the library handle (framework.h
 * tells for how long). Operands whose rows or columns do not lie contiguously are copied for the
 * call (ATen/native/cuda/Blas.cpp, prepare_matrix_for_cublas). Products with a fused bias go
 * through cuBLASLt, with a smaller workspace of their own. */
#include <string.h>

#include "op.h"

/* at::cuda::getChosenWorkspaceSize: 32 MiB from sm_90 on, else :4096:2:16:8 of cuBLAS' format
 * (KiB:count). */
static uint64_t cublas_workspace_bytes(const struct device *device) {
    return device->compute_capability >= 90 ? 4096 * 8 * UINT64_C(1024)
                                            : (2 * 4096 + 8 * 16) * UINT64_C(1024);
}

/* A kept workspace belongs to a library and a handle, that is, a thread. */
static void keep_workspace(struct tape *tape, enum workspace_library library, uint64_t bytes) {
    for (size_t i = 0; i < tape->workspaces.count; i++) {
        const struct tape_workspace *w = &tape->workspaces.at[i];
        if (w->library == library && w->thread == tape->thread)
            return;
    }
    struct tape_workspace w = {.library = library, .thread = tape->thread};
    w.tensor = tape_new_bytes(tape, bytes, CATEGORY_WORKSPACE);
    if (!array_push(&tape->workspaces, w))
        tape_fail_memory(tape);
}

/* What must be given back after the call; NULL when the workspace is kept. Where cuBLAS keeps its
 * own, a fused product takes that too, with the handle: before its own when that is kept, else
 * after it (CUDABlas.cpp gemm_and_bias). */
static struct tensor *take_workspace(struct tape *tape, bool fused_bias) {
    const struct framework *f = tape->framework;
    struct tensor *taken = NULL;
    uint64_t bytes = cublas_workspace_bytes(tape->device);
    if (fused_bias && f->cublaslt_workspace == WORKSPACE_PER_CALL)
        taken = tape_new_bytes(tape, f->cublaslt_workspace_bytes, CATEGORY_WORKSPACE);
    if (f->cublas_workspace == WORKSPACE_PER_HANDLE_STREAM)
        keep_workspace(tape, WORKSPACE_CUBLAS, bytes);
    else if (!fused_bias)
        taken = tape_new_bytes(tape, bytes, CATEGORY_WORKSPACE);
    if (fused_bias && f->cublaslt_workspace == WORKSPACE_PER_HANDLE_STREAM)
        keep_workspace(tape, WORKSPACE_CUBLASLT, f->cublaslt_workspace_bytes);
    return taken;
}

void aten_product_workspace(struct tape *tape) {
    tensor_unref(tape, take_workspace(tape, false));
}

void aten_fused_product_workspace(struct tape *tape) {
    tensor_unref(tape, take_workspace(tape, true));
}

/* Whether a matrix (dims `row`, `col`) can be handed to cuBLAS as it lies: one stride 1, the other
 * a leading dimension. */
static bool is_blas_layout(const struct tensor *t, unsigned row, unsigned col) {
    int64_t rows = t->shape.size[row], cols = t->shape.size[col];
    int64_t sr = t->stride[row], sc = t->stride[col];
    return (sc == 1 && sr >= (cols > 1 ? cols : 1)) || (sr == 1 && sc >= (rows > 1 ? rows : 1));
}

static struct tensor *prepare(struct tape *tape, struct tensor *t) {
    unsigned n = t->shape.ndim;
    if (is_blas_layout(t, n - 2, n - 1))
        return tensor_ref(t);
    bool grad = tape->grad_enabled; /* the copy is below autograd */
    tape->grad_enabled = false;
    struct tensor *copy = aten_contiguous(tape, t);
    tape->grad_enabled = grad;
    return copy;
}

static void product_kernel(struct tape *tape, const char *name, struct tensor *a, struct tensor *b,
                           struct tensor *out) {
    uint64_t inner = (uint64_t)a->shape.size[a->shape.ndim - 1];
    tape_kernel(tape, name, 2 * inner * (uint64_t)shape_numel(&out->shape),
                tensor_nbytes(a) + tensor_nbytes(b) + tensor_nbytes(out), out->dtype);
}

static bool check_product(struct tape *tape, const char *name, struct tensor *a, struct tensor *b,
                          unsigned ndim) {
    unsigned n = ndim;
    if (a->shape.ndim == n && b->shape.ndim == n && a->shape.size[n - 1] == b->shape.size[n - 2] &&
        a->dtype == b->dtype && (n == 2 || a->shape.size[0] == b->shape.size[0]))
        return true;
    char x[128], y[128];
    tape_fail(tape, ERROR_BAD_SCENARIO, "%s: cannot multiply %s (%s) by %s (%s)", name,
              shape_format(&a->shape, x, sizeof x), dtype_name(a->dtype),
              shape_format(&b->shape, y, sizeof y), dtype_name(b->dtype));
    return false;
}

static bool is_outer_product(const struct tape *tape, const char *name, const struct tensor *a) {
    return tape->framework->bmm_outer_product && strcmp(name, "bmm") == 0 && a->shape.size[2] == 1;
}

static struct tensor *product(struct tape *tape, const char *name, struct tensor *a,
                              struct tensor *b, bool fused_bias) {
    struct shape shape = a->shape;
    shape.size[shape.ndim - 1] = b->shape.size[b->shape.ndim - 1];
    struct tensor *out = tape_new(tape, a->dtype, &shape);
    if (shape_numel(&shape) == 0)
        return out;
    if (is_outer_product(tape, name, a)) {
        product_kernel(tape, name, a, b, out);
        return out;
    }
    struct tensor *pa = prepare(tape, a), *pb = prepare(tape, b);
    struct tensor *workspace = take_workspace(tape, fused_bias);
    product_kernel(tape, name, a, b, out);
    tensor_unref(tape, workspace);
    tensor_unref(tape, pa);
    tensor_unref(tape, pb);
    return out;
}

static bool is_column_major(const struct tensor *t) {
    return t->stride[0] == 1 && t->stride[1] == t->shape.size[0];
}

/* FunctionsManual.cpp mm_mat1_grad: a result for a column-major input is made column-major. */
static struct tensor *grad_mat1(struct tape *tape, struct tensor *grad, struct tensor *mat2,
                                bool mat1_column_major) {
    struct tensor *transposed, *out;
    if (mat1_column_major) { /* mat2.mm(grad.t()).t() */
        transposed = aten_t(tape, grad);
        struct tensor *p = product(tape, "mm", mat2, transposed, false);
        out = aten_t(tape, p);
        tensor_unref(tape, p);
    } else {
        transposed = aten_t(tape, mat2);
        out = product(tape, "mm", grad, transposed, false);
    }
    tensor_unref(tape, transposed);
    return out;
}

static struct tensor *grad_mat2(struct tape *tape, struct tensor *grad, struct tensor *mat1,
                                bool mat2_column_major) {
    struct tensor *transposed, *out;
    if (mat2_column_major) { /* grad.t().mm(mat1).t() */
        transposed = aten_t(tape, grad);
        struct tensor *p = product(tape, "mm", transposed, mat1, false);
        out = aten_t(tape, p);
        tensor_unref(tape, p);
    } else {
        transposed = aten_t(tape, mat1);
        out = product(tape, "mm", transposed, grad, false);
    }
    tensor_unref(tape, transposed);
    return out;
}

/* saved[0] = self, saved[1] = mat2; args: [0], [1] whether each is column-major */
static void backward_mm(struct tape *tape, struct node *node, struct tensor **grads,
                        struct tensor **out) {
    if (node_wants(node, 1))
        out[1] = grad_mat2(tape, grads[0], node->saved[0], node->args[1] != 0);
    if (node_wants(node, 0))
        out[0] = grad_mat1(tape, grads[0], node->saved[1], node->args[0] != 0);
}

static const struct backward_op mm_backward = {"MmBackward0", backward_mm};

static void save_operands(struct tape *tape, struct node *node, unsigned first, struct tensor *a,
                          struct tensor *b) {
    if (!node)
        return;
    /* by name: mm and bmm call them self and mat2, addmm mat1 and mat2 */
    bool second_first = first == 0;
    if (second_first && node_wants(node, first))
        node_save(tape, node, 1, b);
    if (node_wants(node, first + 1))
        node_save(tape, node, 0, a);
    if (!second_first && node_wants(node, first))
        node_save(tape, node, 1, b);
    node->args[0] = is_column_major(a);
    node->args[1] = is_column_major(b);
}

struct tensor *aten_mm(struct tape *tape, struct tensor *a, struct tensor *b) {
    if (!check_product(tape, "mm", a, b, 2))
        return tensor_ref(a);
    struct tensor *in[2] = {a, b};
    struct node *node = node_create(tape, &mm_backward, in, 2, 1);
    save_operands(tape, node, 0, a, b);
    struct tensor *out = product(tape, "mm", a, b, false);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

/* Edges: bias, mat1, mat2; the gradients come in the order mat1, mat2, bias, the bias' sum by the
 * engine. */
static void backward_addmm(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    if (node_wants(node, 1))
        out[1] = grad_mat1(tape, grads[0], node->saved[1], node->args[0] != 0);
    if (node_wants(node, 2))
        out[2] = grad_mat2(tape, grads[0], node->saved[0], node->args[1] != 0);
    if (node_wants(node, 0))
        out[0] = tensor_ref(grads[0]);
}

static const struct backward_op addmm_backward = {"AddmmBackward0", backward_addmm};

/* The cuBLASLt path of addmm (Blas.cpp, isInputCompliesAddmmCudaLt; what 2.15 does was tried out,
 * shape by shape): never when the second matrix has one row or one column. A contiguous bias of the
 * output's width (1-dim, or seen so without its dims of size 1) is fused when beta is 1; where the
 * framework has it, a 16-bit bias of the output's shape goes in as the C matrix, if its rows lie
 * contiguously and beta is not 0. Earlier releases leave out single rows (framework.h). */
static bool has_fused_bias(const struct framework *framework, const struct tensor *bias,
                           const struct tensor *a, const struct tensor *b, double beta) {
    int64_t rows = a->shape.size[0], cols = b->shape.size[1];
    unsigned n = bias->shape.ndim;
    if (b->shape.size[0] <= 1 || cols <= 1 || n == 0)
        return false;
    if (rows <= 1 && !framework->cublaslt_single_row)
        return false;
    if (bias->shape.size[n - 1] == cols && shape_numel(&bias->shape) == cols)
        return tensor_is_contiguous(bias) && beta == 1 && (n == 1 || framework->cublaslt_row_bias);
    return framework->cublaslt_matrix_bias && dtype_bytes(bias->dtype) == 2 && beta != 0 &&
           n == 2 && bias->shape.size[0] == rows && bias->shape.size[1] == cols &&
           bias->stride[1] == 1 && bias->stride[0] >= cols;
}

struct tensor *aten_addmm(struct tape *tape, struct tensor *bias, struct tensor *a,
                          struct tensor *b, double beta, double alpha) {
    if (!check_product(tape, "addmm", a, b, 2))
        return tensor_ref(a);
    struct tensor *in[3] = {bias, a, b};
    struct node *node = node_create(tape, &addmm_backward, in, 3, 1);
    if (node && (beta != 1 || alpha != 1))
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "addmm: its gradient with beta or alpha is not modelled yet");
    save_operands(tape, node, 1, a, b);
    bool fused = has_fused_bias(tape->framework, bias, a, b, beta);
    struct tensor *out = product(tape, "addmm", a, b, fused);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

/* saved[0] = self, saved[1] = mat2 */
static void backward_bmm(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    if (node_wants(node, 1)) {
        struct tensor *transposed = aten_transpose(tape, node->saved[0], 1, 2);
        out[1] = product(tape, "bmm", transposed, grads[0], false);
        tensor_unref(tape, transposed);
    }
    if (node_wants(node, 0)) {
        struct tensor *transposed = aten_transpose(tape, node->saved[1], 1, 2);
        out[0] = product(tape, "bmm", grads[0], transposed, false);
        tensor_unref(tape, transposed);
    }
}

static const struct backward_op bmm_backward = {"BmmBackward0", backward_bmm};

struct tensor *aten_bmm(struct tape *tape, struct tensor *a, struct tensor *b) {
    if (!check_product(tape, "bmm", a, b, 3))
        return tensor_ref(a);
    struct tensor *in[2] = {a, b};
    struct node *node = node_create(tape, &bmm_backward, in, 2, 1);
    save_operands(tape, node, 0, a, b);
    struct tensor *out = product(tape, "bmm", a, b, false);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

/* baddbmm: beta * self + alpha * batch1 @ batch2. Edges: self, batch1, batch2. Gradients: batch1,
 * batch2, then self, each scaled by its factor unless that is 1 (maybe_multiply). args: [2] alpha,
 * [3] beta are not 1 */
static void backward_baddbmm(struct tape *tape, struct node *node, struct tensor **grads,
                             struct tensor **out) {
    for (unsigned i = 1; i < 3; i++) {
        if (!node_wants(node, i))
            continue;
        struct tensor *transposed = aten_transpose(tape, node->saved[i == 1], 1, 2);
        struct tensor *p = i == 1 ? product(tape, "bmm", grads[0], transposed, false)
                                  : product(tape, "bmm", transposed, grads[0], false);
        out[i] = node->args[2] ? elementwise(tape, "mul", p->dtype, &p, 1) : tensor_ref(p);
        tensor_unref(tape, transposed);
        tensor_unref(tape, p);
    }
    if (node_wants(node, 0))
        out[0] = node->args[3] ? elementwise(tape, "mul", grads[0]->dtype, grads, 1)
                               : tensor_ref(grads[0]);
}

static const struct backward_op baddbmm_backward = {"BaddbmmBackward0", backward_baddbmm};

static void run_baddbmm(struct tape *tape, struct op_call *call) {
    struct tensor *a = call->arg[1].tensor, *b = call->arg[2].tensor;
    struct tensor *in[3] = {call->arg[0].tensor, a, b};
    if (!check_product(tape, "baddbmm", a, b, 3)) {
        call->out[call->out_count++] = tensor_ref(a);
        return;
    }
    struct node *node = node_create(tape, &baddbmm_backward, in, 3, 1);
    save_operands(tape, node, 1, a, b);
    if (node) {
        node->args[2] = call->arg[4].number != 1;
        node->args[3] = call->arg[3].number != 1;
    }
    struct tensor *out = product(tape, "baddbmm", a, b, false);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    call->out[call->out_count++] = out;
}

static void run_mm(struct tape *tape, struct op_call *call) {
    call->out[call->out_count++] = aten_mm(tape, call->arg[0].tensor, call->arg[1].tensor);
}

static void run_bmm(struct tape *tape, struct op_call *call) {
    call->out[call->out_count++] = aten_bmm(tape, call->arg[0].tensor, call->arg[1].tensor);
}

static void run_addmm(struct tape *tape, struct op_call *call) {
    call->out[call->out_count++] =
        aten_addmm(tape, call->arg[0].tensor, call->arg[1].tensor, call->arg[2].tensor,
                   call->arg[3].number, call->arg[4].number);
}

/* mm(out=), addmm(out=), addmm_ of matrices that lie as cuBLAS takes them: nothing but its
 * workspace. */
static void run_mm_(struct tape *tape, struct op_call *call) {
    struct tensor *out = call->arg[0].tensor, *a = call->arg[1].tensor, *b = call->arg[2].tensor;
    op_refuse_gradient(tape, call);
    if (out->shape.ndim != 2 || a->shape.ndim != 2 || b->shape.ndim != 2 ||
        a->shape.size[1] != b->shape.size[0] || out->shape.size[0] != a->shape.size[0] ||
        out->shape.size[1] != b->shape.size[1]) {
        char x[128], y[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "mm_: %s and %s do not give the shape of self",
                  shape_format(&a->shape, x, sizeof x), shape_format(&b->shape, y, sizeof y));
    } else {
        aten_product_workspace(tape);
        tape_kernel(tape, "mm", 2 * (uint64_t)shape_numel(&out->shape) * (uint64_t)a->shape.size[1],
                    tensor_nbytes(a) + tensor_nbytes(b) + tensor_nbytes(out), a->dtype);
    }
    op_give(call, tensor_ref(out));
}

const struct op ops_matmul[] = {
    {"mm", "self:T mat2:T", AUTOCAST_LOW, "product of two matrices", run_mm, NULL},
    {"bmm", "self:T mat2:T", AUTOCAST_LOW, "products of two batches of matrices", run_bmm, NULL},
    {"baddbmm", "self:T batch1:T batch2:T beta:f=1 alpha:f=1", AUTOCAST_LOW,
     "beta * self + alpha * batch1 @ batch2", run_baddbmm, NULL},
    {"addmm", "bias:T mat1:T mat2:T beta:f=1 alpha:f=1", AUTOCAST_LOW,
     "beta * bias + alpha * mat1 @ mat2", run_addmm, NULL},
    {"mm_", "self:T mat1:T mat2:T", AUTOCAST_NONE, "self becomes the product, or takes it", run_mm_,
     "aten::mm"},
    {0},
};

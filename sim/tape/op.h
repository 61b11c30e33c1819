/* op.h: the table of ops that a scenario can call. A row names an op as PyTorch does, says how its
 * arguments are written and what autocast does to it; the file that holds the row's function holds
 * its backward too. */
#ifndef OP_H
#define OP_H

#include "aten.h"
#include "node.h"

enum { OP_MAX_ARGS = 10, OP_MAX_OUTPUTS = 32 };

/* One argument as the scenario gave it. */
struct op_arg {
    bool given;
    struct tensor *tensor; /* kinds T and X: the tensor; else NULL */
    int64_t integer;       /* i, b, X (number), d (enum dtype) */
    double number;         /* f, X */
    bool floating;         /* X: the number was a float */
    const char *text;      /* s; op_dtype_marker for a given d */
    struct tensor **list;  /* L */
    size_t list_count;
    struct shape shape; /* I */
};

struct op_call {
    const struct op *op;
    const char *trace_name; /* of the op, kept by the caller; NULL: looked up */
    struct op_arg arg[OP_MAX_ARGS];
    struct tensor *out[OP_MAX_OUTPUTS]; /* owned by the caller */
    unsigned out_count;
    /* ops with as many results as inputs: filled by the op, array freed with xfree */
    struct tensor **out_list;
    size_t out_list_count;
};

struct op {
    /* in a scenario: torch.NAME(...) and, when the first argument is a tensor, tensor:NAME(...) */
    const char *name;
    /* "self:T other:X alpha:f=1 dim:i=-1 shape:I dtype:d? list:L": name:kind, =default, ? optional
     * (= nil). T tensor, X tensor or number, L list of tensors, i integer, f number, b boolean, d
     * dtype, s string, I sizes (a list, or all remaining integers). */
    const char *signature;
    enum autocast_policy autocast;
    const char *doc;
    void (*run)(struct tape *tape, struct op_call *call);
    const char *trace_name; /* what a trace calls it, "aten::mm"; NULL: "aten::" + name is used */
};

/* Tables of rows, each in the file of its functions, ended by a row without a name. */
extern const struct op ops_factory[], ops_elementwise[], ops_activation[], ops_reduce[], ops_view[],
    ops_join[], ops_matmul[], ops_linear[], ops_softmax[], ops_loss[], ops_embedding[],
    ops_attention[], ops_scan[], ops_foreach[], ops_fused[], ops_device_copy[], ops_norm[],
    ops_dropout[], ops_split[];
extern const struct op ops_index[], ops_grouped[], ops_float8[];
extern const struct op ops_format[], ops_conv[], ops_norm_batch[], ops_pool[], ops_rnn[],
    ops_unbind[], ops_masked[], ops_dims[], ops_einsum[];
extern const struct op ops_norm_group[], ops_overwrite[], ops_norm_vector[], ops_upsample[],
    ops_quantized[], ops_nonzero[];
extern const struct op ops_activation_fused[], ops_math[], ops_extreme[], ops_moments[],
    ops_blend[], ops_loss_pair[], ops_scatter[], ops_vector_product[], ops_pool_nd[], ops_pixels[],
    ops_norm_rms[], ops_complex[];

extern const char *const op_dtype_marker; /* text of a dtype argument that was given */

/* All rows in table order; NULL after the last. */
const struct op *op_row(size_t index);

/* ---- for rows ---- */

void op_give(struct op_call *call, struct tensor *t); /* the next output */
/* ... as the node's one output; the last call of an op that is recorded. */
void op_give_recorded(struct tape *tape, struct op_call *call, struct node *node,
                      struct tensor *out);
/* The dim that an argument names of the first tensor's; 0 after tape_fail when there is none. */
unsigned op_dim(struct tape *tape, const struct op_call *call, const struct op_arg *arg);
/* The dims that a list of them names, as a mask; all without one. */
uint32_t op_dims(struct tape *tape, const struct op_call *call, const struct op_arg *arg);
/* Fails when gradients are on and one of the call's tensors requires one: the op has no formula. */
void op_refuse_gradient(struct tape *tape, const struct op_call *call);

/* Runs an op with autocast applied and tells the sink's record. Arguments are borrowed. */
void op_run(struct tape *tape, struct op_call *call);

#endif

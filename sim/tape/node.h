/* node.h: the autograd graph. A node is the backward of one recorded op: edges to the nodes of its
 * inputs, the tensors saved for backward, and the numbers its formula needs.
 *
 *   output tensor -> node (MmBackward0) -> edges -> nodes of the inputs / AccumulateGrad of the
 * leaves
 *
 * Sources: torch/csrc/autograd (engine.cpp, input_buffer.cpp, functions/accumulate_grad.h),
 * derivatives.yaml of 2.15. Ownership: nodes are counted by output tensors, by edges and by a
 * running backward. */
#ifndef NODE_H
#define NODE_H

#include "tape.h"

struct node;

enum { NODE_MAX_SAVED = 8, NODE_MAX_ARGS = 12, NODE_POOLED = 4 };

/* A node's backward in the hands of the host (torch.autograd.Function). */
struct node_function {
    void *user;
    /* As backward_op.run. */
    void (*run)(void *user, struct tape *tape, struct node *node, struct tensor **grads,
                struct tensor **out);
    void (*drop)(void *user);
};

/* What few nodes have: values packed by hooks, a function of the host. */
struct node_extra {
    struct {
        const struct saved_hooks *hooks;
        void *value;
        unsigned slot;
    } packed[NODE_MAX_SAVED]; /* in the order of saving */
    unsigned packed_count;
    struct node_function function;
    struct node_extra *next; /* free */
};

struct backward_op {
    const char *name; /* "MmBackward0" */
    /* Computes into out[i] (owned by the caller) the gradient of edge i, or leaves NULL. grads[i]
     * is that of output i, borrowed, NULL when undefined. */
    void (*run)(struct tape *tape, struct node *node, struct tensor **grads, struct tensor **out);
};

struct edge {
    struct node *node;  /* counted; NULL: no gradient wanted */
    uint16_t input_nr;  /* which output of `node`'s op */
    enum dtype dtype;   /* of the forward input, */
    struct shape shape; /* and its shape: gradients are brought to these */
};

struct node {
    const struct backward_op *op;
    uint32_t refs;
    uint64_t sequence; /* UINT64_MAX: AccumulateGrad */
    uint32_t owner;    /* string of the tape: module path of the forward op */
    uint16_t edge_count, output_count;
    struct edge *edges;
    /* gradients that have arrived, one an output; filled during backward */
    struct tensor **buffers;
    struct tensor *saved[NODE_MAX_SAVED];
    int64_t args[NODE_MAX_ARGS];
    struct node_extra *extra; /* NULL: nothing of it */
    struct tensor *variable;  /* AccumulateGrad: the leaf, counted */
    uint32_t dependencies;    /* during backward: edges that have still to deliver */
    uint32_t mark;            /* during backward: number of the run that visited it */
    bool released;            /* backward has run it and let go what it had saved */
    bool pooled;              /* has room for NODE_POOLED edges and returns to the pool */
};

/* A node for an op over `inputs` (NULL entries are skipped but keep their edge) when gradients are
 * on and one of them requires grad; else NULL. node_* below accept NULL and do nothing. */
struct node *node_create(struct tape *tape, const struct backward_op *op,
                         struct tensor *const *inputs, unsigned input_count, unsigned output_count);
/* A node of a host's function under `name` (kept by the caller); `function` passes to it. NULL as
 * node_create, then the function stays the caller's. */
struct node *node_create_function(struct tape *tape, const struct backward_op *op,
                                  const struct node_function *function,
                                  struct tensor *const *inputs, unsigned input_count,
                                  unsigned output_count);
extern void backward_function(struct tape *tape, struct node *node, struct tensor **grads,
                              struct tensor **out);
/* Saves t's data (not its history): t's storage lives until the node has run. The order of the
 * calls is that of saved-tensor hooks: PyTorch's generated code has an op's saved inputs by name,
 * then its saved outputs by name. */
void node_save(struct tape *tape, struct node *node, unsigned slot, struct tensor *t);
/* Makes `t` output `output_nr` of the node. */
void node_set_output(struct node *node, struct tensor *t, unsigned output_nr);
/* The same for an op that wrote into `t`: its history now goes on with the node. Fails for a leaf
 * that requires grad, as PyTorch does. */
void node_rebase(struct tape *tape, struct node *node, struct tensor *t);
/* The last call of an op: drops the creator's reference. */
void node_finish(struct tape *tape, struct node *node);
bool node_wants(const struct node *node, unsigned edge);
void node_unref(struct tape *tape, struct node *node);
/* What hooks packed becomes tensors in `saved`, slot by slot; goes when the formula has run; is
 * dropped for good. */
void node_unpack(struct tape *tape, struct node *node);
void node_release_unpacked(struct tape *tape, struct node *node);
void node_release_saved(struct tape *tape, struct node *node);
bool node_has_saved(const struct node *node);

/* root.backward(gradient, retain_graph): without a gradient (NULL) `root` must be a scalar. May run
 * within a node of another backward, as a reentrant checkpoint does. retain_graph: what the nodes
 * saved stays. */
void backward_run(struct tape *tape, struct tensor *root, struct tensor *gradient,
                  bool retain_graph);

#endif

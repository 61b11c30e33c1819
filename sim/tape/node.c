/* node.c: making, saving and dropping autograd nodes. See node.h; the run of backward is in
 * backward.c. */
#include "node.h"

#include <assert.h>
#include <string.h>

static const struct backward_op accumulate_grad = {"torch::autograd::AccumulateGrad", NULL};

static struct node *allocate(struct tape *tape, unsigned edges, unsigned outputs) {
    bool pooled = edges <= NODE_POOLED && outputs <= NODE_POOLED;
    if (pooled) {
        edges = outputs = NODE_POOLED;
        if (tape->free_nodes) {
            struct node *node = tape->free_nodes;
            tape->free_nodes = node->edges[0].node;
            struct edge *kept_edges = node->edges;
            struct tensor **kept_buffers = node->buffers;
            memset(node, 0, sizeof *node);
            memset(kept_edges, 0, NODE_POOLED * sizeof *kept_edges);
            node->edges = kept_edges;
            node->buffers = kept_buffers;
            node->pooled = true;
            return node;
        }
    }
    struct node *node = arena_calloc(&tape->arena, 1, sizeof *node);
    struct edge *e = arena_calloc(&tape->arena, edges ? edges : 1, sizeof *e);
    struct tensor **buffers = arena_calloc(&tape->arena, outputs ? outputs : 1, sizeof *buffers);
    if (!node || !e || !buffers) {
        tape_fail_memory(tape);
        return NULL;
    }
    node->edges = e;
    node->buffers = buffers;
    node->pooled = pooled;
    return node;
}

/* The AccumulateGrad node of a leaf: one while any graph refers to it. */
static struct node *accumulate_node(struct tape *tape, struct tensor *leaf) {
    if (leaf->accumulate) {
        leaf->accumulate->refs++;
        return leaf->accumulate;
    }
    struct node *node = allocate(tape, 0, 1);
    if (!node)
        return NULL;
    node->op = &accumulate_grad;
    node->refs = 1;
    node->sequence = UINT64_MAX;
    node->output_count = 1;
    node->owner = leaf->owner;
    node->variable = tensor_ref(leaf);
    leaf->accumulate = node;
    return node;
}

static void fill_edge(struct tape *tape, struct edge *edge, struct tensor *t) {
    if (!t)
        return;
    edge->dtype = t->dtype;
    edge->shape = t->shape;
    if (!t->requires_grad)
        return;
    if (t->grad_fn) {
        edge->node = t->grad_fn;
        edge->node->refs++;
        edge->input_nr = t->output_nr;
    } else {
        edge->node = accumulate_node(tape, t);
    }
}

struct node *node_create(struct tape *tape, const struct backward_op *op,
                         struct tensor *const *inputs, unsigned input_count,
                         unsigned output_count) {
    if (!tape->grad_enabled || tape->status != TAPE_OK)
        return NULL;
    bool needed = false;
    for (unsigned i = 0; i < input_count; i++)
        needed = needed || (inputs[i] && inputs[i]->requires_grad);
    if (!needed)
        return NULL;
    if (input_count > UINT16_MAX || output_count > UINT16_MAX) {
        tape_fail(tape, ERROR_LIMIT, "%s: more than %d tensors", op->name, UINT16_MAX);
        return NULL;
    }
    struct node *node = allocate(tape, input_count, output_count);
    if (!node)
        return NULL;
    node->op = op;
    node->refs = 1;
    node->sequence = tape->sequence++;
    node->owner = tape->modules.count ? *array_last(&tape->modules) : 0;
    node->edge_count = (uint16_t)input_count;
    node->output_count = (uint16_t)output_count;
    for (unsigned i = 0; i < input_count; i++)
        fill_edge(tape, &node->edges[i], inputs[i]);
    return node;
}

static struct node_extra *extra_of(struct tape *tape, struct node *node) {
    struct node_extra *extra = node->extra;
    if (extra)
        return extra;
    extra = tape->free_extras;
    if (extra) {
        tape->free_extras = extra->next;
        memset(extra, 0, sizeof *extra);
    } else {
        extra = arena_calloc(&tape->arena, 1, sizeof *extra);
        if (!extra)
            tape_fail_memory(tape);
    }
    node->extra = extra;
    return extra;
}

/* Below autograd, as all hooks run. Nothing is packed any more once something was raised. */
static void pack(struct tape *tape, struct node *node, unsigned slot, struct tensor *t) {
    const struct saved_hooks *hooks = tape->saved_hooks;
    struct node_extra *extra = tape->status == TAPE_OK ? extra_of(tape, node) : NULL;
    if (!extra)
        return;
    bool grad_enabled = tape->grad_enabled;
    tape->grad_enabled = false;
    struct tensor *data = tape_detach(tape, t); /* an output may not have its history yet */
    void *value = hooks->pack(hooks->user, data);
    tensor_unref(tape, data);
    tape->grad_enabled = grad_enabled;
    if (!value)
        return;
    extra->packed[extra->packed_count].hooks = hooks;
    extra->packed[extra->packed_count].value = value;
    extra->packed[extra->packed_count++].slot = slot;
}

void node_unpack(struct tape *tape, struct node *node) {
    const struct node_extra *extra = node->extra;
    for (unsigned i = 0; extra && i < extra->packed_count && tape->status == TAPE_OK; i++) {
        const struct saved_hooks *hooks = extra->packed[i].hooks;
        node->saved[extra->packed[i].slot] = hooks->unpack(hooks->user, extra->packed[i].value);
    }
}

void node_release_unpacked(struct tape *tape, struct node *node) {
    for (unsigned i = 0; node->extra && i < node->extra->packed_count; i++) {
        unsigned slot = node->extra->packed[i].slot;
        tensor_unref(tape, node->saved[slot]);
        node->saved[slot] = NULL;
    }
}

static void drop_packed(struct node_extra *extra) {
    unsigned count = extra->packed_count;
    extra->packed_count = 0;
    for (unsigned i = 0; i < count; i++)
        extra->packed[i].hooks->drop(extra->packed[i].hooks->user, extra->packed[i].value);
}

bool node_has_saved(const struct node *node) {
    for (unsigned i = 0; i < NODE_MAX_SAVED; i++)
        if (node->saved[i])
            return true;
    return node->extra && node->extra->packed_count > 0;
}

void node_release_saved(struct tape *tape, struct node *node) {
    for (unsigned i = 0; i < NODE_MAX_SAVED; i++) {
        tensor_unref(tape, node->saved[i]); /* saved tensors have no history: no recursion */
        node->saved[i] = NULL;
    }
    if (node->extra)
        drop_packed(node->extra);
}

void node_save(struct tape *tape, struct node *node, unsigned slot, struct tensor *t) {
    if (!node || !t)
        return;
    assert(slot < NODE_MAX_SAVED && !node->saved[slot]);
    if (tape->saved_hooks) {
        pack(tape, node, slot, t);
        return;
    }
    node->saved[slot] = tape_detach(tape, t);
    if (t->storage->category == CATEGORY_TEMPORARY)
        tape_set_category(tape, t, CATEGORY_ACTIVATION, false);
}

void node_set_output(struct node *node, struct tensor *t, unsigned output_nr) {
    if (!node || t->grad_fn)
        return;
    t->grad_fn = node;
    node->refs++;
    t->output_nr = (uint16_t)output_nr;
    t->requires_grad = true;
}

void node_rebase(struct tape *tape, struct node *node, struct tensor *t) {
    if (!node)
        return;
    if (t->requires_grad && !t->grad_fn) { /* its history would lead to itself */
        tape_fail(tape, ERROR_BAD_SCENARIO, "a leaf that requires grad is written in place");
        return;
    }
    if (t->is_view)
        tape_fail(tape, ERROR_BAD_SCENARIO, "writing into a view with gradients is not modelled");
    struct node *old = t->grad_fn;
    t->grad_fn = NULL;
    node_set_output(node, t, 0);
    if (old)
        node_unref(tape, old);
}

void node_finish(struct tape *tape, struct node *node) {
    if (node)
        node_unref(tape, node);
}

bool node_wants(const struct node *node, unsigned edge) {
    return node->edges[edge].node != NULL;
}

void backward_function(struct tape *tape, struct node *node, struct tensor **grads,
                       struct tensor **out) {
    const struct node_function *function = &node->extra->function;
    function->run(function->user, tape, node, grads, out);
}

struct node *node_create_function(struct tape *tape, const struct backward_op *op,
                                  const struct node_function *function,
                                  struct tensor *const *inputs, unsigned input_count,
                                  unsigned output_count) {
    struct node *node = node_create(tape, op, inputs, input_count, output_count);
    if (!node)
        return NULL;
    if (!extra_of(tape, node)) {
        node_unref(tape, node);
        return NULL;
    }
    node->extra->function = *function;
    return node;
}

/* Frees one node; nodes that lose their last reference are linked into *pending, so that a graph
 * thousands of nodes deep needs no stack. */
static void destroy(struct tape *tape, struct node *node, struct node **pending) {
    node_release_saved(tape, node);
    if (node->extra) {
        if (node->extra->function.drop)
            node->extra->function.drop(node->extra->function.user);
        node->extra->next = tape->free_extras;
        tape->free_extras = node->extra;
        node->extra = NULL;
    }
    for (unsigned i = 0; i < node->output_count; i++) {
        tensor_unref(tape, node->buffers[i]);
        node->buffers[i] = NULL;
    }
    for (unsigned i = 0; i < node->edge_count; i++) {
        struct node *next = node->edges[i].node;
        if (!next)
            continue;
        assert(next->refs > 0);
        if (--next->refs == 0) {
            next->mark = 0;
            memcpy(next->args, pending, sizeof *pending);
            *pending = next;
        }
    }
    if (node->variable) {
        node->variable->accumulate = NULL;
        tensor_unref(tape, node->variable);
    }
    if (node->pooled) {
        node->edges[0].node = tape->free_nodes;
        tape->free_nodes = node;
    }
}

void node_unref(struct tape *tape, struct node *node) {
    assert(node->refs > 0);
    if (--node->refs > 0)
        return;
    struct node *pending = NULL;
    destroy(tape, node, &pending);
    while (pending) {
        struct node *next = pending;
        memcpy(&pending, next->args, sizeof pending);
        destroy(tape, next, &pending);
    }
}

/* node.c: making, saving and dropping autograd nodes. See node.h; the run of backward is in backward.c. */
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

void node_save(struct tape *tape, struct node *node, unsigned slot, struct tensor *t) {
    if (!node || !t)
        return;
    assert(slot < NODE_MAX_SAVED && !node->saved[slot]);
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
    if (t->is_view && tape->status == TAPE_OK)
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

/* Frees one node; nodes that lose their last reference are linked into *pending, so that a graph thousands of nodes
 * deep needs no stack. */
static void destroy(struct tape *tape, struct node *node, struct node **pending) {
    for (unsigned i = 0; i < NODE_MAX_SAVED; i++) {
        tensor_unref(tape, node->saved[i]); /* saved tensors have no history: no recursion */
        node->saved[i] = NULL;
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

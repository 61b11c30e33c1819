/* backward.c: the engine that runs an autograd graph, as torch/csrc/autograd/engine.cpp does on one
 * device thread: nodes are popped by sequence number, highest first (AccumulateGrad before all); a
 * node's incoming gradients live until its function has run; then its saved tensors go; then its
 * results are delivered, added in place where the buffered gradient is dense and nobody else holds
 * its storage (input_buffer.cpp). */
#include <assert.h>
#include <string.h>

#include "aten.h"
#include "node.h"

/* What a backward that is still running has noted on a node which an inner one visits too: the
 * AccumulateGrad of a leaf that both reach. */
struct shared_node {
    struct node *node;
    struct tensor *buffer;
    uint32_t mark, dependencies;
};

struct engine_run {
    ARRAY(struct node *) ready; /* max-heap by sequence */
    ARRAY(struct node *) stack;
    ARRAY(struct shared_node) shared;
    struct engine_run *outer; /* runs the node that this one runs in */
    uint32_t mark;
    bool retain_graph;
};

static void heap_push(struct tape *tape, struct engine_run *engine, struct node *node) {
    if (!array_push(&engine->ready, node)) {
        tape_fail_memory(tape);
        return;
    }
    struct node **at = engine->ready.at;
    size_t i = engine->ready.count - 1;
    while (i > 0 && at[(i - 1) / 2]->sequence < at[i]->sequence) {
        struct node *swap = at[i];
        at[i] = at[(i - 1) / 2];
        at[(i - 1) / 2] = swap;
        i = (i - 1) / 2;
    }
}

static struct node *heap_pop(struct engine_run *engine) {
    struct node **at = engine->ready.at;
    struct node *top = at[0];
    struct node *last = array_pop(&engine->ready);
    size_t count = engine->ready.count, i = 0;
    if (count == 0)
        return top;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= count)
            break;
        if (child + 1 < count && at[child + 1]->sequence > at[child]->sequence)
            child++;
        if (at[child]->sequence <= last->sequence)
            break;
        at[i] = at[child];
        i = child;
    }
    at[i] = last;
    return top;
}

static bool is_in_outer(const struct engine_run *engine, const struct node *node) {
    for (const struct engine_run *e = engine->outer; e; e = e->outer)
        if (node->mark == e->mark)
            return true;
    return false;
}

/* The first visit of this run. */
static void visit(struct tape *tape, struct engine_run *engine, struct node *node) {
    if (is_in_outer(engine, node)) {
        struct shared_node shared = {node, node->output_count ? node->buffers[0] : NULL, node->mark,
                                     node->dependencies};
        if (!array_push(&engine->shared, shared))
            tape_fail_memory(tape);
        if (node->output_count)
            node->buffers[0] = NULL;
    }
    node->mark = engine->mark;
    node->dependencies = 0;
    if (!array_push(&engine->stack, node))
        tape_fail_memory(tape);
}

static void give_back_shared(struct engine_run *engine) {
    for (size_t i = 0; i < engine->shared.count; i++) {
        const struct shared_node *shared = &engine->shared.at[i];
        shared->node->mark = shared->mark;
        shared->node->dependencies = shared->dependencies;
        if (shared->node->output_count)
            shared->node->buffers[0] = shared->buffer;
    }
}

/* Counts, for every node that can be reached, the edges that will deliver to it. */
static void count_dependencies(struct tape *tape, struct engine_run *engine, struct node *root) {
    visit(tape, engine, root);
    while (engine->stack.count > 0 && tape->status == TAPE_OK) {
        struct node *node = array_pop(&engine->stack);
        for (unsigned i = 0; i < node->edge_count; i++) {
            struct node *next = node->edges[i].node;
            if (!next)
                continue;
            if (next->mark != engine->mark)
                visit(tape, engine, next);
            next->dependencies++;
        }
    }
}

/* Adds *gradient (owned) into the buffer of a node's output, or moves it there. What was added goes
 * with the node's other results (InputBuffer::add moves from it only into an empty buffer). */
static void buffer_add(struct tape *tape, struct tensor **buffer, struct tensor **gradient) {
    struct tensor *old = *buffer;
    if (!old) {
        *buffer = *gradient;
        *gradient = NULL;
        return;
    }
    bool in_place =
        old->refs == 1 && old->storage->refs == 1 && !old->is_view && tensor_is_dense(old);
    if (in_place) {
        aten_add_(tape, old, *gradient);
    } else {
        *buffer = aten_add(tape, old, *gradient);
        tensor_unref(tape, old);
    }
}

/* A gradient is stolen when it has the leaf's layout (accumulate_grad.h, obeys_layout_contract). */
static bool same_layout(const struct tensor *gradient, const struct tensor *variable) {
    if (!tensor_is_dense(variable))
        return tensor_is_contiguous(gradient);
    for (unsigned i = 0; i < variable->shape.ndim; i++)
        if (gradient->shape.size[i] != 1 && gradient->stride[i] != variable->stride[i])
            return false;
    return true;
}

/* The leaf's gradient becomes `gradient`, or grows by it. */
static void accumulate_into(struct tape *tape, struct tensor *variable, struct tensor *gradient) {
    if (variable->grad) {
        aten_add_(tape, variable->grad, gradient);
        return;
    }
    if (gradient->refs == 1 && same_layout(gradient, variable)) {
        variable->grad = tape_detach(tape, gradient); /* no view any more */
        variable->grad->is_view = false;
    } else {
        variable->grad = aten_clone_strided(tape, gradient, variable->stride);
    }
    tape_set_category(tape, variable->grad, CATEGORY_GRADIENT, true);
    const char *owner = strtab_text(&tape->strings, variable->owner);
    tape_set_name(tape, variable->grad, owner, variable->name);
}

/* AccumulateGrad::apply: what arrived is held until its hook has run (new_grad). */
static void accumulate(struct tape *tape, struct node *node) {
    struct tensor *variable = node->variable, *gradient = node->buffers[0];
    node->buffers[0] = NULL;
    if (!gradient)
        return;
    accumulate_into(tape, variable, gradient);
    if (variable->has_hook && tape->accumulated && tape->status == TAPE_OK)
        tape->accumulated(tape->accumulated_user, variable);
    tensor_unref(tape, gradient);
}

static bool can_sum_to(struct tape *tape, const struct node *node, const struct shape *shape,
                       const struct shape *wanted) {
    struct shape both;
    char a[128], b[128];
    if (shape_broadcast(shape, wanted, &both) && shape_equal(&both, shape))
        return true;
    tape_fail(tape, ERROR_BAD_SCENARIO, "%s returned a gradient of shape %s for %s", node->op->name,
              shape_format(shape, a, sizeof a), shape_format(wanted, b, sizeof b));
    return false;
}

/* Brings results to shape and type of the forward inputs (engine.cpp validate_outputs). */
static void validate_outputs(struct tape *tape, struct node *node, struct tensor **out) {
    for (unsigned i = 0; i < node->edge_count; i++) {
        const struct edge *edge = &node->edges[i];
        if (!out[i] || !edge->node)
            continue;
        if (!shape_equal(&out[i]->shape, &edge->shape)) {
            if (tape->status != TAPE_OK || !can_sum_to(tape, node, &out[i]->shape, &edge->shape))
                continue;
            struct tensor *summed = aten_sum_to(tape, out[i], &edge->shape);
            tensor_unref(tape, out[i]);
            out[i] = summed;
        }
        if (out[i]->dtype != edge->dtype) {
            struct tensor *cast = aten_to(tape, out[i], edge->dtype);
            tensor_unref(tape, out[i]);
            out[i] = cast;
        }
    }
}

static void run_node(struct tape *tape, struct engine_run *engine, struct node *node) {
    struct tensor *few[NODE_POOLED] = {NULL};
    struct tensor **out = few;
    if (node->edge_count > NODE_POOLED) {
        out = xcalloc(node->edge_count, sizeof *out);
        if (!out) {
            tape_fail_memory(tape);
            return;
        }
    }
    tape->op = node->op->name;
    tape->backward_owner = strtab_text(&tape->strings, node->owner);
    if (node->released)
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "backward: through %s a second time, whose saved tensors are gone",
                  node->op->name);
    node_unpack(tape, node);
    bool defined = false;
    for (unsigned i = 0; i < node->output_count; i++)
        defined = defined || node->buffers[i];
    if (defined && tape->status == TAPE_OK)
        node->op->run(tape, node, node->buffers, out);
    node_release_unpacked(tape, node);
    validate_outputs(tape, node, out);
    for (unsigned i = 0; i < node->output_count; i++) {
        tensor_unref(tape, node->buffers[i]);
        node->buffers[i] = NULL;
    }
    if (!engine->retain_graph) {
        node->released = node->released || node_has_saved(node);
        node_release_saved(tape, node);
    }
    for (unsigned i = 0; i < node->edge_count; i++) {
        struct node *next = node->edges[i].node;
        if (!next)
            continue;
        if (out[i])
            buffer_add(tape, &next->buffers[node->edges[i].input_nr], &out[i]);
        if (--next->dependencies == 0)
            heap_push(tape, engine, next);
    }
    for (unsigned i = 0; i < node->edge_count; i++)
        tensor_unref(tape, out[i]);
    if (out != few)
        xfree(out);
}

/* After something was raised: gradients on their way are let go with the run. */
static void abandon(struct tape *tape, struct engine_run *engine, struct node *root) {
    engine->mark = ++tape->backward_runs; /* another walk over the same nodes */
    engine->stack.count = 0;
    root->mark = engine->mark;
    bool walks = array_push(&engine->stack, root);
    while (walks && engine->stack.count > 0) {
        struct node *node = array_pop(&engine->stack);
        for (unsigned i = 0; i < node->output_count; i++) {
            tensor_unref(tape, node->buffers[i]);
            node->buffers[i] = NULL;
        }
        for (unsigned i = 0; walks && i < node->edge_count; i++) {
            struct node *next = node->edges[i].node;
            if (!next || next->mark == engine->mark)
                continue;
            next->mark = engine->mark;
            walks = array_push(&engine->stack, next);
        }
    }
}

static void run_graph(struct tape *tape, struct node *root, unsigned output_nr,
                      struct tensor *root_gradient, bool retain_graph) {
    struct engine_run engine = {
        .mark = ++tape->backward_runs, .outer = tape->engine_run, .retain_graph = retain_graph};
    tape->engine_run = &engine;
    count_dependencies(tape, &engine, root);
    root->buffers[output_nr] = tensor_ref(root_gradient);
    heap_push(tape, &engine, root);
    while (engine.ready.count > 0 && tape->status == TAPE_OK) {
        struct node *node = heap_pop(&engine);
        if (node->variable) {
            tape->op = node->op->name;
            tape->backward_owner = strtab_text(&tape->strings, node->owner);
            accumulate(tape, node);
        } else {
            run_node(tape, &engine, node);
        }
    }
    if (tape->status == TAPE_UNWINDING)
        abandon(tape, &engine, root);
    give_back_shared(&engine);
    tape->engine_run = engine.outer;
    array_fini(&engine.ready);
    array_fini(&engine.stack);
    array_fini(&engine.shared);
}

static bool check_root(struct tape *tape, const struct tensor *root,
                       const struct tensor *gradient) {
    char a[128], b[128];
    if (!root->requires_grad)
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "backward: the tensor does not require grad and has no history");
    else if (!gradient && shape_numel(&root->shape) != 1)
        tape_fail(tape, ERROR_BAD_SCENARIO, "backward: needs a scalar, found shape %s",
                  shape_format(&root->shape, a, sizeof a));
    else if (gradient && !shape_equal(&root->shape, &gradient->shape))
        tape_fail(
            tape, ERROR_BAD_SCENARIO, "backward: a gradient of shape %s for a tensor of shape %s",
            shape_format(&gradient->shape, a, sizeof a), shape_format(&root->shape, b, sizeof b));
    return tape->status == TAPE_OK;
}

void backward_run(struct tape *tape, struct tensor *root, struct tensor *gradient,
                  bool retain_graph) {
    if (tape->status != TAPE_OK || !check_root(tape, root, gradient))
        return;
    bool grad_enabled = tape->grad_enabled;
    /* held by the caller of backward to its end; another type is cast (validate_outputs) */
    tape->grad_enabled = false;
    struct tensor *first =
        gradient ? aten_to(tape, gradient, root->dtype) : aten_ones_like(tape, root);
    tape->grad_enabled = grad_enabled;
    if (root->grad_fn && tape->status == TAPE_OK) {
        unsigned thread = tape->thread;
        const char *op = tape->op, *owner = tape->backward_owner;
        tape->grad_enabled = false;
        tape->thread = 1;
        run_graph(tape, root->grad_fn, root->output_nr, first, retain_graph);
        tape->backward_owner = owner;
        tape->grad_enabled = grad_enabled;
        tape->thread = thread;
        tape->op = op;
    }
    tensor_unref(tape, first);
}

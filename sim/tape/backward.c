/* backward.c: the engine that runs an autograd graph, as torch/csrc/autograd/engine.cpp does on one device thread:
 * nodes are popped by sequence number, highest first (AccumulateGrad before all); a node's incoming gradients live until
 * its function has run; then its saved tensors go; then its results are delivered, added in place where the buffered
 * gradient is dense and nobody else holds its storage (input_buffer.cpp). */
#include <assert.h>
#include <string.h>

#include "aten.h"
#include "node.h"

struct engine {
    ARRAY(struct node *) ready; /* max-heap by sequence */
    ARRAY(struct node *) stack;
    uint32_t mark;
};

static void heap_push(struct tape *tape, struct engine *engine, struct node *node) {
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

static struct node *heap_pop(struct engine *engine) {
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

/* Counts, for every node that can be reached, the edges that will deliver to it. */
static void count_dependencies(struct tape *tape, struct engine *engine, struct node *root) {
    root->mark = engine->mark;
    root->dependencies = 0;
    if (!array_push(&engine->stack, root))
        tape_fail_memory(tape);
    while (engine->stack.count > 0 && tape->status == TAPE_OK) {
        struct node *node = array_pop(&engine->stack);
        for (unsigned i = 0; i < node->edge_count; i++) {
            struct node *next = node->edges[i].node;
            if (!next)
                continue;
            if (next->mark != engine->mark) {
                next->mark = engine->mark;
                next->dependencies = 0;
                if (!array_push(&engine->stack, next))
                    tape_fail_memory(tape);
            }
            next->dependencies++;
        }
    }
}

/* Adds `gradient` (owned) into the buffer of a node's output. */
static void buffer_add(struct tape *tape, struct tensor **buffer, struct tensor *gradient) {
    struct tensor *old = *buffer;
    if (!old) {
        *buffer = gradient;
        return;
    }
    bool in_place = old->refs == 1 && old->storage->refs == 1 && !old->is_view && tensor_is_dense(old);
    if (in_place) {
        aten_add_(tape, old, gradient);
    } else {
        *buffer = aten_add(tape, old, gradient);
        tensor_unref(tape, old);
    }
    tensor_unref(tape, gradient);
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

static void accumulate(struct tape *tape, struct node *node) {
    struct tensor *variable = node->variable, *gradient = node->buffers[0];
    node->buffers[0] = NULL;
    if (!gradient)
        return;
    if (variable->grad) {
        aten_add_(tape, variable->grad, gradient);
        tensor_unref(tape, gradient);
        return;
    }
    if (gradient->refs == 1 && same_layout(gradient, variable)) {
        variable->grad = gradient;
    } else {
        variable->grad = aten_clone_strided(tape, gradient, variable->stride);
        tensor_unref(tape, gradient);
    }
    tape_set_category(tape, variable->grad, CATEGORY_GRADIENT, true);
    const char *owner = strtab_text(&tape->strings, variable->owner);
    tape_set_name(tape, variable->grad, owner, variable->name);
}

/* Brings results to shape and type of the forward inputs (engine.cpp validate_outputs). */
static void validate_outputs(struct tape *tape, struct node *node, struct tensor **out) {
    for (unsigned i = 0; i < node->edge_count; i++) {
        const struct edge *edge = &node->edges[i];
        if (!out[i] || !edge->node)
            continue;
        if (!shape_equal(&out[i]->shape, &edge->shape)) {
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

static void run_node(struct tape *tape, struct engine *engine, struct node *node) {
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
    bool defined = false;
    for (unsigned i = 0; i < node->output_count; i++)
        defined = defined || node->buffers[i];
    if (defined)
        node->op->run(tape, node, node->buffers, out);
    validate_outputs(tape, node, out);
    for (unsigned i = 0; i < node->output_count; i++) {
        tensor_unref(tape, node->buffers[i]);
        node->buffers[i] = NULL;
    }
    for (unsigned i = 0; i < NODE_MAX_SAVED; i++) {
        tensor_unref(tape, node->saved[i]);
        node->saved[i] = NULL;
    }
    for (unsigned i = 0; i < node->edge_count; i++) {
        struct node *next = node->edges[i].node;
        if (!next) {
            tensor_unref(tape, out[i]);
            continue;
        }
        if (out[i])
            buffer_add(tape, &next->buffers[node->edges[i].input_nr], out[i]);
        if (--next->dependencies == 0)
            heap_push(tape, engine, next);
    }
    if (out != few)
        xfree(out);
}

static void run_graph(struct tape *tape, struct node *root, struct tensor *root_gradient) {
    struct engine engine = {.mark = ++tape->backward_runs};
    count_dependencies(tape, &engine, root);
    root->buffers[0] = tensor_ref(root_gradient);
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
    array_fini(&engine.ready);
    array_fini(&engine.stack);
}

void backward_run(struct tape *tape, struct tensor *root) {
    if (tape->status != TAPE_OK)
        return;
    if (!root->requires_grad) {
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "backward: the tensor does not require grad and has no history");
        return;
    }
    if (shape_numel(&root->shape) != 1) {
        char text[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "backward: needs a scalar, found shape %s",
                  shape_format(&root->shape, text, sizeof text));
        return;
    }
    struct tensor *one = aten_ones_like(tape, root); /* held by the caller of backward to its end */
    if (root->grad_fn) {
        bool grad_enabled = tape->grad_enabled;
        unsigned thread = tape->thread;
        const char *op = tape->op;
        tape->grad_enabled = false;
        tape->thread = 1;
        run_graph(tape, root->grad_fn, one);
        tape->backward_owner = NULL;
        tape->grad_enabled = grad_enabled;
        tape->thread = thread;
        tape->op = op;
    }
    tensor_unref(tape, one);
}

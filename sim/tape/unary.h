/* unary.h: what functions of one tensor have in common: a node, an elementwise kernel, what is saved
 * for the gradient (derivatives.yaml: `self` or `result`). */
#ifndef UNARY_H
#define UNARY_H

#include "op.h"

enum saves { SAVES_NOTHING, SAVES_INPUT, SAVES_OUTPUT };

/* The call's first tensor through a kernel of the op's name. An integer becomes a float where the
 * gradient would read a value. */
void unary(struct tape *tape, struct op_call *call, const struct backward_op *backward,
           enum saves saves);
/* The same in place. */
void unary_(struct tape *tape, struct op_call *call, const struct backward_op *backward,
            enum saves saves);
/* The gradient as one kernel from (gradient, saved[0]). */
void unary_backward(struct tape *tape, struct node *node, struct tensor **grads,
                    struct tensor **out);

#endif

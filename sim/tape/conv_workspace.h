/* conv_workspace.h: what a convolution of cuDNN may ask for while it runs.
 *
 * What a plan of cuDNN asks for follows from the plan; which plan cuDNN chooses is by heuristics that
 * are not published (conv_choice.h). So this is an estimate and no fact: never part of a comparison
 * with a recording that has no workspaces (a scenario sets torch.set_cudnn_workspace("none") there),
 * and named as an estimate where it is shown. */
#ifndef CONV_WORKSPACE_H
#define CONV_WORKSPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "dtype.h"

struct device;

enum conv_pass { CONV_FORWARD, CONV_BACKWARD_INPUT, CONV_BACKWARD_WEIGHT };

/* As cuDNN sees it: a transposed convolution's forward is the gradient of another's input, so `in` is
 * then its result. All sizes are positive. */
struct conv_problem {
    enum dtype dtype;
    bool channels_last;
    int64_t batch, in_channels, out_channels, groups;
    int64_t in_area, out_area, filter_area; /* of all spatial dims together */
    int64_t out_height, out_width, filter[2];
    int64_t stride, dilation; /* of the last dim */
    bool flat;                /* two spatial dims */
    bool unit_step;           /* all strides 1 */
    bool dilated;
    bool transposed;
};

/* Bytes; 0: none. */
uint64_t conv_workspace_estimate(const struct device *device, const struct conv_problem *problem,
                                 enum conv_pass pass);

#endif

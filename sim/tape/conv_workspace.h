/* conv_workspace.h: what a convolution of cuDNN may ask for while it runs.
 *
 * cuDNN chooses its algorithm, and with it the workspace, by heuristics that are not published. So
 * this is an estimate and no fact: never part of a comparison with a recording (a scenario sets
 * torch.set_cudnn_workspace("none") there), and named as an estimate where it is shown. */
#ifndef CONV_WORKSPACE_H
#define CONV_WORKSPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "dtype.h"

struct device;

enum conv_pass { CONV_FORWARD, CONV_BACKWARD_INPUT, CONV_BACKWARD_WEIGHT };

struct conv_problem {
    enum dtype dtype;
    bool channels_last;
    bool plain;     /* one group, no dilation, not transposed */
    bool unit_step; /* all strides 1 */
    int64_t filter[2];
    int64_t batch, in_channels, out_channels, out_height, out_width;
    uint64_t input_bytes, weight_bytes, output_bytes;
};

/* Bytes; 0: none. */
uint64_t conv_workspace_estimate(const struct device *device, const struct conv_problem *problem,
                                 enum conv_pass pass);

#endif

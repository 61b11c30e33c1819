/* conv_choice.h: which plan cuDNN takes for a convolution, as far as its workspace tells.
 *
 * A plan's workspace is copies of operands in another layout and scratch for sums that are made in
 * parts (conv_workspace.c). Which it is, cuDNN decides by the times that it expects. The choice here
 * is a tree of comparisons, grown from the answers of cuDNN 9.26 (conv_choice_table.inc, by
 * conv_choice_grow): right for nearly all problems that were asked, an estimate for others. */
#ifndef CONV_CHOICE_H
#define CONV_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "conv_workspace.h"

/* To what channels are rounded up where there is one group. */
enum conv_padding { CONV_PAD_FULL /* 16 bytes */, CONV_PAD_NONE, CONV_PAD_FOUR /* channels */ };

/* What layout the kernel reads and writes; operands in another are copied. */
enum conv_layout { CONV_ANY, CONV_NHWC, CONV_NCHW, CONV_NHWC_TO_NCHW };

enum conv_scratch {
    CONV_FIXED,  /* `count` bytes */
    CONV_SPLITS, /* `count` results in fp32 and a header */
    CONV_LOCKS,  /* a lock a tile and a header */
    CONV_TILES,  /* `count` results in fp32, in whole tiles, locks and a header */
    CONV_SUMS    /* `count` results in fp32, locks and a header */
};

struct conv_plan {
    enum conv_padding padding;
    enum conv_layout layout;
    bool converts; /* what is read is copied in any case: fp32 to TF32 */
    enum conv_scratch scratch;
    uint32_t count;
    uint16_t tile[2]; /* rows and columns of the product */
};

/* For products on tensor cores. Cards before Ampere were not asked: taken to go as the A100. */
const struct conv_plan *conv_choose(const struct device *device, const struct conv_problem *problem,
                                    enum conv_pass pass);

#endif

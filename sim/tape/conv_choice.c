/* conv_choice.c: see conv_choice.h. */
#include "conv_choice.h"

#include <stddef.h>

#include "device.h"
#include "size.h"

/* What a comparison looks at; the order is that of conv_choice_grow. */
enum feature {
    ARCHITECTURE,
    IS_16BIT,
    CHANNELS_LAST,
    FILTER,
    STRIDE,
    IN, /* channels a group */
    OUT,
    GROUPS,
    PIXELS, /* of the output, all images */
    IN_AREA,
    OUT_AREA,
    BATCH,
    DILATION,
    IN_POWER, /* the power of two in it, up to 16 */
    OUT_POWER,
    WORK, /* products, in 1024 */
    PIXELS_POWER,
    WINDOW,     /* filter times channels */
    TILES_128,  /* of the product, 128 by 128 */
    TILES_64,   /* 64 by 64 */
    INNER,      /* the product's inner size */
    OUT_WINDOW, /* filter times output's channels */
    INPUT,      /* elements */
    OUTPUT,
    FEATURES
};

enum { POWER_MAX = 16 };

/* `feature` < 0: a leaf, `bound` the index of its plan. Else at most `bound` goes on with the next
 * node, more with node `above`. */
struct conv_node {
    int8_t feature;
    int32_t bound;
    uint16_t above;
};

#include "conv_choice_table.inc"

static int64_t power_of_two(int64_t n) {
    int64_t power = n & -n;
    return power < POWER_MAX ? power : POWER_MAX;
}

/* Of a product of a group, `side` by `side`. */
static int64_t tiles(int64_t rows, int64_t columns, int64_t side) {
    return size_mul((rows - 1) / side + 1, (columns - 1) / side + 1);
}

static void measure_product(const struct conv_problem *c, enum conv_pass pass,
                            int64_t f[FEATURES]) {
    int64_t rows = f[PIXELS], columns = f[OUT];
    f[INNER] = f[WINDOW];
    if (pass == CONV_BACKWARD_INPUT) {
        rows = size_mul(c->batch, c->in_area);
        columns = f[IN];
        f[INNER] = f[OUT_WINDOW];
    } else if (pass == CONV_BACKWARD_WEIGHT) {
        rows = f[OUT];
        columns = f[WINDOW];
        f[INNER] = f[PIXELS];
    }
    f[TILES_128] = size_mul(c->groups, tiles(rows, columns, 128));
    f[TILES_64] = size_mul(c->groups, tiles(rows, columns, 64));
}

static void measure(const struct device *device, const struct conv_problem *c, enum conv_pass pass,
                    int64_t f[FEATURES]) {
    f[ARCHITECTURE] = device->compute_capability;
    f[IS_16BIT] = c->dtype != DTYPE_FLOAT32;
    f[CHANNELS_LAST] = c->channels_last;
    f[FILTER] = c->filter_area;
    f[STRIDE] = c->stride;
    f[IN] = c->in_channels / c->groups;
    f[OUT] = c->out_channels / c->groups;
    f[GROUPS] = c->groups;
    f[PIXELS] = size_mul(c->batch, c->out_area);
    f[IN_AREA] = c->in_area;
    f[OUT_AREA] = c->out_area;
    f[BATCH] = c->batch;
    f[DILATION] = c->dilation;
    f[IN_POWER] = power_of_two(f[IN]);
    f[OUT_POWER] = power_of_two(f[OUT]);
    f[WINDOW] = size_mul(c->filter_area, f[IN]);
    f[WORK] = size_mul(size_mul(size_mul(f[PIXELS], f[WINDOW]), f[OUT]), c->groups) / 1024;
    f[PIXELS_POWER] = power_of_two(f[PIXELS]);
    f[OUT_WINDOW] = size_mul(c->filter_area, f[OUT]);
    f[INPUT] = size_mul(size_mul(c->batch, c->in_area), c->in_channels);
    f[OUTPUT] = size_mul(f[PIXELS], c->out_channels);
    measure_product(c, pass, f);
}

const struct conv_plan *conv_choose(const struct device *device, const struct conv_problem *problem,
                                    enum conv_pass pass) {
    static const struct {
        const struct conv_node *node;
        const struct conv_plan *plan;
    } trees[] = {[CONV_FORWARD] = {forward_nodes, forward_plans},
                 [CONV_BACKWARD_INPUT] = {input_nodes, input_plans},
                 [CONV_BACKWARD_WEIGHT] = {weight_nodes, weight_plans}};
    int64_t features[FEATURES];
    measure(device, problem, pass, features);
    size_t i = 0;
    for (const struct conv_node *node; (node = &trees[pass].node[i])->feature >= 0;)
        i = features[node->feature] <= node->bound ? i + 1 : node->above;
    return &trees[pass].plan[trees[pass].node[i].bound];
}

/* The estimate of cuDNN's workspaces against those that two recordings of ResNet-50 (batch 32, fp32)
 * hold: sources in sim/tape/conv_workspace.c. What the rules are read off they must give back. */
#include "suite.h"

#include "conv_workspace.h"
#include "device.h"

enum { BATCH = 32 };

/* A convolution of ResNet-50: channels, side of the input image, filter, stride. */
struct layer {
    int64_t in, out, side, filter, stride;
};

static uint64_t estimate(const char *card, enum dtype dtype, bool channels_last,
                         const struct layer *l, enum conv_pass pass) {
    struct device device;
    struct error err;
    assert_true(device_parse(card, &device, &err));
    int64_t side = l->side / l->stride, each = dtype_bytes(dtype);
    struct conv_problem problem = {
        .dtype = dtype,
        .channels_last = channels_last,
        .plain = true,
        .unit_step = l->stride == 1,
        .filter = {l->filter, l->filter},
        .batch = BATCH,
        .in_channels = l->in,
        .out_channels = l->out,
        .out_height = side,
        .out_width = side,
        .input_bytes = (uint64_t)(BATCH * l->in * l->side * l->side * each),
        .weight_bytes = (uint64_t)(l->in * l->out * l->filter * l->filter * each),
        .output_bytes = (uint64_t)(BATCH * l->out * side * side * each)};
    return conv_workspace_estimate(&device, &problem, pass);
}

TEST(without_tensor_cores_the_v100s_winograd_is_met) {
    USE_STATE;
    const struct layer of_14 = {256, 256, 14, 3, 1}, of_7 = {512, 512, 7, 3, 1},
                       of_28 = {128, 128, 28, 3, 1}, of_56 = {64, 64, 56, 3, 1};
    assert_bytes_equal(estimate("V100-16GB", DTYPE_FLOAT32, false, &of_14, CONV_FORWARD), 47185920);
    assert_bytes_equal(estimate("V100-16GB", DTYPE_FLOAT32, false, &of_7, CONV_FORWARD), 56623104);
    assert_bytes_equal(estimate("V100-16GB", DTYPE_FLOAT32, false, &of_56, CONV_BACKWARD_WEIGHT),
                       116195328);
    uint64_t bytes = estimate("V100-16GB", DTYPE_FLOAT32, false, &of_28, CONV_BACKWARD_INPUT);
    assert_true(bytes > 60000000 && bytes < 60817408); /* recorded: 60,817,408 */
}

TEST(with_tensor_cores_the_sums_are_met_up_to_512_bytes) {
    USE_STATE;
    const struct layer of_14 = {256, 256, 14, 3, 1}, of_7 = {512, 512, 7, 3, 1},
                       down = {1024, 2048, 14, 1, 2}, wide = {2048, 512, 7, 1, 1};
    assert_bytes_equal(estimate("A100-80GB", DTYPE_FLOAT32, false, &of_14, CONV_FORWARD) + 512,
                       15204864);
    assert_bytes_equal(estimate("A100-80GB", DTYPE_FLOAT32, false, &of_7, CONV_FORWARD) + 512,
                       15860224);
    assert_bytes_equal(estimate("A100-80GB", DTYPE_FLOAT32, false, &down, CONV_FORWARD) + 512,
                       46924288);
    assert_bytes_equal(estimate("A100-80GB", DTYPE_FLOAT32, false, &wide, CONV_FORWARD) + 512,
                       20251136);
}

TEST(a_1x1_filters_gradient_is_summed_in_parts) {
    USE_STATE;
    const struct layer of_28 = {128, 512, 28, 1, 1}, of_56 = {64, 256, 56, 1, 1};
    assert_bytes_equal(estimate("A100-80GB", DTYPE_FLOAT32, false, &of_28, CONV_BACKWARD_WEIGHT),
                       8388608);
    assert_bytes_equal(estimate("A100-80GB", DTYPE_FLOAT32, true, &of_56, CONV_BACKWARD_WEIGHT),
                       2097152);
}

TEST(channels_last_needs_no_copies_and_half_precision_smaller_ones) {
    USE_STATE;
    const struct layer of_14 = {256, 256, 14, 3, 1};
    assert_bytes_equal(estimate("A100-80GB", DTYPE_BFLOAT16, true, &of_14, CONV_FORWARD), 0);
    assert_bytes_equal(estimate("A100-80GB", DTYPE_BFLOAT16, false, &of_14, CONV_FORWARD) * 2,
                       estimate("A100-80GB", DTYPE_FLOAT32, false, &of_14, CONV_FORWARD));
}

SUITE(cmocka_unit_test(without_tensor_cores_the_v100s_winograd_is_met),
      cmocka_unit_test(with_tensor_cores_the_sums_are_met_up_to_512_bytes),
      cmocka_unit_test(a_1x1_filters_gradient_is_summed_in_parts),
      cmocka_unit_test(channels_last_needs_no_copies_and_half_precision_smaller_ones))

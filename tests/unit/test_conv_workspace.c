/* cuDNN's workspaces: what the V100 of a recording asked for, and what cuDNN 9.26 says it would ask for
 * (conv_cudnn_answers.inc, of tests/data/cudnn/README.md). Of layers that the choice was made from it must
 * give back nearly all; of shapes that it never saw the share and the error are bounds. */
#include "suite.h"

#include "conv_workspace.h"
#include "device.h"

struct answer {
    unsigned architecture;
    int is_16bit, channels_last;
    enum conv_pass pass;
    int64_t batch, in, out, in_area, out_area, filter_area, stride, dilation, groups;
    uint64_t bytes;
};

#include "conv_cudnn_answers.inc"

enum { BATCH = 32 };

/* A convolution of ResNet-50: channels, side of the input image, filter, stride. */
struct layer {
    int64_t in, out, side, filter, stride;
};

static uint64_t v100(const struct layer *l, enum conv_pass pass) {
    struct device device;
    struct error err;
    assert_true(device_parse("V100-16GB", &device, &err));
    int64_t side = l->side / l->stride;
    struct conv_problem problem = {.dtype = DTYPE_FLOAT32,
                                   .batch = BATCH,
                                   .in_channels = l->in,
                                   .out_channels = l->out,
                                   .groups = 1,
                                   .in_area = l->side * l->side,
                                   .out_area = side * side,
                                   .filter_area = l->filter * l->filter,
                                   .out_height = side,
                                   .out_width = side,
                                   .filter = {l->filter, l->filter},
                                   .stride = l->stride,
                                   .dilation = 1,
                                   .flat = true,
                                   .unit_step = l->stride == 1};
    return conv_workspace_estimate(&device, &problem, pass);
}

TEST(without_tensor_cores_the_v100s_winograd_is_met) {
    USE_STATE;
    const struct layer of_14 = {256, 256, 14, 3, 1}, of_7 = {512, 512, 7, 3, 1},
                       of_28 = {128, 128, 28, 3, 1}, of_56 = {64, 64, 56, 3, 1};
    assert_bytes_equal(v100(&of_14, CONV_FORWARD), 47185920);
    assert_bytes_equal(v100(&of_7, CONV_FORWARD), 56623104);
    assert_bytes_equal(v100(&of_56, CONV_BACKWARD_WEIGHT), 116195328);
    uint64_t bytes = v100(&of_28, CONV_BACKWARD_INPUT);
    assert_true(bytes > 60000000 && bytes < 60817408); /* recorded: 60,817,408 */
}

static struct conv_problem problem_of(const struct answer *a) {
    return (struct conv_problem){.dtype = a->is_16bit ? DTYPE_BFLOAT16 : DTYPE_FLOAT32,
                                 .channels_last = a->channels_last != 0,
                                 .batch = a->batch,
                                 .in_channels = a->in,
                                 .out_channels = a->out,
                                 .groups = a->groups,
                                 .in_area = a->in_area,
                                 .out_area = a->out_area,
                                 .filter_area = a->filter_area,
                                 .stride = a->stride,
                                 .dilation = a->dilation,
                                 .flat = true};
}

struct score {
    unsigned asked, equal;
    uint64_t bytes, off;
};

static struct score score_of(const struct answer *answers, size_t count, enum conv_pass pass) {
    struct score s = {0};
    for (size_t i = 0; i < count; i++) {
        const struct answer *a = &answers[i];
        if (a->pass != pass)
            continue;
        struct device device = {.compute_capability = a->architecture};
        struct conv_problem problem = problem_of(a);
        uint64_t bytes = conv_workspace_estimate(&device, &problem, pass);
        s.asked++;
        s.equal += bytes == a->bytes;
        s.bytes += a->bytes;
        s.off += bytes > a->bytes ? bytes - a->bytes : a->bytes - bytes;
    }
    return s;
}

static void check_share(const struct answer *answers, size_t count, enum conv_pass pass,
                        unsigned equal_percent, unsigned off_percent) {
    struct score s = score_of(answers, count, pass);
    assert_true(s.asked > 100);
    if (s.equal * 100 < s.asked * equal_percent || s.off * 100 > s.bytes * off_percent)
        fail_msg("pass %d: %u of %u equal, %llu of %llu bytes off", pass, s.equal, s.asked,
                 (unsigned long long)s.off, (unsigned long long)s.bytes);
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

TEST(resnets_layers_are_met_to_the_byte) {
    USE_STATE;
    check_share(known, COUNT(known), CONV_FORWARD, 100, 0);
    check_share(known, COUNT(known), CONV_BACKWARD_INPUT, 98, 1);
    check_share(known, COUNT(known), CONV_BACKWARD_WEIGHT, 100, 0);
}

TEST(of_shapes_never_seen_a_share_is_met) {
    USE_STATE;
    check_share(unseen, COUNT(unseen), CONV_FORWARD, 65, 25);
    check_share(unseen, COUNT(unseen), CONV_BACKWARD_INPUT, 75, 25);
    check_share(unseen, COUNT(unseen), CONV_BACKWARD_WEIGHT, 45, 20);
}

TEST(a_convolution_of_nothing_asks_for_nothing) {
    USE_STATE;
    struct device device = {.compute_capability = 80};
    struct conv_problem problem = problem_of(&known[0]);
    problem.batch = 0;
    assert_bytes_equal(conv_workspace_estimate(&device, &problem, CONV_FORWARD), 0);
}

TEST(sizes_beyond_any_card_do_not_wrap) {
    USE_STATE;
    struct device device = {.compute_capability = 80};
    struct conv_problem problem = problem_of(&known[0]);
    problem.channels_last = false;
    problem.batch = problem.in_area = problem.out_area = INT64_C(1) << 40;
    uint64_t bytes = conv_workspace_estimate(&device, &problem, CONV_FORWARD);
    assert_true(bytes == 0 || bytes >= (UINT64_C(1) << 40));
}

SUITE(cmocka_unit_test(without_tensor_cores_the_v100s_winograd_is_met),
      cmocka_unit_test(resnets_layers_are_met_to_the_byte),
      cmocka_unit_test(of_shapes_never_seen_a_share_is_met),
      cmocka_unit_test(a_convolution_of_nothing_asks_for_nothing),
      cmocka_unit_test(sizes_beyond_any_card_do_not_wrap))

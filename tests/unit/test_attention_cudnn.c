/* Workspaces of attention against what cuDNN 9.26 answered for the plans of PyTorch's graphs: attention_cudnn.h. */
#include "suite.h"

#include "attention_cudnn.h"
#include "device.h"
#include "framework.h"

/* Multiprocessors and architecture; batch, heads of query, of key and value, lengths of query, of key; head dims;
 * what it asked for, backward -1: not asked. */
struct answer {
    uint32_t sm, multiprocessors;
    int64_t b, a, kv, s, t, d, dv;
    bool causal;
    bool dropout;
    int64_t forward, backward;
};

static const struct answer answers[] = {
#include "attention_cudnn_answers.h"
};

/* What the rules are near, no more: attention_cudnn_workspace.c, splits_of_narrow(). */
static bool is_near_only(const struct answer *e) {
    return e->sm >= 100 && e->s == 1 && e->d < 128;
}

TEST(every_answer_is_met) {
    USE_STATE;
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        const struct answer *e = &answers[i];
        struct device device = {.compute_capability = e->sm, .multiprocessors = e->multiprocessors};
        struct cudnn_attention c = {e->b, e->a,  e->kv,     e->s,      e->t,
                                    e->d, e->dv, e->causal, e->dropout};
        int64_t forward = cudnn_attention_forward_bytes(&device, &c);
        int64_t backward = cudnn_attention_backward_bytes(&device, &c);
        bool backward_met = e->backward < 0 || backward == e->backward;
        if ((forward != e->forward && !is_near_only(e)) || !backward_met)
            fail_msg("answer %zu: forward %lld for %lld, backward %lld for %lld", i,
                     (long long)forward, (long long)e->forward, (long long)backward,
                     (long long)e->backward);
    }
}

TEST(sizes_beyond_any_card_end_at_the_largest_number) {
    USE_STATE;
    struct device device = {.compute_capability = 90, .multiprocessors = 132};
    struct cudnn_attention c = {INT64_MAX / 2, 64, 8, INT64_MAX / 2, 128, 128, 128, false, true};
    assert_int_equal(cudnn_attention_backward_bytes(&device, &c), INT64_MAX);
    device.compute_capability = 100;
    assert_int_equal(cudnn_attention_forward_bytes(&device, &c), INT64_MAX);
}

TEST(versions_are_read) {
    USE_STATE;
    static const struct {
        const char *text;
        uint32_t version;
    } good[] = {{"9.26", 92600}, {"9.15.1", 91501}, {"9", 90000}, {"none", 0}};
    static const char *const bad[] = {"",      "x",  "9.",   ".9", "9.15.1.2",
                                      "9.100", "-9", "9,15", "100"};
    uint32_t version = 1;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(framework_parse_cudnn(good[i].text, &version, NULL));
        assert_int_equal(version, good[i].version);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error err;
        if (framework_parse_cudnn(bad[i], &version, &err))
            fail_msg("taken for a version: '%s'", bad[i]);
        assert_int_equal(err.code, ERROR_USAGE);
    }
}

SUITE(cmocka_unit_test(versions_are_read), cmocka_unit_test(every_answer_is_met),
      cmocka_unit_test(sizes_beyond_any_card_end_at_the_largest_number))

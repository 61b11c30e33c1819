/* test_tensor.c: shapes and strides against what their elements' offsets in memory say. */
#include "suite.h"

#include <stdbool.h>
#include <string.h>

#include "tensor.h"

enum { CASES = 20000, MAX_ELEMENTS = 512 };

static uint32_t next_random(uint32_t *seed, uint32_t below) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static struct shape random_shape(uint32_t *seed, uint32_t largest) {
    struct shape shape = {.ndim = next_random(seed, 5)};
    for (unsigned i = 0; i < shape.ndim; i++)
        shape.size[i] = next_random(seed, 12) == 0 ? 0 : 1 + next_random(seed, largest);
    return shape;
}

/* Contiguous memory seen in another order, with some dims narrowed (their strides stay) or repeated (stride 0). */
static struct tensor random_tensor(uint32_t *seed) {
    struct tensor t = {.shape = random_shape(seed, 4), .dtype = DTYPE_FLOAT32};
    strides_contiguous(&t.shape, t.stride);
    for (unsigned i = 0; i + 1 < t.shape.ndim; i++) {
        unsigned j = i + next_random(seed, t.shape.ndim - i);
        int64_t size = t.shape.size[i], stride = t.stride[i];
        t.shape.size[i] = t.shape.size[j];
        t.stride[i] = t.stride[j];
        t.shape.size[j] = size;
        t.stride[j] = stride;
    }
    for (unsigned i = 0; i < t.shape.ndim; i++) {
        uint32_t what = next_random(seed, 10);
        if (what == 0 && t.shape.size[i] > 1)
            t.shape.size[i]--;
        if (what == 1)
            t.stride[i] = 0;
        if (what == 2 && t.shape.size[i] == 1)
            t.stride[i] = 77; /* of a dim of size 1 nobody asks for it */
    }
    return t;
}

/* Offsets of all elements, row by row. Returns how many. */
static size_t offsets_of(const struct shape *shape, const int64_t *stride, int64_t *out) {
    size_t n = (size_t)shape_numel(shape);
    for (size_t i = 0; i < n; i++) {
        size_t rest = i;
        out[i] = 0;
        for (unsigned d = shape->ndim; d-- > 0;) {
            out[i] += (int64_t)(rest % (size_t)shape->size[d]) * stride[d];
            rest /= (size_t)shape->size[d];
        }
    }
    return n;
}

static bool counts_up(const int64_t *offsets, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (offsets[i] != (int64_t)i)
            return false;
    return true;
}

static bool fills_memory(const int64_t *offsets, size_t n) {
    bool seen[MAX_ELEMENTS] = {false};
    for (size_t i = 0; i < n; i++) {
        if (offsets[i] < 0 || offsets[i] >= (int64_t)n || seen[offsets[i]])
            return false;
        seen[offsets[i]] = true;
    }
    return true;
}

TEST(contiguous_means_that_offsets_count_up) {
    USE_STATE;
    uint32_t seed = 1;
    int64_t offsets[MAX_ELEMENTS] = {0};
    for (int i = 0; i < CASES; i++) {
        struct tensor t = random_tensor(&seed);
        size_t n = offsets_of(&t.shape, t.stride, offsets);
        assert_int_equal(tensor_is_contiguous(&t), counts_up(offsets, n));
    }
}

TEST(dense_means_that_offsets_fill_a_range) {
    USE_STATE;
    uint32_t seed = 2;
    int64_t offsets[MAX_ELEMENTS] = {0};
    for (int i = 0; i < CASES; i++) {
        struct tensor t = random_tensor(&seed);
        size_t n = offsets_of(&t.shape, t.stride, offsets);
        assert_int_equal(tensor_is_dense(&t), fills_memory(offsets, n));
    }
}

/* Another shape of as many elements: dims joined, then one parted. */
static struct shape reshaped(uint32_t *seed, const struct shape *shape) {
    struct shape out = {.ndim = 0};
    int64_t rest = shape_numel(shape);
    while (rest > 1 && out.ndim < 4) {
        int64_t part = 1 + next_random(seed, (uint32_t)rest);
        while (rest % part != 0)
            part--;
        out.size[out.ndim++] = part;
        rest /= part;
    }
    out.size[out.ndim++] = rest;
    return out;
}

/* The only strides a view can have are the steps along each dim; whether they do is seen at every element. */
static bool can_view(const int64_t *offsets, size_t n, const struct shape *shape) {
    int64_t stride[TENSOR_MAX_DIMS] = {0}, seen[MAX_ELEMENTS];
    size_t step = 1;
    for (unsigned d = shape->ndim; d-- > 0;) {
        stride[d] = shape->size[d] > 1 ? offsets[step] - offsets[0] : 0;
        step *= (size_t)shape->size[d];
    }
    offsets_of(shape, stride, seen);
    return memcmp(offsets, seen, n * sizeof *offsets) == 0;
}

TEST(a_view_is_found_when_there_is_one) {
    USE_STATE;
    uint32_t seed = 3;
    int64_t offsets[MAX_ELEMENTS] = {0}, viewed[MAX_ELEMENTS];
    unsigned views = 0, copies = 0;
    for (int i = 0; i < CASES; i++) {
        struct tensor t = random_tensor(&seed);
        int64_t stride[TENSOR_MAX_DIMS] = {0};
        if (shape_numel(&t.shape) == 0)
            continue;
        struct shape shape = reshaped(&seed, &t.shape);
        size_t n = offsets_of(&t.shape, t.stride, offsets);
        bool found = strides_view(&t, &shape, stride);
        if (found) {
            offsets_of(&shape, stride, viewed);
            assert_memory_equal(offsets, viewed, n * sizeof *offsets);
            views++;
        } else {
            assert_false(can_view(offsets, n, &shape));
            copies++;
        }
    }
    assert_true(views > 1000 && copies > 1000);
}

TEST(an_elementwise_result_is_dense_and_lies_as_its_operands_do) {
    USE_STATE;
    uint32_t seed = 4;
    for (int i = 0; i < CASES; i++) {
        struct tensor t = random_tensor(&seed), out = t;
        strides_elementwise(&t.shape, &(const struct tensor *){&t}, 1, out.stride);
        assert_true(tensor_is_dense(&out));
        bool plain =
            true; /* dims that are repeated or of size 1 hide others from each other, as in ATen */
        for (unsigned a = 0; a < t.shape.ndim; a++)
            plain = plain && t.stride[a] != 0 && t.shape.size[a] > 1;
        for (unsigned a = 0; plain && a < t.shape.ndim; a++)
            for (unsigned b = 0; b < t.shape.ndim; b++)
                if (t.stride[a] < t.stride[b] && out.stride[a] >= out.stride[b])
                    fail_msg("case %d: dims %u, %u: strides %d, %d became %d, %d", i, a, b,
                             (int)t.stride[a], (int)t.stride[b], (int)out.stride[a],
                             (int)out.stride[b]);
    }
}

TEST(what_preserves_the_format_keeps_dense_strides) {
    USE_STATE;
    uint32_t seed = 5;
    for (int i = 0; i < CASES; i++) {
        struct tensor t = random_tensor(&seed), out = t;
        strides_preserve(&t, out.stride);
        assert_true(tensor_is_dense(&out));
        if (tensor_is_dense(&t))
            assert_memory_equal(out.stride, t.stride, t.shape.ndim * sizeof *t.stride);
    }
}

TEST(the_first_operand_with_an_order_decides) {
    USE_STATE;
    struct tensor turned = {
        .shape = {.ndim = 2, .size = {3, 4}}, .stride = {1, 3}, .dtype = DTYPE_FLOAT32};
    struct tensor row = {.shape = {.ndim = 1, .size = {4}}, .stride = {1}, .dtype = DTYPE_FLOAT32};
    const struct tensor *first[] = {&row, &turned}, *second[] = {&turned, &row};
    struct shape shape = {.ndim = 2, .size = {3, 4}};
    int64_t stride[TENSOR_MAX_DIMS];
    strides_elementwise(&shape, first, 2,
                        stride); /* a row says nothing about the order of two dims */
    assert_int_equal(stride[0], 1);
    strides_elementwise(&shape, second, 2, stride);
    assert_int_equal(stride[0], 1);
    assert_int_equal(stride[1], 3);
}

TEST(broadcast_repeats_dims_of_size_1) {
    USE_STATE;
    uint32_t seed = 6;
    for (int i = 0; i < CASES; i++) {
        struct shape a = random_shape(&seed, 3), b = random_shape(&seed, 3), out, again;
        bool fits = true;
        for (unsigned d = 1; d <= a.ndim && d <= b.ndim; d++) {
            int64_t x = a.size[a.ndim - d], y = b.size[b.ndim - d];
            fits = fits && (x == y || x == 1 || y == 1);
        }
        assert_int_equal(shape_broadcast(&a, &b, &out), fits);
        if (!fits)
            continue;
        assert_true(shape_broadcast(&b, &a, &again) && shape_equal(&out, &again));
        assert_true(shape_broadcast(&out, &a, &again) && shape_equal(&out, &again));
    }
}

TEST(dims_count_from_the_end_too) {
    USE_STATE;
    struct shape shape = {.ndim = 3, .size = {2, 3, 4}}, scalar = {.ndim = 0};
    unsigned dim = 9;
    assert_true(shape_wrap_dim(&shape, -1, &dim) && dim == 2);
    assert_true(shape_wrap_dim(&shape, -3, &dim) && dim == 0);
    assert_false(shape_wrap_dim(&shape, 3, &dim));
    assert_false(shape_wrap_dim(&shape, -4, &dim));
    assert_true(shape_wrap_dim(&scalar, 0, &dim) && shape_wrap_dim(&scalar, -1, &dim));
    assert_false(shape_wrap_dim(&scalar, 1, &dim));
}

TEST(more_elements_than_there_are_numbers_is_a_number) {
    USE_STATE;
    struct shape huge = {.ndim = 3, .size = {INT64_C(1) << 40, INT64_C(1) << 40, 7}};
    struct shape none = {.ndim = 3, .size = {INT64_C(1) << 40, INT64_C(1) << 40, 0}};
    struct shape negative = {.ndim = 2, .size = {-5, -2}};
    assert_true(shape_numel(&huge) == INT64_MAX);
    assert_true(shape_numel(&none) == 0);
    assert_true(shape_numel(&negative) == -1);
}

TEST(a_shape_is_cut_where_its_text_ends) {
    USE_STATE;
    struct shape shape = {.ndim = 3, .size = {2, 256, 4096}};
    char text[32], small[6];
    assert_string_equal(shape_format(&shape, text, sizeof text), "[2, 256, 4096]");
    assert_string_equal(shape_format(&shape, small, sizeof small), "[2, 2");
}

SUITE(cmocka_unit_test(contiguous_means_that_offsets_count_up),
      cmocka_unit_test(dense_means_that_offsets_fill_a_range),
      cmocka_unit_test(a_view_is_found_when_there_is_one),
      cmocka_unit_test(an_elementwise_result_is_dense_and_lies_as_its_operands_do),
      cmocka_unit_test(what_preserves_the_format_keeps_dense_strides),
      cmocka_unit_test(the_first_operand_with_an_order_decides),
      cmocka_unit_test(broadcast_repeats_dims_of_size_1),
      cmocka_unit_test(dims_count_from_the_end_too),
      cmocka_unit_test(more_elements_than_there_are_numbers_is_a_number),
      cmocka_unit_test(a_shape_is_cut_where_its_text_ends))

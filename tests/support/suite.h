/* suite.h: cmocka in three lines. One executable per test file; the name of a test is its claim. */
#ifndef SUITE_H
#define SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "error.h"

#define TEST(name) static void name(void **state_)
#define USE_STATE (void)state_
#define SUITE(...)                                                                                 \
    int main(void) {                                                                               \
        const struct CMUnitTest tests_[] = {__VA_ARGS__};                                          \
        return cmocka_run_group_tests(tests_, NULL, NULL);                                         \
    }
#define assert_bytes_equal(a, b)                                                                   \
    do {                                                                                           \
        unsigned long long a_ = (a), b_ = (b);                                                     \
        if (a_ != b_)                                                                              \
            fail_msg("%s = %llu, expected %llu", #a, a_, b_);                                      \
    } while (0)
#define assert_ok(call, err)                                                                       \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s: %s", #call, (err).text);                                                 \
    } while (0)

#endif

#include "suite.h"
TEST(x) { USE_STATE; }
SUITE(cmocka_unit_test(x))

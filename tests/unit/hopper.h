/* A mocked device with warpgroups, and products for it. */
#ifndef TSL_TESTS_UNIT_HOPPER_H
#define TSL_TESTS_UNIT_HOPPER_H

#include "unit/variants.h"

/* Returns a mock device with warpgroups. */
tsl_device hopper(void);

/* Returns an m x n x k product of A and B of type `ab` and C of type `c`. */
tsl_problem problem_of(int64_t m, int64_t n, int64_t k, tesela_type ab, tesela_type c);

#endif

/* Several threads that run one plan at the same time. */
#ifndef TSL_TESTS_CALLERS_H
#define TSL_TESTS_CALLERS_H

#include "unit/host_product.h"

#include "plan/plan.h"

/* Runs the plan `rounds` times in each of four threads, with a C for each thread. Fails the test unless every
 * C has the bits of C in `shared`. */
void expect_callers_agree(tsl_plan *plan, const host_product *shared, int rounds);

#endif

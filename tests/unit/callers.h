/* Several threads that run one plan at the same time. */
#ifndef TSL_TESTS_CALLERS_H
#define TSL_TESTS_CALLERS_H

#include "unit/host_product.h"

#include "plan/plan.h"

/* Each has a C of its own, and gets the bits that are in the product's. */
void expect_callers_agree(tsl_plan *plan, const host_product *shared, int rounds);

#endif

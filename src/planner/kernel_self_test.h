/* Self-tests of compiled kernels before their first use, on a few small problems with odd sizes, all layouts
 * and non-integers, by the judge of `tesela check`. C is full of NaN if it must not be read, guard bands
 * surround it, and a second run must give equal bits. A result is stored in the cache folder
 * (device/self_tests.h), by strategy with version, config and types, device with driver, compiler, and
 * source. C code and vendors' libraries have no self-test. */
#ifndef TSL_PLANNER_KERNEL_SELF_TEST_H
#define TSL_PLANNER_KERNEL_SELF_TEST_H

#include "plan/plan.h"

/* Returns true if a file has a passed self-test of these kernels on the device. If kernels are compiled for
 * sizes, another problem's self-test counts, too. */
bool tsl_trust_has(const tsl_problem *problem, const tsl_strategy *strategy, const tsl_config *config,
                   const tsl_device *device);

/* Tests the plan's kernels, unless a result is stored, and sets plan->self_test. TESELA_WRONG_RESULT: wrong
 * kernels, now or as stored. A device's failure is returned and not stored. A plan without kernels passes. */
tesela_status tsl_self_test_plan(tsl_plan *plan);

#endif

/* Self-tests of compiled kernels: a compiler's output for this device and driver is tested on a few
 * small problems before its first use. The judge of `tesela check` verifies the results. The cases have
 * odd sizes, all layouts and non-integers. C is full of NaN if it must not be read, guard bands
 * surround it, and a second run must give equal bits.
 *
 * The result is stored in the cache folder (device/self_tests.h), so a self-test runs once. Its key
 * consists of strategy with version, config and types, device with driver, compiler, and hash of the
 * source. C code of this library and vendors' libraries have no self-test. */
#ifndef TSL_PLANNER_KERNEL_SELF_TEST_H
#define TSL_PLANNER_KERNEL_SELF_TEST_H

#include "plan/plan.h"

/* Returns true if self-tests are enabled: TESELA_SELFTEST is not 0. */
bool tsl_trust_is_asked(void);

/* Returns true if a strategy's kernels with this config and these types have passed a self-test on the
 * device. For kernels that are compiled for a problem's sizes, another problem's self-test counts, too.
 * Reads a file. */
bool tsl_trust_has(const tsl_problem *problem, const tsl_strategy *strategy, const tsl_config *config,
                   const tsl_device *device);

/* Tests the plan's kernels, unless a result is stored, and sets plan->self_test. TESELA_WRONG_RESULT:
 * the kernels are wrong, now or by the stored result. A failure of the device is returned and not
 * stored. A plan without kernels passes. */
tesela_status tsl_self_test_plan(tsl_plan *plan);

#endif

/* Trust before use: what a compiler made of a kernel on this device and driver is tried on a few small
 * problems before a user sees its first result. The judge of `tesela check` says whether it is right: odd
 * sizes, every layout, numbers that are no integers, C full of NaN where it must not be read, guard bands,
 * equal bits in a second run.
 *
 * The self-test is remembered in the cache folder (device/self_tests.h) by strategy with version, config and
 * types, device with driver, compiler, and the source's hash, so that it is made once. C code of this library
 * and vendors' libraries are taken as they are: the first was tried by its tests, the others are somebody's
 * choice. */
#ifndef TSL_PLANNER_KERNEL_SELF_TEST_H
#define TSL_PLANNER_KERNEL_SELF_TEST_H

#include "plan/plan.h"

/* Whether self-tests are made: TESELA_SELFTEST is not 0. */
bool tsl_trust_is_asked(void);

/* Whether a strategy's kernels, with this config and these types, were compiled and found right on the device
 * before; where they are made for a problem's sizes, those of another problem count as well. A look into a
 * file. */
bool tsl_trust_has(const tsl_problem *problem, const tsl_strategy *strategy, const tsl_config *config,
                   const tsl_device *device);

/* Tries the plan's kernels, unless that was done; plan->self_test says what came of it. TESELA_WRONG_RESULT
 * with a sentence when they are wrong, now or as it is remembered; a device's failure on the way is that
 * failure, and not remembered. A plan without kernels is trusted. */
tesela_status tsl_self_test_plan(tsl_plan *plan);

#endif

/* A product in f32 with a known result, in whole numbers, with gaps after C's rows, for tests of the places
 * of operands. Also children of one strategy each. */
#ifndef TSL_TESTS_FAKE_BY_HAND_H
#define TSL_TESTS_FAKE_BY_HAND_H

#include "unit/unit.h"

#include "plan/plan.h"
#include "strategy/subplans.h"

enum { M = 45, N = 70, K = 33, GAP = 3 };

typedef struct product {
  float a[M * K], b[K * N], c[M * (N + GAP)], before[M * (N + GAP)], expected[M * (N + GAP)];
  tsl_problem problem;
} product;

/* Fills the operands and the expected result. */
void fill(product *p, double beta);

/* Runs the plan on C as fill() left it. `phases` may be NULL. */
tesela_status run_timed(tsl_plan *plan, product *p, tsl_phases *phases);
tesela_status run(tsl_plan *plan, product *p);

/* Runs the plan, and fails the test unless C is the expected result. */
void must_timed(tsl_plan *plan, product *p, tsl_phases *phases);
void must_run(tsl_plan *plan, product *p);

/* Runs a plan of fill(p, -1) in four threads at once, and fails the test unless every result is right. */
void must_in_threads(tsl_plan *plan);

/* Makes children of a fixed strategy for each kind of device. The choice of a strategy would take a second of
 * compilation. */
tesela_status make_simple(const tsl_subplan_factory *self, const tsl_subplan_request *wish,
                          tsl_subplan **child);

#endif

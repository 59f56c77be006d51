/* One product in f32 whose result is computed by hand, in whole numbers, with gaps after C's rows,
 * for tests of the places of operands. Also children of one strategy each. */
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

void fill(product *p, double beta);

/* A run on C as it was before. `phases` may be NULL. */
tesela_status run_timed(tsl_plan *plan, product *p, tsl_phases *phases);
tesela_status run(tsl_plan *plan, product *p);

/* Runs the plan with times, and expects success. */
void must_timed(tsl_plan *plan, product *p, tsl_phases *phases);
void must_run(tsl_plan *plan, product *p);

/* The plan is one of fill(p, -1). */
void must_in_threads(tsl_plan *plan);

/* Makes children of one fixed strategy for each kind of device: the choice is not tested, and
 * compilers take a second. */
tesela_status make_simple(const tsl_subplan_factory *self, const tsl_subplan_request *wish,
                          tsl_subplan **child);

#endif

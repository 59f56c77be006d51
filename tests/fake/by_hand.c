#include "fake/by_hand.h"

#include <pthread.h>
#include <string.h>

#include "core/status.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

void fill(product *p, double beta) {
  p->problem = tsl_problem_gemm(M, N, K, TESELA_F32);
  p->problem.c.row_stride = N + GAP;
  p->problem.beta[0] = beta;
  for (int i = 0; i < M * K; i++)
    p->a[i] = (float)(i % 5 - 2);
  for (int i = 0; i < K * N; i++)
    p->b[i] = (float)(i % 7 - 3);
  for (int i = 0; i < M * (N + GAP); i++)
    p->before[i] = p->expected[i] = (float)(i % 3);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float *to = &p->expected[i * (N + GAP) + j];
      *to *= (float)beta;
      for (int l = 0; l < K; l++)
        *to += p->a[i * K + l] * p->b[l * N + j];
    }
  memcpy(p->c, p->before, sizeof p->c);
}

tesela_status run_timed(tsl_plan *plan, product *p, tsl_phases *phases) {
  const tsl_operands operands = {.a.host = p->a, .b.host = p->b, .c.host = p->c};
  memcpy(p->c, p->before, sizeof p->c);
  return tsl_plan_run(plan, &operands, phases);
}

tesela_status run(tsl_plan *plan, product *p) {
  return run_timed(plan, p, NULL);
}

void must_timed(tsl_plan *plan, product *p, tsl_phases *phases) {
  if (run_timed(plan, p, phases) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  assert_memory_equal(p->c, p->expected, sizeof p->c);
}

void must_run(tsl_plan *plan, product *p) {
  must_timed(plan, p, NULL);
}

/* A plan that several threads run at once, each on a product of its own. */
typedef struct threaded {
  tsl_plan *plan;
  product own;
} threaded;

static void *run_again(void *argument) {
  threaded *t = argument;
  for (int i = 0; i < 8; i++)
    if (run(t->plan, &t->own) != TESELA_OK || memcmp(t->own.c, t->own.expected, sizeof t->own.c) != 0)
      return t;
  return NULL;
}

void must_in_threads(tsl_plan *plan) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  static threaded all[THREADS];
  for (int i = 0; i < THREADS; i++) {
    all[i].plan = plan;
    fill(&all[i].own, -1);
  }
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, run_again, &all[i]), 0);
  for (int i = 0; i < THREADS; i++) {
    void *wrong;
    assert_int_equal(pthread_join(threads[i], &wrong), 0);
    assert_null(wrong);
  }
}

tesela_status make_simple(const tsl_subplan_factory *self, const tsl_subplan_request *wish,
                          tsl_subplan **child) {
  const bool on_cpu = (wish->device->capabilities & TSL_CAN_HOST) != 0;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, on_cpu ? "sequential" : "element");
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_plan *plan;
  TSL_TRY(tsl_plan_create(wish->problem, strategy, &config, wish->device,
                          wish->in_buffers ? TSL_PLACE_DEVICE : TSL_PLACE_HOST,
                          &(tsl_plan_options){.children = self}, &plan));
  *child = plan;
  return TESELA_OK;
}

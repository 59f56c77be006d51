#include "unit/callers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct caller {
  tsl_plan *plan;
  const host_product *shared;
  int rounds;
  void *c;
  bool failed;
} caller;

static void *call_plan(void *argument) {
  caller *with = argument;
  const size_t bytes = with->shared->c_bytes;
  tsl_operands operands = with->shared->operands;
  operands.c.host = with->c;
  for (int round = 0; round < with->rounds; round++) {
    memset(with->c, 0xff, bytes); /* NaN, which beta = 0 does not read */
    with->failed |= tsl_plan_run(with->plan, &operands, NULL) != TESELA_OK ||
                    memcmp(with->c, with->shared->operands.c.host, bytes) != 0;
  }
  return NULL;
}

void expect_callers_agree(tsl_plan *plan, const host_product *shared, int rounds) {
  enum { CALLERS = 4 };
  pthread_t thread[CALLERS];
  caller callers[CALLERS];
  for (int i = 0; i < CALLERS; i++) {
    callers[i] = (caller){plan, shared, rounds, host_product_keep(shared), false};
    assert_int_equal(pthread_create(&thread[i], NULL, call_plan, &callers[i]), 0);
  }
  for (int i = 0; i < CALLERS; i++) {
    pthread_join(thread[i], NULL);
    assert_false(callers[i].failed);
    free(callers[i].c);
  }
}

/* The blocked product: the same bits with any number of threads, and with several callers at once. With a number
 * as its argument, the program prints what one process with that many threads computes. */
#include "unit/threads.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/source.h"
#include "matrices.h"
#include "planner/planner.h"
#include "tune/choose.h"

static const char *program;

typedef struct product {
  tsl_plan *plan;
  tsl_operands operands;
  void *memory[3];
} product;

static void lay_down_columns(tsl_shape *shape) {
  shape->row_stride = 1;
  shape->col_stride = shape->rows;
}

/* More blocks than threads, of every kind: whole ones and edges in both directions, and three panels. */
static void make(tsl_devices *devices, tesela_type type, bool down, product *out) {
  tsl_problem problem = tsl_problem_gemm(203, 301, 277, type);
  const tsl_choice choice = {
      .devices = devices, .device = "cpu", .strategy = "blocked rows=48 columns=128 depth=128"};
  if (down)
    lay_down_columns(&problem.c);
  problem.alpha[0] = 1.5;
  const tsl_shape *shapes[] = {&problem.a, &problem.b, &problem.c};
  tsl_operand *operands[] = {&out->operands.a, &out->operands.b, &out->operands.c};
  assert_int_equal(tsl_tune_choose(&problem, &choice, &out->plan), TESELA_OK);
  for (int i = 0; i < 3; i++) {
    *operands[i] = (tsl_operand){.row_stride = shapes[i]->row_stride, .col_stride = shapes[i]->col_stride};
    out->memory[i] = test_matrix(shapes[i], &operands[i]->host);
    test_fill(shapes[i], operands[i]->host, TSL_DRAW_NORMAL, (uint64_t)i);
  }
}

static void release(product *made) {
  for (int i = 0; i < 3; i++)
    free(made->memory[i]);
  tsl_plan_destroy(made->plan);
}

static size_t bytes_of_c(const product *made) {
  const tsl_shape *c = &made->plan->work.problem.c;
  return (size_t)tsl_shape_extent(c) * tsl_type(c->type)->size;
}

static int print_results(void) {
  static const tesela_type types[] = {TESELA_F32, TESELA_F64};
  tsl_devices *devices;
  if (tsl_devices_create(&devices) != TESELA_OK)
    return 1;
  for (int i = 0; i < 4; i++) {
    product made = {.operands = {.a = {.host = NULL}}};
    make(devices, types[i % 2], i >= 2, &made);
    if (tsl_plan_run(made.plan, &made.operands, NULL) != TESELA_OK)
      return 1;
    char text[33];
    tsl_hash_text(tsl_hash_add(tsl_hash_start(), made.operands.c.host, bytes_of_c(&made)), text);
    printf("%s\n", text);
    release(&made);
  }
  tsl_devices_destroy(devices);
  return 0;
}

static void threads_change_nothing(void **state) {
  (void)state;
  char alone[256], together[256];
  results_with(program, 1, alone, sizeof alone);
  assert_int_equal(strlen(alone), 4 * 33);
  for (int threads = 2; threads <= 7; threads += 1 + threads / 3) {
    results_with(program, threads, together, sizeof together);
    assert_string_equal(together, alone);
  }
}

/* --- several callers --- */

enum { CALLERS = 4, ROUNDS = 20 };

typedef struct caller {
  const product *shared;
  void *c;
  bool failed;
} caller;

static void *call(void *argument) {
  caller *with = argument;
  tsl_operands operands = with->shared->operands;
  const size_t bytes = bytes_of_c(with->shared);
  operands.c.host = with->c;
  for (int round = 0; round < ROUNDS; round++) {
    memset(with->c, 0xff, bytes); /* NaN, which beta = 0 does not read */
    with->failed |= tsl_plan_run(with->shared->plan, &operands, NULL) != TESELA_OK ||
                    memcmp(with->c, with->shared->operands.c.host, bytes) != 0;
  }
  return NULL;
}

static void callers_share_a_plan(void **state) {
  (void)state;
  tsl_devices *devices;
  product made = {.operands = {.a = {.host = NULL}}};
  pthread_t thread[CALLERS];
  caller callers[CALLERS];
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  make(devices, TESELA_F32, false, &made);
  assert_int_equal(tsl_plan_run(made.plan, &made.operands, NULL), TESELA_OK);
  for (int i = 0; i < CALLERS; i++) {
    callers[i] = (caller){.shared = &made};
    assert_int_equal(tsl_alloc(bytes_of_c(&made), "a result", &callers[i].c), TESELA_OK);
    assert_int_equal(pthread_create(&thread[i], NULL, call, &callers[i]), 0);
  }
  for (int i = 0; i < CALLERS; i++) {
    pthread_join(thread[i], NULL);
    assert_false(callers[i].failed);
    tsl_free(callers[i].c);
  }
  release(&made);
  tsl_devices_destroy(devices);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(threads_change_nothing),
                                     cmocka_unit_test(callers_share_a_plan)};
  program = argv[0];
  return argc > 1 ? print_results() : cmocka_run_group_tests(tests, NULL, NULL);
}

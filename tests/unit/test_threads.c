/* How many threads host code uses: a context's limit reaches every strategy of the processor, and everything around them.
 *
 * The library starts a thread when a run first has work for it. So each case runs in a process of its own, whose threads are
 * counted afterwards: one context of 1, 2 and 3 threads after the other, then one without a limit, which shows that the
 * case has work for more. */
#include "unit/unit.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tesela/tesela.h>

#include "strategy/strategy.h"
#include "unit/sanitizers.h"

enum { MOST = 4 }; /* TESELA_THREADS */

typedef enum way { ONE, BATCH, PACK, IN_PLACE } way;

typedef struct one_case {
  const char *strategy; /* NULL: the planner's choice */
  tsl_op op;
  tesela_type type, result;
  int64_t m, n, k;
  way way;
  bool alone; /* has one thread by design */
} one_case;

#define F32 TESELA_F32, TESELA_F32
#define F64 TESELA_F64, TESELA_F64
#define C64 TESELA_C64, TESELA_C64
#define BF16 TESELA_BF16, TESELA_F32
#define I8 TESELA_I8, TESELA_I32
static const one_case cases[] = {
    {NULL, TSL_OP_GEMM, F32, 700, 700, 700, ONE, false},
    {NULL, TSL_OP_GEMM, C64, 300, 300, 300, ONE, false},
    {NULL, TSL_OP_GEMM, I8, 700, 700, 700, ONE, false},
    {"sequential", TSL_OP_GEMM, F32, 200, 200, 200, ONE, true},
    {"sequential_optimized", TSL_OP_GEMM, F32, 200, 200, 200, ONE, true},
    {"blocked", TSL_OP_GEMM, F64, 500, 500, 500, ONE, false},
    {"host_packed", TSL_OP_GEMM, F64, 1500, 1500, 600, ONE, false}, /* panels */
    {"host_packed", TSL_OP_GEMM, F32, 4000, 40, 400, ONE, false},   /* rows stream by */
    {"host_packed", TSL_OP_GEMM, F32, 40, 4000, 400, ONE, false},   /* columns */
    {"host_packed", TSL_OP_GEMM, F32, 40, 40, 40000, ONE, false},   /* parts */
    {"host_packed", TSL_OP_GEMM, F32, 600, 600, 2000, PACK, false},
    {"host_amx", TSL_OP_GEMM, BF16, 700, 700, 700, ONE, false},
    {"host_amx", TSL_OP_GEMM, I8, 64, 64, 60000, ONE, false}, /* parts */
    {"host_amx", TSL_OP_GEMM, I8, 600, 600, 2000, PACK, false},
    {"host_small", TSL_OP_GEMM, F32, 30, 30, 30, ONE, true},
    {"host_thin", TSL_OP_GEMM, F32, 1, 2000, 2000, ONE, false}, /* rows added up */
    {"host_thin", TSL_OP_GEMM, F64, 2000, 2, 2000, ONE, false}, /* columns reduced */
    {"host_thin", TSL_OP_GEMM, F32, 2000, 2000, 2, ONE, false}, /* an outer product */
    {"host_small", TSL_OP_GEMM, F32, 20, 20, 20, BATCH, false},
    {NULL, TSL_OP_GEMM, F64, 60, 60, 60, BATCH, false},
    {"host_packed", TSL_OP_GEMM, F64, 200, 200, 200, BATCH,
     false}, /* of products that are large enough for all */
    {"sequential", TSL_OP_DOT, F32, 1, 1, 1000000, ONE, true},
    {"fixed_tree", TSL_OP_DOT, F32, 1, 1, 4000000, ONE, false},
    {"fixed_tree", TSL_OP_DOT, F64, 1, 1, 4000000, ONE, false},
    {"exact", TSL_OP_DOT, F64, 1, 1, 4000000, ONE, false},
    {"vector", TSL_OP_TRANSPOSE, F32, 2000, 2000, 0, ONE, false},
    {"vector", TSL_OP_TRANSPOSE, F64, 2000, 2000, 0, IN_PLACE, false},
};

/* A case of operands that are dense, far enough apart for batches, and all zeros. */
static tesela_status run_gemm(tesela_context *context, const one_case *of, void *const memory[3]) {
  tesela_gemm_desc desc = {.m = of->m,
                           .n = of->n,
                           .k = of->k,
                           .a = {.data = memory[0], .type = of->type},
                           .b = {.data = memory[1], .type = of->type},
                           .c = {.data = memory[2], .type = of->result},
                           .strategy = of->strategy};
  const tesela_batch batch = {.count = 50, .c_stride = of->m * of->n};
  tesela_plan *plan;
  tesela_packed *packed;
  if (of->way == BATCH)
    return tesela_gemm_batched(context, &desc, &batch, NULL);
  if (of->way == ONE)
    return tesela_gemm(context, &desc, NULL);
  tesela_status status = tesela_plan_create(context, &desc, &plan);
  if (status != TESELA_OK)
    return status;
  status = tesela_pack(plan, NULL, &desc.b, &packed); /* and is not run: packing alone is counted */
  if (status == TESELA_OK)
    tesela_packed_destroy(packed);
  tesela_plan_destroy(plan);
  return status;
}

static tesela_status run(tesela_context *context, const one_case *of, void *const memory[3]) {
  const bool in_place = of->way == IN_PLACE;
  const tesela_dot_desc dot = {.n = of->k,
                               .x = {.data = memory[0], .type = of->type},
                               .y = {.data = memory[1], .type = of->type},
                               .result = {.data = memory[2], .type = of->result},
                               .strategy = of->strategy};
  const tesela_transpose_desc transpose = {
      .rows = of->m,
      .cols = of->n,
      .a = {.data = memory[0], .type = of->type},
      .b = {.data = in_place ? NULL : memory[2], .type = in_place ? TESELA_TYPE_DEFAULT : of->type},
      .in_place = in_place,
      .strategy = of->strategy};
  return of->op == TSL_OP_GEMM  ? run_gemm(context, of, memory)
         : of->op == TSL_OP_DOT ? tesela_dot(context, &dot, NULL)
                                : tesela_transpose(context, &transpose, NULL);
}

/* Threads of this process, and the one that the address sanitizer may have. */
static int count_threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  int count = 0;
  if (!tasks)
    return -1;
  for (const struct dirent *entry; (entry = readdir(tasks));)
    count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* --- a case's process, which exits with one of these --- */

enum { RIGHT, UNSUPPORTED, FAILED, TOO_MANY, TOO_FEW };

static int try_threads(const one_case *of, int threads, void *const memory[3]) {
  const int before = count_threads(), limit = threads > 0 ? threads : MOST;
  tesela_context *context;
  tesela_status status =
      tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = threads}, &context);
  for (int i = 0; i < 3 && status == TESELA_OK; i++)
    status = run(context, of, memory);
  if (status == TESELA_UNSUPPORTED)
    return UNSUPPORTED;
  if (status != TESELA_OK) {
    print_error("%s\n", tesela_last_error());
    return FAILED;
  }
  tesela_context_destroy(context);
  const int count = count_threads(), wanted = of->alone ? 1 : limit;
  if (count == wanted)
    return RIGHT;
  print_error("%s %s, %lld x %lld x %lld, limit %d: %d threads before and %d after\n", tsl_op_name(of->op),
              of->strategy ? of->strategy : "auto", (long long)of->m, (long long)of->n, (long long)of->k,
              threads, before, count);
  return count > wanted ? TOO_MANY : TOO_FEW;
}

static int try_case(const one_case *of) {
  static const int limits[] = {1, 2, 3, 0};
  void *memory[3];
  const size_t bytes = (size_t)4000000 * 8;
  int result = RIGHT;
  for (int i = 0; i < 3; i++)
    memory[i] = calloc(1, bytes);
  for (size_t i = 0; i < sizeof limits / sizeof *limits && result == RIGHT; i++)
    result = try_threads(of, limits[i], memory);
  return result;
}

static int in_child(const one_case *of) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    _exit(try_case(of));
  }
  int result = -1;
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_true(WIFEXITED(result));
  return WEXITSTATUS(result);
}

static void limits_reach_all(void **state) {
  int wrong = 0, ran = 0;
  (void)state;
  if (THREAD_SANITIZER) {
    print_message("the thread sanitizer does not survive threads in the child of a fork\n");
    skip();
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int result = in_child(&cases[i]);
    wrong += result != RIGHT && result != UNSUPPORTED;
    ran += result == RIGHT;
    if (result == UNSUPPORTED)
      print_message("%s cannot run here\n", cases[i].strategy);
  }
  assert_int_equal(wrong, 0);
  assert_true(ran > 15);
}

/* Whoever adds a strategy that runs on the processor adds its cases. */
static void every_strategy_has_a_case(void **state) {
  (void)state;
  for (int s = 0; tsl_strategy_at(s); s++) {
    const tsl_strategy *strategy = tsl_strategy_at(s);
    bool found = !(strategy->needs & TSL_CAN_HOST) || strategy->vendor;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      found |=
          cases[i].op == strategy->op && cases[i].strategy && strcmp(cases[i].strategy, strategy->name) == 0;
    if (!found)
      print_error("no case for %s %s\n", tsl_op_name(strategy->op), strategy->name);
    assert_true(found);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_reach_all),
      cmocka_unit_test(every_strategy_has_a_case),
  };
  setenv("TESELA_THREADS", "4", 1);
  setenv("TESELA_WISDOM", "none", 1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}

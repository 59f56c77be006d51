/* The number of threads of host code: a context's limit applies to every strategy of the processor, and
 * to the code that they share.
 *
 * The library starts a thread when a run first has work for it. Therefore each case runs in a process of its
 * own, which counts its threads afterwards. Contexts have 1, 2 and 3 threads in turn, then no limit: the last
 * run shows that the case has work for more threads. */
#include "unit/unit.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "strategy/strategy_list.h"
#include "unit/host_cases.h"
#include "unit/sanitizers.h"

enum { MOST = 4 }; /* TESELA_THREADS */

/* Returns the number of threads of this process, without the address sanitizer's. */
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

static int try_threads(const host_case *case_in, int threads, void *const memory[3]) {
  const int before = count_threads(), limit = threads > 0 ? threads : MOST;
  tesela_context *context;
  tesela_status status =
      tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = threads}, &context);
  for (int i = 0; i < 3 && status == TESELA_OK; i++)
    status = host_case_run(context, case_in, memory);
  if (status == TESELA_UNSUPPORTED)
    return UNSUPPORTED;
  if (status != TESELA_OK) {
    print_error("%s\n", tesela_last_error());
    return FAILED;
  }
  tesela_context_destroy(context);
  const int count = count_threads(), wanted = case_in->alone ? 1 : limit;
  if (count == wanted)
    return RIGHT;
  char name[128];
  print_error("%s, limit %d: %d threads before and %d after\n", host_case_name(case_in, name), threads,
              before, count);
  return count > wanted ? TOO_MANY : TOO_FEW;
}

static int try_case(const host_case *case_in) {
  static const int limits[] = {1, 2, 3, 0};
  void *memory[3];
  int result = RIGHT;
  host_case_memory(memory);
  for (size_t i = 0; i < sizeof limits / sizeof *limits && result == RIGHT; i++)
    result = try_threads(case_in, limits[i], memory);
  return result;
}

static int in_child(const host_case *case_in) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    _exit(try_case(case_in));
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
  for (int i = 0; i < host_cases_count; i++) {
    const int result = in_child(&host_cases[i]);
    wrong += result != RIGHT && result != UNSUPPORTED;
    ran += result == RIGHT;
    if (result == UNSUPPORTED)
      print_message("%s cannot run here\n", host_cases[i].strategy);
  }
  assert_int_equal(wrong, 0);
  assert_true(ran > 15);
}

/* A vendor's library has threads of its own, and gets the limit at each run. */
static int limit_peer(void) {
  static const host_case of = {
      "vendor_openblas", TSL_OP_GEMM, TESELA_F32, TESELA_F32, 300, 300, 300, ONE, false};
  void *memory[3];
  setenv("TESELA_VENDORS", "1", 1);
  host_case_memory(memory);
  for (int threads = 2; threads >= 1; threads--) {
    tesela_context *context;
    union {
      void *address;
      int (*count)(void);
    } function;
    if (tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = threads}, &context) !=
        TESELA_OK)
      return FAILED;
    if (host_case_run(context, &of, memory) != TESELA_OK)
      return UNSUPPORTED;
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD);
    function.address = library ? dlsym(library, "openblas_get_num_threads") : NULL;
    if (!function.address)
      return UNSUPPORTED;
    if (function.count() != threads) {
      print_error("limit %d: OpenBLAS has %d threads\n", threads, function.count());
      return TOO_MANY;
    }
    tesela_context_destroy(context);
  }
  return RIGHT;
}

static void limits_reach_vendors(void **state) {
  (void)state;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(limit_peer());
  }
  int result = -1;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_true(WIFEXITED(result));
  if (WEXITSTATUS(result) == UNSUPPORTED) {
    print_message("there is no OpenBLAS here\n");
    skip();
  }
  assert_int_equal(WEXITSTATUS(result), RIGHT);
}

/* Each strategy that runs on the processor must have its cases in host_cases.h. */
static void every_strategy_has_a_case(void **state) {
  (void)state;
  for (int s = 0; tsl_strategy_at(s); s++) {
    const tsl_strategy *strategy = tsl_strategy_at(s);
    bool found = !(strategy->needs & TSL_CAN_HOST) || strategy->vendor.load;
    for (int i = 0; i < host_cases_count; i++)
      found |= host_cases[i].op == strategy->op && host_cases[i].strategy &&
               strcmp(host_cases[i].strategy, strategy->name) == 0;
    if (!found)
      print_error("no case for %s %s\n", tsl_op_name(strategy->op), strategy->name);
    assert_true(found);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_reach_all),
      cmocka_unit_test(limits_reach_vendors),
      cmocka_unit_test(every_strategy_has_a_case),
  };
  setenv("TESELA_THREADS", "4", 1);
  setenv("TESELA_WISDOM", "none", 1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* neighbour [options] MxNxK... NEIGHBOUR [NAME=LIBTESELA...]
 *
 * How fast are products by several threads while idle threads of another library still occupy processors?
 * OpenBLAS's threads do so: after each call they yield in a loop for about 25 ms. Every product is timed
 *
 *   alone   while the neighbour's threads sleep: 60 ms after its last call, with the caller's thread awake
 *   after   immediately after a call of the neighbour
 *
 * in turn with other builds of tesela. A time counts only if this process had nearly all of its processors,
 * which excludes other programs. Prints medians of GFLOP/s, their ratio (half a processor of two: 0.75), and
 * the number of times that counted and of all times.
 *
 * NEIGHBOUR is a library with cblas_dgemm, given by path, with its own number of threads. The word @yields is
 * a thread of this program that yields in a loop during the product. The word @works is a thread that never
 * yields.
 *
 *   --threads N     threads of tesela (its default)
 *   --types LIST    f32, f64 (f32,f64)
 *   --rounds N      times of each that count (15)
 *   --seconds N     maximum time for a product (20)
 *   --all           counts all times, where other programs are neighbours, too
 *   --call N        size of the neighbour's product (256)
 *   --tesela FILE   build of tesela to measure, a libtesela.so (this program's)
 *   --shapes FILE, --draw SEED N, --most GFLOP */
#include "cases.h"
#include "peers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { BUILDS_MAX = 6, CALL_MAX = 4096 };
static const double asleep_seconds = 60e-3;

typedef struct timing {
  double seconds[1000];
  int count, tried;
} timing;

typedef struct contender {
  bench_library library;
  tesela_plan *plan; /* the plan of the present product */
  timing alone, after;
} contender;

static contender contenders[BUILDS_MAX];
static int contender_count, rounds = 15, call_size = 256, threads, processors;
static double seconds_max = 20, nearly_all = 0.94;
static bool counts_all;
static const char *types = "f32,f64", *measured;

/* --- the neighbour --- */

static bench_library neighbour_library;
static double *operands;
static enum { LIBRARY, YIELDS, WORKS } neighbour;
static atomic_int wanted; /* tells the thread that imitates a neighbour's thread to spin */

static void *keep_a_processor(void *argument) {
  (void)argument;
  for (;;) {
    if (!atomic_load(&wanted))
      nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    else if (neighbour == YIELDS)
      sched_yield();
  }
  return NULL;
}

static void begin_neighbour(char *what) {
  pthread_t thread;
  neighbour = strcmp(what, "@yields") == 0 ? YIELDS : strcmp(what, "@works") == 0 ? WORKS : LIBRARY;
  if (neighbour != LIBRARY) {
    if (pthread_create(&thread, NULL, keep_a_processor, NULL) != 0)
      bench_stop(what, "no thread");
    printf("neighbour: a thread that %s\n", what + 1);
    return;
  }
  static char word[1024];
  snprintf(word, sizeof word, "neighbour=%s", what);
  bench_library_open(word, 0, &neighbour_library);
  if (!neighbour_library.dgemm)
    bench_stop(what, "has no cblas_dgemm");
  operands = bench_allocate(3 * (size_t)call_size * (size_t)call_size, sizeof *operands);
}

static void wait_awake(double seconds) {
  for (const double end = bench_clock() + seconds; bench_clock() < end;)
    continue;
}

/* Wakes the neighbour's threads, or lets them fall asleep. */
static void call_neighbour(bool is_after) {
  if (neighbour != LIBRARY) {
    atomic_store(&wanted, is_after);
    wait_awake(2e-3);
    return;
  }
  const ptrdiff_t square = (ptrdiff_t)call_size * call_size;
  bench_cblas(&neighbour_library, 'd', "NN", (int64_t[]){call_size, call_size, call_size}, operands,
              operands + square, operands + 2 * square);
  if (!is_after)
    wait_awake(asleep_seconds);
}

/* --- products --- */

static void *product[3], *expected;

static void multiply(const contender *by) {
  const tesela_matrix a = {.data = product[0]}, b = {.data = product[1]};
  const tesela_result c = {.data = product[2]};
  bench_build_must(&by->library,
                   by->library.tesela.plan_run(by->plan, &(tesela_operands){.a = &a, .b = &b, .c = &c}, NULL,
                                               sizeof(tesela_operands), 0));
}

/* Records the time, if no other process kept the processors busy. */
static void time_one(const contender *by, timing *state) {
  const double start = bench_clock(), worked = bench_processor_clock();
  multiply(by);
  const double seconds = bench_clock() - start;
  state->tried++;
  if (state->count < COUNT_OF(state->seconds) &&
      bench_processor_clock() - worked >= nearly_all * seconds * processors)
    state->seconds[state->count++] = seconds;
}

static bool is_enough(void) {
  for (const contender *one = contenders; one < contenders + contender_count; one++)
    if (one->alone.count < rounds || one->after.count < rounds)
      return false;
  return true;
}

/* Plans the product and runs it once; small whole numbers have exact sums, so that all builds and schedules
 * must give equal bits. */
static void prepare(const tsl_problem *problem) {
  const tesela_gemm_desc desc = {
      .m = problem->m,
      .n = problem->n,
      .k = problem->k,
      .a = {.type = problem->a.type, .transpose = problem->a.row_stride == 1 && problem->a.col_stride != 1},
      .b = {.type = problem->b.type, .transpose = problem->b.row_stride == 1 && problem->b.col_stride != 1},
      .options.device = "cpu"};
  for (int i = 0; i < 3; i++)
    product[i] = bench_matrix(tsl_problem_shape(problem, i), TSL_KIND_INTEGER, (uint64_t)i + 1);
  expected = bench_allocate(bench_bytes(&problem->c), 1);
  for (contender *by = contenders; by < contenders + contender_count; by++) {
    by->alone.count = by->alone.tried = by->after.count = by->after.tried = 0;
    bench_build_must(&by->library, by->library.tesela.plan_create(by->library.context, TESELA_GEMM, &desc,
                                                                  &by->plan, sizeof desc));
    multiply(by);
    if (by == contenders)
      memcpy(expected, product[2], bench_bytes(&problem->c));
  }
}

static void compare(const char *name, const tsl_problem *problem) {
  const size_t bytes = bench_bytes(&problem->c);
  prepare(problem);
  const double end = bench_clock() + seconds_max, giga = 1e-9 * tsl_problem_flops(problem);
  for (int round = 0; bench_clock() < end && !is_enough(); round++)
    for (int turn = 0; turn < contender_count; turn++) {
      contender *by = &contenders[(turn + round) % contender_count];
      memset(product[2], 0xff, bytes);
      call_neighbour(true);
      time_one(by, &by->after);
      if (memcmp(product[2], expected, bytes) != 0)
        bench_stop(by->library.name, "computes something else");
      call_neighbour(false);
      time_one(by, &by->alone);
    }
  for (contender *by = contenders; by < contenders + contender_count; by++) {
    const double alone = bench_median(by->alone.seconds, by->alone.count),
                 after = bench_median(by->after.seconds, by->after.count);
    printf("%s %-18s  %-8s alone %7.1f  after %7.1f  kept %.3f  (%d of %d, %d of %d)\n",
           tsl_type(problem->c.type)->name, name, by->library.name, giga / alone, giga / after, alone / after,
           by->alone.count, by->alone.tried, by->after.count, by->after.tried);
    by->library.tesela.plan_destroy(by->plan);
  }
  fflush(stdout);
  for (int i = 0; i < 3; i++)
    free(product[i]);
  free(expected);
}

/* --- the command line --- */

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_COUNT("threads", threads),
                                         OPTION_TEXT("types", types),
                                         OPTION_COUNT("rounds", rounds),
                                         OPTION_NUMBER("seconds", seconds_max),
                                         OPTION_FLAG("all", counts_all),
                                         OPTION_COUNT("call", call_size),
                                         OPTION_TEXT("tesela", measured),
                                         BENCH_CASE_OPTIONS,
                                         OPTIONS_END};
  tsl_types list[4];
  cpu_set_t allowed;
  bench_read(argc, argv, "neighbour", options, bench_take_case_or_word);
  if (bench_word_count == 0 || bench_cases.count == 0)
    bench_stop("arguments", "neighbour [options] MxNxK... NEIGHBOUR [NAME=LIBTESELA...]");
  if (rounds < 1 || rounds > 1000 || call_size < 1 || call_size > CALL_MAX)
    bench_stop("--rounds, --call", "from 1 to 1000, and to 4096");
  nearly_all = counts_all ? 0 : nearly_all;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    bench_stop("sched_getaffinity", "failed");
  processors = CPU_COUNT(&allowed);
  if (threads > 0 && threads < processors)
    processors = threads;
  bench_warn();
  begin_neighbour(bench_words[0]);
  bench_build_open("tesela", measured, threads, &contenders[contender_count++].library);
  for (int i = 1; i < bench_word_count && contender_count < BUILDS_MAX; i++)
    bench_library_open(bench_words[i], threads, &contenders[contender_count++].library);
  const int count = bench_types_parse(types, list, COUNT_OF(list));
  for (int i = 0; i < bench_cases.count; i++)
    for (int t = 0; t < count; t++) {
      const tsl_problem problem = bench_case_problem(&bench_cases.items[i], &list[t]);
      char name[64];
      bench_case_name(&bench_cases.items[i], name, sizeof name);
      if (bench_is_within(&problem) && bench_case_has_type(&bench_cases.items[i], t, count))
        compare(name, &problem);
    }
  return 0;
}

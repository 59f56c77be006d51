/* transpose [options] MxN...
 *
 * Compares transposes on the processor with copies of the same size, in one process. Every round runs each in
 * turn, and the shortest run counts. Prints GB/s, bytes read plus bytes written, by the wall clock and by
 * processor time (of all threads, divided by their number; other programs disturb it less), and the
 * transposes' rate over memcpy()'s.
 *
 *   memcpy    the C library's, on all threads, a part of the array for each
 *   stream    lines loaded and stored without the caches, on all threads
 *   NAME      a strategy of transposes
 *
 *   --types LIST   (f32)            --rounds N     (7)
 *   --strategies LIST  (vector)     --in-place     squares in place
 *   --pad N        elements between rows (0)
 *   --skew N       bytes between a page's start and the arrays (0)
 *   --small-pages  does not request large pages
 *
 * TESELA_THREADS and TESELA_ISA apply. */
#include "core/clock.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/random.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/transpose/host/vector/vector_moves.h"
#define BENCH_NAME "transpose"
#include "stop.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { CONTENDERS_MAX = 8, PIECE = 1 << 20, PAGE = 2 << 20 };

typedef struct contender {
  char name[32];
  tsl_plan *plan; /* NULL: a copy */
  tsl_pool_task task;
  double wall, cpu; /* seconds of the shortest run, by wall clock and by the processors' clock */
} contender;

/* The state of a copy of `bytes` bytes in pieces. */
typedef struct copying {
  unsigned char *from, *to;
  size_t bytes, piece;
  const tsl_moves_functions *functions;
} copying;

static contender contenders[CONTENDERS_MAX];
static int contender_count, rounds = 7, in_place, small_pages;
static int64_t pad, skew;
static char types[256] = "f32", strategies[256] = "vector";
static tsl_devices *devices;
static tsl_device *cpu;

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* --- copies --- */

static size_t piece_at(const copying *job, int64_t index) {
  const size_t left = job->bytes - (size_t)index * job->piece;
  return left < job->piece ? left : job->piece;
}

static void library_piece(void *argument, int64_t index, int worker) {
  const copying *job = argument;
  const size_t at = (size_t)index * job->piece;
  (void)worker;
  memcpy(job->to + at, job->from + at, piece_at(job, index));
}

static void stream_piece(void *argument, int64_t index, int worker) {
  const copying *job = argument;
  const tsl_moves moves = {.factor = 1, .nontemporal = true};
  const size_t at = (size_t)index * job->piece;
  (void)worker;
  job->functions[TSL_MOVES_1].copy(&moves, job->from + at, job->to + at, (int64_t)piece_at(job, index));
}

/* --- a round --- */

static void run(contender *contender_in, const tsl_operands *operands, copying *job) {
  const double cpu_start = processor_seconds(), start = tsl_clock();
  const int threads = tsl_pool_threads(tsl_pool_shared());
  if (contender_in->plan) {
    must(tsl_plan_run(contender_in->plan, operands, NULL), "failed");
  } else {
    job->piece =
        contender_in->task == library_piece ? (job->bytes - 1) / (size_t)threads / 64 * 64 + 64 : PIECE;
    tsl_pool_run(tsl_pool_shared(), (int64_t)((job->bytes - 1) / job->piece + 1), contender_in->task, job);
  }
  const double wall = tsl_clock() - start, used = (processor_seconds() - cpu_start) / threads;
  contender_in->wall = fmin(contender_in->wall, wall);
  contender_in->cpu = fmin(contender_in->cpu, used);
}

static void add(const char *name, tsl_pool_task task, tsl_plan *plan) {
  contender *one = &contenders[contender_count++];
  *one = (contender){.plan = plan, .task = task, .wall = INFINITY, .cpu = INFINITY};
  snprintf(one->name, sizeof one->name, "%s", name);
}

static void add_strategies(const tsl_problem *problem) {
  char list[256];
  snprintf(list, sizeof list, "%s", strategies);
  for (char *rest = list, *name; (name = strtok_r(rest, ",", &rest)) && contender_count < CONTENDERS_MAX;) {
    const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_TRANSPOSE, name);
    tsl_plan *plan;
    if (!strategy)
      stop(name, "no such strategy");
    const tsl_config config = tsl_strategy_defaults(strategy);
    must(tsl_planner_create(problem, strategy, &config, cpu, TSL_PLACE_HOST, &plan), "failed");
    add(name, NULL, plan);
  }
}

static unsigned char *memory_for(size_t bytes) {
  void *block;
  if (posix_memalign(&block, PAGE, bytes + PAGE) != 0)
    stop("memory", "not enough");
  if (!small_pages)
    (void)madvise(block, bytes, MADV_HUGEPAGE);
  memset(block, 1, bytes);
  return block;
}

static void compare(int64_t m, int64_t n, const tsl_type_info *type) {
  tsl_problem problem = tsl_problem_transpose(m, n, type->type);
  problem.a.row_stride += pad;
  problem.c.row_stride += pad;
  problem.in_place = in_place && m == n;
  const size_t a_bytes = (size_t)(n * (m + pad)) * type->size, c_bytes = (size_t)(m * (n + pad)) * type->size;
  unsigned char *a = memory_for(a_bytes + (size_t)skew), *c = memory_for(c_bytes + (size_t)skew);
  tsl_random_fill(TSL_DRAW_INTEGER, 1, 0, type->type, a + skew, a_bytes / type->size);
  tsl_operands operands = {.a = {.host = a + skew}, .c = {.host = c + skew}};
  copying job = {.from = a + skew, .to = c + skew, .bytes = (size_t)(m * n) * type->size};
  job.functions = tsl_moves_for(cpu->capabilities);
  contender_count = 0;
  add("memcpy", library_piece, NULL);
  add("stream", stream_piece, NULL);
  add_strategies(&problem);
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < 2 * contender_count;
         i++) /* each runs twice, so that small matrices are in the caches the second time */
      run(&contenders[i / 2], &operands, &job);
  const double bytes = 2e-9 * (double)job.bytes;
  printf("%-5s %" PRId64 "x%" PRId64 "%s", type->name, m, n, problem.in_place ? " in place" : "");
  for (int i = 0; i < contender_count; i++)
    printf("  %s %.1f (%.1f)%s", contenders[i].name, bytes / contenders[i].wall, bytes / contenders[i].cpu,
           i < 2 ? "" : ",");
  for (int i = 2; i < contender_count; i++) {
    printf(" %.0f%% (%.0f%%) of memcpy", 100 * contenders[0].wall / contenders[i].wall,
           100 * contenders[0].cpu / contenders[i].cpu);
    tsl_plan_destroy(contenders[i].plan);
  }
  printf("\n");
  fflush(stdout);
  free(a);
  free(c);
}

static void read_options(int argc, char **argv) {
  static const struct option names[] = {{"types", 1, NULL, 't'},       {"rounds", 1, NULL, 'r'},
                                        {"strategies", 1, NULL, 's'},  {"in-place", 0, NULL, 'i'},
                                        {"pad", 1, NULL, 'p'},         {"skew", 1, NULL, 'k'},
                                        {"small-pages", 0, NULL, 'l'}, {NULL, 0, NULL, 0}};
  int option;
  while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
    switch (option) {
    case 't':
      snprintf(types, sizeof types, "%s", optarg);
      break;
    case 's':
      snprintf(strategies, sizeof strategies, "%s", optarg);
      break;
    case 'r':
      rounds = atoi(optarg);
      break;
    case 'p':
      pad = atoll(optarg);
      break;
    case 'k':
      skew = atoll(optarg);
      break;
    case 'i':
      in_place = 1;
      break;
    case 'l':
      small_pages = 1;
      break;
    default:
      exit(2);
    }
}

int main(int argc, char **argv) {
  read_options(argc, argv);
  must(tsl_devices_create(&devices), "failed");
  must(tsl_devices_find(devices, "cpu", &cpu), "failed");
  must(tsl_device_open(cpu), "failed");
  printf("GB/s read and written on %d threads, by the wall's clock (by the processors')\n",
         tsl_pool_threads(tsl_pool_shared()));
  for (int i = optind; i < argc; i++) {
    int64_t m, n;
    char list[256];
    if (sscanf(argv[i], "%" SCNd64 "x%" SCNd64, &m, &n) != 2)
      stop(argv[i], "not a shape like 8192x8192");
    snprintf(list, sizeof list, "%s", types);
    for (char *rest = list, *name; (name = strtok_r(rest, ",", &rest));) {
      if (tsl_type_parse(name) == TESELA_TYPE_DEFAULT)
        stop(name, "no such type");
      compare(m, n, tsl_type(tsl_type_parse(name)));
    }
  }
  tsl_devices_destroy(devices);
  return 0;
}

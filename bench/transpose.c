/* transpose [options] MxN...
 *
 * How near are transposes on the processor to copies of the same size? In turn in one process; the shortest
 * run counts. Prints GB/s, bytes read plus bytes written, by the wall clock and by processor time (of all
 * threads, divided by their number; other programs disturb it less), and the transposes' rate over
 * memcpy()'s.
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
#include "cases.h"

#include "core/pool.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/transpose/host/vector/vector_moves.h"

#include <sys/mman.h>

enum { SIDES_MAX = 8, PIECE = 1 << 20, PAGE = 2 << 20 };

/* A strategy, or a copy of the array in pieces. */
typedef struct way {
  char name[32];
  tsl_plan *plan; /* NULL: a copy */
  tsl_pool_task task;
  double processor; /* least processor seconds of a run */
} way;

/* The state of a copy of `bytes` bytes in pieces. */
typedef struct copying {
  unsigned char *from, *to;
  size_t bytes, piece;
  const tsl_moves_functions *functions;
} copying;

static way ways[SIDES_MAX];
static bench_side sides[SIDES_MAX];
static int side_count, rounds = 7, pad, skew;
static bool in_place, small_pages;
static const char *types = "f32", *strategies = "vector";
static tsl_devices *devices;
static tsl_device *cpu;
static copying job;
static tsl_operands operands;

/* --- copies --- */

static size_t piece_at(const copying *state, int64_t index) {
  const size_t left = state->bytes - (size_t)index * state->piece;
  return left < state->piece ? left : state->piece;
}

static void library_piece(void *argument, int64_t index, int worker) {
  const copying *state = argument;
  const size_t at = (size_t)index * state->piece;
  (void)worker;
  memcpy(state->to + at, state->from + at, piece_at(state, index));
}

static void stream_piece(void *argument, int64_t index, int worker) {
  const copying *state = argument;
  const tsl_moves moves = {.factor = 1, .nontemporal = true};
  const size_t at = (size_t)index * state->piece;
  (void)worker;
  state->functions[TSL_MOVES_1].copy(&moves, state->from + at, state->to + at,
                                     (int64_t)piece_at(state, index));
}

static double run(bench_side *side, int calls) {
  way *by = side->state;
  const int threads = tsl_pool_threads(tsl_pool_shared());
  const double processor = bench_processor_clock(), start = bench_clock();
  for (int i = 0; i < calls; i++)
    if (by->plan) {
      bench_must(tsl_plan_run(by->plan, &operands, NULL), "a transpose");
    } else {
      job.piece = by->task == library_piece ? (job.bytes - 1) / (size_t)threads / 64 * 64 + 64 : PIECE;
      tsl_pool_run(tsl_pool_shared(), (int64_t)((job.bytes - 1) / job.piece + 1), by->task, &job);
    }
  const double seconds = bench_clock() - start;
  by->processor = fmin(by->processor, (bench_processor_clock() - processor) / threads / calls);
  return seconds;
}

/* Runs once before each sample, so that small matrices are in the caches. */
static void run_before(bench_side *side) {
  (void)run(side, 1);
}

/* --- a shape --- */

static void add(const char *name, tsl_pool_task task, tsl_plan *plan) {
  way *by = &ways[side_count];
  *by = (way){.plan = plan, .task = task, .processor = INFINITY};
  snprintf(by->name, sizeof by->name, "%s", name);
  sides[side_count++] = (bench_side){.name = by->name, .run = run, .state = by, .calls = 1};
}

static void add_strategies(const tsl_problem *problem) {
  const char *list = strategies;
  char name[32];
  while (side_count < SIDES_MAX && bench_next_word(&list, ",", name, sizeof name)) {
    const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_TRANSPOSE, name);
    tsl_plan *plan;
    if (!strategy)
      bench_stop(name, "no such strategy");
    const tsl_config config = tsl_strategy_defaults(strategy);
    bench_must(tsl_planner_create(problem, strategy, &config, cpu, TSL_PLACE_HOST, &plan), name);
    add(name, NULL, plan);
  }
}

static unsigned char *memory_for(size_t bytes) {
  void *block;
  if (posix_memalign(&block, PAGE, bytes + PAGE) != 0)
    bench_stop("memory", "not enough");
  if (!small_pages)
    (void)madvise(block, bytes, MADV_HUGEPAGE);
  memset(block, 1, bytes);
  return block;
}

static void measure(int64_t m, int64_t n, const tsl_type_info *type) {
  tsl_problem problem = tsl_problem_transpose(m, n, type->type);
  problem.a.row_stride += pad;
  problem.c.row_stride += pad;
  problem.in_place = in_place && m == n;
  const size_t a_bytes = (size_t)(n * (m + pad)) * type->size, c_bytes = (size_t)(m * (n + pad)) * type->size;
  unsigned char *a = memory_for(a_bytes + (size_t)skew), *c = memory_for(c_bytes + (size_t)skew);
  tsl_random_fill(TSL_DRAW_INTEGER, 1, 0, type->type, a + skew, a_bytes / type->size);
  operands = (tsl_operands){.a = {.host = a + skew}, .c = {.host = c + skew}};
  job = (copying){.from = a + skew,
                  .to = c + skew,
                  .bytes = (size_t)(m * n) * type->size,
                  .functions = tsl_moves_for(cpu->capabilities)};
  side_count = 0;
  add("memcpy", library_piece, NULL);
  add("stream", stream_piece, NULL);
  add_strategies(&problem);
  bench_race(sides, side_count,
             &(bench_turns){.rounds_min = rounds, .rounds_max = rounds, .before = run_before});
  const double bytes = 2e-9 * (double)job.bytes;
  printf("%-5s %" PRId64 "x%" PRId64 "%s", type->name, m, n, problem.in_place ? " in place" : "");
  for (int i = 0; i < side_count; i++)
    printf("  %s %.1f (%.1f)%s", sides[i].name, bytes / sides[i].least, bytes / ways[i].processor,
           i < 2 ? "" : ",");
  for (int i = 2; i < side_count; i++) {
    printf(" %.0f%% (%.0f%%) of memcpy", 100 * sides[0].least / sides[i].least,
           100 * ways[0].processor / ways[i].processor);
    tsl_plan_destroy(ways[i].plan);
  }
  printf(", mean %.1f\n", bytes / sides[side_count - 1].mean);
  fflush(stdout);
  bench_sides_free(sides, side_count);
  free(a);
  free(c);
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_TEXT("types", types),
                                         OPTION_TEXT("strategies", strategies),
                                         OPTION_COUNT("rounds", rounds),
                                         OPTION_COUNT("pad", pad),
                                         OPTION_COUNT("skew", skew),
                                         OPTION_FLAG("in-place", in_place),
                                         OPTION_FLAG("small-pages", small_pages),
                                         BENCH_CASE_OPTIONS,
                                         OPTIONS_END};
  bench_read(argc, argv, "transpose", options, bench_take_case);
  bench_must(tsl_devices_create(&devices), "devices");
  bench_must(tsl_devices_find(devices, "cpu", &cpu), "the processor");
  bench_must(tsl_device_open(cpu), "the processor");
  printf("GB/s read and written on %d threads, by the wall's clock (by the processors')\n",
         tsl_pool_threads(tsl_pool_shared()));
  for (int i = 0; i < bench_cases.count; i++) {
    const char *list = types;
    char name[16];
    while (bench_next_word(&list, ",", name, sizeof name)) {
      if (tsl_type_parse(name) == TESELA_TYPE_DEFAULT)
        bench_stop(name, "no such type");
      measure(bench_cases.items[i].size[0], bench_cases.items[i].size[1], tsl_type(tsl_type_parse(name)));
    }
  }
  tsl_devices_destroy(devices);
  return 0;
}

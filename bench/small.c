/* small [options] [MxNxK...] [DROP_IN] NAME=LIBRARY...
 *
 * What does a call add to the arithmetic of a small product? Prints nanoseconds a call, the shortest of
 * many rounds in turn. One thread; dense row-major operands stay in the first cache. Columns:
 *
 *   plan      tesela_plan_run() of a reused plan
 *   one-shot  tesela_gemm()
 *   batch     a product of tesela_gemm_batched() with one A and one B: 256, or as many as C has room for
 *   drop-in   cblas_?gemm of libtesela_blas.so, given by path
 *   NAME      cblas_?gemm of that library, which may be another build's drop-in
 *
 *   --types LIST       f32, f64 (f32,f64)
 *   --rounds N         rounds (60)
 *   --seconds S        time of each side with --changing (1)
 *   --quick            three rounds
 *   --changing RANGES  instead of products: every call has a new shape, drawn from LOW to HIGH ("1:16,8:32";
 *                      "all": 1:16,8:32,16:100). So the code before the kernel counts, with branches that the
 *                      processor predicts wrongly. Prints nanoseconds a product, over the faster half of the
 *                      rounds.
 *   --alone            also the strategy's run() called directly, and the overhead of a plan: the median of
 *                      the differences of all rounds
 *   --tesela FILE      the build of tesela to measure (this program's)
 *   --shapes FILE, --draw SEED N, --json FILE
 *
 * Another build of tesela (old=PATH/libtesela.so) has columns "plan of old", "one-shot of old" and "batch of
 * old". Geometric means are at the end: tesela's rates over the other build's, for each column, and the
 * drop-in's rates over each library's.
 *
 * Instead of CBLAS's functions a library may have `void *bench_prepare(int is_double, int m, int n, int k)`
 * and `void bench_multiply(void *prepared, const void *a, const void *b, void *c)`: an adapter to a code
 * generator. */
#include "cases.h"
#include "peers.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"

enum {
  PEERS_MAX = 8,
  WAYS = 3,
  SIDES_MAX = WAYS * (PEERS_MAX + 1) + PEERS_MAX + 1,
  SIZE_LIMIT = 512,
  DRAWN = 256
};

typedef struct peer {
  bench_library library;
  char names[WAYS][48]; /* of a build: of its ways */
  tesela_plan *plan;
  void *(*prepare)(int is_double, int m, int n, int k);
  void (*multiply)(void *prepared, const void *a, const void *b, void *c);
  void *prepared;
} peer;

static peer peers[PEERS_MAX + 1]; /* the first is the measured build */
static int peer_count, rounds = 60;
static const char *types = "f32,f64", *measured, *changing, *json_path;
static bool is_double, is_quick, is_alone;
static double seconds = 1;
static int shapes[DRAWN][3]; /* m, n, k of the calls of a sample: one shape, or DRAWN shapes */
static int shape_count;
static tsl_devices *devices;
static tsl_plan *alone; /* the measured build's plan, made of its text */

/* Addresses that are equal modulo a page make a processor mistake loads of one for stores to another. C is
 * half a page from A and B, so that no addresses up to 16 x 16 in f64 collide. */
enum { COUNT = SIZE_LIMIT * SIZE_LIMIT, B_SHIFT = 8, C_SHIFT = 256 + 24 };
static _Alignas(4096) double memory[3 * COUNT + C_SHIFT];
static double *const a = memory, *const b = memory + COUNT + B_SHIFT, *const c = memory + 2 * COUNT + C_SHIFT;

static tesela_gemm_desc make_desc(const int *shape) {
  const tesela_type type = is_double ? TESELA_F64 : TESELA_F32;
  return (tesela_gemm_desc){.m = shape[0],
                            .n = shape[1],
                            .k = shape[2],
                            .a = {.data = a, .type = type},
                            .b = {.data = b, .type = type},
                            .c = {.data = c},
                            .options.device = "cpu"};
}

/* --- the timed ways --- */

static double run_plan(bench_side *side, int calls) {
  const peer *by = side->state;
  const tesela_matrix first = {.data = a}, second = {.data = b};
  const tesela_result third = {.data = c};
  const double start = bench_clock();
  for (int i = 0; i < calls; i++)
    bench_build_must(&by->library, by->library.tesela.plan_run(
                                       by->plan, &(tesela_operands){.a = &first, .b = &second, .c = &third},
                                       NULL, sizeof(tesela_operands), 0));
  return bench_clock() - start;
}

static double run_one_shot(bench_side *side, int calls) {
  const peer *by = side->state;
  tesela_gemm_desc desc = make_desc(shapes[0]);
  const double start = bench_clock();
  for (int i = 0; i < calls; i++) {
    if (shape_count > 1) {
      const int *shape = shapes[i % DRAWN];
      desc.m = shape[0], desc.n = shape[1], desc.k = shape[2];
    }
    bench_build_must(&by->library,
                     by->library.tesela.call(by->library.context, TESELA_GEMM, &desc, NULL, sizeof desc, 0));
  }
  return bench_clock() - start;
}

static int batch_count(void) {
  const int fits = COUNT / (shapes[0][0] * shapes[0][1]);
  return fits > 256 ? 256 : fits;
}

static double run_batch(bench_side *side, int calls) {
  const peer *by = side->state;
  const tesela_gemm_desc desc = make_desc(shapes[0]);
  const tesela_batch batch = {.count = batch_count(), .c_stride = shapes[0][0] * shapes[0][1]};
  const int batches = (calls - 1) / batch_count() + 1;
  const double start = bench_clock();
  for (int i = 0; i < batches; i++)
    bench_build_must(&by->library, by->library.tesela.gemm_batched(by->library.context, &desc, &batch, NULL,
                                                                   sizeof desc, sizeof batch, 0));
  return (bench_clock() - start) * calls / ((double)batches * batch_count());
}

static double run_peer(bench_side *side, int calls) {
  const peer *by = side->state;
  const double start = bench_clock();
  for (int i = 0; i < calls; i++) {
    const int *shape = shapes[shape_count > 1 ? i % DRAWN : 0];
    const int m = shape[0], n = shape[1], k = shape[2];
    if (by->prepared)
      by->multiply(by->prepared, a, b, c);
    else if (is_double)
      by->library.dgemm(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, m, n, k, 1, a, k, b, n, 0, c, n);
    else
      by->library.sgemm(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, m, n, k, 1, (const float *)(void *)a,
                        k, (const float *)(void *)b, n, 0, (float *)(void *)c, n);
  }
  return bench_clock() - start;
}

static double run_alone(bench_side *side, int calls) {
  const int n = shapes[0][1], k = shapes[0][2];
  const tsl_operands operands = {.a = {.host = a, .row_stride = k, .col_stride = 1},
                                 .b = {.host = b, .row_stride = n, .col_stride = 1},
                                 .c = {.host = c, .row_stride = n, .col_stride = 1},
                                 .team = tsl_device_team(alone->work.device)};
  (void)side;
  const double start = bench_clock();
  for (int i = 0; i < calls; i++)
    alone->work.strategy->run(&alone->work, &operands, NULL);
  return bench_clock() - start;
}

/* --- data: small whole numbers, whose sums are exact --- */

static void fill(void) {
  for (int i = 0; i < COUNT_OF(memory); i++)
    if (is_double)
      memory[i] = i % 13 - 6;
    else
      ((float *)(void *)memory)[2 * i] = ((float *)(void *)memory)[2 * i + 1] = (float)(i % 13 - 6);
}

static double element(const double *matrix, int index) {
  return is_double ? matrix[index] : ((const float *)(const void *)matrix)[index];
}

/* Runs one call of the first shape and compares C with plain sums. */
static void check(bench_side *side) {
  const int m = shapes[0][0], n = shapes[0][1], k = shapes[0][2];
  memset(c, 0xff, (size_t)m * (size_t)n * sizeof *c);
  side->run(side, 1);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j += 1 + n / 32) {
      double sum = 0;
      for (int l = 0; l < k; l++)
        sum += element(a, i * k + l) * element(b, l * n + j);
      if (element(c, i * n + j) != sum)
        bench_stop(side->name, "computes something else");
    }
}

/* --- sides --- */

static void add_side(bench_side *sides, int *count, const char *name, double (*run)(bench_side *, int),
                     void *state) {
  sides[(*count)++] = (bench_side){.name = name, .run = run, .state = state};
}

/* Lists all ways that multiply this shape: three of each build, the measured build first. With changing
 * shapes a plan and a batch have no meaning. */
static int list_sides(bench_side *sides) {
  static double (*const runs[WAYS])(bench_side *, int) = {run_plan, run_one_shot, run_batch};
  const tesela_gemm_desc desc = make_desc(shapes[0]);
  const int *shape = shapes[0];
  int count = 0;
  for (peer *by = peers; by < peers + peer_count; by++) {
    const build *tesela = &by->library.tesela;
    if (!tesela->plan_run)
      continue;
    if (shape_count > 1) {
      add_side(sides, &count, by == peers ? "public" : by->names[1], run_one_shot, by);
      continue;
    }
    bench_build_must(&by->library,
                     tesela->plan_create(by->library.context, TESELA_GEMM, &desc, &by->plan, sizeof desc));
    for (int j = 0; j < WAYS; j++)
      add_side(sides, &count, by->names[j], runs[j], by);
  }
  if (is_alone && shape_count == 1) {
    bench_must(tsl_planner_parse(devices, bench_plan_text(&peers[0].library, peers[0].plan), &alone),
               "the plan");
    add_side(sides, &count, "strategy alone", run_alone, NULL);
  }
  for (peer *by = peers; by < peers + peer_count; by++) {
    by->prepared =
        by->prepare && shape_count == 1 ? by->prepare(is_double, shape[0], shape[1], shape[2]) : NULL;
    if (by->prepared || by->library.sgemm)
      add_side(sides, &count, by->library.name, run_peer, by);
  }
  return count;
}

static void release_plans(void) {
  for (peer *by = peers; by < peers + peer_count; by++)
    if (by->plan)
      by->library.tesela.plan_destroy(by->plan);
  for (peer *by = peers; by < peers + peer_count; by++)
    by->plan = NULL;
  if (alone)
    tsl_plan_destroy(alone);
  alone = NULL;
}

/* --- ratios of one column to another --- */

typedef struct comparison {
  const char *one, *other;
  bench_mean mean;
} comparison;
static comparison comparisons[SIDES_MAX];
static int comparison_count;

static void keep_ratio(const bench_side *side, const bench_side *other, const char *shape) {
  int i = 0;
  while (i < comparison_count && (comparisons[i].one != side->name || comparisons[i].other != other->name))
    i++;
  if (i == comparison_count)
    comparisons[comparison_count++] = (comparison){.one = side->name, .other = other->name};
  bench_mean_add(&comparisons[i].mean, other->least / side->least, shape);
}

static void keep_ratios(const bench_side *sides, int count, const char *shape) {
  const bench_side *drop_in = NULL;
  const int ways = shape_count > 1 ? 1 : WAYS;
  for (int i = 0; i < count; i++)
    if (sides[i].run != run_peer && sides[i].state && sides[i].state != peers)
      keep_ratio(&sides[i % ways], &sides[i], shape);
    else if (sides[i].run == run_peer && drop_in)
      keep_ratio(drop_in, &sides[i], shape);
    else if (strcmp(sides[i].name, "drop-in") == 0)
      drop_in = &sides[i];
}

/* --- one shape --- */

static void write_row(const bench_side *sides, int count) {
  json_open(NULL, '{');
  json_text("type", is_double ? "f64" : "f32");
  json_integer("m", shapes[0][0]);
  json_integer("n", shapes[0][1]);
  json_integer("k", shapes[0][2]);
  json_open("seconds", '{');
  for (int i = 0; i < count; i++)
    json_number(sides[i].name, sides[i].least);
  json_close('}');
  json_open("mean", '{');
  for (int i = 0; i < count; i++)
    json_number(sides[i].name, sides[i].mean);
  json_close('}');
  json_text("plan", bench_plan_text(&peers[0].library, peers[0].plan));
  json_close('}');
}

/* Returns what a plan adds to its strategy's run(): the median of the differences of all rounds. */
static double overhead_of(const bench_side *sides, int count) {
  for (int i = 1; i < count; i++)
    if (sides[i].run == run_alone)
      return bench_paired(&sides[0], &sides[i], true);
  return NAN;
}

/* Makes two calls before each sample, since another side ran before. */
static void run_before(bench_side *side) {
  (void)side->run(side, 2);
}

static void measure(const bench_case *item) {
  bench_side sides[SIDES_MAX];
  char shape[64];
  const double flops = 2.0 * (double)item->size[0] * (double)item->size[1] * (double)item->size[2];
  shape_count = 1;
  for (int i = 0; i < 3; i++) {
    if (item->size[i] < 1 || item->size[i] > SIZE_LIMIT)
      return;
    shapes[0][i] = (int)item->size[i];
  }
  fill();
  const int count = list_sides(sides);
  const int wanted = flops > 2e6 ? 4 : (int)(4e6 / (flops + 2000)), batch = batch_count();
  for (int i = 0; i < count; i++) {
    check(&sides[i]);
    sides[i].calls = (wanted / batch + 1) * batch;
  }
  bench_race(sides, count,
             &(bench_turns){.rounds_min = is_quick ? 3 : rounds,
                            .rounds_max = is_quick ? 3 : rounds,
                            .is_paired = true,
                            .before = run_before});
  snprintf(shape, sizeof shape, "%s %dx%dx%d", is_double ? "f64" : "f32", shapes[0][0], shapes[0][1],
           shapes[0][2]);
  printf("%-18s", shape);
  for (int i = 0; i < count; i++)
    printf("  %s %.1f (%.1f)", sides[i].name, sides[i].least * 1e9, 1e-9 * flops / sides[i].least);
  if (is_alone)
    printf("  overhead %.1f", 1e9 * overhead_of(sides, count));
  printf("  %.24s\n", bench_plan_text(&peers[0].library, peers[0].plan));
  fflush(stdout);
  keep_ratios(sides, count, shape);
  write_row(sides, count);
  release_plans();
  bench_sides_free(sides, count);
}

/* --- changing shapes --- */

static int range[2];
static void draw_shapes(void) {
  static uint64_t state = 1;
  for (int i = 0; i < DRAWN; i++)
    for (int j = 0; j < 3; j++)
      shapes[i][j] = (int)bench_draw(&state, range[0], range[1]);
}

static double mean_of_faster_half(bench_side *side) {
  const double median = bench_median(side->samples, side->count);
  double sum = 0;
  int count = 0;
  for (int i = 0; i < side->count; i++)
    if (side->samples[i] <= median)
      sum += side->samples[i], count++;
  return sum / count;
}

static void measure_range(int low, int high) {
  bench_side sides[SIDES_MAX];
  const bench_side *drop_in = NULL;
  char name[32];
  if (low < 1 || high < low || high > SIZE_LIMIT)
    bench_stop("sizes", "not LOW:HIGH, from 1 to 512");
  shape_count = DRAWN;
  range[0] = low, range[1] = high;
  fill();
  draw_shapes();
  const int count = list_sides(sides);
  for (int i = 0; i < count; i++) {
    check(&sides[i]);
    sides[i].calls = DRAWN;
  }
  bench_race(sides, count,
             &(bench_turns){.rounds_min = 20,
                            .rounds_max = is_quick ? 20 : 2000,
                            .seconds = seconds,
                            .is_paired = true,
                            .before_round = draw_shapes});
  snprintf(name, sizeof name, "%c %3d to %3d", is_double ? 'd' : 's', low, high);
  printf("%s", name);
  for (int i = 0; i < count; i++) {
    sides[i].least = mean_of_faster_half(&sides[i]);
    printf("  %s %.1f", sides[i].name, 1e9 * sides[i].least);
    if (drop_in)
      printf(" (%.3f)", sides[i].least / drop_in->least);
    else if (strcmp(sides[i].name, "drop-in") == 0)
      drop_in = &sides[i];
  }
  printf("\n");
  fflush(stdout);
  keep_ratios(sides, count, name);
  bench_sides_free(sides, count);
}

static void measure_ranges(void) {
  const char *list = strcmp(changing, "all") == 0 ? "1:16,8:32,16:100" : changing;
  char word[32];
  while (bench_next_word(&list, ", ", word, sizeof word)) {
    int low = 0, high = 0;
    if (sscanf(word, "%d:%d", &low, &high) != 2)
      bench_stop(word, "not LOW:HIGH");
    measure_range(low, high);
  }
}

/* --- the command line --- */

static void name_ways(peer *by) {
  static const char *const ways[WAYS] = {"plan", "one-shot", "batch"};
  for (int i = 0; i < WAYS; i++)
    snprintf(by->names[i], sizeof by->names[i], "%s%s%s", ways[i], by == peers ? "" : " of ",
             by == peers ? "" : by->library.name);
}

static void add_peer(char *word) {
  peer *made = &peers[peer_count++];
  bench_library_open(word, 1, &made->library);
  name_ways(made);
  if (made->library.tesela.plan_run)
    return;
  *(void **)&made->prepare = bench_symbol(&made->library, "bench_prepare");
  *(void **)&made->multiply = bench_symbol(&made->library, "bench_multiply");
  if (!made->prepare && (!made->library.sgemm || !made->library.dgemm))
    bench_stop(word, "has neither cblas_sgemm and cblas_dgemm nor bench_prepare");
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_TEXT("types", types),
                                         OPTION_COUNT("rounds", rounds),
                                         OPTION_NUMBER("seconds", seconds),
                                         OPTION_FLAG("quick", is_quick),
                                         OPTION_TEXT("changing", changing),
                                         OPTION_FLAG("alone", is_alone),
                                         OPTION_TEXT("tesela", measured),
                                         OPTION_TEXT("json", json_path),
                                         BENCH_CASE_OPTIONS,
                                         OPTIONS_END};
  bench_read(argc, argv, "small", options, bench_take_case_or_word);
  setenv("TESELA_BLAS", "auto", 0);
  bench_warn();
  bench_set_threads(1);
  bench_must(tsl_devices_create(&devices), "devices");
  bench_build_open("tesela", measured, 1, &peers[peer_count].library);
  name_ways(&peers[peer_count++]);
  for (int i = 0; i < bench_word_count && peer_count <= PEERS_MAX; i++)
    add_peer(bench_words[i]);
  json_begin(json_path, "bench_small");
  json_integer("threads", 1);
  json_integer("rounds", rounds);
  json_open("peers", '{');
  for (int i = 1; i < peer_count; i++)
    json_text(peers[i].library.name, peers[i].library.version);
  json_close('}');
  json_open("rows", '[');
  printf(changing ? "nanoseconds a product (over the drop-in's)\n" : "nanoseconds a call (GFLOP/s)\n");
  for (int type = 0; type < 2; type++) {
    is_double = type == 1;
    if (!bench_has_word(types, is_double ? "f64" : "f32"))
      continue;
    for (int i = 0; i < bench_cases.count && !changing; i++)
      if (bench_case_has_type(&bench_cases.items[i], type, 2))
        measure(&bench_cases.items[i]);
    if (changing)
      measure_ranges();
  }
  json_close(']');
  json_end();
  for (int i = 0; i < comparison_count; i++)
    bench_mean_print(&comparisons[i].mean, comparisons[i].one, comparisons[i].other);
  for (int i = 0; i < peer_count; i++)
    bench_library_close(&peers[i].library);
  tsl_devices_destroy(devices);
  return 0;
}

/* host_peers [options] MxNxK... NAME=LIBRARY...
 *
 * Compares tesela on the processor with CBLAS libraries and other builds of tesela, loaded by path, in one
 * process. Every round runs each library in turn, and the shortest call counts. Operands are dense, row-major
 * and standard normal (A: --data); every result is judged before it is timed. Prints GFLOP/s, the fraction of
 * the peak of multiply-adds in registers (measured between the products), and tesela's rate divided by the
 * best other rate.
 *
 *   --threads N     threads of each library, pinned to the first N processors that this process may use (1)
 *   --types LIST    types: f32, f64, c64, c128 (f32,f64)
 *   --rounds N      number of rounds (7).
 *   --strategy TEXT strategy of tesela's builds (the planner's)
 *   --tesela FILE   libtesela.so to measure (this program's)
 *   --shapes FILE   products, one "M N K" a line. Text after a # is ignored.
 *   --data LIST     kinds of numbers in A, "normal,relu" (base/kinds.h), a product for each; "all" (normal)
 *   --most GFLOP    leaves out products of more operations (300)
 *   --json FILE     also writes the rows to this file, with the libraries' versions
 *   --plans         multiplies nothing: prints the products that a build of tesela plans differently
 *
 * Another build of tesela (old=PATH/libtesela.so) has a line at the end, on the ratios of the rates of tesela
 * to its rates. The line has their geometric mean, the lowest ratio, and the products with different plans.
 * NAME=@PEER is this program's tesela with that peer's plans, and "NAME=@host_packed depth=128 block=256" is
 * this tesela with that strategy. Such a pair separates the effect of a plan from the effect of a build.
 *
 * The caller sets the libraries' environment: OPENBLAS_CORETYPE, MKL_ENABLE_INSTRUCTIONS, BLIS_ARCH_TYPE,
 * TESELA_ISA. This program sets their numbers of threads. */
#include "builds.h"
#include "json.h"
#include "peers.h"
#include "shapes.h"

#include "core/clock.h"
#include "core/kinds.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/text.h"
#include "judge/check.h"

#include <dlfcn.h>
#include <getopt.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>
#include <time.h>

#define BENCH_NAME "host_peers"
#include "stop.h"

enum { PEERS_MAX = 8, ROW_MAJOR = 101, AS_IT_IS = 111 };

typedef void (*sgemm_call)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                           const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void (*dgemm_call)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                           const double *a, int lda, const double *b, int ldb, double beta, double *c,
                           int ldc);

/* The signature of cblas_cgemm and cblas_zgemm. */
typedef void (*complex_call)(int order, int trans_a, int trans_b, int m, int n, int k, const void *alpha,
                             const void *a, int lda, const void *b, int ldb, const void *beta, void *c,
                             int ldc);

/* A participant: a build of tesela, or a CBLAS library. */
typedef struct contender {
  const char *name;
  char version[256];
  build tesela; /* all NULL for a library */
  tesela_context *context;
  tesela_plan *plan;               /* the plan of the present product */
  const char *strategy;            /* NULL: the planner's choice */
  const struct contender *planner; /* the contender whose plans it runs; NULL: its own */
  sgemm_call sgemm;
  dgemm_call dgemm;
  complex_call cgemm, zgemm;
  double best;        /* seconds of the shortest call; INFINITY: no call gave a right result */
  ratios over;        /* of a peer: the first contender's rates over the peer's */
  tsl_text otherwise; /* products for which the first contender has another plan, with both plans */
} contender;

typedef struct product {
  tsl_problem problem;
  void *a, *b, *c;
} product;

static contender contenders[PEERS_MAX + 1] = {{.name = "tesela"}};
static int contender_count = 1;
static shape_list shapes;
static int threads = 1, rounds = 7;
static const char *types = "f32,f64", *strategy, *measured;
static tsl_kind kinds[TSL_KIND_COUNT], kind; /* kinds of A's numbers, and the kind of the present product */
static int kind_count = 1;
static double most = 300;
static bool only_plans;
static FILE *json;
static int json_rows;

/* --- the command line --- */

static void read_options(int argc, char **argv) {
  static const struct option names[] = {
      {"threads", 1, NULL, 't'},  {"types", 1, NULL, 'y'},  {"rounds", 1, NULL, 'r'},
      {"strategy", 1, NULL, 's'}, {"shapes", 1, NULL, 'f'}, {"most", 1, NULL, 'm'},
      {"json", 1, NULL, 'j'},     {"tesela", 1, NULL, 'l'}, {"plans", 0, NULL, 'p'},
      {"data", 1, NULL, 'd'},     {NULL, 0, NULL, 0}};
  int option;
  while ((option = getopt_long(argc, argv, "+", names, NULL)) != -1)
    switch (option) {
    case 't':
      threads = atoi(optarg);
      break;
    case 'y':
      types = optarg;
      break;
    case 'r':
      rounds = atoi(optarg);
      break;
    case 's':
      strategy = optarg;
      break;
    case 'f':
      stop_if_wrong(optarg, shapes_read(&shapes, optarg));
      break;
    case 'm':
      most = atof(optarg);
      break;
    case 'l':
      measured = optarg;
      break;
    case 'p':
      only_plans = true;
      break;
    case 'd':
      kind_count = tsl_kinds_parse(optarg, kinds);
      if (kind_count == 0)
        stop(optarg, tsl_kind_names());
      break;
    case 'j':
      json = fopen(optarg, "we");
      if (!json)
        stop(optarg, "cannot be written");
      break;
    default:
      exit(2);
    }
}

/* --- processors --- */

static void pin(void) {
  cpu_set_t allowed, chosen;
  int taken = 0;
  CPU_ZERO(&chosen);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    stop("sched_getaffinity", "failed");
  for (int i = 0; i < CPU_SETSIZE && taken < threads; i++)
    if (CPU_ISSET(i, &allowed)) {
      CPU_SET(i, &chosen);
      taken++;
    }
  if (taken < threads || sched_setaffinity(0, sizeof chosen, &chosen) != 0)
    stop("--threads", "there are not so many processors");
}

static void set_threads(void) {
  static const char *const names[] = {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS",
                                      "OMP_NUM_THREADS", "TESELA_THREADS"};
  char text[16];
  snprintf(text, sizeof text, "%d", threads);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    setenv(names[i], text, 1);
  setenv("MKL_DYNAMIC", "FALSE", 1);
}

/* --- the registers' peak --- */

#if defined(__x86_64__)
#define PEAK peak_avx512_f32
#define TARGET "avx512f"
#define VECTOR __m512
#define SET1 _mm512_set1_ps
#define FMADD _mm512_fmadd_ps
#define LANES 16
#include "peak.h"
#define PEAK peak_avx512_f64
#define TARGET "avx512f"
#define VECTOR __m512d
#define SET1 _mm512_set1_pd
#define FMADD _mm512_fmadd_pd
#define LANES 8
#include "peak.h"
#define PEAK peak_avx2_f32
#define TARGET "avx2,fma"
#define VECTOR __m256
#define SET1 _mm256_set1_ps
#define FMADD _mm256_fmadd_ps
#define LANES 8
#include "peak.h"
#define PEAK peak_avx2_f64
#define TARGET "avx2,fma"
#define VECTOR __m256d
#define SET1 _mm256_set1_pd
#define FMADD _mm256_fmadd_pd
#define LANES 4
#include "peak.h"
#endif

/* Returns the peak rate of one core with the vectors that TESELA_ISA permits; 0 if the program
 * lacks these instructions. */
static double peak_of(tesela_type type) {
#if defined(__x86_64__)
  const char *isa = getenv("TESELA_ISA");
  const bool is_any = !isa || !*isa || strcmp(isa, "avx512") == 0;
  if (is_any && __builtin_cpu_supports("avx512f"))
    return type == TESELA_F32 ? peak_avx512_f32() : peak_avx512_f64();
  if ((is_any || strcmp(isa, "avx2") == 0) && __builtin_cpu_supports("fma"))
    return type == TESELA_F32 ? peak_avx2_f32() : peak_avx2_f64();
#endif
  (void)type;
  return 0;
}

/* --- contenders --- */

static void *symbol(void *library, const char *name) {
  static const char *const prefixes[] = {"cblas_", "scipy_cblas_"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefixes[i], name);
    void *found = dlsym(library, full);
    if (found)
      return found;
  }
  return NULL;
}

static bool is_tesela(const contender *contender_in) {
  return contender_in->tesela.plan_run != NULL;
}

static void begin_tesela(contender *contender_in, void *library) {
  const char *lacks = library ? build_find(library, &contender_in->tesela) : NULL;
  if (lacks)
    stop(contender_in->name, lacks);
  if (!library)
    contender_in->tesela = build_linked;
  if (contender_in->tesela.context_create(NULL, &contender_in->context, 0) != TESELA_OK)
    stop(contender_in->name, contender_in->tesela.last_error());
}

/* The first one. */
static void add_measured(void) {
  void *library = measured ? build_open(measured) : NULL;
  if (measured && !library)
    stop(measured, dlerror());
  if (measured)
    printf("tesela: %s\n", measured);
  contenders[0].strategy = strategy;
  begin_tesela(&contenders[0], library);
}

static void find_cblas(contender *contender_in, void *library) {
  *(void **)&contender_in->sgemm = symbol(library, "sgemm");
  *(void **)&contender_in->dgemm = symbol(library, "dgemm");
  *(void **)&contender_in->cgemm = symbol(library, "cgemm");
  *(void **)&contender_in->zgemm = symbol(library, "zgemm");
  if (!contender_in->sgemm || !contender_in->dgemm || !contender_in->cgemm || !contender_in->zgemm)
    stop(contender_in->name, "is no build of tesela and has not all of cblas_sgemm, dgemm, cgemm and zgemm");
  peer_says(library, contender_in->version, sizeof contender_in->version);
}

/* Adds the first build again, with plans of a peer or of a strategy. */
static void add_plans_of(contender *contender_in, const char *state) {
  contender_in->tesela = contenders[0].tesela;
  if (contender_in->tesela.context_create(NULL, &contender_in->context, 0) != TESELA_OK)
    stop(contender_in->name, contender_in->tesela.last_error());
  for (const contender *by = contenders; by < contender_in; by++)
    if (is_tesela(by) && strcmp(by->name, state) == 0)
      contender_in->planner = by;
  if (!contender_in->planner)
    contender_in->strategy = state;
  snprintf(contender_in->version, sizeof contender_in->version, "tesela with %s%s",
           contender_in->planner ? "plans of " : "", state);
}

static void add_contender(char *argument) {
  char *path = strchr(argument, '=');
  if (!path || contender_count > PEERS_MAX)
    stop(argument, "not NAME=LIBRARY, or too many");
  *path++ = '\0';
  void *library = *path == '@' ? NULL : build_open(path);
  if (!library && *path != '@')
    stop(argument, dlerror());
  contender *made = &contenders[contender_count++];
  made->name = argument;
  made->strategy = strategy;
  if (!library) {
    add_plans_of(made, path + 1);
  } else if (build_is(library)) {
    begin_tesela(made, library);
    snprintf(made->version, sizeof made->version, "tesela, %s", path);
  } else
    find_cblas(made, library);
  printf("%s: %s\n", argument, made->version);
}

static void multiply(const product *product_in, const contender *by) {
  const int m = (int)product_in->problem.m, n = (int)product_in->problem.n, k = (int)product_in->problem.k;
  if (is_tesela(by)) {
    const tesela_matrix a = {.data = product_in->a}, b = {.data = product_in->b};
    const tesela_result c = {.data = product_in->c};
    if (by->tesela.plan_run(by->plan, &(tesela_operands){.a = &a, .b = &b, .c = &c}, NULL,
                            sizeof(tesela_operands), 0) != TESELA_OK)
      stop(by->name, by->tesela.last_error());
    return;
  }
  static const float one_f32[2] = {1}, zero_f32[2];
  static const double one_f64[2] = {1}, zero_f64[2];
  switch (product_in->problem.c.type) {
  case TESELA_F32:
    by->sgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m, n, k, 1, product_in->a, k, product_in->b, n, 0, product_in->c,
              n);
    break;
  case TESELA_F64:
    by->dgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m, n, k, 1, product_in->a, k, product_in->b, n, 0, product_in->c,
              n);
    break;
  case TESELA_C64:
    by->cgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m, n, k, one_f32, product_in->a, k, product_in->b, n, zero_f32,
              product_in->c, n);
    break;
  default:
    by->zgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m, n, k, one_f64, product_in->a, k, product_in->b, n, zero_f64,
              product_in->c, n);
  }
}

/* --- one shape --- */

static void *matrix_of(const tsl_shape *shape, tsl_kind data_kind, uint64_t seed) {
  void *memory;
  const size_t count = (size_t)tsl_shape_extent(shape);
  if (tsl_alloc(count * tsl_type(shape->type)->size, "a matrix", &memory) != TESELA_OK)
    stop("a matrix", tesela_last_error());
  if (data_kind == TSL_KIND_NORMAL)
    tsl_random_fill(TSL_DRAW_NORMAL, seed, 0, shape->type, memory, count);
  else if (tsl_kind_fill(data_kind, seed, shape->rows, shape->cols, shape->type, memory) != TESELA_OK)
    stop("a matrix", tesela_last_error());
  return memory;
}

static const char *plan_of(const contender *by) {
  return build_plan_text(&by->tesela, by->plan);
}

static void make_plans(const int64_t *shape, tesela_type type) {
  tesela_gemm_desc desc = {
      .m = shape[0], .n = shape[1], .k = shape[2], .a.type = type, .b.type = type, .options.device = "cpu"};
  for (contender *by = contenders; by < contenders + contender_count; by++) {
    desc.options.strategy = by->strategy;
    if (is_tesela(by) && (by->planner ? by->tesela.plan_parse(by->context, plan_of(by->planner), &by->plan)
                                      : by->tesela.plan_create(by->context, TESELA_GEMM, &desc, &by->plan,
                                                               sizeof desc)) != TESELA_OK)
      stop(by->name, by->tesela.last_error());
  }
}

static void make(const int64_t *shape, tesela_type type, product *product_in) {
  product_in->problem = tsl_problem_gemm(shape[0], shape[1], shape[2], type);
  product_in->a = matrix_of(&product_in->problem.a, kind, 1);
  product_in->b = matrix_of(&product_in->problem.b, TSL_KIND_NORMAL, 2);
  product_in->c = matrix_of(&product_in->problem.c, TSL_KIND_NORMAL, 3);
  make_plans(shape, type);
}

static void release_plans(void) {
  for (contender *by = contenders; by < contenders + contender_count; by++)
    if (is_tesela(by))
      by->tesela.plan_destroy(by->plan);
}

static void release(product *product_in) {
  release_plans();
  tsl_free(product_in->a);
  tsl_free(product_in->b);
  tsl_free(product_in->c);
}

static bool is_right(const product *product_in, const contender *by) {
  const tsl_judge judge = {
      .factor = 2 * tsl_accuracy_of_sum(product_in->problem.k).factor, .operations_max = 1 << 22, .seed = 1};
  tsl_verdict verdict;
  memset(product_in->c, 0xff,
         (size_t)tsl_shape_extent(&product_in->problem.c) * tsl_type(product_in->problem.c.type)->size);
  multiply(product_in, by);
  if (tsl_judge_gemm(&product_in->problem, product_in->a, product_in->b, NULL, product_in->c, &judge,
                     &verdict) != TESELA_OK)
    stop(by->name, tesela_last_error());
  if (!verdict.right)
    printf("%s is wrong: %s\n", by->name, verdict.why);
  return verdict.right;
}

/* Returns the processor seconds of this process. */
static double processor_clock(void) {
  struct timespec used;
  return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0
             ? (double)used.tv_sec + 1e-9 * (double)used.tv_nsec
             : tsl_clock();
}

static double seconds_of(const product *product_in, const contender *by, int calls,
                         double (*clock_of)(void)) {
  const double start = clock_of();
  for (int i = 0; i < calls; i++)
    multiply(product_in, by);
  return (clock_of() - start) / calls;
}

/* Waits, since threads of the previous contender may spin and take processors from the next. After
 * OpenBLAS on sixteen cores 100 ms were far too little: the next contender lost half of its rate. */
static void let_others_sleep(void) {
  const struct timespec pause = {.tv_nsec = 200000000};
  if (threads > 1)
    nanosleep(&pause, NULL);
}

/* Times calls for twenty milliseconds, at least two, and keeps the shortest. Short calls and calls of several
 * threads are timed a few at a time, by the wall clock. A long call of one thread is disturbed by other
 * programs, so it is timed by the clock of this process. */
static void time_calls(const product *product_in, contender *by) {
  enum { CALLS_MAX = 1000 };
  let_others_sleep();
  const double end = tsl_clock() + 0.02, once = seconds_of(product_in, by, 1, tsl_clock);
  const int calls = once < 5e-5 ? (int)fmin(CALLS_MAX, 1 + 5e-5 / once) : 1;
  do
    by->best = fmin(by->best, seconds_of(product_in, by, calls,
                                         threads > 1 || once < 2e-3 ? tsl_clock : processor_clock));
  while (tsl_clock() < end);
}

/* Writes a row: operations per second of each contender by name; null if the result was wrong. */
static void write_row(const product *product_in, double peak) {
  const tsl_problem *problem = &product_in->problem;
  fprintf(json, "%s\n    {\"type\": \"%s\", \"m\": %lld, \"n\": %lld, \"k\": %lld, ", json_rows++ ? "," : "",
          tsl_type(problem->c.type)->name, (long long)problem->m, (long long)problem->n,
          (long long)problem->k);
  json_number(json, "peak", peak > 0 ? peak * threads : NAN);
  for (int i = 0; i < contender_count; i++) {
    fprintf(json, i == 0 ? ", \"flops_per_second\": {" : ", ");
    json_number(json, contenders[i].name, tsl_problem_flops(problem) / contenders[i].best);
  }
  fprintf(json, "}, ");
  json_text(json, "data", tsl_kind_name(kind));
  fprintf(json, ", ");
  json_text(json, "plan", plan_of(&contenders[0]));
  fprintf(json, "}");
}

/* Prints a line for each other build. */
static void print_builds(void) {
  for (contender *by = contenders + 1; by < contenders + contender_count; by++)
    if (is_tesela(by)) {
      if (!only_plans)
        ratios_print(&by->over, contenders[0].name, by->name);
      const char *otherwise = tsl_text_get(&by->otherwise);
      if (*otherwise)
        printf("planned otherwise:\n%s", otherwise);
      tsl_text_free(&by->otherwise);
    }
}

static void begin_json(void) {
  json_begin(json, "bench_host_peers");
  fprintf(json, ",\n  \"threads\": %d, \"rounds\": %d,\n  \"peers\": {", threads, rounds);
  for (int i = 1; i < contender_count; i++) {
    fprintf(json, i > 1 ? ", " : "");
    json_text(json, contenders[i].name, contenders[i].version);
  }
  fprintf(json, "},\n  \"rows\": [");
}

static void end_json(void) {
  fprintf(json, "\n  ]\n}\n");
  if (fclose(json) != 0)
    stop("--json", "not all could be written");
}

static void print_heads(void) {
  printf("| type | m x n x k |");
  for (int i = 0; i < contender_count; i++)
    printf(" %s |", contenders[i].name);
  printf(" over the best peer | of the peak |\n|---|---|");
  for (int i = 0; i < contender_count; i++)
    printf("---:|");
  printf("---:|---:|\n");
}

static void print_row(const product *product_in, double peak) {
  const double giga = 1e-9 * tsl_problem_flops(&product_in->problem);
  double best = INFINITY;
  printf("| %s | %lldx%lldx%lld%s%s |", tsl_type(product_in->problem.c.type)->name,
         (long long)product_in->problem.m, (long long)product_in->problem.n, (long long)product_in->problem.k,
         kind_count > 1 ? " " : "", kind_count > 1 ? tsl_kind_name(kind) : "");
  for (int i = 0; i < contender_count; i++) {
    printf(" %.4g |", giga / contenders[i].best);
    if (i > 0)
      best = fmin(best, contenders[i].best);
  }
  printf(" %.3f | %.1f%% |\n", best / contenders[0].best,
         peak > 0 ? 100e9 * giga / contenders[0].best / (peak * threads) : 0);
  fflush(stdout);
}

static void keep_ratios(const int64_t *shape, tesela_type type) {
  char where[64];
  snprintf(where, sizeof where, "%s %" PRId64 "x%" PRId64 "x%" PRId64 " %s", tsl_type(type)->name, shape[0],
           shape[1], shape[2], kind_count > 1 ? tsl_kind_name(kind) : "");
  for (int i = 1; i < contender_count; i++)
    if (is_tesela(&contenders[i])) {
      if (!only_plans)
        ratios_add(&contenders[i].over, contenders[i].best / contenders[0].best, where);
      if (strcmp(plan_of(&contenders[0]), plan_of(&contenders[i])) != 0)
        tsl_text_add(&contenders[i].otherwise, "  %s\n    %s: %s\n    %s: %s\n", where, contenders[0].name,
                     plan_of(&contenders[0]), contenders[i].name, plan_of(&contenders[i]));
    }
}

static void compare_plans(const int64_t *shape, tesela_type type) {
  make_plans(shape, type);
  keep_ratios(shape, type);
  release_plans();
}

static void compare(const int64_t *shape, tesela_type type) {
  product made;
  double peak = 0;
  bool right[PEERS_MAX + 1];
  make(shape, type, &made);
  for (int i = 0; i < contender_count; i++) {
    contenders[i].best = INFINITY;
    right[i] = is_right(&made, &contenders[i]);
  }
  for (int round = 0; round < rounds; round++) {
    peak = fmax(peak, peak_of(tsl_type(type)->component));
    for (int i = 0; i < contender_count; i++) {
      const int turn = (i + round) % contender_count;
      if (right[turn])
        time_calls(&made, &contenders[turn]);
    }
  }
  print_row(&made, peak);
  keep_ratios(shape, type);
  if (json)
    write_row(&made, peak);
  release(&made);
}

static bool is_wanted(tesela_type type) {
  const char *name = tsl_type(type)->name, *at = strstr(types, name);
  const size_t length = strlen(name);
  return at && (at[length] == ',' || at[length] == '\0');
}

int main(int argc, char **argv) {
  static const tesela_type all[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
  read_options(argc, argv);
  peers_warn();
  pin();
  set_threads();
  add_measured();
  for (int i = optind; i < argc; i++)
    if (strchr(argv[i], '='))
      add_contender(argv[i]);
    else
      stop_if_wrong(argv[i], shapes_add(&shapes, argv[i]));
  if (json)
    begin_json();
  if (!only_plans)
    print_heads();
  for (int t = 0; t < 4; t++)
    for (int i = 0; i < shapes.count; i++)
      for (int d = 0; d < kind_count; d++) {
        kind = kinds[d];
        if (is_wanted(all[t]) && shape_is_within(shapes.items[i], all[t], most))
          (only_plans ? compare_plans : compare)(shapes.items[i], all[t]);
      }
  print_builds();
  if (json)
    end_json();
  for (contender *by = contenders; by < contenders + contender_count; by++)
    if (is_tesela(by))
      by->tesela.context_destroy(by->context);
  return 0;
}

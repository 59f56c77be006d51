/* host_peers [options] MxNxK... NAME=LIBRARY...
 *
 * How fast are products on the processor? Competitors are CBLAS libraries, MKL's and oneDNN's products of
 * narrow types, and other builds of tesela. All are loaded by path into one process. Every round runs each
 * library in turn, and the shortest call counts. Operands are dense and row-major (A: --data), and every
 * result is judged before it is timed. Prints GFLOP/s, tesela's rate over the best other rate, and the
 * fraction of the peak of multiply-adds in registers.
 *
 *   --threads N     threads of each library, pinned to the first N processors that this process may use (1)
 *   --types LIST    f32, f64, c64, c128, bf16 and f16 (both with C in f32), u8i8 and i8 (C in i32) (f32,f64)
 *   --rounds N      number of rounds (7; with --quick 1)
 *   --quick         rounds of 2 ms instead of 20
 *   --cold          each call uses other operands, together more than the last cache holds
 *   --strategy TEXT strategy of tesela's builds
 *   --tesela FILE   libtesela.so to measure (this program's)
 *   --shapes FILE, --draw SEED N, --data LIST, --most GFLOP  (cases.h; most: 300)
 *   --json FILE     also writes the rows to this file, with the libraries' versions
 *   --plans         multiplies nothing: prints the products that a build of tesela plans differently
 *
 * Another build of tesela (old=PATH/libtesela.so) has a line at the end. It has the geometric mean and the
 * lowest ratio of tesela's rates over the build's rates, and the products with different plans. NAME=@PEER is
 * this program's tesela with that peer's plans, and "NAME=@host_packed depth=128 block=256" is this tesela
 * with that strategy. Such a pair separates the effect of a plan from the effect of a build.
 *
 * MKL has cblas_gemm_bf16bf16f32, cblas_gemm_f16f16f32 and cblas_gemm_s8u8s32 (row-major u8 x i8). oneDNN has
 * matmul primitives, made once for plain strides. The caller sets the libraries' environment:
 * OPENBLAS_CORETYPE, MKL_ENABLE_INSTRUCTIONS, BLIS_ARCH_TYPE, ONEDNN_MAX_CPU_ISA, TESELA_ISA. This program
 * sets their threads. */
#include "cases.h"
#include "core/text.h"
#include "device/cpu/cpu.h"
#include "peers.h"

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include "peak.h"
#endif

enum { PEERS_MAX = 8, SETS_MAX = 256, NAMES = 4, OFFSET_FIXED = 173 };

typedef void mkl_real(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const void *a,
                      int lda, const void *b, int ldb, float beta, float *c, int ldc);
typedef void mkl_whole(int order, int trans_a, int trans_b, int offset, int m, int n, int k, float alpha,
                       const void *a, int lda, int8_t a_offset, const void *b, int ldb, int8_t b_offset,
                       float beta, int32_t *c, int ldc, const int32_t *c_offset);

/* The parts of oneDNN's C interface used here: handles are pointers, enumerations int. */
typedef struct dnnl_argument {
  int which;
  void *memory;
} dnnl_argument;
#define DNNL_LIST(X)                                                                                         \
  X(dnnl_engine_create, (void **engine, int kind, size_t index))                                             \
  X(dnnl_stream_create, (void **stream, void *engine, unsigned flags))                                       \
  X(dnnl_memory_desc_create_with_strides,                                                                    \
    (void **desc, int dimensions, const int64_t *sizes, int type, const int64_t *strides))                   \
  X(dnnl_matmul_primitive_desc_create,                                                                       \
    (void **result, void *engine, void *a, void *b, void *bias, void *c, void *attributes))                  \
  X(dnnl_primitive_create, (void **primitive, void *desc))                                                   \
  X(dnnl_memory_create, (void **memory, void *desc, void *engine, void *handle))                             \
  X(dnnl_primitive_execute, (void *primitive, void *stream, int count, const dnnl_argument *arguments))      \
  X(dnnl_stream_wait, (void *stream))
static struct {
#define MEMBER(name, arguments) int(*name) arguments;
  DNNL_LIST(MEMBER)
#undef MEMBER
} dnnl;
enum { DNNL_CPU = 1, DNNL_IN_ORDER = 1 };
static const int dnnl_which[TSL_OPERANDS] = {1, 33, 17}; /* source, weights, destination */

/* Types of a product: CBLAS's letter, or MKL's function and oneDNN's numbers of the types of A, B and C. */
typedef struct form {
  const char *name;
  tsl_types types;
  char letter;
  const char *mkl;
  int dnnl[TSL_OPERANDS];
} form;
static const form forms[] = {
    {"f32", {TESELA_F32, TESELA_F32, TESELA_F32}, 's', NULL, {0}},
    {"f64", {TESELA_F64, TESELA_F64, TESELA_F64}, 'd', NULL, {0}},
    {"c64", {TESELA_C64, TESELA_C64, TESELA_C64}, 'c', NULL, {0}},
    {"c128", {TESELA_C128, TESELA_C128, TESELA_C128}, 'z', NULL, {0}},
    {"bf16", {TESELA_BF16, TESELA_BF16, TESELA_F32}, 0, "gemm_bf16bf16f32", {2, 2, 3}},
    {"f16", {TESELA_F16, TESELA_F16, TESELA_F32}, 0, "gemm_f16f16f32", {1, 1, 3}},
    {"u8i8", {TESELA_U8, TESELA_I8, TESELA_I32}, 0, "gemm_s8u8s32", {6, 5, 4}},
    {"i8", {TESELA_I8, TESELA_I8, TESELA_I32}, 0, NULL, {5, 5, 4}},
};

/* The present product, with as many sets of operands as calls use in turn. */
static struct {
  const bench_case *item;
  const form *form;
  tsl_kind kind;
  tsl_problem problem;
  void *operands[TSL_OPERANDS][SETS_MAX];
  int sets;
} product;

typedef struct contender {
  bench_library library;
  tesela_plan *plan;               /* the plan of the present product */
  const char *strategy;            /* NULL: the planner's choice */
  const struct contender *planner; /* the contender whose plans it runs; NULL: its own */
  void *primitive, *stream;        /* oneDNN's */
  dnnl_argument arguments[SETS_MAX][TSL_OPERANDS];
  bool is_dnnl;
  int next;           /* the set of the next call */
  bench_mean over;    /* of a build: the first contender's rates over its rates */
  tsl_text otherwise; /* products for which the first contender has another plan, with both plans */
} contender;

static contender contenders[PEERS_MAX + 1];
static bench_side sides[PEERS_MAX + 1];
static int contender_count, threads = 1, rounds;
static const char *types = "f32,f64", *strategy, *measured, *json_path;
static bool only_plans, is_cold, is_quick;

/* Returns the peak rate of one core with the vectors or tiles that TESELA_ISA permits; 0: unknown. */
static double measure_peak(const form *state) {
#if defined(__x86_64__)
  const char *isa = getenv("TESELA_ISA");
  const bool is_any = !isa || !*isa || strcmp(isa, "avx512") == 0;
  const bool is_single = tsl_type(state->types.c)->component == TESELA_F32;
  if (!state->letter)
    return state->types.a == TESELA_F16 || !tsl_cpu_has_amx() ? 0 : peak_amx(state->types.a != TESELA_BF16);
  if (is_any && __builtin_cpu_supports("avx512f"))
    return is_single ? peak_avx512_f32() : peak_avx512_f64();
  if ((is_any || strcmp(isa, "avx2") == 0) && __builtin_cpu_supports("fma"))
    return is_single ? peak_avx2_f32() : peak_avx2_f64();
#endif
  (void)state;
  return 0;
}

/* --- contenders --- */

static bool is_tesela(const contender *by) {
  return by->library.tesela.plan_run != NULL;
}

static void find_dnnl(contender *by) {
  by->is_dnnl = true;
#define FIND(function, arguments)                                                                            \
  if (!(*(void **)&dnnl.function = dlsym(by->library.handle, #function)))                                    \
    bench_stop(by->library.name, "has no " #function);
  DNNL_LIST(FIND)
#undef FIND
}

/* Adds the first build again, with plans of a peer or of a strategy. */
static void add_plans_of(char *name, const char *planner, contender *out) {
  bench_build_open(name, measured, threads, &out->library);
  for (const contender *by = contenders; by < out; by++)
    if (is_tesela(by) && strcmp(by->library.name, planner) == 0)
      out->planner = by;
  if (!out->planner)
    out->strategy = planner;
  snprintf(out->library.version, sizeof out->library.version, "tesela with %s%s",
           out->planner ? "plans of " : "", planner);
}

static void add_contender(char *word) {
  contender *made = &contenders[contender_count++];
  char *path = strchr(word, '=');
  if (!path)
    bench_stop(word, "is no product, and not NAME=LIBRARY");
  made->strategy = strategy;
  if (path[1] == '@') {
    *path = '\0';
    add_plans_of(word, path + 2, made);
    return;
  }
  bench_library_open(word, threads, &made->library);
  if (dlsym(made->library.handle, "dnnl_primitive_create"))
    find_dnnl(made);
  else if (!is_tesela(made) && !bench_has_cblas(&made->library))
    bench_stop(word, "is no build of tesela and has not all of cblas_sgemm, dgemm, cgemm and zgemm");
}

/* --- products --- */

static void dnnl_must(int status, const char *what) {
  if (status != 0)
    bench_stop("oneDNN", what);
}

/* Makes oneDNN's primitive; returns false if the library has no such product. */
static bool make_primitive(contender *by) {
  void *engine, *described[TSL_OPERANDS], *desc;
  dnnl_must(dnnl.dnnl_engine_create(&engine, DNNL_CPU, 0), "engine");
  dnnl_must(dnnl.dnnl_stream_create(&by->stream, engine, DNNL_IN_ORDER), "stream");
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(&product.problem, i);
    const int64_t size[12] = {shape->rows, shape->cols}, strides[12] = {shape->row_stride, shape->col_stride};
    dnnl_must(
        dnnl.dnnl_memory_desc_create_with_strides(&described[i], 2, size, product.form->dnnl[i], strides),
        "memory_desc");
    for (int set = 0; set < product.sets; set++) {
      by->arguments[set][i].which = dnnl_which[i];
      dnnl_must(dnnl.dnnl_memory_create(&by->arguments[set][i].memory, described[i], engine,
                                        product.operands[i][set]),
                "memory");
    }
  }
  return dnnl.dnnl_matmul_primitive_desc_create(&desc, engine, described[0], described[1], NULL, described[2],
                                                NULL) == 0 &&
         dnnl.dnnl_primitive_create(&by->primitive, desc) == 0;
}

static void *find_mkl(const contender *by) {
  return product.form->mkl ? bench_symbol(&by->library, product.form->mkl) : NULL;
}

static bool takes_product(contender *by) {
  if (is_tesela(by))
    return true;
  if (by->is_dnnl)
    return product.form->dnnl[0] && make_primitive(by);
  return product.form->letter || find_mkl(by);
}

static void multiply_by_mkl(const contender *by, const void *a, const void *b, void *c) {
  const int m = (int)product.problem.m, n = (int)product.problem.n, k = (int)product.problem.k;
  const char *layout = product.item->layout;
  const int trans_a = layout[0] == 'T' ? CBLAS_TRANS : CBLAS_NO_TRANS,
            trans_b = layout[1] == 'T' ? CBLAS_TRANS : CBLAS_NO_TRANS, lda = layout[0] == 'T' ? m : k,
            ldb = layout[1] == 'T' ? k : n;
  const int32_t nothing = 0;
  union {
    void *symbol;
    mkl_real *real;
    mkl_whole *whole;
  } mkl = {find_mkl(by)};
  if (product.form->types.c == TESELA_F32)
    mkl.real(CBLAS_ROW_MAJOR, trans_a, trans_b, m, n, k, 1, a, lda, b, ldb, 0, c, n);
  else
    mkl.whole(CBLAS_ROW_MAJOR, trans_a, trans_b, OFFSET_FIXED, m, n, k, 1, a, lda, 0, b, ldb, 0, 0, c, n,
              &nothing);
}

static void multiply(bench_side *side) {
  contender *by = side->state;
  const int set = by->next;
  const void *a = product.operands[0][set], *b = product.operands[1][set];
  void *c = product.operands[2][set];
  by->next = set + 1 < product.sets ? set + 1 : 0;
  if (is_tesela(by)) {
    const tesela_matrix first = {.data = a}, second = {.data = b};
    const tesela_result third = {.data = c};
    bench_build_must(&by->library, by->library.tesela.plan_run(
                                       by->plan, &(tesela_operands){.a = &first, .b = &second, .c = &third},
                                       NULL, sizeof(tesela_operands), 0));
  } else if (by->is_dnnl) {
    dnnl_must(dnnl.dnnl_primitive_execute(by->primitive, by->stream, 3, by->arguments[set]), "execute");
    dnnl_must(dnnl.dnnl_stream_wait(by->stream), "wait");
  } else if (product.form->letter) {
    bench_cblas(&by->library, product.form->letter, product.item->layout, product.item->size, a, b, c);
  } else {
    multiply_by_mkl(by, a, b, c);
  }
}

/* A long call of one thread is disturbed by other programs, so it is timed by the clock of this process. */
static double time_calls(bench_side *side, int calls) {
  double (*const clock_of)(void) =
      threads > 1 || calls > 1 || side->least < 2e-3 ? bench_clock : bench_processor_clock;
  const double start = clock_of();
  for (int i = 0; i < calls; i++)
    multiply(side);
  return clock_of() - start;
}

/* Waits, since threads of the previous contender may spin and take processors from the next. After OpenBLAS
 * on sixteen cores 100 ms were far too little: the next contender lost half of its rate. */
static void let_others_sleep(bench_side *side) {
  const struct timespec pause = {.tv_nsec = 200000000};
  (void)side;
  if (threads > 1)
    nanosleep(&pause, NULL);
}

static const char *plan_of(const contender *by) {
  return bench_plan_text(&by->library, by->plan);
}

static void make_plans(void) {
  const tsl_types *kinds = &product.form->types;
  tesela_gemm_desc desc = {.m = product.problem.m,
                           .n = product.problem.n,
                           .k = product.problem.k,
                           .a = {.type = kinds->a, .transpose = product.item->layout[0] == 'T'},
                           .b = {.type = kinds->b, .transpose = product.item->layout[1] == 'T'},
                           .c.type = kinds->c,
                           .options.device = "cpu"};
  for (contender *by = contenders; by < contenders + contender_count; by++) {
    const build *tesela = &by->library.tesela;
    desc.options.strategy = by->strategy;
    if (is_tesela(by))
      bench_build_must(
          &by->library,
          by->planner ? tesela->plan_parse(by->library.context, plan_of(by->planner), &by->plan)
                      : tesela->plan_create(by->library.context, TESELA_GEMM, &desc, &by->plan, sizeof desc));
  }
}

static void release_plans(void) {
  for (contender *by = contenders; by < contenders + contender_count; by++)
    if (is_tesela(by))
      by->library.tesela.plan_destroy(by->plan);
}

static void make_operands(void) {
  size_t bytes = 0;
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  for (int i = 0; i < TSL_OPERANDS; i++)
    bytes += bench_bytes(tsl_problem_shape(&product.problem, i)) + 1;
  const size_t wanted = 2 * (size_t)(cache > 0 ? cache : 64 << 20) / bytes + 1;
  product.sets = !is_cold ? 1 : wanted < SETS_MAX ? (int)wanted : SETS_MAX;
  for (int i = 0; i < TSL_OPERANDS; i++)
    for (int set = 0; set < product.sets; set++)
      product.operands[i][set] =
          bench_matrix(tsl_problem_shape(&product.problem, i), i == 0 ? product.kind : TSL_KIND_NORMAL,
                       (uint64_t)set * TSL_OPERANDS + (uint64_t)i + 1);
}

static void release_operands(void) {
  for (int i = 0; i < TSL_OPERANDS; i++)
    for (int set = 0; set < product.sets; set++)
      free(product.operands[i][set]);
}

/* Runs each contender once and judges it; the measured one's time chooses its clock. */
static void check(void) {
  for (int i = 0; i < contender_count; i++) {
    contender *by = &contenders[i];
    sides[i] = (bench_side){.name = by->library.name, .run = time_calls, .state = by};
    by->next = 0;
    if (!takes_product(by)) {
      bench_refuse(&sides[i], "has no such product");
      continue;
    }
    memset(product.operands[2][0], 0xff, bench_bytes(&product.problem.c));
    multiply(&sides[i]);
    if (!bench_is_right(by->library.name, &product.problem, product.operands[0][0], product.operands[1][0],
                        product.operands[2][0], product.form->letter ? 2 : 1))
      bench_refuse(&sides[i], "is wrong");
    by->next = 0;
    const double start = bench_clock();
    multiply(&sides[i]);
    sides[i].least = bench_clock() - start;
  }
}

/* --- rows --- */

static double peak;

static void measure_peak_again(void) {
  peak = fmax(peak, measure_peak(product.form));
}

static void print_heads(void) {
  printf("| type | m x n x k |");
  for (int i = 0; i < contender_count; i++)
    printf(" %s |", contenders[i].library.name);
  printf(" over the best peer | of the peak | mean | spread |\n|---|---|");
  for (int i = 0; i < contender_count + 4; i++)
    printf("---:|");
  printf("\n");
}

static void print_row(const char *shape) {
  const double giga = 1e-9 * tsl_problem_flops(&product.problem);
  double best = INFINITY;
  printf("| %s | %s%s%s |", product.form->name, shape, bench_kind_count > 1 ? " " : "",
         bench_kind_count > 1 ? tsl_kind_name(product.kind) : "");
  for (int i = 0; i < contender_count; i++) {
    printf(isfinite(sides[i].least) ? " %.4g |" : " - |", giga / sides[i].least);
    best = i > 0 ? fmin(best, isfinite(sides[i].least) ? sides[i].least : INFINITY) : best;
  }
  printf(isfinite(best) ? " %.3f |" : " - |", best / sides[0].least);
  printf(peak > 0 ? " %.1f%% |" : " - |", 100e9 * giga / sides[0].least / (peak * threads));
  printf(" %.4g | %.1f%% |\n", giga / sides[0].mean, 100 * sides[0].spread);
  fflush(stdout);
}

static void write_row(void) {
  json_open(NULL, '{');
  json_text("type", product.form->name);
  json_integer("m", product.problem.m);
  json_integer("n", product.problem.n);
  json_integer("k", product.problem.k);
  json_text("layout", product.item->layout);
  json_number("peak", peak > 0 ? peak * threads : NAN);
  json_rates(sides, contender_count, tsl_problem_flops(&product.problem));
  json_text("data", tsl_kind_name(product.kind));
  json_text("plan", plan_of(&contenders[0]));
  json_close('}');
}

static void keep_ratios(const char *shape) {
  char where[64];
  snprintf(where, sizeof where, "%s %s %s", product.form->name, shape,
           bench_kind_count > 1 ? tsl_kind_name(product.kind) : "");
  for (int i = 1; i < contender_count; i++)
    if (is_tesela(&contenders[i])) {
      if (!only_plans)
        bench_mean_add(&contenders[i].over, sides[i].least / sides[0].least, where);
      if (strcmp(plan_of(&contenders[0]), plan_of(&contenders[i])) != 0)
        tsl_text_add(&contenders[i].otherwise, "  %s\n    %s: %s\n    %s: %s\n", where,
                     contenders[0].library.name, plan_of(&contenders[0]), contenders[i].library.name,
                     plan_of(&contenders[i]));
    }
}

static void race(const char *shape) {
  const bench_turns turns = {.rounds_max = rounds,
                             .rounds_min = rounds,
                             .seconds = INFINITY,
                             .sample_seconds = 5e-5,
                             .calls_max = 1000,
                             .turn_seconds = is_quick ? 0.002 : 0.02,
                             .before = let_others_sleep,
                             .before_round = measure_peak_again};
  peak = 0;
  make_operands();
  check();
  bench_race(sides, contender_count, &turns);
  print_row(shape);
  keep_ratios(shape);
  write_row();
  bench_sides_free(sides, contender_count);
  release_operands();
}

static void measure(const bench_case *item, const form *state, tsl_kind kind) {
  char shape[64];
  product.item = item, product.form = state, product.kind = kind;
  product.problem = bench_case_problem(item, &state->types);
  if (!bench_is_within(&product.problem))
    return;
  bench_case_name(item, shape, sizeof shape);
  make_plans();
  if (only_plans)
    keep_ratios(shape);
  else
    race(shape);
  release_plans();
}

/* Prints a line for each other build. */
static void print_builds(void) {
  for (contender *by = contenders + 1; by < contenders + contender_count; by++)
    if (is_tesela(by)) {
      bench_mean_print(&by->over, contenders[0].library.name, by->library.name);
      const char *otherwise = tsl_text_get(&by->otherwise);
      if (*otherwise)
        printf("planned otherwise:\n%s", otherwise);
      tsl_text_free(&by->otherwise);
    }
}

static void begin_json(void) {
  json_begin(json_path, "bench_host_peers");
  json_integer("threads", threads);
  json_integer("rounds", rounds);
  json_open("peers", '{');
  for (int i = 1; i < contender_count; i++)
    json_text(contenders[i].library.name, contenders[i].library.version);
  json_close('}');
  json_open("rows", '[');
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_COUNT("threads", threads),
                                         OPTION_TEXT("types", types),
                                         OPTION_COUNT("rounds", rounds),
                                         OPTION_FLAG("quick", is_quick),
                                         OPTION_FLAG("cold", is_cold),
                                         OPTION_TEXT("strategy", strategy),
                                         OPTION_TEXT("tesela", measured),
                                         OPTION_TEXT("json", json_path),
                                         OPTION_FLAG("plans", only_plans),
                                         BENCH_CASE_OPTIONS,
                                         BENCH_DATA_OPTION,
                                         OPTIONS_END};
  int wanted[COUNT_OF(forms)], wanted_count = 0;
  bench_gflop_max = 300;
  bench_read(argc, argv, "host_peers", options, bench_take_case_or_word);
  rounds = rounds ? rounds : is_quick ? 1 : 7;
  bench_warn();
  bench_pin(threads);
  bench_set_threads(threads);
  contenders[contender_count].strategy = strategy;
  bench_build_open("tesela", measured, threads, &contenders[contender_count++].library);
  for (int i = 0; i < bench_word_count && contender_count <= PEERS_MAX; i++)
    add_contender(bench_words[i]);
  begin_json();
  if (!only_plans)
    print_heads();
  for (int f = 0; f < COUNT_OF(forms); f++)
    if (bench_has_word(types, forms[f].name))
      wanted[wanted_count++] = f;
  for (int f = 0; f < wanted_count; f++)
    for (int i = 0; i < bench_cases.count; i++)
      for (int d = 0; d < bench_kind_count && bench_case_has_type(&bench_cases.items[i], f, wanted_count);
           d++)
        measure(&bench_cases.items[i], &forms[wanted[f]], bench_kinds[d]);
  print_builds();
  json_close(']');
  json_end();
  for (int i = 0; i < contender_count; i++)
    bench_library_close(&contenders[i].library);
  return 0;
}

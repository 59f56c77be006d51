/* narrow_peers [options] MxNxK... -- mkl=LIBRARY onednn=LIBRARY
 *
 * Compares tesela on the processor with MKL's and oneDNN's products of narrow types, loaded by path, in one
 * process. Every round runs each library in alternating order, and the shortest call counts. Operands are
 * dense and row-major; every result is judged before it is timed. Prints 10^9 operations a second and
 * tesela's rate divided by the best other rate. Prints the fraction of the peak of the tile registers, if the
 * processor has such registers (measured between the products).
 *
 *   --threads N     threads of each library, pinned to the first N processors that this process may use (1)
 *   --types LIST    types: bf16, f16 (both with C in f32), u8i8 and i8 (C in i32) (all)
 *   --rounds N      rounds (7)
 *   --strategy TEXT tesela's strategy (host_amx)
 *   --shapes FILE   more products, one "M N K" a line; text after a # is ignored
 *   --most GFLOP    leaves out products of more operations (300)
 *   --json FILE     also writes the rows to this file, with the libraries' versions
 *
 * MKL has cblas_gemm_bf16bf16f32, cblas_gemm_f16f16f32 and cblas_gemm_s8u8s32 (row-major u8 x i8). Its peer
 * oneDNN has matmul primitives, created once for plain strides of A, B and C. The caller sets TESELA_ISA,
 * MKL_ENABLE_INSTRUCTIONS and ONEDNN_MAX_CPU_ISA. */
#include "json.h"
#include "peers.h"
#include "shapes.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/random.h"
#include "device/cpu/cpu.h"
#include "judge/check.h"
#include "judge/data.h"

#include <dlfcn.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>
#include <time.h>

#define BENCH_NAME "narrow_peers"
#include "stop.h"
#if defined(__x86_64__)
#include "peak_amx.h"
#else
#define peak_amx(whole) 0.0
#endif

enum { ROW_MAJOR = 101, AS_IT_IS = 111, OFFSET_FIXED = 173 };

typedef void (*mkl_real)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const void *a,
                         int lda, const void *b, int ldb, float beta, float *c, int ldc);
typedef void (*mkl_whole)(int order, int trans_a, int trans_b, int offset, int m, int n, int k, float alpha,
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
enum { DNNL_CPU = 1, DNNL_IN_ORDER = 1, DNNL_SRC = 1, DNNL_DST = 17, DNNL_WEIGHTS = 33 };

/* A kind of product, with oneDNN's numbers of its types. */
typedef struct kind {
  const char *name;
  tsl_types types;
  const char *mkl;
  int dnnl_a, dnnl_b, dnnl_c;
} kind;
static const kind kinds[] = {
    {"bf16", {TESELA_BF16, TESELA_BF16, TESELA_F32}, "cblas_gemm_bf16bf16f32", 2, 2, 3},
    {"f16", {TESELA_F16, TESELA_F16, TESELA_F32}, "cblas_gemm_f16f16f32", 1, 1, 3},
    {"u8i8", {TESELA_U8, TESELA_I8, TESELA_I32}, "cblas_gemm_s8u8s32", 6, 5, 4},
    {"i8", {TESELA_I8, TESELA_I8, TESELA_I32}, NULL, 5, 5, 4},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

typedef enum who { TESELA, MKL, ONEDNN, WHO } who;
static const char *const names[WHO] = {"tesela", "mkl", "onednn"};
static void *mkl;
static bool takes_part[WHO] = {true, false, false};

typedef struct product {
  const kind *kind;
  tsl_problem problem;
  void *a, *b, *c;
  tesela_plan *plan;
  void *primitive, *stream;
  dnnl_argument arguments[3];
  double best[WHO]; /* seconds of the shortest call; INFINITY: no call gave a right result */
} product;

static shape_list shapes;
static int threads = 1, rounds = 7;
static double most = 300;
static const char *types = "bf16,f16,u8i8,i8", *strategy = "host_amx";
static FILE *json;
static int json_rows;
static char versions[WHO][256]; /* version texts of the libraries */

static void read_options(int argc, char **argv) {
  static const struct option options[] = {{"threads", 1, NULL, 't'}, {"types", 1, NULL, 'y'},
                                          {"rounds", 1, NULL, 'r'},  {"strategy", 1, NULL, 's'},
                                          {"shapes", 1, NULL, 'f'},  {"most", 1, NULL, 'm'},
                                          {"json", 1, NULL, 'j'},    {0}};
  int option;
  while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1)
    if (option == 't')
      threads = atoi(optarg);
    else if (option == 'y')
      types = optarg;
    else if (option == 'r')
      rounds = atoi(optarg);
    else if (option == 's')
      strategy = optarg;
    else if (option == 'f')
      stop_if_wrong(optarg, shapes_read(&shapes, optarg));
    else if (option == 'm')
      most = atof(optarg);
    else if (option == 'j') {
      json = fopen(optarg, "we");
      if (!json)
        stop(optarg, "cannot be written");
    } else
      exit(2);
}

/* Sets the number of threads and their placement; must run before any library is loaded. */
static void set_threads(void) {
  static const char *const variables[] = {"MKL_NUM_THREADS", "OMP_NUM_THREADS", "TESELA_THREADS"};
  cpu_set_t allowed, chosen;
  char text[16];
  int taken = 0;
  snprintf(text, sizeof text, "%d", threads);
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    setenv(variables[i], text, 1);
  setenv("MKL_DYNAMIC", "FALSE", 1);
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

static void add_peer(const char *argument) {
  const char *path = strchr(argument, '=');
  void *library = path ? dlopen(path + 1, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library)
    stop(argument, path ? dlerror() : "not NAME=LIBRARY");
  if (strncmp(argument, "mkl=", 4) == 0) {
    peer_says(library, versions[MKL], sizeof versions[MKL]);
    printf("%s\n", versions[MKL]);
    mkl = library;
    takes_part[MKL] = true;
    return;
  }
#define FIND(name, arguments)                                                                                \
  *(void **)&dnnl.name = dlsym(library, #name);                                                              \
  if (!dnnl.name)                                                                                            \
    stop(argument, "has no " #name);
  DNNL_LIST(FIND)
#undef FIND
  const int *(*version)(void); /* returns a struct that starts with three version numbers */
  char kernels[128];
  *(void **)&version = dlsym(library, "dnnl_version");
  peer_says(library, kernels, sizeof kernels);
  if (version)
    snprintf(versions[ONEDNN], sizeof versions[ONEDNN], "oneDNN %d.%d.%d, %s", version()[0], version()[1],
             version()[2], kernels);
  printf("%s\n", versions[ONEDNN]);
  takes_part[ONEDNN] = true;
}

static void expect_done(int status, const char *what) {
  if (status != 0)
    stop("oneDNN", what);
}

static void *describe(const tsl_shape *shape, int type, void *engine, void *data, void **desc) {
  const int64_t sizes[12] = {shape->rows, shape->cols}, strides[12] = {shape->row_stride, shape->col_stride};
  void *memory;
  expect_done(dnnl.dnnl_memory_desc_create_with_strides(desc, 2, sizes, type, strides), "memory_desc");
  expect_done(dnnl.dnnl_memory_create(&memory, *desc, engine, data), "memory");
  return memory;
}

/* Makes oneDNN's primitive; returns false if the library has no such product. */
static bool make_primitive(product *product_in) {
  void *engine, *a, *b, *c, *desc;
  expect_done(dnnl.dnnl_engine_create(&engine, DNNL_CPU, 0), "engine");
  expect_done(dnnl.dnnl_stream_create(&product_in->stream, engine, DNNL_IN_ORDER), "stream");
  product_in->arguments[0] = (dnnl_argument){
      DNNL_SRC, describe(&product_in->problem.a, product_in->kind->dnnl_a, engine, product_in->a, &a)};
  product_in->arguments[1] = (dnnl_argument){
      DNNL_WEIGHTS, describe(&product_in->problem.b, product_in->kind->dnnl_b, engine, product_in->b, &b)};
  product_in->arguments[2] = (dnnl_argument){
      DNNL_DST, describe(&product_in->problem.c, product_in->kind->dnnl_c, engine, product_in->c, &c)};
  return dnnl.dnnl_matmul_primitive_desc_create(&desc, engine, a, b, NULL, c, NULL) == 0 &&
         dnnl.dnnl_primitive_create(&product_in->primitive, desc) == 0;
}

static void multiply_by_mkl(const product *product_in) {
  const int m = (int)product_in->problem.m, n = (int)product_in->problem.n, k = (int)product_in->problem.k;
  const int32_t nothing = 0;
  mkl_real real;
  mkl_whole whole;
  *(void **)&real = *(void **)&whole = dlsym(mkl, product_in->kind->mkl);
  if (product_in->problem.c.type == TESELA_F32)
    real(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m, n, k, 1, product_in->a, k, product_in->b, n, 0, product_in->c, n);
  else
    whole(ROW_MAJOR, AS_IT_IS, AS_IT_IS, OFFSET_FIXED, m, n, k, 1, product_in->a, k, 0, product_in->b, n, 0,
          0, product_in->c, n, &nothing);
}

static void multiply(const product *product_in, who by) {
  if (by == MKL) {
    multiply_by_mkl(product_in);
  } else if (by == ONEDNN) {
    expect_done(
        dnnl.dnnl_primitive_execute(product_in->primitive, product_in->stream, 3, product_in->arguments),
        "execute");
    expect_done(dnnl.dnnl_stream_wait(product_in->stream), "wait");
  } else {
    const tesela_matrix a = {.data = product_in->a}, b = {.data = product_in->b};
    const tesela_result c = {.data = product_in->c};
    if (tesela_plan_run(product_in->plan, &(tesela_operands){.a = &a, .b = &b, .c = &c}, NULL) != TESELA_OK)
      stop("tesela", tesela_last_error());
  }
}

static void *matrix_of(const tsl_shape *shape, uint64_t seed) {
  void *memory;
  if (tsl_alloc((size_t)tsl_shape_extent(shape) * tsl_type(shape->type)->size, "a matrix", &memory) !=
          TESELA_OK ||
      tsl_data_fill(TSL_DATA_NORMAL, seed, shape, 1, memory) != TESELA_OK)
    stop("a matrix", tesela_last_error());
  return memory;
}

static void make(tesela_context *context, const int64_t *shape, const kind *kind_in, product *product_in) {
  product_in->kind = kind_in;
  product_in->problem = tsl_problem_gemm(shape[0], shape[1], shape[2], kind_in->types.a);
  product_in->problem.b.type = kind_in->types.b;
  product_in->problem.c.type = kind_in->types.c;
  product_in->a = matrix_of(&product_in->problem.a, 1);
  product_in->b = matrix_of(&product_in->problem.b, 2);
  product_in->c = matrix_of(&product_in->problem.c, 3);
  const tesela_gemm_desc desc = {.m = shape[0],
                                 .n = shape[1],
                                 .k = shape[2],
                                 .a.type = kind_in->types.a,
                                 .b.type = kind_in->types.b,
                                 .c.type = kind_in->types.c,
                                 .options.device = "cpu",
                                 .options.strategy = strategy};
  if (tesela_plan_create(context, &desc, &product_in->plan) != TESELA_OK)
    stop("tesela", tesela_last_error());
  for (int i = 0; i < WHO; i++)
    product_in->best[i] = INFINITY;
}

static bool has(product *product_in, who by) {
  if (by == MKL)
    return takes_part[MKL] && product_in->kind->mkl && dlsym(mkl, product_in->kind->mkl);
  return by == TESELA || (takes_part[ONEDNN] && make_primitive(product_in));
}

static bool is_right(const product *product_in, who by) {
  const tsl_judge judge = {
      .factor = tsl_accuracy_of_sum(product_in->problem.k).factor, .operations_max = 1 << 22, .seed = 1};
  tsl_verdict verdict;
  memset(product_in->c, 0xff, (size_t)tsl_shape_extent(&product_in->problem.c) * 4);
  multiply(product_in, by);
  if (tsl_judge_gemm(&product_in->problem, product_in->a, product_in->b, NULL, product_in->c, &judge,
                     &verdict) != TESELA_OK)
    stop(names[by], tesela_last_error());
  if (!verdict.right)
    printf("%s is wrong: %s\n", names[by], verdict.why);
  return verdict.right;
}

/* Returns the process's seconds on one thread, so that other processes do not count. With several
 * threads, which wait for each other, returns wall-clock seconds. */
static double clock_now(void) {
  struct timespec used;
  if (threads > 1 || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
    return tsl_clock();
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Waits, since threads of the previous library may spin for a while and take processors from the
 * next. */
static void let_others_sleep(void) {
  const struct timespec pause = {.tv_nsec = 100000000};
  if (threads > 1)
    nanosleep(&pause, NULL);
}

static void time_calls(product *product_in, who by) {
  let_others_sleep();
  const double end = tsl_clock() + 0.02;
  do {
    const double start = clock_now();
    multiply(product_in, by);
    product_in->best[by] = fmin(product_in->best[by], clock_now() - start);
  } while (tsl_clock() < end);
}

/* --- JSON --- */

static void begin_json(void) {
  json_begin(json, "bench_narrow_peers");
  fprintf(json, ",\n  \"threads\": %d, \"rounds\": %d,\n  \"peers\": {", threads, rounds);
  for (int i = 0, count = 0; i < WHO; i++)
    if (i != TESELA && takes_part[i]) {
      fprintf(json, count++ ? ", " : "");
      json_text(json, names[i], versions[i]);
    }
  fprintf(json, "},\n  \"rows\": [");
}

static void end_json(void) {
  fprintf(json, "\n  ]\n}\n");
  if (fclose(json) != 0)
    stop("--json", "not all could be written");
}

/* Writes a row. `peak`: the rate of all threads' registers; 0: unknown. */
static void put_row(const product *product_in, double peak) {
  const tsl_problem *problem = &product_in->problem;
  fprintf(json, "%s\n    {\"type\": \"%s\", \"m\": %lld, \"n\": %lld, \"k\": %lld, ", json_rows++ ? "," : "",
          product_in->kind->name, (long long)problem->m, (long long)problem->n, (long long)problem->k);
  json_number(json, "peak", peak > 0 ? peak : NAN);
  for (int i = 0, count = 0; i < WHO; i++)
    if (takes_part[i]) {
      fprintf(json, count++ ? ", " : ", \"flops_per_second\": {");
      json_number(json, names[i],
                  isfinite(product_in->best[i]) ? tsl_problem_flops(problem) / product_in->best[i] : NAN);
    }
  fprintf(json, "}, ");
  json_text(json, "plan", tesela_plan_describe(product_in->plan));
  fprintf(json, "}");
}

static void run_shape(tesela_context *context, const int64_t *shape, const kind *kind_in) {
  product made = {.kind = kind_in};
  bool runs[WHO];
  make(context, shape, kind_in, &made);
  for (int i = 0; i < WHO; i++)
    runs[i] = has(&made, (who)i) && is_right(&made, (who)i);
  double peak = 0;
  for (int round = 0; round < rounds; round++) {
    if (kind_in->types.a != TESELA_F16 && tsl_cpu_has_amx())
      peak = fmax(peak, threads * peak_amx(kind_in->types.a != TESELA_BF16));
    for (int i = 0; i < WHO; i++)
      if (runs[(i + round) % WHO])
        time_calls(&made, (who)((i + round) % WHO));
  }
  const double giga = 1e-9 * tsl_problem_flops(&made.problem);
  printf("| %s | %" PRId64 "x%" PRId64 "x%" PRId64 " |", kind_in->name, shape[0], shape[1], shape[2]);
  for (int i = 0; i < WHO; i++)
    printf(isfinite(made.best[i]) ? " %.4g |" : " - |", giga / made.best[i]);
  printf(" %.3f |", fmin(made.best[MKL], made.best[ONEDNN]) / made.best[TESELA]);
  printf(peak > 0 ? " %.1f%% |\n" : " - |\n", 100e9 * giga / made.best[TESELA] / peak);
  fflush(stdout);
  if (json)
    put_row(&made, peak);
  tesela_plan_destroy(made.plan);
  tsl_free(made.a);
  tsl_free(made.b);
  tsl_free(made.c);
}

int main(int argc, char **argv) {
  read_options(argc, argv);
  set_threads();
  int at = optind;
  peers_warn();
  for (; at < argc && strcmp(argv[at], "--") != 0; at++)
    stop_if_wrong(argv[at], shapes_add(&shapes, argv[at]));
  for (at++; at < argc; at++)
    add_peer(argv[at]);
  tesela_context *context;
  if (tesela_context_create(NULL, &context) != TESELA_OK)
    stop("tesela", tesela_last_error());
  if (json)
    begin_json();
  printf("| types | m x n x k | tesela | mkl | onednn | over the best | of the tile registers |\n"
         "|---|---|---|---|---|---|---|\n");
  for (int i = 0; i < KINDS; i++) {
    char wanted[16];
    snprintf(wanted, sizeof wanted, ",%s,", kinds[i].name);
    char list[64];
    snprintf(list, sizeof list, ",%s,", types);
    for (int s = 0; strstr(list, wanted) && s < shapes.count; s++)
      if (shape_is_within(shapes.items[s], kinds[i].types.a, most))
        run_shape(context, shapes.items[s], &kinds[i]);
  }
  if (json)
    end_json();
  tesela_context_destroy(context);
  return 0;
}

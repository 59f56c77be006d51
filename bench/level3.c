/* level3 [--threads N] [--rounds N] [--types s,d,c,z] [--sizes 64,256,100x10000,...] [--only ROUTINE]
 *        [--strategy TEXT] [--drop-in FILE] NAME=LIBRARY
 *
 * Compares level 3 routines by tesela's plans of host_packed, or by its drop-in, with a library's CBLAS. Runs
 * in turn in one process, with column-major operands and lower triangles. Prints the shortest call of each in
 * microseconds, the ratio, and at the end the geometric mean. Results are compared before times are taken.
 * One size is a square. A second size is the update's k, or the number of columns of the right-hand side. */
#include "peers.h"

#include "core/clock.h"
#include "core/random.h"
#include "plan/plan.h"
#include "tune/measured_choice.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
  COLUMN_MAJOR = 102,
  LOWER = 122,
  AS_IT_IS = 111,
  TRANSPOSED = 112,
  CONJUGATED = 113,
  LEFT = 141,
  NON_UNIT = 131
};

/* Two forms of each routine: scalars are passed by value, or by address. */
#define SCALAR_CALLS(type, name)                                                                             \
  typedef void name##_rank(int, int, int, int, int, type, const void *, int, type, void *, int);             \
  typedef void name##_rank2(int, int, int, int, int, type, const void *, int, const void *, int, type,       \
                            void *, int);                                                                    \
  typedef void name##_symm(int, int, int, int, int, type, const void *, int, const void *, int, type,        \
                           void *, int);                                                                     \
  typedef void name##_trmm(int, int, int, int, int, int, int, type, const void *, int, void *, int);
SCALAR_CALLS(float, single)
SCALAR_CALLS(double, twice)
SCALAR_CALLS(const void *, address)

typedef enum routine { SYRK, HERK, SYR2K, SYMM, HEMM, TRMM, ROUTINES } routine;
static const char *const routine_names[] = {"syrk", "herk", "syr2k", "symm", "hemm", "trmm"};
static const char letters[] = "sdcz";
static const tesela_type types_of[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};

static void *library, *drop_in; /* drop_in: called in place of tesela's plans; or NULL */
static int threads = 1, rounds = 12;
static const char *types = "s,d,c,z", *sizes = "64,256,1000,2048,100x10000,2000x16", *only = "",
                  *drop_in_path, *strategy = "host_packed";
static tsl_devices *devices;

static _Noreturn void stop(const char *what, const char *why) {
  fprintf(stderr, "bench_level3: %s: %s\n", what, why);
  exit(1);
}

/* --- one product --- */

typedef struct product {
  routine routine;
  int type;
  int64_t square, other;
  void *a, *b, *c, *expected;
  tsl_plan *plan;
  void *call, *drop_in_call; /* call: the library's routine; drop_in_call: the drop-in's, NULL: plans */
} product;

static size_t size_of(const product *product_in) {
  return tsl_type(types_of[product_in->type])->size;
}
/* Returns true for rank-k updates: a and b are square x other. Else a is square x square, b and c
 * are square x other. */
static bool is_rank(const product *product_in) {
  return product_in->routine <= SYR2K;
}
static int64_t count_of_a(const product *product_in) {
  return product_in->square * (is_rank(product_in) ? product_in->other : product_in->square);
}
static int64_t count_of_c(const product *product_in) {
  return product_in->square * (is_rank(product_in) ? product_in->square : product_in->other);
}

static tsl_problem problem_of(const product *product_in) {
  const int64_t n = product_in->square, other = product_in->other;
  const tesela_type type = types_of[product_in->type];
  tsl_problem problem =
      is_rank(product_in) ? tsl_problem_gemm(n, n, other, type) : tsl_problem_gemm(n, other, n, type);
  problem.a.row_stride = problem.c.row_stride = 1;
  problem.a.col_stride = problem.c.col_stride = n;
  problem.b.row_stride = is_rank(product_in) ? n : 1;
  problem.b.col_stride = is_rank(product_in) ? 1 : n;
  if (is_rank(product_in)) {
    problem.c.triangle = TESELA_LOWER;
    problem.conjugate_b = product_in->routine == HERK;
    problem.c.structure = product_in->routine == HERK    ? TESELA_HERMITIAN
                          : product_in->routine == SYR2K ? TESELA_SYMMETRIC_SUM
                                                         : TESELA_GENERAL;
    return problem;
  }
  problem.a.triangle = TESELA_LOWER;
  problem.a.structure = product_in->routine == SYMM   ? TESELA_SYMMETRIC
                        : product_in->routine == HEMM ? TESELA_HERMITIAN
                                                      : TESELA_TRIANGULAR;
  problem.in_place = product_in->routine == TRMM;
  return problem;
}

static void plan(product *product_in) {
  const tsl_problem problem = problem_of(product_in);
  const tsl_choice choice = {.devices = devices, .device = "cpu", .strategy = strategy};
  if (tsl_tune_choose(&problem, &choice, &product_in->plan) != TESELA_OK)
    stop("plan", tesela_last_error());
}

static void by_tesela(const product *product_in, void *c) {
  const tsl_operands operands = {
      .a = {.host = product_in->a},
      .b = {.host = is_rank(product_in) && product_in->routine != SYR2K ? product_in->a : product_in->b},
      .c = {.host = c}};
  if (tsl_plan_run(product_in->plan, &operands, NULL) != TESELA_OK)
    stop("run", tesela_last_error());
}

static void by_library(const product *product_in, void *c) {
  static const float one_c[2] = {1}, zero_c[2];
  static const double one_z[2] = {1}, zero_z[2];
  const int n = (int)product_in->square, other = (int)product_in->other;
  const void *one = product_in->type == 2 ? (const void *)one_c : one_z,
             *zero = product_in->type == 2 ? (const void *)zero_c : zero_z;
  void *call = product_in->call;
#define AS(kind) (*(kind **)&call)
  if (product_in->routine == SYRK || product_in->routine == HERK) {
    if (product_in->type == 0 || (product_in->routine == HERK && product_in->type == 2))
      AS(single_rank)(COLUMN_MAJOR, LOWER, AS_IT_IS, n, other, 1, product_in->a, n, 0, c, n);
    else if (product_in->type == 1 || product_in->routine == HERK)
      AS(twice_rank)(COLUMN_MAJOR, LOWER, AS_IT_IS, n, other, 1, product_in->a, n, 0, c, n);
    else
      AS(address_rank)(COLUMN_MAJOR, LOWER, AS_IT_IS, n, other, one, product_in->a, n, zero, c, n);
  } else if (product_in->routine == SYR2K) {
    if (product_in->type == 0)
      AS(single_rank2)
    (COLUMN_MAJOR, LOWER, AS_IT_IS, n, other, 1, product_in->a, n, product_in->b, n, 0, c, n);
    else if (product_in->type == 1) AS(twice_rank2)(COLUMN_MAJOR, LOWER, AS_IT_IS, n, other, 1, product_in->a,
                                                    n, product_in->b, n, 0, c, n);
    else AS(address_rank2)(COLUMN_MAJOR, LOWER, AS_IT_IS, n, other, one, product_in->a, n, product_in->b, n,
                           zero, c, n);
  } else if (product_in->routine == TRMM) {
    if (product_in->type == 0)
      AS(single_trmm)(COLUMN_MAJOR, LEFT, LOWER, AS_IT_IS, NON_UNIT, n, other, 1, product_in->a, n, c, n);
    else if (product_in->type == 1)
      AS(twice_trmm)(COLUMN_MAJOR, LEFT, LOWER, AS_IT_IS, NON_UNIT, n, other, 1, product_in->a, n, c, n);
    else
      AS(address_trmm)(COLUMN_MAJOR, LEFT, LOWER, AS_IT_IS, NON_UNIT, n, other, one, product_in->a, n, c, n);
  } else if (product_in->type == 0)
    AS(single_symm)(COLUMN_MAJOR, LEFT, LOWER, n, other, 1, product_in->a, n, product_in->b, n, 0, c, n);
  else if (product_in->type == 1)
    AS(twice_symm)(COLUMN_MAJOR, LEFT, LOWER, n, other, 1, product_in->a, n, product_in->b, n, 0, c, n);
  else
    AS(address_symm)
  (COLUMN_MAJOR, LEFT, LOWER, n, other, one, product_in->a, n, product_in->b, n, zero, c, n);
}

static void by_drop_in(const product *product_in, void *c) {
  product its = *product_in;
  its.call = product_in->drop_in_call;
  by_library(&its, c);
}

static void *call_of(const product *product_in, void *in) {
  static const char *const prefixes[] = {"cblas_", "scipy_cblas_"};
  void *call = NULL;
  for (int i = 0; i < 2 && !call; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s%c%s", prefixes[i], letters[product_in->type],
             routine_names[product_in->routine]);
    call = dlsym(in, name);
  }
  if (!call)
    stop(routine_names[product_in->routine], "is not in the library");
  return call;
}

/* --- comparing and timing --- */

/* Not inlined: gcc 12 for AArch64 fails when it vectorizes loops with this function. */
static __attribute__((noinline)) double component(const product *product_in, const void *from, int64_t i) {
  return product_in->type % 2 == 0 ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

/* Compares both results: the largest difference over the largest number, in units of roundoff times
 * the length of a sum. */
static void compare(const product *product_in) {
  const int64_t count = count_of_c(product_in) * (product_in->type >= 2 ? 2 : 1),
                terms = is_rank(product_in) ? product_in->other : product_in->square;
  const double unit = product_in->type % 2 == 0 ? 6e-8 : 1.1e-16;
  double most = 0, largest = 0;
  for (int64_t i = 0; i < count; i++) {
    most = fmax(
        most, fabs(component(product_in, product_in->c, i) - component(product_in, product_in->expected, i)));
    largest = fmax(largest, fabs(component(product_in, product_in->expected, i)));
  }
  if (!(most <= unit * (double)(terms + 8) * (largest + 1)))
    stop(routine_names[product_in->routine], "results differ");
}

static double seconds_of(const product *product_in, void (*run)(const product *, void *), void *c,
                         int calls) {
  const double start = tsl_clock();
  for (int i = 0; i < calls; i++)
    run(product_in, c);
  return (tsl_clock() - start) / calls;
}

static void *matrix(const product *product_in, int64_t count, uint64_t seed) {
  void *made = aligned_alloc(4096, ((size_t)count * size_of(product_in) / 4096 + 2) * 4096);
  if (!made)
    stop("memory", "none");
  if (seed)
    tsl_random_fill(TSL_DRAW_UNIFORM, seed, 0, types_of[product_in->type], made, (size_t)count);
  else
    memset(made, 0, (size_t)count * size_of(product_in));
  return made;
}

static double measure(product *product_in) {
  void (*const own)(const product *, void *) = drop_in ? by_drop_in : by_tesela;
  product_in->call = call_of(product_in, library);
  product_in->drop_in_call = drop_in ? call_of(product_in, drop_in) : NULL;
  product_in->a = matrix(product_in, count_of_a(product_in), 1);
  product_in->b =
      matrix(product_in, is_rank(product_in) ? count_of_a(product_in) : count_of_c(product_in), 2);
  product_in->c = matrix(product_in, count_of_c(product_in), 0);
  product_in->expected = matrix(product_in, count_of_c(product_in), 0);
  if (product_in->routine == TRMM) {
    memcpy(product_in->c, product_in->b, (size_t)count_of_c(product_in) * size_of(product_in));
    memcpy(product_in->expected, product_in->b, (size_t)count_of_c(product_in) * size_of(product_in));
  }
  plan(product_in);
  by_library(product_in, product_in->expected);
  own(product_in, product_in->c);
  compare(product_in);
  /* trmm runs repeatedly in place, so the factor must neither grow nor shrink B */
  if (product_in->routine == TRMM) {
    memset(product_in->a, 0, (size_t)count_of_a(product_in) * size_of(product_in));
    for (int64_t i = 0; i < product_in->square; i++) {
      const double one[2] = {1, 0};
      tsl_type_store(
          types_of[product_in->type],
          (unsigned char *)product_in->a + i * (product_in->square + 1) * (int64_t)size_of(product_in), one);
    }
  }
  const double guess = fmax(seconds_of(product_in, by_library, product_in->expected, 1), 1e-7);
  const int calls = (int)fmax(1, 2e-3 / guess);
  double best[2] = {INFINITY, INFINITY};
  for (int round = 0; round < rounds; round++) {
    best[round % 2] =
        fmin(best[round % 2], seconds_of(product_in, round % 2 ? by_library : own,
                                         round % 2 ? product_in->expected : product_in->c, calls));
    best[!(round % 2)] =
        fmin(best[!(round % 2)], seconds_of(product_in, round % 2 ? own : by_library,
                                            round % 2 ? product_in->c : product_in->expected, calls));
  }
  const tsl_problem problem = problem_of(product_in);
  printf("%c%-6s %6lld x %-6lld %10.3f us %10.3f us  %6.1f GFLOP/s  ratio %.3f\n", letters[product_in->type],
         routine_names[product_in->routine], (long long)product_in->square, (long long)product_in->other,
         best[0] * 1e6, best[1] * 1e6, tsl_problem_flops(&problem) / best[0] * 1e-9, best[1] / best[0]);
  fflush(stdout);
  tsl_plan_destroy(product_in->plan);
  free(product_in->a);
  free(product_in->b);
  free(product_in->c);
  free(product_in->expected);
  return best[1] / best[0];
}

/* --- all rows --- */

static double logs;
static int measured;

static void measure_all(int64_t square, int64_t other) {
  for (routine r = 0; r < ROUTINES; r++)
    for (int type = 0; type < 4; type++) {
      const bool is_hermitian = r == HERK || r == HEMM;
      if ((*only && !strstr(only, routine_names[r])) || !strchr(types, letters[type]) ||
          (is_hermitian && type < 2))
        continue;
      product one = {.routine = r, .type = type, .square = square, .other = other};
      logs += log(measure(&one));
      measured++;
    }
}

static void *open_or_stop(const char *path) {
  void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!opened)
    stop(path, dlerror());
  return opened;
}

int main(int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i++) {
    if (strcmp(argv[i], "--threads") == 0)
      threads = atoi(argv[++i]);
    else if (strcmp(argv[i], "--rounds") == 0)
      rounds = atoi(argv[++i]);
    else if (strcmp(argv[i], "--types") == 0)
      types = argv[++i];
    else if (strcmp(argv[i], "--sizes") == 0)
      sizes = argv[++i];
    else if (strcmp(argv[i], "--only") == 0)
      only = argv[++i];
    else if (strcmp(argv[i], "--strategy") == 0)
      strategy = argv[++i];
    else if (strcmp(argv[i], "--drop-in") == 0)
      drop_in_path = argv[++i];
    else
      stop(argv[i], "is no option");
  }
  char text[16], says[256];
  peers_warn();
  snprintf(text, sizeof text, "%d", threads);
  setenv("OPENBLAS_NUM_THREADS", text, 1);
  setenv("TESELA_THREADS", text, 1);
  drop_in = drop_in_path ? open_or_stop(drop_in_path) : NULL;
  const char *path = argc > 1 ? strchr(argv[argc - 1], '=') : NULL;
  library = path ? dlopen(path + 1, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library)
    stop("the last argument", "is NAME=LIBRARY");
  peer_says(library, says, sizeof says);
  printf("%s, %d threads; tesela, then the library\n", says, threads);
  if (tsl_devices_create(&devices) != TESELA_OK)
    stop("devices", tesela_last_error());
  char *list = strdup(sizes);
  for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
    const char *other = strchr(word, 'x');
    measure_all(atoll(word), atoll(other ? other + 1 : word));
  }
  free(list);
  printf("geometric mean %.3f of %d\n", exp(logs / fmax(1, measured)), measured);
  tsl_devices_destroy(devices);
  return 0;
}

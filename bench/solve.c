/* solve [--threads N] [--rounds N] [--types s,d,c,z] [--sizes 64,256,...] [--columns 16,1000]
 *       [--strategy TEXT] NAME=LIBRARY ...
 *
 * Compares triangular solves by tesela's plans with the CBLAS of each library, in turn in one process.
 * Operands are column-major; lower triangles on the left and on the right, plain and transposed. Prints the
 * shortest call of each in microseconds, tesela's GFLOP/s, each library's time divided by tesela's, and at
 * the end geometric means. Solutions are compared before times are taken. Default: squares of the sizes; a
 * triangle of 100 with 10000 right-hand sides; one of 2000 with 16; one of 1000 with 1. With --columns only
 * triangles of the sizes with these numbers of right-hand sides. The drop-in, as a library, computes
 * everything itself (TESELA_BLAS=tesela), and shows the cost of its call compared with a plan. */
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
  LEFT = 141,
  RIGHT = 142,
  NON_UNIT = 131,
  LIBRARIES = 4
};

/* Scalars are passed by value or by address. */
#define TRSM_CALL(type, name)                                                                                \
  typedef void name##_trsm(int, int, int, int, int, int, int, type, const void *, int, void *, int);
TRSM_CALL(float, single)
TRSM_CALL(double, twice)
TRSM_CALL(const void *, address)

static const char letters[] = "sdcz";
static const tesela_type types_of[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};

typedef struct library {
  char name[32];
  void *handle;
} library;

static library libraries[LIBRARIES];
static int library_count, threads = 1, rounds = 12;
static const char *types = "s,d,c,z", *sizes = "64,256,1000,2000", *columns = "", *strategy = "host_blocked";
static tsl_devices *devices;

static _Noreturn void stop(const char *what, const char *why) {
  fprintf(stderr, "bench_solve: %s: %s\n", what, why);
  exit(1);
}

/* --- one solve --- */

/* A solve. X is rows x cols; a is the triangle on its left or right. */
typedef struct solve {
  int type;
  bool right, transposed;
  int64_t rows, cols;
  void *a, *b, *x, *expected;
  tsl_plan *plan;
  void *calls[LIBRARIES];
} solve;

static size_t size_of(const solve *solve_in) {
  return tsl_type(types_of[solve_in->type])->size;
}

static int64_t order_of(const solve *solve_in) {
  return solve_in->right ? solve_in->cols : solve_in->rows;
}

/* Returns the problem. X A = B is A' X' = B', and a column-major X is a row-major X'. */
static tsl_problem problem_of(const solve *solve_in) {
  const int64_t n = order_of(solve_in), others = solve_in->right ? solve_in->rows : solve_in->cols;
  tsl_problem problem = tsl_problem_of(TSL_OP_SOLVE, n, others, n, types_of[solve_in->type]);
  tsl_shape *const held[] = {&problem.b, &problem.c};
  const bool turned = solve_in->right != solve_in->transposed;
  problem.a.row_stride = turned ? n : 1;
  problem.a.col_stride = turned ? 1 : n;
  problem.a.structure = TESELA_TRIANGULAR;
  problem.a.triangle = turned ? TESELA_UPPER : TESELA_LOWER;
  for (int i = 0; i < 2; i++) {
    held[i]->row_stride = solve_in->right ? solve_in->rows : 1;
    held[i]->col_stride = solve_in->right ? 1 : solve_in->rows;
  }
  problem.in_place = true;
  return problem;
}

static void plan(solve *solve_in) {
  const tsl_problem problem = problem_of(solve_in);
  const tsl_choice choice = {.devices = devices, .device = "cpu", .strategy = strategy};
  if (tsl_tune_choose(&problem, &choice, &solve_in->plan) != TESELA_OK)
    stop("plan", tesela_last_error());
}

/* Runs one contender; who = -1 is tesela's plan. */
static void run(const solve *solve_in, int who, void *x) {
  static const float one_c[2] = {1};
  static const double one_z[2] = {1};
  if (who < 0) {
    const tsl_operands operands = {.a = {.host = solve_in->a}, .c = {.host = x}};
    if (tsl_plan_run(solve_in->plan, &operands, NULL) != TESELA_OK)
      stop("run", tesela_last_error());
    return;
  }
  const int rows = (int)solve_in->rows, cols = (int)solve_in->cols, n = (int)order_of(solve_in);
  const int side = solve_in->right ? RIGHT : LEFT, op = solve_in->transposed ? TRANSPOSED : AS_IT_IS;
  void *call = solve_in->calls[who];
#define AS(kind) (*(kind **)&call)
  if (solve_in->type == 0)
    AS(single_trsm)(COLUMN_MAJOR, side, LOWER, op, NON_UNIT, rows, cols, 1, solve_in->a, n, x, rows);
  else if (solve_in->type == 1)
    AS(twice_trsm)(COLUMN_MAJOR, side, LOWER, op, NON_UNIT, rows, cols, 1, solve_in->a, n, x, rows);
  else
    AS(address_trsm)
  (COLUMN_MAJOR, side, LOWER, op, NON_UNIT, rows, cols, solve_in->type == 2 ? (const void *)one_c : one_z,
   solve_in->a, n, x, rows);
#undef AS
}

/* --- comparing and timing --- */

static void *matrix(const solve *solve_in, int64_t count) {
  void *made = aligned_alloc(4096, ((size_t)count * size_of(solve_in) / 4096 + 2) * 4096);
  if (!made)
    stop("memory", "none");
  memset(made, 0, (size_t)count * size_of(solve_in));
  return made;
}

/* Adds `diagonal` to the diagonal of the triangle. */
static void add_diagonal(const solve *solve_in, double diagonal) {
  const double value[2] = {diagonal, 0};
  for (int64_t i = 0; i < order_of(solve_in); i++)
    tsl_type_store(types_of[solve_in->type],
                   (unsigned char *)solve_in->a + i * (order_of(solve_in) + 1) * (int64_t)size_of(solve_in),
                   value);
}

/* Not inlined: gcc 12 for AArch64 fails when it vectorizes loops with this function. */
static __attribute__((noinline)) double component(const solve *solve_in, const void *from, int64_t i) {
  return solve_in->type % 2 == 0 ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

/* Compares solutions. The diagonal is as large as the sum of the row's other elements. So errors of solutions
 * are as small as errors of sums. */
static void compare(const solve *solve_in) {
  const int64_t count = solve_in->rows * solve_in->cols * (solve_in->type >= 2 ? 2 : 1);
  const double unit = solve_in->type % 2 == 0 ? 6e-8 : 1.1e-16;
  double most = 0, largest = 0;
  for (int64_t i = 0; i < count; i++) {
    most = fmax(most, fabs(component(solve_in, solve_in->x, i) - component(solve_in, solve_in->expected, i)));
    largest = fmax(largest, fabs(component(solve_in, solve_in->expected, i)));
  }
  if (!(largest > 0 && most <= 4 * unit * (double)(order_of(solve_in) + 8) * largest))
    stop("trsm", "solutions differ");
}

static double seconds_of(const solve *solve_in, int who, void *x, int calls) {
  const double start = tsl_clock();
  for (int i = 0; i < calls; i++)
    run(solve_in, who, x);
  return (tsl_clock() - start) / calls;
}

static double logs[LIBRARIES];
static int measured;

static void report(const solve *solve_in, const double *best) {
  const tsl_problem problem = problem_of(solve_in);
  printf("%ctrsm %s%s %6lld x %-6lld %10.1f us %7.1f GFLOP/s ", letters[solve_in->type],
         solve_in->right ? "R" : "L", solve_in->transposed ? "T" : "N", (long long)solve_in->rows,
         (long long)solve_in->cols, best[0] * 1e6, tsl_problem_flops(&problem) / best[0] * 1e-9);
  for (int i = 0; i < library_count; i++) {
    printf(" %s %.3f", libraries[i].name, best[i + 1] / best[0]);
    logs[i] += log(best[i + 1] / best[0]);
  }
  printf("\n");
  fflush(stdout);
  measured++;
}

static void prepare(solve *solve_in) {
  static const char *const prefixes[] = {"cblas_", "scipy_cblas_"};
  const int64_t count = solve_in->rows * solve_in->cols, n = order_of(solve_in);
  for (int l = 0; l < library_count; l++) {
    for (int i = 0; i < 2 && !solve_in->calls[l]; i++) {
      char name[64];
      snprintf(name, sizeof name, "%s%ctrsm", prefixes[i], letters[solve_in->type]);
      solve_in->calls[l] = dlsym(libraries[l].handle, name);
    }
    if (!solve_in->calls[l])
      stop(libraries[l].name, "has no trsm");
  }
  solve_in->a = matrix(solve_in, n * n);
  solve_in->b = matrix(solve_in, count);
  solve_in->x = matrix(solve_in, count);
  solve_in->expected = matrix(solve_in, count);
  tsl_random_fill(TSL_DRAW_UNIFORM, 1, 0, types_of[solve_in->type], solve_in->a, (size_t)(n * n));
  tsl_random_fill(TSL_DRAW_UNIFORM, 2, 0, types_of[solve_in->type], solve_in->b, (size_t)count);
  add_diagonal(solve_in, 2 * (double)n);
  plan(solve_in);
}

static void measure(solve *solve_in) {
  prepare(solve_in);
  const size_t bytes = (size_t)(solve_in->rows * solve_in->cols) * size_of(solve_in);
  memcpy(solve_in->expected, solve_in->b, bytes);
  run(solve_in, -1, solve_in->expected);
  for (int i = 0; i < library_count; i++) {
    memcpy(solve_in->x, solve_in->b, bytes);
    run(solve_in, i, solve_in->x);
    compare(solve_in);
  }
  /* Solves run repeatedly in place, so the triangle must neither grow nor shrink X. */
  memset(solve_in->a, 0, (size_t)(order_of(solve_in) * order_of(solve_in)) * size_of(solve_in));
  add_diagonal(solve_in, 1);
  const double guess = fmax(seconds_of(solve_in, -1, solve_in->x, 1), 1e-7);
  const int calls = (int)fmax(1, 2e-3 / guess);
  double best[LIBRARIES + 1];
  for (int i = 0; i <= library_count; i++)
    best[i] = INFINITY;
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i <= library_count; i++) {
      const int turn = (round + i) % (library_count + 1);
      best[turn] = fmin(best[turn], seconds_of(solve_in, turn - 1, solve_in->x, calls));
    }
  report(solve_in, best);
  tsl_plan_destroy(solve_in->plan);
  free(solve_in->a);
  free(solve_in->b);
  free(solve_in->x);
  free(solve_in->expected);
}

/* Measures a triangle of order n with `others` right-hand sides. */
static void measure_all(int64_t n, int64_t others) {
  for (int type = 0; type < 4; type++)
    for (int right = 0; right < 2; right++)
      for (int transposed = 0; strchr(types, letters[type]) && transposed < 2; transposed++) {
        solve one = {.type = type,
                     .right = right,
                     .transposed = transposed,
                     .rows = right ? others : n,
                     .cols = right ? n : others};
        measure(&one);
      }
}

/* Measures a triangle of order n with each number of right-hand sides of the list. */
static void measure_list(int64_t n) {
  for (const char *word = columns; *word; word += strcspn(word, ","), word += *word == ',')
    measure_all(n, atoll(word));
}

/* --- all rows --- */

static void open_library(const char *word) {
  const char *path = strchr(word, '=');
  if (!path || library_count == LIBRARIES)
    stop(word, path ? "is one library too many" : "is no option, and no NAME=LIBRARY");
  library *one = &libraries[library_count++];
  char says[256];
  snprintf(one->name, sizeof one->name, "%.*s", (int)(path - word), word);
  one->handle = dlopen(path + 1, RTLD_NOW | RTLD_LOCAL);
  if (!one->handle)
    stop(word, dlerror());
  peer_says(one->handle, says, sizeof says);
  printf("%s: %s\n", one->name, says);
}

static const char **option_named(const char *word) {
  return strcmp(word, "--types") == 0      ? &types
         : strcmp(word, "--sizes") == 0    ? &sizes
         : strcmp(word, "--columns") == 0  ? &columns
         : strcmp(word, "--strategy") == 0 ? &strategy
                                           : NULL;
}

int main(int argc, char **argv) {
  int first = 1;
  for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
    const char **text = option_named(argv[first]);
    int *number = strcmp(argv[first], "--threads") == 0  ? &threads
                  : strcmp(argv[first], "--rounds") == 0 ? &rounds
                                                         : NULL;
    if (text)
      *text = argv[first + 1];
    else if (number)
      *number = atoi(argv[first + 1]);
    else
      stop(argv[first], "is no option");
  }
  char text[16];
  peers_warn();
  snprintf(text, sizeof text, "%d", threads);
  setenv("OPENBLAS_NUM_THREADS", text, 1);
  setenv("TESELA_THREADS", text, 1);
  setenv("TESELA_BLAS", "tesela", 0);
  for (int i = first; i < argc; i++)
    open_library(argv[i]);
  if (library_count == 0)
    stop("the last arguments", "are NAME=LIBRARY");
  printf("%d threads; tesela's plan, and how many times as long the others take\n", threads);
  if (tsl_devices_create(&devices) != TESELA_OK)
    stop("devices", tesela_last_error());
  char *list = strdup(sizes);
  for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
    if (*columns)
      measure_list(atoll(word));
    else
      measure_all(atoll(word), atoll(word));
  }
  free(list);
  if (!*columns) {
    measure_all(100, 10000);
    measure_all(2000, 16);
    measure_all(1000, 1);
  }
  printf("geometric means of %d:", measured);
  for (int i = 0; i < library_count; i++)
    printf(" %s %.3f", libraries[i].name, exp(logs[i] / fmax(1, measured)));
  printf("\n");
  tsl_devices_destroy(devices);
  return 0;
}

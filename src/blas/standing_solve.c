/* From which size on trsm is ours. Libraries that multiply alike solve differently: one has kernels for triangles of every type, another
 * for some. So triangles of a few sizes are solved by both, from the left and from the right, and ours it is from the first on from which
 * both sides are sooner done. That is kept once a machine: by processor, its instructions in use, and the library's file and kernels. */
#include "blas/standing.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/library.h"
#include "blas/calls.h"
#include "blas/context.h"
#include "blas/view.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SIZES = 3, LARGEST = 160, TURNS = 4 };
static const int64_t sizes[SIZES] = {32, 80, LARGEST};

/* A triangle of ones on the diagonal, and right-hand sides that solving leaves as they are. */
typedef struct contest {
  const tsl_blas_symbol *symbol;
  tsl_blas_function *function;
  const tsl_fast_path *path;
  int64_t n;
  bool right;
  double *a, *x;
} contest;

#if defined(__x86_64__) || defined(__aarch64__)
/* As for products (standing.c): integers of 64 bits pass for those of 32. */
static void solve_theirs(const contest *of) {
  typedef void fortran(const char *, const char *, const char *, const char *, const int64_t *,
                       const int64_t *, const void *, const void *, const int64_t *, void *, const int64_t *,
                       size_t, size_t, size_t, size_t);
  typedef void single(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, float, const void *,
                      int64_t, void *, int64_t);
  typedef void twice(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, double, const void *,
                     int64_t, void *, int64_t);
  typedef void pointed(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, const void *,
                       const void *, int64_t, void *, int64_t);
  enum { COLUMN_MAJOR = 102, AS_IT_IS = 111, LOWER = 122, NON_UNIT = 131, LEFT = 141, RIGHT = 142 };
  static const float one_f32[2] = {1};
  static const double one_f64[2] = {1};
  const tesela_type type = of->symbol->type;
  const bool is_single = type == TESELA_F32 || type == TESELA_C64;
  const void *one = is_single ? (const void *)one_f32 : one_f64;
  const int64_t n = of->n, side = of->right ? RIGHT : LEFT;
  tsl_blas_function *function = of->function;
  if (!of->symbol->cblas)
    ((fortran *)function)(of->right ? "R" : "L", "L", "N", "N", &n, &n, one, of->a, &n, of->x, &n, 1, 1, 1,
                          1);
  else if (type == TESELA_F32)
    ((single *)function)(COLUMN_MAJOR, side, LOWER, AS_IT_IS, NON_UNIT, n, n, 1, of->a, n, of->x, n);
  else if (type == TESELA_F64)
    ((twice *)function)(COLUMN_MAJOR, side, LOWER, AS_IT_IS, NON_UNIT, n, n, 1, of->a, n, of->x, n);
  else
    ((pointed *)function)(COLUMN_MAJOR, side, LOWER, AS_IT_IS, NON_UNIT, n, n, one, of->a, n, of->x, n);
}

static bool may_be_called(const tsl_blas_symbol *symbol) {
  const uint16_t one = 1;
  return strstr(symbol->name, "trsm") && *(const unsigned char *)&one == 1;
}
#else
static void solve_theirs(const contest *of) {
  (void)of;
}
static bool may_be_called(const tsl_blas_symbol *symbol) {
  (void)symbol;
  return false;
}
#endif

/* X A = B is A' X' = B', where A' is an upper triangle by rows. */
static bool solve_ours(const contest *of) {
  const int64_t n = of->n, across = of->right ? 1 : n, down = of->right ? n : 1;
  return of->path->solver->fast_path.solve(&(tsl_fast_solve){.type = of->symbol->type,
                                                             .m = n,
                                                             .n = n,
                                                             .a = of->a,
                                                             .x = of->x,
                                                             .a_row = down,
                                                             .a_col = across,
                                                             .x_row = down,
                                                             .x_col = across,
                                                             .is_upper = of->right,
                                                             .alpha = {1, 0}},
                                           of->path->device);
}

static void fill(const contest *of) {
  const tesela_type type = of->symbol->type;
  const size_t size = tsl_blas_size(type);
  const float one_f32 = 1;
  const double one_f64 = 1;
  const bool is_single = type == TESELA_F32 || type == TESELA_C64;
  memset(of->a, 0, (size_t)(of->n * of->n) * size);
  memset(of->x, 0, (size_t)(of->n * of->n) * size);
  for (int64_t i = 0; i < of->n; i++)
    memcpy((char *)of->a + (size_t)(i * (of->n + 1)) * size, is_single ? (const void *)&one_f32 : &one_f64,
           is_single ? sizeof one_f32 : sizeof one_f64);
}

/* Several calls of small ones, which the clock does not see one by one. */
static double seconds_of(const contest *of, bool ours) {
  const int calls = of->n <= sizes[0] ? 8 : 1;
  bool done = true;
  tsl_blas_call call = {.symbol = NULL};
  tsl_blas_begin(&call);
  const double start = tsl_clock();
  for (int i = 0; i < calls && done; i++) {
    if (ours)
      done = solve_ours(of);
    else
      solve_theirs(of);
  }
  const double seconds = tsl_clock() - start;
  tsl_blas_end(&call, NULL);
  return done ? seconds : INFINITY;
}

/* By turns; the first finds caches cold, and may start threads. One thread of ours beside all of theirs, which it has to be quicker than. */
static bool is_sooner(contest *of) {
  for (int right = 0; right < 2; right++) {
    double ours = INFINITY, theirs = INFINITY;
    of->right = right != 0;
    fill(of);
    for (int turn = 0; turn < TURNS; turn++) {
      ours = fmin(ours, seconds_of(of, true));
      theirs = fmin(theirs, seconds_of(of, false));
    }
    if (!(ours < theirs))
      return false;
  }
  return true;
}

static double measure(contest *of) {
  const size_t bytes = LARGEST * LARGEST * tsl_blas_size(of->symbol->type);
  double from = INFINITY;
  of->a = malloc(2 * bytes);
  if (!of->a)
    return INFINITY;
  of->x = of->a + bytes / sizeof *of->x;
  for (int i = SIZES - 1; i >= 0; i--) {
    of->n = sizes[i];
    if (!is_sooner(of))
      break;
    from = (double)(of->n * of->n * of->n);
  }
  free(of->a);
  return from;
}

/* --- kept --- */

enum { NAME = 1024 };

/* "trsm-2:avx512:/usr/lib/libopenblas.so.0:35000000:1700000000:SkylakeX": another build of the library is another one. */
static void name_of(const contest *of, char name[NAME]) {
  char path[PATH_MAX];
  struct stat info = {.st_size = 0};
  const char *kernels = tsl_blas_kernels_of(of->function);
  tsl_library_file(of->function, path, sizeof path);
  if (path[0])
    (void)stat(path, &info);
  const int length =
      snprintf(name, NAME, "trsm-%d:%s:%x:%lld:%lld:%s:%s", (int)of->symbol->type,
               of->symbol->cblas ? "c" : "f", of->path->device->capabilities, (long long)info.st_size,
               (long long)info.st_mtime, kernels ? kernels : "", path);
  for (int i = 0; i < length && i < NAME - 1; i++)
    if (isspace((unsigned char)name[i]) || name[i] == '=')
      name[i] = '_';
}

double tsl_blas_standing_of_solves(const tsl_blas_symbol *symbol, tsl_blas_function *function) {
  static const double never = 1e300;
  contest of = {.symbol = symbol, .function = function, .path = tsl_blas_fast_path()};
  char name[NAME];
  double from;
  if (!of.path || !of.path->solver || !may_be_called(symbol) ||
      strcmp(tsl_env_get(TSL_ENV_WISDOM), "none") == 0)
    return INFINITY;
  name_of(&of, name);
  if (!tsl_api_recall(of.path->device, name, &from)) {
    from = fmin(measure(&of), never);
    tsl_api_keep(of.path->device, name, from);
  }
  return from < never ? from : INFINITY;
}

/* From which size on a routine of Level 3 is ours. Libraries that multiply alike differ in their triangles: one has kernels for those of
 * every type, another for some, and threads for some. So calls of a few sizes are computed here and there, each in two forms, and ours the
 * routine is from the first size on from which they are sooner done in the mean. That is kept once a machine: by processor, its instructions
 * in use, threads, and the library's file and kernels.
 *
 *     n            32    80    160   320 (complex: 24, 56, 112, 224)
 *     updates      C = a a' + C, n x n of n terms, and 2n x 2n of n/4, as factorisations have it: as much work
 *     factors      on the left, and on the right of n x n */
#include "blas/standing_level3.h"
#include "blas/level3_theirs.h"
#include "blas/standing.h"
#include "blas/threads.h"
#include "blas/width.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/library.h"
#include "base/memory.h"
#include "base/pool.h"
#include "blas/calls.h"
#include "blas/context.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SIZES = 4, LARGEST = 320, FORMS = 2, ROUNDS = 6, ROWS_MOST = 2 * LARGEST };
/* Of real types, and of complex ones, which take four times as long. */
static const int64_t sizes[2][SIZES] = {{32, 80, 160, LARGEST}, {24, 56, 112, 224}};
/* Then there are two turns, and no more. */
static const double seconds_most = 0.1;

/* Numbers stay finite: a and triangles are the identity's, b is zero. */
typedef struct contest {
  const tsl_blas_symbol *symbol;
  tsl_blas_function *function;
  tsl_blas_routine routine;
  const int64_t *sizes;
  void *a, *b, *c;
  _Alignas(16) unsigned char one[16]; /* of the type, or of its real one: what begins alike */
} contest;

static tsl_blas_structured call_of(const contest *of, int64_t size, int form) {
  const bool is_update = of->routine < TSL_BLAS_SYMM, is_thin = is_update && form == 1;
  const int64_t n = is_thin ? 2 * size : size;
  return (tsl_blas_structured){.routine = of->routine,
                               .order = TSL_BLAS_COLUMN_MAJOR,
                               .side = form == 0 ? 'L' : 'R',
                               .uplo = 'L',
                               .trans = 'N',
                               .diag = 'N',
                               .m = n,
                               .n = n,
                               .k = is_thin     ? size / 4
                                    : is_update ? size
                                                : 0,
                               .alpha = of->one,
                               .a = of->a,
                               .lda = n,
                               .b = of->b,
                               .ldb = n,
                               .beta = of->one,
                               .c = of->c,
                               .ldc = n};
}

static void fill(const contest *of, int64_t n) {
  const size_t size = tsl_blas_size(of->symbol->type), bytes = (size_t)(n * n) * size;
  memset(of->a, 0, bytes);
  memset(of->b, 0, bytes);
  memset(of->c, 0, bytes);
  for (int64_t i = 0; i < n; i++)
    memcpy((char *)of->a + (size_t)(i * (n + 1)) * size, of->one, size);
}

static bool compute(const contest *of, const tsl_blas_structured *given, bool ours) {
  tsl_blas_layout layout;
  if (!ours) {
    tsl_blas_level3_call(of->symbol, of->function, given);
    return true;
  }
  tsl_blas_lay_out(of->symbol->type, given, &layout);
  return tsl_blas_level3_compute(of->symbol, &layout, NULL) != NULL;
}

/* Several calls of small ones, which the clock does not see one by one. */
static double seconds_of(const contest *of, const tsl_blas_structured *given, bool ours) {
  const int calls = given->n <= 2 * of->sizes[0] ? 8 : 1;
  bool done = true;
  tsl_blas_call call = {.symbol = NULL};
  tsl_blas_begin(&call);
  const double start = tsl_clock();
  for (int i = 0; i < calls && done; i++)
    done = compute(of, given, ours);
  const double seconds = tsl_clock() - start;
  tsl_blas_end(&call, NULL);
  return done ? seconds : INFINITY;
}

static int threads(void) {
  return tsl_team_threads(tsl_pool_team(tsl_pool_shared(), tsl_blas_threads()));
}

/* Rounds of all sizes here and there, by turns: the first finds caches cold. Threads of theirs wait busily for their next call some
 * milliseconds, beside ours if there are several: then it is not their turn at once. */
static void race(const contest *of, double seconds[2][SIZES][FORMS]) {
  const int rounds = threads() == 1 ? 1 : ROUNDS / 2;
  const double start = tsl_clock();
  for (int round = 0; round < 2 * ROUNDS; round++) {
    if (round >= 4 * rounds && round % (2 * rounds) == 0 && tsl_clock() - start > seconds_most)
      return;
    const int theirs = round / rounds % 2;
    for (int i = 0; i < SIZES; i++) {
      for (int form = 0; form < FORMS; form++) {
        const tsl_blas_structured given = call_of(of, of->sizes[i], form);
        fill(of, given.n);
        double *least = &seconds[theirs][i][form];
        *least = fmin(*least, seconds_of(of, &given, theirs == 0));
      }
    }
  }
}

/* Forms of as much work are one size: of these the mean counts, and that none is bad. */
static bool is_sooner(const double ours[FORMS], const double theirs[FORMS]) {
  static const double bad = 0.9;
  double product = 1;
  for (int form = 0; form < FORMS; form++) {
    const double ratio = theirs[form] / ours[form];
    if (!(ratio > bad))
      return false;
    product *= ratio;
  }
  return product > 1;
}

static double from_where(const contest *of) {
  double seconds[2][SIZES][FORMS];
  int from = SIZES;
  for (int i = 0; i < SIZES; i++)
    for (int form = 0; form < FORMS; form++)
      seconds[0][i][form] = seconds[1][i][form] = INFINITY;
  race(of, seconds);
  while (from > 0 && is_sooner(seconds[0][from - 1], seconds[1][from - 1]))
    from--;
  return from == SIZES ? INFINITY : pow((double)of->sizes[from], 3);
}

static double measure(contest *of) {
  static const float one_f32 = 1;
  static const double one_f64 = 1;
  const tesela_type type = of->symbol->type;
  const size_t bytes = ROWS_MOST * ROWS_MOST * tsl_blas_size(type);
  void *memory;
  if (tsl_alloc(3 * bytes, "matrices that two libraries multiply", &memory) != TESELA_OK)
    return INFINITY;
  if (type == TESELA_F32 || type == TESELA_C64)
    memcpy(of->one, &one_f32, sizeof one_f32);
  else
    memcpy(of->one, &one_f64, sizeof one_f64);
  of->a = memory;
  of->b = (char *)memory + bytes;
  of->c = (char *)memory + 2 * bytes;
  const double from = from_where(of);
  tsl_free(memory);
  return from;
}

/* --- kept --- */

enum { NAME = 1024 };

/* "level3-0-2:f:avx512:2:...": another build of the library is another one. */
static void name_of(const contest *of, char name[NAME]) {
  char path[PATH_MAX];
  struct stat info = {.st_size = 0};
  const char *kernels = tsl_blas_kernels_of(of->function);
  tsl_library_file(of->function, path, sizeof path);
  if (path[0])
    (void)stat(path, &info);
  const int length =
      snprintf(name, NAME, "level3-%d-%d:%s:%x:%d:%lld:%lld:%s:%s", (int)of->routine, (int)of->symbol->type,
               of->symbol->cblas ? "c" : "f", tsl_blas_fast_path()->device->capabilities, threads(),
               (long long)info.st_size, (long long)info.st_mtime, kernels ? kernels : "", path);
  for (int i = 0; i < length && i < NAME - 1; i++)
    if (isspace((unsigned char)name[i]) || name[i] == '=')
      name[i] = '_';
}

double tsl_blas_standing_of_level3(tsl_blas_routine routine, const tsl_blas_symbol *symbol,
                                   tsl_blas_function *function) {
  static const double never = 1e300;
  contest of = {.symbol = symbol,
                .function = function,
                .routine = routine,
                .sizes = sizes[tsl_blas_is_complex(symbol->type)]};
  char name[NAME];
  double from;
  if (!tsl_blas_fast_path() || !tsl_blas_either_width() || strcmp(tsl_env_get(TSL_ENV_WISDOM), "none") == 0)
    return INFINITY;
  name_of(&of, name);
  if (!tsl_api_recall(tsl_blas_fast_path()->device, name, &from)) {
    from = fmin(measure(&of), never);
    tsl_api_keep(tsl_blas_fast_path()->device, name, from);
  }
  return from < never ? from : INFINITY;
}

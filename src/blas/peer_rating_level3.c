/* At which sizes a routine of Level 3 is ours. Libraries that multiply alike differ in their triangles: one
 * has kernels for those of every type, another for some, and threads for some; small calls are one matter,
 * and large ones another. So calls of a few sizes are computed here and there, each in two forms, and ours
 * are the sizes at which they are sooner done in the mean. That is kept once a machine: by processor, its
 * instructions in use, threads, and the library's file and kernels.
 *
 *     n            16    32    80    160   320 (complex: 16, 32, 56, 112, 224)
 *     updates      C = a a' + C, n x n of n terms, and 2n x 2n of n/4, as factorisations have it: as much
 * work factors      on the left, and on the right of n x n */
#include "blas/peer_rating_level3.h"
#include "blas/blas_threads.h"
#include "blas/int_width.h"
#include "blas/level3_foreign_call.h"
#include "blas/peer_rating.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/library.h"
#include "base/memory.h"
#include "base/pool.h"
#include "blas/blas_context.h"
#include "blas/call_log.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SIZES = 5, LARGEST = 320, FORMS = 2, ROUNDS = 6, ROWS_MOST = 2 * LARGEST };
/* Of real types, and of complex ones, which take four times as long. The least is TSL_BLAS_STANDING_FROM's.
 */
static const int64_t sizes[2][SIZES] = {{16, 32, 80, 160, LARGEST}, {16, 32, 56, 112, 224}};
/* Multiply-adds from which on a size decides: in the middle between two, of their logarithms. */
static const double begins[2][SIZES] = {{TSL_BLAS_STANDING_FROM, 11600, 129500, 1448000, 11600000},
                                        {TSL_BLAS_STANDING_FROM, 11600, 75900, 497000, 3970000}};
/* Several of small ones, which the clock does not see one by one. */
static const int calls_of[SIZES] = {32, 8, 1, 1, 1};
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

static tsl_blas_structured call_of(const contest *contest_in, int64_t size, int form) {
  const bool is_update = contest_in->routine < TSL_BLAS_SYMM, is_thin = is_update && form == 1;
  const int64_t n = is_thin ? 2 * size : size;
  return (tsl_blas_structured){.routine = contest_in->routine,
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
                               .alpha = contest_in->one,
                               .a = contest_in->a,
                               .lda = n,
                               .b = contest_in->b,
                               .ldb = n,
                               .beta = contest_in->one,
                               .c = contest_in->c,
                               .ldc = n};
}

static void peer_rating_level3_fill(const contest *contest_in, int64_t n) {
  const size_t size = tsl_blas_size(contest_in->symbol->type), bytes = (size_t)(n * n) * size;
  memset(contest_in->a, 0, bytes);
  memset(contest_in->b, 0, bytes);
  memset(contest_in->c, 0, bytes);
  for (int64_t i = 0; i < n; i++)
    memcpy((char *)contest_in->a + (size_t)(i * (n + 1)) * size, contest_in->one, size);
}

static bool peer_rating_level3_compute(const contest *contest_in, const tsl_blas_structured *structured,
                                       bool ours) {
  tsl_blas_layout layout;
  if (!ours) {
    tsl_blas_level3_call(contest_in->symbol, contest_in->function, structured);
    return true;
  }
  tsl_blas_lay_out(contest_in->symbol->type, structured, &layout);
  return tsl_blas_level3_compute(contest_in->symbol, &layout, NULL) != NULL;
}

static double peer_rating_level3_seconds_of(const contest *contest_in, const tsl_blas_structured *structured,
                                            int calls, bool ours) {
  bool done = true;
  tsl_blas_call call = {.symbol = NULL};
  tsl_blas_begin(&call);
  const double start = tsl_clock();
  for (int i = 0; i < calls && done; i++)
    done = peer_rating_level3_compute(contest_in, structured, ours);
  const double seconds = tsl_clock() - start;
  tsl_blas_end(&call, NULL);
  return done ? seconds : INFINITY;
}

static int threads(void) {
  return tsl_team_threads(tsl_pool_team(tsl_pool_shared(), tsl_blas_threads()));
}

/* Rounds of all sizes here and there, by turns: the first finds caches cold. Threads of theirs wait busily
 * for their next call some milliseconds, beside ours if there are several: then it is not their turn at once.
 */
static void race(const contest *contest_in, double seconds[2][SIZES][FORMS]) {
  const int rounds = threads() == 1 ? 1 : ROUNDS / 2;
  const double start = tsl_clock();
  for (int round = 0; round < 2 * ROUNDS; round++) {
    if (round >= 4 * rounds && round % (2 * rounds) == 0 && tsl_clock() - start > seconds_most)
      return;
    const int theirs = round / rounds % 2;
    for (int i = 0; i < SIZES; i++) {
      for (int form = 0; form < FORMS; form++) {
        const tsl_blas_structured given = call_of(contest_in, contest_in->sizes[i], form);
        peer_rating_level3_fill(contest_in, given.n);
        double *least = &seconds[theirs][i][form];
        *least = fmin(*least, peer_rating_level3_seconds_of(contest_in, &given, calls_of[i], theirs == 0));
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

static unsigned standing_of(const contest *contest_in) {
  double seconds[2][SIZES][FORMS];
  unsigned standing = TSL_BLAS_STANDING_NOWHERE;
  for (int i = 0; i < SIZES; i++)
    for (int form = 0; form < FORMS; form++)
      seconds[0][i][form] = seconds[1][i][form] = INFINITY;
  race(contest_in, seconds);
  for (int i = 0; i < SIZES; i++)
    if (is_sooner(seconds[0][i], seconds[1][i]))
      standing |= 1u << i;
  return standing;
}

static unsigned peer_rating_level3_measure(contest *contest_in) {
  static const float one_f32 = 1;
  static const double one_f64 = 1;
  const tesela_type type = contest_in->symbol->type;
  const size_t bytes = ROWS_MOST * ROWS_MOST * tsl_blas_size(type);
  void *memory;
  if (tsl_alloc(3 * bytes, "matrices that two libraries multiply", &memory) != TESELA_OK)
    return TSL_BLAS_STANDING_NOWHERE;
  if (type == TESELA_F32 || type == TESELA_C64)
    memcpy(contest_in->one, &one_f32, sizeof one_f32);
  else
    memcpy(contest_in->one, &one_f64, sizeof one_f64);
  contest_in->a = memory;
  contest_in->b = (char *)memory + bytes;
  contest_in->c = (char *)memory + 2 * bytes;
  const unsigned standing = standing_of(contest_in);
  tsl_free(memory);
  return standing;
}

/* --- kept --- */

enum { NAME = 1024 };

/* "level3-sizes-0-2:f:avx512:2:...": another build of the library is another one. */
static void peer_rating_level3_name_of(const contest *contest_in, char name[NAME]) {
  char path[PATH_MAX];
  struct stat info = {.st_size = 0};
  const char *kernels = tsl_blas_kernels_of(contest_in->function);
  tsl_library_file(contest_in->function, path, sizeof path);
  if (path[0])
    (void)stat(path, &info);
  const int length =
      snprintf(name, NAME, "level3-sizes-%d-%d:%s:%x:%d:%lld:%lld:%s:%s", (int)contest_in->routine,
               (int)contest_in->symbol->type, contest_in->symbol->cblas ? "c" : "f",
               tsl_blas_fast_path()->device->capabilities, threads(), (long long)info.st_size,
               (long long)info.st_mtime, kernels ? kernels : "", path);
  for (int i = 0; i < length && i < NAME - 1; i++)
    if (isspace((unsigned char)name[i]) || name[i] == '=')
      name[i] = '_';
}

unsigned tsl_blas_standing_of_level3(tsl_blas_routine routine, const tsl_blas_symbol *symbol,
                                     tsl_blas_function *function) {
  contest of = {.symbol = symbol,
                .function = function,
                .routine = routine,
                .sizes = sizes[tsl_blas_is_complex(symbol->type)]};
  char name[NAME];
  double kept;
  if (!tsl_blas_fast_path() || !tsl_blas_either_width() || strcmp(tsl_env_get(TSL_ENV_WISDOM), "none") == 0)
    return TSL_BLAS_STANDING_NOWHERE;
  peer_rating_level3_name_of(&of, name);
  if (tsl_api_measurement_get(tsl_blas_fast_path()->device, name, &kept) && kept < 1 << SIZES)
    return TSL_BLAS_STANDING_NOWHERE | (unsigned)kept;
  const unsigned standing = peer_rating_level3_measure(&of);
  tsl_api_keep(tsl_blas_fast_path()->device, name, standing & ~TSL_BLAS_STANDING_NOWHERE);
  return standing;
}

tsl_blas_share tsl_blas_standing_share(unsigned standing, tesela_type type, double volume) {
  const double *of = begins[tsl_blas_is_complex(type)];
  int nearest = 0;
  double from = 0;
  for (int i = SIZES - 1; i >= 0; i--)
    if (standing >> i & 1)
      from = of[i];
  while (nearest + 1 < SIZES && volume >= of[nearest + 1])
    nearest++;
  return (tsl_blas_share){from, volume >= from && standing >> nearest & 1};
}

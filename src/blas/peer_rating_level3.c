/* Sizes at which tesela computes a routine of level 3. Calls of a few sizes, in two forms each, are timed in
 * both libraries. The result is stored per machine: processor, instructions in use, threads, and the
 * library's file and kernels.
 *
 *     n            16    32    80    160   320 (complex: 16, 32, 56, 112, 224)
 *     updates      C = a a' + C, n x n with n terms, and 2n x 2n with n/4 terms as in factorizations:
 *                  both have equal work
 *     factors      on the left and on the right, n x n */
#include "blas/peer_rating_level3.h"
#include "blas/blas_threads.h"
#include "blas/int_width.h"
#include "blas/level3_foreign_call.h"
#include "blas/peer_rating.h"

#include "blas/blas_context.h"
#include "blas/call_log.h"
#include "core/clock.h"
#include "core/env.h"
#include "core/library.h"
#include "core/memory.h"
#include "core/pool.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SIZES = 5, LARGEST = 320, FORMS = 2, ROUNDS = 6, ROWS_MOST = 2 * LARGEST };
/* The smallest size is TSL_BLAS_STANDING_FROM's. */
static const int64_t sizes[2][SIZES] = {{16, 32, 80, 160, LARGEST}, {16, 32, 56, 112, 224}};
/* Multiply-adds from which a size decides: geometric means of neighbours. */
static const double begins[2][SIZES] = {{TSL_BLAS_STANDING_FROM, 11600, 129500, 1448000, 11600000},
                                        {TSL_BLAS_STANDING_FROM, 11600, 75900, 497000, 3970000}};
/* Calls per measurement, since small ones are too short for the clock. */
static const int calls_per_measurement[SIZES] = {32, 8, 1, 1, 1};
static const double seconds_most = 0.1; /* limit after two turns */

/* Numbers stay finite: a and triangles are identities, b is zero. */
typedef struct benchmark {
  const tsl_blas_symbol *symbol;
  tsl_blas_function *function;
  tsl_blas_routine routine;
  const int64_t *sizes;
  void *a, *b, *c;
  _Alignas(16) unsigned char one[16]; /* 1 in the real or complex type */
} benchmark;

static tsl_blas_multiply make_call(const benchmark *bench, int64_t size, int form) {
  const bool is_update = bench->routine < TSL_BLAS_SYMM, is_thin = is_update && form == 1;
  const int64_t n = is_thin ? 2 * size : size;
  return (tsl_blas_multiply){.routine = bench->routine,
                             .order = TSL_BLAS_COLUMN_MAJOR,
                             .side = form == 0 ? 'L' : 'R',
                             .uplo = 'L',
                             .trans_a = 'N',
                             .diag = 'N',
                             .m = n,
                             .n = n,
                             .k = is_thin     ? size / 4
                                  : is_update ? size
                                              : 0,
                             .alpha = bench->one,
                             .a = bench->a,
                             .lda = n,
                             .b = bench->b,
                             .ldb = n,
                             .beta = bench->one,
                             .c = bench->c,
                             .ldc = n};
}

static void peer_rating_level3_fill(const benchmark *bench, int64_t n) {
  const size_t size = tsl_blas_size(bench->symbol->type), bytes = (size_t)(n * n) * size;
  memset(bench->a, 0, bytes);
  memset(bench->b, 0, bytes);
  memset(bench->c, 0, bytes);
  for (int64_t i = 0; i < n; i++)
    memcpy((char *)bench->a + (size_t)(i * (n + 1)) * size, bench->one, size);
}

static bool peer_rating_level3_compute(const benchmark *bench, const tsl_blas_multiply *structured,
                                       bool ours) {
  tsl_blas_layout layout;
  if (!ours) {
    tsl_blas_level3_call(bench->symbol, bench->function, structured);
    return true;
  }
  tsl_blas_lay_out(bench->symbol->type, structured, &layout);
  return tsl_blas_level3_compute(bench->symbol, &layout, NULL) != NULL;
}

static double peer_rating_level3_seconds_of(const benchmark *bench, const tsl_blas_multiply *structured,
                                            int calls, bool ours) {
  bool done = true;
  tsl_blas_call call = {.symbol = NULL};
  tsl_blas_begin(&call);
  const double start = tsl_clock();
  for (int i = 0; i < calls && done; i++)
    done = peer_rating_level3_compute(bench, structured, ours);
  const double seconds = tsl_clock() - start;
  tsl_blas_end(&call, NULL);
  return done ? seconds : INFINITY;
}

static int thread_count(void) {
  return tsl_team_threads(tsl_pool_team(tsl_pool_shared(), tsl_blas_threads()));
}

/* Times all sizes by turns; the first turn finds cold caches. With several threads each library takes several
 * rounds in sequence, because threads spin for some milliseconds after a call. */
static void time_all_sizes(const benchmark *bench, double seconds[2][SIZES][FORMS]) {
  const int rounds = thread_count() == 1 ? 1 : ROUNDS / 2;
  const double start = tsl_clock();
  for (int round = 0; round < 2 * ROUNDS; round++) {
    if (round >= 4 * rounds && round % (2 * rounds) == 0 && tsl_clock() - start > seconds_most)
      return;
    const int theirs = round / rounds % 2;
    for (int i = 0; i < SIZES; i++) {
      for (int form = 0; form < FORMS; form++) {
        const tsl_blas_multiply given = make_call(bench, bench->sizes[i], form);
        peer_rating_level3_fill(bench, given.n);
        double *least = &seconds[theirs][i][form];
        *least =
            fmin(*least, peer_rating_level3_seconds_of(bench, &given, calls_per_measurement[i], theirs == 0));
      }
    }
  }
}

/* Returns true if tesela is faster in the geometric mean of the forms and not much slower in any. */
static bool is_faster(const double ours[FORMS], const double theirs[FORMS]) {
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

static unsigned measure_faster_sizes(const benchmark *bench) {
  double seconds[2][SIZES][FORMS];
  unsigned standing = TSL_BLAS_STANDING_NOWHERE;
  for (int i = 0; i < SIZES; i++)
    for (int form = 0; form < FORMS; form++)
      seconds[0][i][form] = seconds[1][i][form] = INFINITY;
  time_all_sizes(bench, seconds);
  for (int i = 0; i < SIZES; i++)
    if (is_faster(seconds[0][i], seconds[1][i]))
      standing |= 1u << i;
  return standing;
}

static unsigned peer_rating_level3_measure(benchmark *bench) {
  static const float one_f32 = 1;
  static const double one_f64 = 1;
  const tesela_type type = bench->symbol->type;
  const size_t bytes = ROWS_MOST * ROWS_MOST * tsl_blas_size(type);
  void *memory;
  if (tsl_alloc(3 * bytes, "matrices to time two libraries", &memory) != TESELA_OK)
    return TSL_BLAS_STANDING_NOWHERE;
  if (type == TESELA_F32 || type == TESELA_C64)
    memcpy(bench->one, &one_f32, sizeof one_f32);
  else
    memcpy(bench->one, &one_f64, sizeof one_f64);
  bench->a = memory;
  bench->b = (char *)memory + bytes;
  bench->c = (char *)memory + 2 * bytes;
  const unsigned standing = measure_faster_sizes(bench);
  tsl_free(memory);
  return standing;
}

enum { NAME = 1024 };

/* Writes "level3-sizes-0-2:f:avx512:2:..."; another build of the library has another name. */
static void peer_rating_level3_name_of(const benchmark *bench, char name[NAME]) {
  char path[PATH_MAX];
  struct stat info = {.st_size = 0};
  const char *kernels = tsl_blas_kernels_of(bench->function);
  tsl_library_file(bench->function, path, sizeof path);
  if (path[0])
    (void)stat(path, &info);
  const int length = snprintf(name, NAME, "level3-sizes-%d-%d:%s:%x:%d:%lld:%lld:%s:%s", (int)bench->routine,
                              (int)bench->symbol->type, bench->symbol->cblas ? "c" : "f",
                              tsl_blas_cpu()->capabilities, thread_count(), (long long)info.st_size,
                              (long long)info.st_mtime, kernels ? kernels : "", path);
  for (int i = 0; i < length && i < NAME - 1; i++)
    if (isspace((unsigned char)name[i]) || name[i] == '=')
      name[i] = '_';
}

unsigned tsl_blas_standing_of_level3(tsl_blas_routine routine, const tsl_blas_symbol *symbol,
                                     tsl_blas_function *function) {
  benchmark bench = {.symbol = symbol,
                     .function = function,
                     .routine = routine,
                     .sizes = sizes[tsl_blas_is_complex(symbol->type)]};
  char name[NAME];
  double stored;
  if (!tsl_blas_cpu() || !tsl_blas_either_width() || strcmp(tsl_env_get(TSL_ENV_WISDOM), "none") == 0)
    return TSL_BLAS_STANDING_NOWHERE;
  peer_rating_level3_name_of(&bench, name);
  if (tsl_api_measurement_get(tsl_blas_cpu(), name, &stored) && stored < 1 << SIZES)
    return TSL_BLAS_STANDING_NOWHERE | (unsigned)stored;
  const unsigned standing = peer_rating_level3_measure(&bench);
  tsl_api_keep(tsl_blas_cpu(), name, standing & ~TSL_BLAS_STANDING_NOWHERE);
  return standing;
}

tsl_blas_share tsl_blas_standing_share(unsigned standing, tesela_type type, double volume) {
  const double *bench = begins[tsl_blas_is_complex(type)];
  int nearest = 0;
  double from = 0;
  for (int i = SIZES - 1; i >= 0; i--)
    if (standing >> i & 1)
      from = bench[i];
  while (nearest + 1 < SIZES && volume >= bench[nearest + 1])
    nearest++;
  return (tsl_blas_share){from, volume >= from && standing >> nearest & 1};
}

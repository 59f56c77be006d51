/* Races run in the background (background.h).
 *
 * Products: a few of one size, by turns, some milliseconds per symbol. A name does not tell a library's
 * speed: an OpenBLAS may lack kernels for newer processors, and OPENBLAS_CORETYPE may force old ones.
 *
 * Level 3: calls of a few sizes, in two forms each:
 *
 *     n            16    32    80    160   320 (complex: 16, 32, 56, 112, 224)
 *     updates      C = a a' + C, n x n with n terms, and 2n x 2n with n/4 terms as in factorizations:
 *                  both have equal work
 *     factors      on the left and on the right, n x n */
#include "blas/blas_context.h"
#include "blas/blas_level3.h"
#include "blas/blas_threads.h"
#include "blas/call_log.h"
#include "blas/host_blas_lookup.h"
#include "blas/level3_foreign_call.h"
#include "blas/peer_rating.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/pool.h"
#include "dispatch/dispatch.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* SIZE exceeds small products: a CBLAS function's call by Fortran name, which is ours, must be forwarded. */
enum { SIZE = 128, OURS = 96, TURNS = 3 };

/* Zeros of any type. */
typedef struct gemm_race_operands {
  const double *a, *b;
  double *c;
} gemm_race_operands;

/* Requires tsl_blas_either_width(). */
static void gemm_race_call(const tsl_blas_symbol *symbol, tsl_blas_function *function,
                           const gemm_race_operands *matrices) {
  typedef void fortran(const char *, const char *, const int64_t *, const int64_t *, const int64_t *,
                       const void *, const void *, const int64_t *, const void *, const int64_t *,
                       const void *, void *, const int64_t *, size_t, size_t);
  typedef void single(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, float, const void *, int64_t,
                      const void *, int64_t, float, void *, int64_t);
  typedef void twice(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, double, const void *, int64_t,
                     const void *, int64_t, double, void *, int64_t);
  typedef void pointed(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, const void *, const void *,
                       int64_t, const void *, int64_t, const void *, void *, int64_t);
  enum { COLUMN_MAJOR = 102, AS_IT_IS = 111 };
  static const int64_t n = SIZE;
  static const float one_f32[2] = {1}, zero_f32[2];
  static const double one_f64[2] = {1}, zero_f64[2];
  const bool is_single = symbol->type == TESELA_F32 || symbol->type == TESELA_C64;
  const void *one = is_single ? (const void *)one_f32 : one_f64,
             *zero = is_single ? (const void *)zero_f32 : zero_f64;
  if (!symbol->cblas)
    ((fortran *)function)("N", "N", &n, &n, &n, one, matrices->a, &n, matrices->b, &n, zero, matrices->c, &n,
                          1, 1);
  else if (symbol->type == TESELA_F32)
    ((single *)function)(COLUMN_MAJOR, AS_IT_IS, AS_IT_IS, n, n, n, 1, matrices->a, n, matrices->b, n, 0,
                         matrices->c, n);
  else if (symbol->type == TESELA_F64)
    ((twice *)function)(COLUMN_MAJOR, AS_IT_IS, AS_IT_IS, n, n, n, 1, matrices->a, n, matrices->b, n, 0,
                        matrices->c, n);
  else
    ((pointed *)function)(COLUMN_MAJOR, AS_IT_IS, AS_IT_IS, n, n, n, one, matrices->a, n, matrices->b, n,
                          zero, matrices->c, n);
}

/* Extrapolates tesela's seconds from a smaller real product; a complex product counts as four. */
static double gemm_race_our_seconds(const tsl_blas_symbol *symbol, const gemm_race_operands *matrices) {
  const bool is_single = symbol->type == TESELA_F32 || symbol->type == TESELA_C64,
             is_complex = symbol->type == TESELA_C64 || symbol->type == TESELA_C128;
  const tsl_device *cpu = tsl_blas_cpu();
  const tsl_call product = {.type = is_single ? TESELA_F32 : TESELA_F64,
                            .m = OURS,
                            .n = OURS,
                            .k = OURS,
                            .a = {matrices->a, 1, OURS, false},
                            .b = {matrices->b, 1, OURS, false},
                            .c = {matrices->c, 1, OURS, false},
                            .alpha = {1},
                            .alpha_is_1 = true,
                            .beta_is_0 = true};
  const double start = tsl_clock();
  if (!cpu || !tsl_dispatch(&product, cpu, NULL))
    return 0;
  const double more = (double)SIZE / OURS;
  return (is_complex ? 4 : 1) * more * more * more * (tsl_clock() - start);
}

static double gemm_race_their_seconds(const tsl_blas_symbol *symbol, tsl_blas_function *function,
                                      const gemm_race_operands *matrices) {
  tsl_blas_call call = {.symbol = NULL};
  tsl_blas_begin(&call);
  const double start = tsl_clock();
  gemm_race_call(symbol, function, matrices);
  const double seconds = tsl_clock() - start;
  tsl_blas_end(&call, NULL);
  return seconds;
}

/* Takes minima of alternating turns: first calls find cold caches and may start threads. */
bool tsl_blas_race_gemm(tsl_blas_symbol *symbol) {
  tsl_blas_function *function = tsl_blas_host_function(symbol);
  enum { COUNT = 2 * SIZE * SIZE };
  double *memory = calloc(3 * COUNT, sizeof *memory), ours = 1e9, theirs = 1e9;
  if (!memory)
    return false;
  const gemm_race_operands matrices = {memory, memory + COUNT, memory + 2 * COUNT};
  for (int turn = 0; turn < TURNS; turn++) {
    const double our = gemm_race_our_seconds(symbol, &matrices),
                 their = gemm_race_their_seconds(symbol, function, &matrices);
    ours = our < ours ? our : ours;
    theirs = their < theirs ? their : theirs;
  }
  free(memory);
  return theirs > 2 * ours && ours > 0;
}

int tsl_blas_race_threads(void) {
  return tsl_team_threads(tsl_pool_team(tsl_pool_shared(), tsl_blas_threads()));
}

enum { SIZES = TSL_BLAS_RACE_SIZES, LARGEST = 320, FORMS = 2, ROUNDS = 6, ROWS_MAX = 2 * LARGEST };
/* The smallest size is the first of peer_rating.c. */
static const int64_t sizes[2][SIZES] = {{16, 32, 80, 160, LARGEST}, {16, 32, 56, 112, 224}};
/* Calls per measurement, since small ones are too short for the clock. */
static const int calls_per_measurement[SIZES] = {32, 8, 1, 1, 1};
static const double seconds_most = 0.1; /* limit after two turns */

/* Numbers stay finite: a and triangles are identities, b is zero. */
typedef struct level3_race {
  const tsl_blas_symbol *symbol;
  tsl_blas_function *function;
  tsl_blas_routine routine;
  const int64_t *sizes;
  void *a, *b, *c;
  _Alignas(16) unsigned char one[16]; /* 1 in the real or complex type */
} level3_race;

static tsl_blas_multiply make_call(const level3_race *race, int64_t size, int form) {
  const bool is_update = race->routine < TSL_BLAS_SYMM, is_thin = is_update && form == 1;
  const int64_t n = is_thin ? 2 * size : size;
  return (tsl_blas_multiply){.routine = race->routine,
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
                             .alpha = race->one,
                             .a = race->a,
                             .lda = n,
                             .b = race->b,
                             .ldb = n,
                             .beta = race->one,
                             .c = race->c,
                             .ldc = n};
}

static void level3_race_fill(const level3_race *race, int64_t n) {
  const size_t size = tsl_blas_size(race->symbol->type), bytes = (size_t)(n * n) * size;
  memset(race->a, 0, bytes);
  memset(race->b, 0, bytes);
  memset(race->c, 0, bytes);
  for (int64_t i = 0; i < n; i++)
    memcpy((char *)race->a + (size_t)(i * (n + 1)) * size, race->one, size);
}

static bool level3_race_compute(const level3_race *race, const tsl_blas_multiply *structured, bool ours) {
  tsl_blas_layout layout;
  if (!ours) {
    tsl_blas_level3_call(race->symbol, race->function, structured);
    return true;
  }
  tsl_blas_lay_out(race->symbol->type, structured, &layout);
  return tsl_blas_level3_compute(race->symbol, &layout, NULL) != NULL;
}

static double level3_race_seconds_of(const level3_race *race, const tsl_blas_multiply *structured, int calls,
                                     bool ours) {
  bool done = true;
  tsl_blas_call call = {.symbol = NULL};
  tsl_blas_begin(&call);
  const double start = tsl_clock();
  for (int i = 0; i < calls && done; i++)
    done = level3_race_compute(race, structured, ours);
  const double seconds = tsl_clock() - start;
  tsl_blas_end(&call, NULL);
  return done ? seconds : INFINITY;
}

/* Times all sizes by turns; the first turn finds cold caches. With several threads each library takes several
 * rounds in sequence, because threads spin for some milliseconds after a call. */
static void time_all_sizes(const level3_race *race, double seconds[2][SIZES][FORMS]) {
  const int rounds = tsl_blas_race_threads() == 1 ? 1 : ROUNDS / 2;
  const double start = tsl_clock();
  for (int round = 0; round < 2 * ROUNDS; round++) {
    if (round >= 4 * rounds && round % (2 * rounds) == 0 && tsl_clock() - start > seconds_most)
      return;
    const int theirs = round / rounds % 2;
    for (int i = 0; i < SIZES; i++) {
      for (int form = 0; form < FORMS; form++) {
        const tsl_blas_multiply given = make_call(race, race->sizes[i], form);
        level3_race_fill(race, given.n);
        double *least = &seconds[theirs][i][form];
        *least = fmin(*least, level3_race_seconds_of(race, &given, calls_per_measurement[i], theirs == 0));
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

static unsigned measure_faster_sizes(const level3_race *race) {
  double seconds[2][SIZES][FORMS];
  unsigned standing = 0;
  for (int i = 0; i < SIZES; i++)
    for (int form = 0; form < FORMS; form++)
      seconds[0][i][form] = seconds[1][i][form] = INFINITY;
  time_all_sizes(race, seconds);
  for (int i = 0; i < SIZES; i++)
    if (is_faster(seconds[0][i], seconds[1][i]))
      standing |= 1u << i;
  return standing;
}

static unsigned level3_race_measure(level3_race *race) {
  static const float one_f32 = 1;
  static const double one_f64 = 1;
  const tesela_type type = race->symbol->type;
  const size_t bytes = ROWS_MAX * ROWS_MAX * tsl_blas_size(type);
  void *memory;
  if (tsl_alloc(3 * bytes, "matrices to time two libraries", &memory) != TESELA_OK)
    return 0;
  if (type == TESELA_F32 || type == TESELA_C64)
    memcpy(race->one, &one_f32, sizeof one_f32);
  else
    memcpy(race->one, &one_f64, sizeof one_f64);
  race->a = memory;
  race->b = (char *)memory + bytes;
  race->c = (char *)memory + 2 * bytes;
  const unsigned standing = measure_faster_sizes(race);
  tsl_free(memory);
  return standing;
}

unsigned tsl_blas_race_level3(tsl_blas_symbol *symbol, tsl_blas_routine routine) {
  level3_race race = {.symbol = symbol,
                      .function = tsl_blas_host_function(symbol),
                      .routine = routine,
                      .sizes = sizes[tsl_blas_is_complex(symbol->type)]};
  return level3_race_measure(&race);
}

/* A name does not tell a library's speed: an OpenBLAS may lack kernels for newer processors, and
 * OPENBLAS_CORETYPE may force old ones. So a library is asked for its kernels, or timed against tesela with a
 * few products, some milliseconds per symbol. */
#include "blas/peer_rating.h"

#include "blas/blas_context.h"
#include "blas/call_log.h"
#include "blas/int_width.h"
#include "core/clock.h"
#include "core/env.h"
#include "core/symbol_search.h"
#include "dispatch/dispatch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* OpenBLAS kernels that are fast on current processors. */
static const char *const good_cores[] = {
    "Haswell",    "Zen",        "SkylakeX",   "Cooperlake", "Cooper Lake", "SapphireRapids",
    "NeoverseN1", "NeoverseN2", "NeoverseV1", "ARMV8SVE",   "POWER9",      "POWER10"};

static bool peer_rating_is_good(const char *core) {
  for (size_t i = 0; i < sizeof good_cores / sizeof *good_cores; i++)
    if (strcasecmp(core, good_cores[i]) == 0)
      return true;
  return false;
}

typedef union peer_rating_function {
  void *address;
  const char *(*text)(void);
  int (*number)(void);
  const char *(*name_of)(int);
} peer_rating_function;

/* Returns the function `name` of the library that has `function_near`; address NULL: none. */
static peer_rating_function peer_rating_find_function(tsl_blas_function *function_near, const char *name) {
  peer_rating_function function;
  memcpy(&function.address, &function_near, sizeof function.address);
  function.address = tsl_loaded_in_library_of(function.address, name);
  return function;
}

const char *tsl_blas_kernels_of(tsl_blas_function *function) {
  static const char *const names[] = {"openblas_get_corename", "openblas_get_corename64_",
                                      "scipy_openblas_get_corename", "scipy_openblas_get_corename64_"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const peer_rating_function core = peer_rating_find_function(function, names[i]);
    if (core.address)
      return core.text();
  }
  return NULL;
}

/* MKL chooses kernels by processor features, BLIS by model, or "generic". */
static bool has_good_kernels(tsl_blas_function *function) {
  const char *core = tsl_blas_kernels_of(function);
  if (core)
    return peer_rating_is_good(core);
  const peer_rating_function id = peer_rating_find_function(function, "bli_arch_query_id"),
                             name = peer_rating_find_function(function, "bli_arch_string");
  if (id.address && name.address)
    return strcmp(name.name_of(id.number()), "generic") != 0;
  return peer_rating_find_function(function, "MKL_Get_Max_Threads").address != NULL;
}

/* SIZE exceeds small products: a CBLAS function's call by Fortran name, which is ours, must be forwarded. */
enum { SIZE = 128, OURS = 96, TURNS = 3 };

/* Zeros of any type. */
typedef struct operands {
  const double *a, *b;
  double *c;
} operands;

/* Requires tsl_blas_either_width(). */
static void peer_rating_multiply(const tsl_blas_symbol *symbol, tsl_blas_function *function,
                                 const operands *matrices) {
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

static bool can_be_called(const tsl_blas_symbol *symbol) {
  const char *at = strstr(symbol->name, "gemm");
  return tsl_blas_either_width() && at && at[4] != 't' && strncmp(at + 4, "_batch", 6) != 0;
}

/* Extrapolates tesela's seconds from a smaller real product; a complex product counts as four. */
static double our_seconds(const tsl_blas_symbol *symbol, const operands *matrices) {
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
  if (!cpu || !tsl_dispatch_small(&product, cpu, NULL))
    return 0;
  const double more = (double)SIZE / OURS;
  return (is_complex ? 4 : 1) * more * more * more * (tsl_clock() - start);
}

static double their_seconds(const tsl_blas_symbol *symbol, tsl_blas_function *function,
                            const operands *matrices) {
  tsl_blas_call call = {.symbol = NULL};
  tsl_blas_begin(&call);
  const double start = tsl_clock();
  peer_rating_multiply(symbol, function, matrices);
  const double seconds = tsl_clock() - start;
  tsl_blas_end(&call, NULL);
  return seconds;
}

/* Returns true if the library takes more than twice tesela's time. Takes minima of alternating turns: first
 * calls find cold caches and may start threads. */
static bool is_slow(const tsl_blas_symbol *symbol, tsl_blas_function *function) {
  enum { COUNT = 2 * SIZE * SIZE };
  double *memory = calloc(3 * COUNT, sizeof *memory), ours = 1e9, theirs = 1e9;
  if (!memory)
    return false;
  const operands matrices = {memory, memory + COUNT, memory + 2 * COUNT};
  for (int turn = 0; turn < TURNS; turn++) {
    const double our = our_seconds(symbol, &matrices), their = their_seconds(symbol, function, &matrices);
    ours = our < ours ? our : ours;
    theirs = their < theirs ? their : theirs;
  }
  free(memory);
  return theirs > 2 * ours && ours > 0;
}

tsl_blas_peer tsl_blas_standing(const tsl_blas_symbol *symbol, tsl_blas_function *function) {
  if (has_good_kernels(function) || !can_be_called(symbol) ||
      strcmp(tsl_env_get(TSL_ENV_WISDOM), "none") == 0)
    return TSL_BLAS_PEER_TUNED;
  return is_slow(symbol, function) ? TSL_BLAS_PEER_PLAIN : TSL_BLAS_PEER_TUNED;
}

/* Speed of the host BLAS. A library reports its kernels, or races against tesela (peer_race.c). Results of
 * Level 3 are stored per machine: processor, instructions in use, threads, and the library's file and
 * kernels. */
#include "blas/peer_rating.h"

#include "blas/blas_context.h"
#include "blas/blas_view.h"
#include "blas/host_blas_lookup.h"
#include "blas/int_width.h"
#include "core/env.h"
#include "core/library.h"
#include "core/pool.h"
#include "core/symbol_search.h"
#include "dispatch/crossovers.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

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

/* Returns openblas_get_NAME() under any of its names; address NULL: no OpenBLAS. */
static peer_rating_function find_in_openblas(tsl_blas_function *function_near, const char *name) {
  static const char *const ends[][2] = {{"", ""}, {"", "64_"}, {"scipy_", ""}, {"scipy_", "64_"}};
  peer_rating_function function = {.address = NULL};
  for (size_t i = 0; i < sizeof ends / sizeof *ends && !function.address; i++) {
    char full[48];
    snprintf(full, sizeof full, "%sopenblas_get_%s%s", ends[i][0], name, ends[i][1]);
    function = peer_rating_find_function(function_near, full);
  }
  return function;
}

static const char *kernels_of(tsl_blas_function *function) {
  const peer_rating_function core = find_in_openblas(function, "corename");
  return core.address ? core.text() : NULL;
}

/* An OpenBLAS without threads may have no locks, and must not race while the program calls it. */
static bool can_race(tsl_blas_function *function) {
  const peer_rating_function parallel = find_in_openblas(function, "parallel");
  return strcmp(tsl_env_get(TSL_ENV_WISDOM), "none") != 0 && (!parallel.address || parallel.number() != 0);
}

/* MKL chooses kernels by processor features, BLIS by model, or "generic". */
static bool has_good_kernels(tsl_blas_function *function) {
  const char *core = kernels_of(function);
  if (core)
    return peer_rating_is_good(core);
  const peer_rating_function id = peer_rating_find_function(function, "bli_arch_query_id"),
                             name = peer_rating_find_function(function, "bli_arch_string");
  if (id.address && name.address)
    return strcmp(name.name_of(id.number()), "generic") != 0;
  return peer_rating_find_function(function, "MKL_Get_Max_Threads").address != NULL;
}

static bool can_be_called(const tsl_blas_symbol *symbol) {
  const char *at = strstr(symbol->name, "gemm");
  return tsl_blas_either_width() && at && at[4] != 't' && strncmp(at + 4, "_batch", 6) != 0;
}

static void rate_gemm(tsl_blas_symbol *symbol, tsl_blas_routine routine) {
  (void)routine;
  atomic_store(&symbol->peer, tsl_blas_race_gemm(symbol) ? TSL_BLAS_PEER_PLAIN : TSL_BLAS_PEER_TUNED);
}

void tsl_blas_rate(tsl_blas_symbol *symbol) {
  int unknown = TSL_BLAS_PEER_UNKNOWN;
  tsl_blas_function *function = tsl_blas_host_function(symbol);
  const bool races = !has_good_kernels(function) && can_be_called(symbol) && can_race(function);
  if (atomic_compare_exchange_strong(&symbol->peer, &unknown,
                                     races ? TSL_BLAS_PEER_PENDING : TSL_BLAS_PEER_TUNED) &&
      races && !tsl_blas_race_later(rate_gemm, symbol, TSL_BLAS_GEMMT))
    atomic_store(&symbol->peer, TSL_BLAS_PEER_TUNED);
}

/* States of tsl_blas_symbol.standing, above the bits of the sizes. */
enum { KNOWN = 1 << 16, PENDING = 1 << 17 };
/* Multiply-adds from which a size decides: geometric means of neighbours. */
static const double begins[2][TSL_BLAS_RACE_SIZES] = {{4096, 11600, 129500, 1448000, 11600000},
                                                      {4096, 11600, 75900, 497000, 3970000}};

enum { NAME = 1024 };

/* Writes "level3-sizes-0-2:f:avx512:2:..."; another build of the library has another name. */
static void peer_rating_name_of(const tsl_blas_symbol *symbol, tsl_blas_function *function,
                                tsl_blas_routine routine, char name[NAME]) {
  char path[PATH_MAX];
  struct stat info = {.st_size = 0};
  const char *kernels = kernels_of(function);
  tsl_library_file(function, path, sizeof path);
  if (path[0])
    (void)stat(path, &info);
  const int length =
      snprintf(name, NAME, "level3-sizes-%d-%d:%s:%x:%d:%lld:%lld:%s:%s", (int)routine, (int)symbol->type,
               symbol->cblas ? "c" : "f", tsl_blas_cpu()->capabilities, tsl_blas_race_threads(),
               (long long)info.st_size, (long long)info.st_mtime, kernels ? kernels : "", path);
  for (int i = 0; i < length && i < NAME - 1; i++)
    if (isspace((unsigned char)name[i]) || name[i] == '=')
      name[i] = '_';
}

/* Stores the sizes, as a bit mask, at which tesela is faster in the symbol and as wisdom. */
static void store_standing(tsl_blas_symbol *symbol, tsl_blas_routine routine, unsigned sizes) {
  char name[NAME];
  peer_rating_name_of(symbol, tsl_blas_host_function(symbol), routine, name);
  tsl_api_keep(tsl_blas_cpu(), name, sizes);
  atomic_store_explicit(&symbol->standing, KNOWN | sizes, memory_order_relaxed);
}

static void rate_level3(tsl_blas_symbol *symbol, tsl_blas_routine routine) {
  store_standing(symbol, routine, tsl_blas_race_level3(symbol, routine));
}

/* Returns the standing of a symbol that has none: the stored one, or that of a race that begins. */
static unsigned begin_standing(tsl_blas_routine routine, tsl_blas_symbol *symbol) {
  char name[NAME];
  unsigned unknown = 0, standing = KNOWN;
  double stored;
  tsl_blas_function *function = tsl_blas_host_function(symbol);
  if (tsl_blas_cpu() && tsl_blas_either_width() && can_race(function)) {
    peer_rating_name_of(symbol, function, routine, name);
    standing = tsl_api_measurement_get(tsl_blas_cpu(), name, &stored) && stored < 1 << TSL_BLAS_RACE_SIZES
                   ? KNOWN | (unsigned)stored
                   : PENDING;
  }
  if (!atomic_compare_exchange_strong(&symbol->standing, &unknown, standing))
    return unknown;
  if (standing == PENDING && !tsl_blas_race_later(rate_level3, symbol, routine))
    atomic_store(&symbol->standing, KNOWN);
  return standing;
}

/* Returns tesela's share by the nearest measured size. */
static tsl_blas_share peer_rating_share(unsigned standing, tesela_type type, double volume) {
  const double *from_sizes = begins[tsl_blas_is_complex(type)];
  int nearest = 0;
  double from = 0;
  for (int i = TSL_BLAS_RACE_SIZES - 1; i >= 0; i--)
    if (standing >> i & 1)
      from = from_sizes[i];
  while (nearest + 1 < TSL_BLAS_RACE_SIZES && volume >= from_sizes[nearest + 1])
    nearest++;
  return (tsl_blas_share){from, volume >= from && standing >> nearest & 1};
}

tsl_blas_share tsl_blas_share_of_level3(tsl_blas_routine routine, tsl_blas_symbol *symbol, double volume) {
  const double first = begins[0][0];
  unsigned standing = atomic_load_explicit(&symbol->standing, memory_order_relaxed);
  if (standing == 0 && volume >= first)
    standing = begin_standing(routine, symbol);
  return standing & KNOWN
             ? peer_rating_share(standing, symbol->type, volume)
             : (tsl_blas_share){first, volume >= first && volume >= (double)tsl_crossovers.peer_level3};
}

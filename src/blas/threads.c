/* How many threads a call has. Programs limit their BLAS, and do not know that this one stands in for it. */
#include "blas/blas.h"

#include "base/env.h"
#include "base/library.h"
#include "base/pool.h"
#include "base/text.h"

#include <tesela/blas.h>

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What tesela_set_num_threads() said; 0: nothing. */
static atomic_int asked;
/* The processors' number or TESELA_THREADS; and what variables allow of it. 0: not read yet. */
static atomic_int most, allowed;

/* --- variables --- */

/* Of other libraries, which stand in for each other: the first one that is set to a number counts. */
static const char *const variables[] = {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
                                        "OMP_NUM_THREADS"};

/* OpenMP's may be a list, a number for each level: "4,2". */
static int number_of(const char *value) {
  char first[16];
  int64_t number;
  const size_t length = strcspn(value, ",");
  if (length == 0 || length >= sizeof first)
    return 0;
  memcpy(first, value, length);
  first[length] = '\0';
  return tsl_parse_i64(first, &number) && number >= 1 ? (int)(number < INT_MAX ? number : INT_MAX) : 0;
}

static bool is_told(void) {
  return tsl_env_get(TSL_ENV_THREADS)[0] != '\0';
}

static int read_variables(int at_most) {
  for (size_t i = 0; !is_told() && i < sizeof variables / sizeof *variables; i++) {
    const char *value = getenv(variables[i]);
    const int number = value ? number_of(value) : 0;
    if (number > 0)
      return number < at_most ? number : at_most;
  }
  return at_most;
}

/* Any number of threads may read at once: they read the same. */
static int most_now(void) {
  int count = atomic_load_explicit(&most, memory_order_relaxed);
  if (count == 0) {
    count = tsl_pool_default_threads();
    atomic_store_explicit(&most, count, memory_order_relaxed);
  }
  return count;
}

static int allowed_now(void) {
  int count = atomic_load_explicit(&allowed, memory_order_relaxed);
  if (count == 0) {
    count = read_variables(most_now());
    atomic_store_explicit(&allowed, count, memory_order_relaxed);
  }
  return count;
}

void tsl_blas_forget_threads(void) {
  atomic_store(&most, 0);
  atomic_store(&allowed, 0);
}

/* --- the other library --- */

typedef int count_threads(void);

/* A library that calls are passed on to, and how many threads it says it has. */
typedef struct followed {
  count_threads *count;
  int no_limit; /* as many are all that it was built for, and say nothing; 0: it has no such number */
  struct followed *older;
} followed;
static _Atomic(followed *) newest;

typedef union function {
  void *address;
  count_threads *count;
  char *(*text)(void);
} function;

/* "... Haswell MAX_THREADS=64". */
static int built_for(function config) {
  static const char before[] = "MAX_THREADS=";
  const char *text = config.address ? config.text() : NULL;
  const char *number = text ? strstr(text, before) : NULL;
  return number ? atoi(number + strlen(before)) : 0;
}

static void follow(count_threads *count, int no_limit) {
  followed *made = malloc(sizeof *made);
  if (!made)
    return;
  *made = (followed){count, no_limit, atomic_load_explicit(&newest, memory_order_acquire)};
  for (const followed *one = made->older; one; one = one->older)
    if (one->count == count) {
      free(made);
      return;
    }
  while (!atomic_compare_exchange_weak_explicit(&newest, &made->older, made, memory_order_release,
                                                memory_order_acquire))
    continue;
}

static function openblas_function(void *library, const char *prefix, const char *name, const char *suffix) {
  char whole[64];
  snprintf(whole, sizeof whole, "%sopenblas_%s%s", prefix, name, suffix);
  return (function){dlsym(library, whole)};
}

/* One that was built without threads has one, which is nobody's limit. */
static void follow_openblas(void *library) {
  static const char *const affixes[][2] = {{"", ""}, {"", "64_"}, {"scipy_", ""}, {"scipy_", "64_"}};
  for (size_t i = 0; i < sizeof affixes / sizeof *affixes; i++) {
    const char *const prefix = affixes[i][0], *const suffix = affixes[i][1];
    const function count = openblas_function(library, prefix, "get_num_threads", suffix),
                   parallel = openblas_function(library, prefix, "get_parallel", suffix);
    if (count.address && parallel.address && parallel.count() != 0)
      follow(count.count, built_for(openblas_function(library, prefix, "get_config", suffix)));
  }
}

void tsl_blas_follow(tsl_blas_function *of) {
  char path[PATH_MAX];
  if (is_told())
    return;
  tsl_library_file(of, path, sizeof path);
  void *library = *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (!library)
    return;
  follow_openblas(library);
  const function mkl = {dlsym(library, "MKL_Get_Max_Threads")};
  if (mkl.address)
    follow(mkl.count, 0);
  dlclose(library); /* it serves calls, and stays */
}

static int followed_now(int count) {
  for (const followed *one = atomic_load_explicit(&newest, memory_order_acquire); one; one = one->older) {
    const int theirs = one->count();
    if (theirs >= 1 && theirs < count && theirs != one->no_limit)
      count = theirs;
  }
  return count;
}

/* --- all of it --- */

static int threads_now(void) {
  const int wanted = atomic_load_explicit(&asked, memory_order_relaxed);
  return wanted > 0 ? wanted : followed_now(allowed_now());
}

int tsl_blas_threads(void) {
  if (tsl_blas_in_parallel())
    return 1;
  const int count = threads_now();
  return count < most_now() ? count : 0;
}

void tesela_set_num_threads(int threads) {
  const int at_most = most_now();
  atomic_store_explicit(&asked,
                        threads < 1         ? 0
                        : threads < at_most ? threads
                                            : at_most,
                        memory_order_relaxed);
}

int tesela_get_num_threads(void) {
  return threads_now();
}

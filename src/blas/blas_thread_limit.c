#include "blas/blas_thread_limit.h"

#include "core/env.h"
#include "core/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int count_threads(void);

typedef struct followed_library {
  count_threads *count;
  int no_limit; /* number that the library was built for, which is no limit; 0: none */
  struct followed_library *older;
} followed_library;
static _Atomic(followed_library *) newest;

typedef union function {
  void *address;
  count_threads *count;
  char *(*text)(void);
} function;

/* Parses "... Haswell MAX_THREADS=64". */
static int built_thread_count(function config) {
  static const char before[] = "MAX_THREADS=";
  const char *text = config.address ? config.text() : NULL;
  const char *number = text ? strstr(text, before) : NULL;
  return number ? atoi(number + strlen(before)) : 0;
}

static void add_followed_library(count_threads *count, int no_limit) {
  followed_library *entry = malloc(sizeof *entry);
  if (!entry)
    return;
  *entry = (followed_library){count, no_limit, atomic_load_explicit(&newest, memory_order_acquire)};
  for (const followed_library *older = entry->older; older; older = older->older)
    if (older->count == count) {
      free(entry);
      return;
    }
  while (!atomic_compare_exchange_weak_explicit(&newest, &entry->older, entry, memory_order_release,
                                                memory_order_acquire))
    continue;
}

static function openblas_function(void *library, const char *prefix, const char *name, const char *suffix) {
  char whole[64];
  snprintf(whole, sizeof whole, "%sopenblas_%s%s", prefix, name, suffix);
  return (function){dlsym(library, whole)};
}

/* A build without threads reports 1, which is no limit. */
static void follow_openblas(void *library) {
  static const char *const affixes[][2] = {{"", ""}, {"", "64_"}, {"scipy_", ""}, {"scipy_", "64_"}};
  for (size_t i = 0; i < sizeof affixes / sizeof *affixes; i++) {
    const char *const prefix = affixes[i][0], *const suffix = affixes[i][1];
    const function count = openblas_function(library, prefix, "get_num_threads", suffix),
                   parallel = openblas_function(library, prefix, "get_parallel", suffix);
    if (count.address && parallel.address && parallel.count() != 0)
      add_followed_library(count.count,
                           built_thread_count(openblas_function(library, prefix, "get_config", suffix)));
  }
}

void tsl_blas_follow(tsl_blas_function *blas_function) {
  char path[PATH_MAX];
  if (tsl_env_get(TSL_ENV_THREADS)[0] != '\0')
    return; /* TESELA_THREADS overrides all limits */
  tsl_library_file(blas_function, path, sizeof path);
  void *library = *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (!library)
    return;
  follow_openblas(library);
  const function mkl = {dlsym(library, "MKL_Get_Max_Threads")};
  if (mkl.address)
    add_followed_library(mkl.count, 0);
  dlclose(library); /* stays loaded: it serves calls */
}

int tsl_blas_followed(int count) {
  for (const followed_library *entry = atomic_load_explicit(&newest, memory_order_acquire); entry;
       entry = entry->older) {
    const int theirs = entry->count();
    if (theirs >= 1 && theirs < count && theirs != entry->no_limit)
      count = theirs;
  }
  return count;
}

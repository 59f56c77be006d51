#include "core/library.h"

#include "core/status.h"
#include "core/text.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Result of trying one name. */
typedef struct load_attempt {
  bool absent, lacks_memory; /* the library's file is missing; memory ran out */
  tsl_text reason;
} load_attempt;

static void store_symbol_address(void *table, const tsl_library_symbol *symbol, void *address) {
  memcpy((char *)table + symbol->offset, &address, sizeof address);
}

/* Returns true if this library itself is missing; with another name in front a dependency is missing. */
static bool error_is_missing_file(const char *error, const char *name) {
  const size_t length = strlen(name);
  return strncmp(error, name, length) == 0 && error[length] == ':' &&
         strstr(error, "No such file or directory") != NULL;
}

/* Returns true if the error is lack of memory, which may have passed at the next call. */
static bool error_is_no_memory(const char *error) {
  return strstr(error, "out of memory") != NULL || strstr(error, "Cannot allocate memory") != NULL;
}

static atomic_bool has_shared; /* true after a successful tsl_library_open_global() */

bool tsl_library_open_global(const char *name) {
  const bool is_there = dlopen(name, RTLD_LAZY | RTLD_GLOBAL) != NULL;
  if (is_there)
    atomic_store(&has_shared, true);
  return is_there;
}

/* Returns a symbol of the library, or of any library after tsl_library_open_global(); NULL: none. */
static void *find_symbol(void *handle, const char *name) {
  void *address = dlsym(handle, name);
  return address || !atomic_load(&has_shared) ? address : dlsym(RTLD_DEFAULT, name);
}

/* Opens a library and fills the table. Returns false, with the reason in `result`, if it lacks a symbol. */
static bool try_library(const char *name, const tsl_library_symbol *symbols, int count, void *table,
                        load_attempt *result) {
  void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *error = dlerror();
    const size_t length = strlen(name);
    result->absent = error_is_missing_file(error, name);
    result->lacks_memory = error_is_no_memory(error);
    /* Removes a leading name, since the message names the library already. */
    if (strncmp(error, name, length) == 0 && strncmp(error + length, ": ", 2) == 0)
      error += length + 2;
    tsl_text_add(&result->reason, "%s", error);
    return false;
  }
  for (int i = 0; i < count; i++) {
    void *address = find_symbol(handle, symbols[i].name);
    if (!address && !symbols[i].optional) {
      for (int k = 0; k < i; k++)
        store_symbol_address(table, &symbols[k], NULL);
      tsl_text_add(&result->reason, "it has no %s", symbols[i].name);
      dlclose(handle);
      return false;
    }
    store_symbol_address(table, &symbols[i], address);
  }
  return true;
}

tesela_status tsl_library_load(const char *library, const char *chosen, const char *const *names,
                               const tsl_library_symbol *symbols, int count, void *table) {
  const char *const only[] = {chosen, NULL};
  if (chosen && chosen[0] == '\0')
    chosen = NULL;
  if (chosen && strcmp(chosen, "none") == 0)
    return tsl_fail(TESELA_NO_DEVICE, "%s is switched off: the library chosen is \"none\"", library);
  tsl_text tried = {0}, reasons = {0};
  bool loaded = false, all_absent = true, lacks_memory = false;
  for (const char *const *name = chosen ? only : names; *name && !loaded; name++) {
    load_attempt result = {0};
    loaded = try_library(*name, symbols, count, table, &result);
    all_absent = all_absent && result.absent;
    lacks_memory = lacks_memory || result.lacks_memory;
    tsl_text_add(&tried, "%s%s", tried.length ? ", " : "", *name);
    tsl_text_add(&reasons, "%s%s (%s)", reasons.length ? ", " : "", *name,
                 result.absent ? "not there" : tsl_text_get(&result.reason));
    tsl_text_free(&result.reason);
  }
  tesela_status status = TESELA_OK;
  if (!loaded && all_absent)
    status = tsl_fail(TESELA_NO_DEVICE, "%s is not %s: tried %s", library,
                      chosen ? "at the path that was set" : "installed", tsl_text_get(&tried));
  else if (!loaded)
    status = tsl_fail(lacks_memory ? TESELA_OUT_OF_MEMORY : TESELA_NO_DEVICE, "%s does not load: tried %s",
                      library, tsl_text_get(&reasons));
  tsl_text_free(&tried);
  tsl_text_free(&reasons);
  return status;
}

typedef struct library_count {
  const char *const *starts; /* beginnings of file names, ends with NULL */
  int count;
} library_count;

static int count_matching_library(struct dl_phdr_info *info, size_t size, void *argument) {
  library_count *counts = argument;
  const char *const slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
  (void)size;
  for (const char *const *start = counts->starts; slash && *start; start++)
    counts->count += strncmp(slash + 1, *start, strlen(*start)) == 0;
  return 0;
}

int tsl_library_count(const char *const *starts) {
  library_count counts = {.starts = starts};
  (void)dl_iterate_phdr(count_matching_library, &counts);
  return counts.count;
}

void tsl_library_file(void (*function)(void), char *out, size_t size) {
  Dl_info info;
  void *address;
  memcpy(&address, &function, sizeof address);
  out[0] = '\0';
  if (dladdr(address, &info) == 0 || !info.dli_fname)
    return;
  char *path = realpath(info.dli_fname, NULL);
  snprintf(out, size, "%s", path ? path : info.dli_fname);
  free(path);
}

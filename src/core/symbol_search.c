#include "core/symbol_search.h"

#include "core/text.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *tsl_loaded_beside(void *address, const char *name) {
  Dl_info library_info, found;
  if (!dladdr(address, &library_info) || !library_info.dli_fname)
    return NULL;
  void *library = dlopen(library_info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return NULL;
  void *symbol = dlsym(library, name);
  if (symbol && (!dladdr(symbol, &found) || found.dli_fbase != library_info.dli_fbase))
    symbol = NULL; /* the symbol belongs to a dependency of the library */
  dlclose(library);
  return symbol;
}

static bool symbol_search_holds(const struct dl_phdr_info *info, const void *address) {
  const uintptr_t at = (uintptr_t)address;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (info->dlpi_phdr[i].p_type == PT_LOAD && at >= begin && at - begin < info->dlpi_phdr[i].p_memsz)
      return true;
  }
  return false;
}

typedef struct order {
  const void *first, *second;
  bool is_before;
} order;

/* Finds which of two addresses' libraries was loaded first; the walk is in loading order. */
static int look_for_first(struct dl_phdr_info *info, size_t size, void *argument) {
  order *library_info = argument;
  (void)size;
  const bool has_first = symbol_search_holds(info, library_info->first),
             has_second = symbol_search_holds(info, library_info->second);
  library_info->is_before = has_first && !has_second;
  return has_first || has_second;
}

bool tsl_loaded_before(const void *address, const void *other) {
  order library_info = {.first = address, .second = other};
  dl_iterate_phdr(look_for_first, &library_info);
  return library_info.is_before;
}

/* Only lists names: libraries are opened after the walk, which holds the linker's lock. */
static int symbol_search_add_name(struct dl_phdr_info *info, size_t size, void *argument) {
  (void)size;
  if (info->dlpi_name && *info->dlpi_name)
    tsl_text_add(argument, "%s\n", info->dlpi_name);
  return 0;
}

/* Returns the symbol's address in a loaded library if `ask` answers TAKE, else NULL. */
static void *find_in(const char *library, const char *name, tsl_loaded_ask *ask, void *state) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle)
    return NULL;
  void *address = dlsym(handle, name);
  const tsl_loaded_answer answer = address ? ask(address, state) : TSL_LOADED_NO;
  if (answer == TSL_LOADED_NO)
    dlclose(handle);
  return answer == TSL_LOADED_TAKE ? address : NULL;
}

void *tsl_loaded_find(const char *name, tsl_loaded_ask *ask, void *state) {
  tsl_text names = {0};
  void *address = NULL;
  dl_iterate_phdr(symbol_search_add_name, &names);
  char *all = tsl_text_take(&names), *left = all;
  for (char *line; left && !address && (line = strsep(&left, "\n")) != NULL;)
    address = *line ? find_in(line, name, ask, state) : NULL;
  free(all);
  return address;
}

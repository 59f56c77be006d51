#include "core/symbol_search.h"

#include "core/text.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *tsl_loaded_in_library_of(void *address, const char *name) {
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

static bool library_contains(const struct dl_phdr_info *info, const void *address) {
  const uintptr_t at = (uintptr_t)address;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (info->dlpi_phdr[i].p_type == PT_LOAD && at >= begin && at - begin < info->dlpi_phdr[i].p_memsz)
      return true;
  }
  return false;
}

typedef struct load_order {
  const void *first, *second;
  bool first_is_earlier;
} load_order;

/* Finds which of two addresses' libraries was loaded first; the walk is in loading order. */
static int stop_at_first_loaded(struct dl_phdr_info *info, size_t size, void *argument) {
  load_order *library_info = argument;
  (void)size;
  const bool has_first = library_contains(info, library_info->first),
             has_second = library_contains(info, library_info->second);
  library_info->first_is_earlier = has_first && !has_second;
  return has_first || has_second;
}

bool tsl_loaded_is_earlier(const void *address, const void *other) {
  load_order library_info = {.first = address, .second = other};
  dl_iterate_phdr(stop_at_first_loaded, &library_info);
  return library_info.first_is_earlier;
}

/* Appends a library's name. Libraries are opened after the walk, which holds the linker's lock. */
static int append_library_name(struct dl_phdr_info *info, size_t size, void *argument) {
  (void)size;
  if (info->dlpi_name && *info->dlpi_name)
    tsl_text_add(argument, "%s\n", info->dlpi_name);
  return 0;
}

/* Returns the symbol's address in a loaded library if `ask` answers TAKE, else NULL. */
static void *ask_about_symbol(const char *library, const char *name, tsl_loaded_ask *ask, void *state) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle)
    return NULL;
  void *address = dlsym(handle, name);
  const tsl_loaded_answer answer = address ? ask(address, state) : TSL_LOADED_NO;
  if (answer == TSL_LOADED_NO)
    dlclose(handle);
  return answer == TSL_LOADED_TAKE ? address : NULL;
}

void *tsl_loaded_find_symbol(const char *name, tsl_loaded_ask *ask, void *state) {
  tsl_text names = {0};
  void *address = NULL;
  dl_iterate_phdr(append_library_name, &names);
  char *all = tsl_text_take(&names), *left = all;
  for (char *line; left && !address && (line = strsep(&left, "\n")) != NULL;)
    address = *line ? ask_about_symbol(line, name, ask, state) : NULL;
  free(all);
  return address;
}

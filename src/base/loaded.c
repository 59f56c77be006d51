/* Functions of the libraries that a process has loaded. */
#include "base/loaded.h"

#include "base/text.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

void *tsl_loaded_beside(void *address, const char *name) {
  Dl_info of, found;
  if (!dladdr(address, &of) || !of.dli_fname)
    return NULL;
  void *library = dlopen(of.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return NULL;
  void *there = dlsym(library, name);
  if (there && (!dladdr(there, &found) || found.dli_fbase != of.dli_fbase))
    there = NULL; /* it is a library's that this one needs */
  dlclose(library);
  return there;
}

/* Names of all loaded libraries, a line each: they are opened after the walk, which holds the linker's lock. */
static int add_name(struct dl_phdr_info *info, size_t size, void *argument) {
  (void)size;
  if (info->dlpi_name && *info->dlpi_name)
    tsl_text_add(argument, "%s\n", info->dlpi_name);
  return 0;
}

static void *find_in(const char *library, const char *name, tsl_loaded_ask *ask, void *of) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle)
    return NULL;
  void *address = dlsym(handle, name);
  const tsl_loaded_answer answer = address ? ask(address, of) : TSL_LOADED_NO;
  if (answer == TSL_LOADED_NO)
    dlclose(handle);
  return answer == TSL_LOADED_TAKE ? address : NULL;
}

void *tsl_loaded_find(const char *name, tsl_loaded_ask *ask, void *of) {
  tsl_text names = {0};
  void *address = NULL;
  dl_iterate_phdr(add_name, &names);
  char *all = tsl_text_take(&names), *left = all;
  for (char *line; left && !address && (line = strsep(&left, "\n")) != NULL;)
    address = *line ? find_in(line, name, ask, of) : NULL;
  free(all);
  return address;
}

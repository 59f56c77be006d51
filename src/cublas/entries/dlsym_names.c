/* dlsym() for programs that look cuBLAS's functions up at run time, as CuPy (by ctypes) and JAX do: a
 * preloaded library is not asked for these names. A name that this library exports, and that the program's
 * cuBLAS has, is ours. All other calls continue in the C library's function. The linker exports
 * tsl_cublas_dlsym() as dlsym (cmake/cublas.cmake). */
#include "cublas/cublas_symbol.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

typedef void *lookup(void *handle, const char *name);

/* The C library's versions of dlsym: since 2.34, and before on x86-64 and AArch64. */
static lookup *find_lookup(void) {
  static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
  static lookup *_Atomic known;
  lookup *found = atomic_load_explicit(&known, memory_order_relaxed);
  for (size_t i = 0; i < sizeof versions / sizeof *versions && !found; i++)
    found = (lookup *)tsl_interpose_function(dlvsym(RTLD_NEXT, "dlsym", versions[i]));
  atomic_store_explicit(&known, found, memory_order_relaxed);
  return found;
}

/* Begin and end of this library in memory, by the linker. */
extern const char library_begin[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char library_end[] __asm__("_end") __attribute__((visibility("hidden")));

static bool is_here(const void *address) {
  return (uintptr_t)address >= (uintptr_t)library_begin && (uintptr_t)address < (uintptr_t)library_end;
}

/* Returns this library's function of a name; NULL: it has none. */
static void *find_own(lookup *next, const char *name) {
  static void *_Atomic own_handle;
  Dl_info info;
  void *handle = atomic_load_explicit(&own_handle, memory_order_relaxed);
  if (!handle && dladdr(library_begin, &info))
    handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  atomic_store_explicit(&own_handle, handle, memory_order_relaxed);
  void *address = handle ? next(handle, name) : NULL;
  return is_here(address) ? address : NULL;
}

/* Returns true if a lookup may be of cuBLAS's names in a library that the program opened. */
static bool may_replace(const void *handle, const char *name, const void *caller) {
  return handle != RTLD_NEXT && handle != RTLD_DEFAULT && name && strncmp(name, "cublas", 6) == 0 &&
         !is_here(caller);
}

static void *replace(lookup *next, void *handle, const char *name) {
  void *theirs = next(handle, name);
  void *ours = theirs ? find_own(next, name) : NULL;
  return ours ? ours : theirs;
}

/* The last call is a jump: RTLD_NEXT depends on the caller's address. */
TESELA_API void *tsl_cublas_dlsym(void *handle, const char *name) {
  lookup *next = find_lookup();
  if (may_replace(handle, name, __builtin_return_address(0)))
    return replace(next, handle, name);
  return next(handle, name);
}

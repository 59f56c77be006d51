#include "cublas/cublas_workspace.h"

#include <stdatomic.h>
#include <stdint.h>

enum { HANDLES = 256 };

/* A handle is used by one thread at a time, so its members change only between its calls. */
typedef struct handle_workspace {
  _Atomic(const void *) handle; /* NULL: free */
  _Atomic(const void *) memory;
  atomic_size_t bytes;
} handle_workspace;

static handle_workspace table[HANDLES]; /* by the hash of the handle, then the next place; never freed */

/* Returns a handle's place; NULL: it has none. */
static handle_workspace *find_place(const void *handle, int adds) {
  const unsigned first = (unsigned)((uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> 56);
  for (unsigned i = 0; i < HANDLES; i++) {
    handle_workspace *place = &table[(first + i) % HANDLES];
    const void *known = atomic_load_explicit(&place->handle, memory_order_acquire);
    if (!known && adds)
      (void)atomic_compare_exchange_strong(&place->handle, &known, handle);
    known = atomic_load_explicit(&place->handle, memory_order_acquire);
    if (known == handle)
      return place;
    if (!known)
      return NULL;
  }
  return NULL;
}

void tsl_cublas_workspace_set(const void *handle, const void *memory, size_t bytes) {
  handle_workspace *place = find_place(handle, bytes > 0);
  if (!place)
    return;
  atomic_store_explicit(&place->memory, memory, memory_order_relaxed);
  atomic_store_explicit(&place->bytes, memory ? bytes : 0, memory_order_relaxed);
}

const void *tsl_cublas_workspace_get(const void *handle, size_t *bytes) {
  const handle_workspace *place = find_place(handle, 0);
  *bytes = place ? atomic_load_explicit(&place->bytes, memory_order_relaxed) : 0;
  return *bytes > 0 ? atomic_load_explicit(&place->memory, memory_order_relaxed) : NULL;
}

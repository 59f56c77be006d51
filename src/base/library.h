/* Vendors' libraries, loaded at run time: their absence is a reason, not a failure. */
#ifndef TSL_BASE_LIBRARY_H
#define TSL_BASE_LIBRARY_H

#include <stddef.h>
#include <tesela/tesela.h>

/* One symbol to find: made by an X-macro list of the library's functions. */
typedef struct tsl_library_symbol {
  const char *name;
  size_t offset; /* of the function pointer in the table of pointers */
  int optional;  /* nonzero: stays NULL when missing */
} tsl_library_symbol;

/* Opens the first of `names` (NULL-terminated; file names or paths) that loads and has every symbol, and
 * fills the table. `chosen`, when not NULL, is tried alone (a user's variable); "none" opens nothing.
 * TESELA_NO_DEVICE with a sentence that says what was tried. The library stays loaded for the life of the
 * process. */
tesela_status tsl_library_load(const char *what, const char *chosen, const char *const *names,
                               const tsl_library_symbol *symbols, int count, void *table);

/* The path of the file that a loaded function comes from, links followed, cut to `size`; "" where the dynamic linker
 * does not tell. */
void tsl_library_file(void (*function)(void), char *out, size_t size);

#endif

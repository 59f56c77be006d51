/* Vendors' libraries, loaded at run time: their absence is a reason, not a failure. */
#ifndef TSL_BASE_LIBRARY_H
#define TSL_BASE_LIBRARY_H

#include <stdbool.h>
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

/* Opens a library whose functions those that are loaded later find, and tsl_library_load() where the library
 * itself lacks one; false where it does not load. It stays loaded likewise. For libraries that do not say
 * what they need. */
bool tsl_library_share(const char *name);

/* How many libraries the process has whose file names start with one of these words, which NULL ends. */
int tsl_library_count(const char *const *starts);

/* The path of the file that a loaded function comes from, links followed, cut to `size`; "" where the dynamic
 * linker does not tell. */
void tsl_library_file(void (*function)(void), char *out, size_t size);

#endif

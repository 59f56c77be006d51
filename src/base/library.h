/* Loading of vendors' libraries at run time. A missing library is a reason for messages, not a failure. */
#ifndef TSL_BASE_LIBRARY_H
#define TSL_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <tesela/tesela.h>

/* Symbol to find; X-macro lists of a library's functions generate the array. */
typedef struct tsl_library_symbol {
  const char *name;
  size_t offset; /* offset of the function pointer in the table */
  int optional;  /* nonzero: the pointer is NULL if the symbol is missing */
} tsl_library_symbol;

/* Opens the first library of `names` that loads and has every symbol, and fills the table. `names` ends
 * with NULL; entries are file names or paths. If `chosen` (a user's setting) is not NULL, only it is
 * tried; "none" opens nothing. TESELA_NO_DEVICE: the message lists the tried names. The library stays
 * loaded until the process ends. */
tesela_status tsl_library_load(const char *library, const char *chosen, const char *const *names,
                               const tsl_library_symbol *symbols, int count, void *table);

/* Opens a library so that libraries loaded later find its functions, for vendors' libraries that do not
 * declare their dependencies. tsl_library_load() also finds symbols in it. Returns false if it does not
 * load. It stays loaded until the process ends. */
bool tsl_library_share(const char *name);

/* Counts the loaded libraries whose file name starts with one of these words. The list ends with NULL. */
int tsl_library_count(const char *const *starts);

/* Writes the path of the file that contains a loaded function, links resolved, truncated to `size`.
 * Writes "" if the dynamic linker does not know it. */
void tsl_library_file(void (*function)(void), char *out, size_t size);

#endif

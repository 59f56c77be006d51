/* Loading of vendors' libraries at run time. */
#ifndef TSL_CORE_LIBRARY_H
#define TSL_CORE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <tesela/tesela.h>

/* Symbol to find. */
typedef struct tsl_library_symbol {
  const char *name;
  size_t offset; /* byte offset of the function pointer in the table's struct */
  int optional;  /* nonzero: the pointer is NULL if the symbol is missing */
} tsl_library_symbol;

/* Opens the first library of `names` (ends with NULL) that has every symbol, and fills the table; it stays
 * loaded. If `chosen`, a user's setting, is not NULL, only it is tried; "none" opens nothing.
 * TESELA_NO_DEVICE lists the tried names. */
tesela_status tsl_library_load(const char *library, const char *chosen, const char *const *names,
                               const tsl_library_symbol *symbols, int count, void *table);

/* Opens a library for good, so that later libraries and tsl_library_load() find its functions, for
 * dependencies that vendors do not declare. Returns false if it does not load. */
bool tsl_library_open_global(const char *name);

/* Counts the loaded libraries whose file name starts with one of these words, which end with NULL. */
int tsl_library_count(const char *const *starts);

/* Writes the resolved path of the file that contains a function, truncated to `size`; "" if unknown. */
void tsl_library_file(void (*function)(void), char *out, size_t size);

#endif

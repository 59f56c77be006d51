/* Kernel sources, embedded in the library (cmake/embed.cmake), by paths from src/, such as
 * "strategy/gemm/ladder/element/element.cl". TESELA_KERNEL_DIR=<source tree> reads them from disk instead. */
#ifndef TSL_DEVICE_SOURCE_H
#define TSL_DEVICE_SOURCE_H

#include "core/text.h"

typedef struct tsl_source_file {
  const char *path; /* path from src/ with '/' between folders */
  const unsigned char *text;
  size_t length;
} tsl_source_file;

/* Returns embedded file `index`, sorted by path; NULL past the end. */
const tsl_source_file *tsl_source_at(int index);

/* Appends a file with every #include "..." replaced by the file, once each, and #line directives. Searches
 * the including file's folder, then `folders` (ends with NULL). TESELA_BAD_INPUT: no file, or a cycle. */
tesela_status tsl_source_flatten(const char *path, const char *const *folders, tsl_text *out);

/* Appends a file's opening comment without its marks. TESELA_BAD_INPUT: no file, or no such comment. */
tesela_status tsl_source_comment(const char *path, tsl_text *out);

#endif

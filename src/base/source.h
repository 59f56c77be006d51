/* Kernel sources, embedded in the library (cmake/embed.cmake), by paths from src/, such as
 * "strategy/gemm/element/element.cl". TESELA_KERNEL_DIR=<source tree> reads them from disk instead. */
#ifndef TSL_BASE_SOURCE_H
#define TSL_BASE_SOURCE_H

#include "base/text.h"

typedef struct tsl_source_file {
  const char *path; /* path from src/ with '/' between folders */
  const unsigned char *text;
  size_t length;
} tsl_source_file;

/* Returns embedded file `index`, sorted by path; NULL past the end. */
const tsl_source_file *tsl_source_at(int index);

/* Appends a file with every #include "..." replaced by the file, once each, and #line directives. Searches
 * the including file's folder, then `folders` (ends with NULL). TESELA_BAD_INPUT: a missing include or a
 * cycle. */
tesela_status tsl_source_flatten(const char *path, const char *const *folders, tsl_text *out);

/* Appends a file's opening comment without its marks. TESELA_BAD_INPUT: no file, or no such comment. */
tesela_status tsl_source_comment(const char *path, tsl_text *out);

/* 128-bit FNV-1a hash, for content addresses, not for secrets. */
typedef struct tsl_hash {
  uint64_t high, low;
} tsl_hash;
/* Returns the hash of no bytes. */
tsl_hash tsl_hash_start(void);
/* Returns the hash of `state` continued with these bytes. */
tsl_hash tsl_hash_add(tsl_hash state, const void *bytes, size_t count);
/* Writes 32 hexadecimal digits and a NUL. */
void tsl_hash_text(tsl_hash hash, char out[33]);

#endif

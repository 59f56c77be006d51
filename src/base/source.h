/* Kernel sources: real files of the source tree, embedded when the library is built (cmake/embed.cmake),
 * found by their path from src/ ("strategy/gemm/element/element.cl"). TESELA_KERNEL_DIR=<source tree> reads
 * src/ from disk instead, for edit-and-rerun. */
#ifndef TSL_BASE_SOURCE_H
#define TSL_BASE_SOURCE_H

#include "base/text.h"

typedef struct tsl_source_file {
  const char *path; /* from src/, '/' between folders */
  const unsigned char *text;
  size_t length;
} tsl_source_file;

/* The embedded files, sorted by path; tsl_source_at(index) until NULL. Made by cmake/embed.cmake. */
const tsl_source_file *tsl_source_at(int index);

/* Appends the file `path` to `out` with every #include "..." replaced by that file's text, each file once,
 * with #line directives so that a compiler's messages name the real file and line. An include is looked for
 * beside the file that names it, then in each folder of `folders` (NULL-terminated, from src/: "kernel",
 * "device/opencl/include"). #include <...> is left alone. TESELA_BAD_INPUT names an include that is not
 * found, and a cycle. */
tesela_status tsl_source_flatten(const char *path, const char *const *folders, tsl_text *out);

/* Appends the comment that the file begins with, without its marks: of a kernel, or of a strategy's C file,
 * what it does and how. TESELA_BAD_INPUT where there is no such file, or it begins otherwise. */
tesela_status tsl_source_comment(const char *path, tsl_text *out);

/* 128-bit FNV-1a of the bytes, continued from `state` (start from tsl_hash_start()); for content addresses,
 * not for secrets. */
typedef struct tsl_hash {
  uint64_t high, low;
} tsl_hash;
tsl_hash tsl_hash_start(void);
tsl_hash tsl_hash_add(tsl_hash state, const void *bytes, size_t count);
/* 32 hexadecimal digits and a NUL. */
void tsl_hash_text(tsl_hash hash, char out[33]);

#endif

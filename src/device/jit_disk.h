/* The kernel cache's folder. Nothing outside src/device includes this.
 *
 *   <hash>.bin           head (see jit_entry.c), key, binary
 *   <hash>.cl            a comment that starts with TSL_JIT_SOURCE_MARK, then the source
 *   <hash>.<pid>-<n>.tmp an entry that is being written, or was when its process died
 *
 * The folder may be one that a user named and keeps other things in: a file is taken for an entry's only when
 * its name is like these and its first bytes, or those of the other file of the pair, are the cache's own. */
#ifndef TSL_DEVICE_JIT_DISK_H
#define TSL_DEVICE_JIT_DISK_H

#include "base/source.h"
#include "base/text.h"
#include "device/device.h"

#define TSL_JIT_VERSION 1
#define TSL_JIT_MAGIC "tslcache"
#define TSL_JIT_BYTE_ORDER UINT32_C(0x01020304)
#define TSL_JIT_SOURCE_MARK "// tesela kernel "
enum { TSL_JIT_MAGIC_BYTES = 8, TSL_JIT_NAME_MOST = 80 };

/* What a build is known by. */
typedef struct tsl_jit_key {
  const char *text; /* see jit_cache.c; holds the build's text */
  size_t length;
  char hash[33];
} tsl_jit_key;

/* The size that the folder may reach: TESELA_CACHE_SIZE, or its default when that is no size. 0: no folder.
 */
uint64_t tsl_jit_size_limit(void);
/* Opens the folder, made when `create` and not there. -1, with the reason in `why` and in errno (0 where the
 * folder has no name, or is not trusted: base/safe_open.h), when that fails. */
int tsl_jit_folder_open(bool create, char *why, size_t size);
/* Removes what was used longest ago until the rest fits the limit, and what dead processes left behind. */
void tsl_jit_folder_trim(int folder, uint64_t limit);

/* A whole entry as it was read; free(bytes). `key` is not NUL-terminated. */
typedef struct tsl_jit_loaded {
  char *bytes;
  const char *key, *binary;
  size_t size, key_bytes, binary_bytes; /* size: of `bytes` */
  tsl_hash checksum;
} tsl_jit_loaded;

/* Verifies the bytes of a whole entry and fills `loaded`, which points into them. Returns NULL, or what is
 * wrong with the entry. */
const char *tsl_jit_entry_verify(char *bytes, size_t size, tsl_jit_loaded *loaded);
/* Moves the binary of a loaded entry to `binary` if the entry has this key; else frees the entry and returns
 * what is wrong. */
const char *tsl_jit_entry_take(tsl_jit_loaded *loaded, const tsl_jit_key *key, tsl_binary *binary);

/* Reads and verifies a file. NULL when it is good, else what is wrong with it; "" when there is no such
 * file. */
const char *tsl_jit_entry_load(int folder, const char *file, tsl_jit_loaded *loaded);
/* The binary for a key, now the one used last; false when there is none or it is not good, which the log
 * says. */
bool tsl_jit_entry_read(int folder, const tsl_jit_key *key, const char *name, tsl_binary *binary);
/* Writes an entry and trims the folder. A failure is a line in the log. */
void tsl_jit_entry_write(int folder, const tsl_jit_key *key, const tsl_device *device, const tsl_build *build,
                         const tsl_binary *binary);

#endif

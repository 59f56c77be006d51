/* The kernel cache's folder. Private to src/device.
 *
 *   <hash>.bin           head (see jit_entry.c), key, binary
 *   <hash>.cl            a comment that starts with TSL_JIT_SOURCE_MARK, then the source
 *   <hash>.<pid>-<n>.tmp an unfinished entry
 *
 * The folder may hold other files: a pair is the cache's by its names and the mark in one file. */
#ifndef TSL_DEVICE_JIT_DISK_H
#define TSL_DEVICE_JIT_DISK_H

#include "core/hash.h"
#include "core/text.h"
#include "device/device.h"

#define TSL_JIT_VERSION 1
#define TSL_JIT_MAGIC "tslcache"
#define TSL_JIT_BYTE_ORDER UINT32_C(0x01020304)
#define TSL_JIT_SOURCE_MARK "// tesela kernel "
enum { TSL_JIT_MAGIC_BYTES = 8, TSL_JIT_NAME_BYTES = 80 };

typedef struct tsl_jit_key {
  const char *text; /* text of the key (see jit_cache.c), owned by the caller */
  size_t length;
  char hash[33];
} tsl_jit_key;

/* Returns the folder's maximum bytes: TESELA_CACHE_SIZE, or its default where invalid. 0: no folder. */
uint64_t tsl_jit_size_limit(void);
/* Opens the folder, creating it with `create`. Returns -1 on failure, with the reason in `why` and errno: 0
 * without a name or if it is not trusted (core/safe_open.h). */
int tsl_jit_folder_open(bool create, char *why, size_t size);
/* Removes least recently used entries until the rest fits the limit, and dead processes' files. */
void tsl_jit_folder_trim(int folder, uint64_t limit);

/* An entry in memory; free `bytes`, into which the pointers point. `key` is not NUL-terminated. */
typedef struct tsl_jit_loaded {
  char *bytes;
  const char *key, *binary;
  size_t size, key_bytes, binary_bytes; /* size: of `bytes` */
  tsl_hash checksum;
} tsl_jit_loaded;

/* Verifies an entry's bytes and points `loaded` into them. Returns NULL, or the error. */
const char *tsl_jit_entry_verify(char *bytes, size_t size, tsl_jit_loaded *loaded);
/* Moves the binary to `binary` if the entry has this key; else frees the entry and returns the error. */
const char *tsl_jit_entry_take(tsl_jit_loaded *loaded, const tsl_jit_key *key, tsl_binary *binary);

/* Reads and verifies a file. Returns NULL for a good entry, "" for a missing file, else the error. */
const char *tsl_jit_entry_load(int folder, const char *file, tsl_jit_loaded *loaded);
/* Reads a key's binary and marks it as used; false: missing, or damaged (logged). Free binary->data. */
bool tsl_jit_entry_read(int folder, const tsl_jit_key *key, const char *name, tsl_binary *binary);
/* Writes an entry and trims the folder. A failure is logged. */
void tsl_jit_entry_write(int folder, const tsl_jit_key *key, const tsl_device *device, const tsl_build *build,
                         const tsl_binary *binary);

#endif

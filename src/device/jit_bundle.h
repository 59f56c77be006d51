/* Cache file: many kernel cache entries in one constant file. Private to src/device.
 *
 *   head   magic, format version, byte order, number of entries, length of the file, checksum
 *   index  for each entry its hash, offset, length and checksum; sorted by hash
 *   data   the entries, in the order of the index, each as its file in the cache's folder holds it
 *
 * The head's checksum covers its numbers and the index. The file is read by pread(), not mapped: if its owner
 * shortens a mapped file, readers get SIGBUS, which a library cannot handle for its program. */
#ifndef TSL_DEVICE_JIT_BUNDLE_H
#define TSL_DEVICE_JIT_BUNDLE_H

#include "device/jit_disk.h"

/* Reads a key's binary from the file named by TESELA_CACHE; false: no file or entry. An unusable file or
 * damaged entry is a warning (core/warnings.h). The caller frees binary->data. */
bool tsl_jit_bundle_read(const tsl_jit_key *key, const char *name, tsl_binary *binary);

/* Returns the size in bytes of the cache file of these entries. */
uint64_t tsl_jit_bundle_bytes(const tsl_jit_loaded *entries, int count);
/* Writes a cache file in order through write(). The entries are verified and sorted by `hashes`. */
tesela_status tsl_jit_bundle_write(const tsl_jit_loaded *entries, const char (*hashes)[33], int count,
                                   tesela_status (*write)(void *argument, const void *bytes, size_t count),
                                   void *argument);

#endif

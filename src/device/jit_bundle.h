/* A cache file: many entries of the kernel cache in one file, which is read and never changed. Nothing
 * outside src/device includes this header.
 *
 *   head   magic, format version, byte order, number of entries, length of the file, checksum
 *   index  for each entry its hash, offset, length and checksum; sorted by hash
 *   data   the entries, in the order of the index, each as its file in the cache's folder holds it
 *
 * The head's checksum covers the numbers of the head and the index. Each entry has its own checksum.
 *
 * The file is read by pread() into memory, not mapped. The owner of the file can cut the file short at any
 * time, and a mapping then raises SIGBUS in every process that reads it. A library cannot handle that signal
 * for its program. The page cache shares the pages of the file among processes in both cases. */
#ifndef TSL_DEVICE_JIT_BUNDLE_H
#define TSL_DEVICE_JIT_BUNDLE_H

#include "device/jit_disk.h"

/* Reads the binary of a key from the file that TESELA_CACHE names. Returns false if there is no such file or
 * entry. A file that cannot be used, and an entry that is damaged, is a warning (base/warnings.h). */
bool tsl_jit_bundle_read(const tsl_jit_key *key, const char *name, tsl_binary *binary);

/* Number of bytes of the cache file that holds these entries. */
uint64_t tsl_jit_bundle_bytes(const tsl_jit_loaded *entries, int count);
/* Writes a cache file. The entries are verified, and sorted by `hashes`; write() takes the next bytes. */
tesela_status tsl_jit_bundle_write(const tsl_jit_loaded *entries, const char (*hashes)[33], int count,
                                   tesela_status (*write)(void *argument, const void *bytes, size_t count),
                                   void *argument);

#endif

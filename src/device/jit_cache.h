/* Compiled kernels: in memory while a device is open, and on disk across processes.
 *
 * Address of an entry: 128-bit hash of its key, and the key is text, kept in the entry and compared in full:
 *   the build's name, text and options; the device's key; the compiler's version; the format's version.
 * A file <hash>.bin holds magic, lengths, checksum, key, binary; <hash>.cl or .cu beside it is the source,
 * for people. Written under a temporary name and renamed, so readers see a whole entry or none; a damaged or
 * foreign entry is rebuilt, with a note in the log (topic cache). Over TESELA_CACHE_SIZE, entries not used
 * for longest go first. A cache folder that cannot be written only costs time. */
#ifndef TSL_DEVICE_JIT_CACHE_H
#define TSL_DEVICE_JIT_CACHE_H

#include "device/device.h"

/* The module for a build, compiled at most once: from memory, else from the file that TESELA_CACHE names,
 * else from the folder, else by the device's compiler. TESELA_UNSUPPORTED where TESELA_JIT forbids the
 * compiler. The device owns it until it closes. seconds (may be NULL): what the compiler took, 0 when nothing
 * was compiled. Safe from many threads. */
tesela_status tsl_jit_module(tsl_device *device, const tsl_build *build, tsl_module **module,
                             double *seconds);

/* Drops a device's modules; called by tsl_devices_destroy() before close(). */
void tsl_jit_forget(tsl_device *device);

/* The folder that is used: TESELA_CACHE_DIR, else <XDG_CACHE_HOME or ~/.cache>/tesela/kernels. Fails when
 * there is no home. */
tesela_status tsl_jit_folder(tsl_text *folder);

typedef struct tsl_jit_entry {
  char name[64];    /* the build's name */
  char config[320]; /* "float tile=16": what was defined in front of its text */
  char device[160]; /* the device's key */
  char hash[33];
  uint64_t bytes; /* on disk, source included */
  double age;     /* seconds since its last use */
  int damaged;    /* nonzero: will be rebuilt when asked for */
} tsl_jit_entry;

/* Calls each() for every entry on disk. */
tesela_status tsl_jit_list(void (*each)(void *argument, const tsl_jit_entry *entry), void *argument);

/* Writes the valid entries of the folder as one file, which TESELA_CACHE may name. `device_keys` selects
 * entries by their devices; a `key_count` of 0 selects all entries. Equal entries give equal bytes. write()
 * takes the next bytes of the file. TESELA_UNSUPPORTED if there is no entry to write. */
tesela_status tsl_jit_export(const char *const *device_keys, int key_count,
                             tesela_status (*write)(void *argument, const void *bytes, size_t count),
                             void *argument, int *count, uint64_t *bytes);

/* Returns true if TESELA_JIT forbids to compile kernels. */
bool tsl_jit_is_forbidden(void);

/* Removes every entry, and what is known of self-tests (device/self_tests.h); only files that the cache
 * itself wrote. */
tesela_status tsl_jit_clear(int *count, uint64_t *bytes);

#endif

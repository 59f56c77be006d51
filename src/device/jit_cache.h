/* Compiled kernels: in memory while a device is open, and on disk across processes.
 *
 * An entry is found by a 128-bit hash of its key, then the key is compared in full: the build's name, text
 * and options; the device's key; the compiler's version; the format's version. File <hash>.bin holds magic,
 * lengths, checksum, key, binary; <hash>.cl or .cu is the source for people. Files are renamed from temporary
 * ones, so readers see whole entries. Damaged or foreign entries are rebuilt and logged (topic cache). Above
 * TESELA_CACHE_SIZE the least recently used entry goes first. */
#ifndef TSL_DEVICE_JIT_CACHE_H
#define TSL_DEVICE_JIT_CACHE_H

#include "device/device.h"

/* Gets a build's module from memory, the file named by TESELA_CACHE, the folder, or the compiler, at most
 * once. TESELA_UNSUPPORTED where TESELA_JIT forbids to compile. The device owns the module. seconds (may be
 * NULL): compile time, 0 without a compilation. Thread-safe. */
tesela_status tsl_jit_module(tsl_device *device, const tsl_build *build, tsl_module **module,
                             double *seconds);

/* Destroys a device's modules; called by tsl_devices_destroy() before close(). */
void tsl_jit_forget(tsl_device *device);

/* Gets the folder: TESELA_CACHE_DIR, else <XDG_CACHE_HOME or ~/.cache>/tesela/kernels. Fails without one. */
tesela_status tsl_jit_folder(tsl_text *folder);

typedef struct tsl_jit_entry {
  char name[64];
  char config[320]; /* for listings: the first definitions, "float tile=16" */
  char device[160];
  char hash[33];
  uint64_t bytes; /* bytes on disk, source included */
  double age;     /* seconds since its last use */
  int damaged;    /* nonzero: the next request rebuilds it */
} tsl_jit_entry;

/* Calls each() for every entry on disk. */
tesela_status tsl_jit_list(void (*each)(void *argument, const tsl_jit_entry *entry), void *argument);

/* Writes the folder's valid entries as one file for TESELA_CACHE through write(), in order; equal entries
 * give equal bytes. `device_keys` selects devices; key_count = 0: all. TESELA_UNSUPPORTED without entries. */
tesela_status tsl_jit_export(const char *const *device_keys, int key_count,
                             tesela_status (*write)(void *argument, const void *bytes, size_t count),
                             void *argument, int *count, uint64_t *bytes);

/* Returns true if TESELA_JIT forbids to compile kernels. */
bool tsl_jit_is_forbidden(void);

/* Removes all entries and self-test results (device/self_tests.h), but only files that the cache wrote. */
tesela_status tsl_jit_clear(int *count, uint64_t *bytes);

#endif

/* Files of the kernel cache's folder. Private to src/device. */
#ifndef TSL_DEVICE_JIT_SCAN_H
#define TSL_DEVICE_JIT_SCAN_H

#include "device/jit_disk.h"

#include <time.h>

typedef enum tsl_jit_file_role { TSL_JIT_BINARY, TSL_JIT_SOURCE, TSL_JIT_TEMPORARY } tsl_jit_file_role;

typedef struct tsl_jit_file {
  char name[TSL_JIT_NAME_BYTES]; /* starts with the hash */
  tsl_jit_file_role role;
  bool is_marked; /* begins like the cache's files */
  uint64_t bytes;
  struct timespec last_used;
} tsl_jit_file;

/* Consecutive files of one hash. */
typedef struct tsl_jit_files_entry {
  const tsl_jit_file *files;
  int count;
  const tsl_jit_file *binary; /* NULL: only the source exists */
  uint64_t bytes;
  struct timespec last_used;
} tsl_jit_files_entry;

typedef struct tsl_jit_listing {
  tsl_jit_file *files;
  int file_count;
  tsl_jit_files_entry *entries;
  int entry_count;
} tsl_jit_listing;

/* Lists an open folder; false: unreadable. Free after success. */
bool tsl_jit_listing_make(int folder, tsl_jit_listing *listing);
void tsl_jit_listing_free(tsl_jit_listing *listing);
/* Removes an entry's files, the binary first; false: a file stays. */
bool tsl_jit_remove_entry(int folder, const tsl_jit_files_entry *entry);
/* Removes temporary files of at least this age in seconds. */
void tsl_jit_remove_temporaries(int folder, const tsl_jit_listing *listing, double age);
/* Returns the seconds since `last_used`, at least 0. */
double tsl_jit_age(struct timespec last_used);

#endif

/* Results of kernels' self-tests, in memory and on disk, so that a kernel is tested once on a device.
 *
 * The caller's identifying text contains all that determines the kernel: strategy, config, types, device and
 * driver, compiler, hash of the source. File `trials` in the kernel cache folder (device/fact_file.h) has a
 * line for each:
 *
 *   right 0.0123 2026-03-01T12:00:00Z <identifying text>
 *   wrong 0.0123 2026-03-01T12:00:00Z <identifying text><tab><reason> */
#ifndef TSL_DEVICE_SELF_TESTS_H
#define TSL_DEVICE_SELF_TESTS_H

#include "device/device.h"

typedef struct tsl_self_test {
  bool right;     /* passed */
  double seconds; /* duration */
  char date[24];  /* end, UTC, ISO 8601; set by tsl_self_test_keep() */
  char why[256];  /* reason of a failure */
} tsl_self_test;

/* Finds the latest self-test by its identifying text (a line without tabs); false: none. Thread-safe. */
bool tsl_self_test_find(tsl_device *device, const char *known_by, tsl_self_test *self_test);
/* Returns true if the file has a passed self-test of this device whose text begins with `prefix`. */
bool tsl_self_test_has(const tsl_device *device, const char *prefix);
/* Stores a self-test that has just ended. A failed write is logged (topic cache). */
void tsl_self_test_keep(tsl_device *device, const char *known_by, const tsl_self_test *self_test);
/* Frees the self-tests in memory; called by tsl_devices_destroy(). */
void tsl_self_test_forget(tsl_device *device);

/* Numbers of passed and failed self-tests in the file, and their seconds. */
typedef struct tsl_self_test_count {
  int right, wrong;
  double seconds;
} tsl_self_test_count;
tsl_self_test_count tsl_self_test_counts(void);
/* Removes the file if it has the cache's mark. */
void tsl_self_test_clear(void);

#endif

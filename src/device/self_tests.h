/* What came of the self-tests of compiled kernels, so that a kernel is tried once on a device and not at each
 * start of a program: in memory while the device is open, and on disk across processes.
 *
 * A self-test is known by a text that the caller makes, in which everything stands that decides what the
 * kernel is: strategy, config, types, device with its driver, compiler, hash of the source. A file `trials`
 * in the folder of compiled kernels has a line for each:
 *
 *   right 0.0123 2026-03-01T12:00:00Z <what is known by>
 *   wrong 0.0123 2026-03-01T12:00:00Z <what is known by><tab><what was wrong>
 *
 * (device/fact_file.h says how.) */
#ifndef TSL_DEVICE_SELF_TESTS_H
#define TSL_DEVICE_SELF_TESTS_H

#include "device/device.h"

typedef struct tsl_self_test {
  bool right;
  double seconds; /* that it took */
  char date[24];  /* when it ended, UTC, ISO 8601; set by tsl_self_test_keep() */
  char why[256];  /* what was wrong */
} tsl_self_test;

/* The latest self-test of this name on the device; false where there is none. `known_by` is one line without
 * tabs. Safe from many threads. */
bool tsl_self_test_find(tsl_device *device, const char *known_by, tsl_self_test *self_test);
/* Whether the file has a self-test of this device with a name that starts so, that came out right: then the
 * kernels were compiled on this machine. */
bool tsl_self_test_has(const tsl_device *device, const char *prefix);
/* Keeps a self-test that ended now. What cannot be written is a line in the log (cache). */
void tsl_self_test_keep(tsl_device *device, const char *known_by, const tsl_self_test *self_test);
/* Drops what is kept in memory; called by tsl_devices_destroy(). */
void tsl_self_test_forget(tsl_device *device);

/* How many self-tests the file holds, and how many of them found something wrong. */
typedef struct tsl_self_test_count {
  int right, wrong;
  double seconds; /* of all */
} tsl_self_test_count;
tsl_self_test_count tsl_self_test_counts(void);
/* Removes the file, where it is the cache's own. */
void tsl_self_test_clear(void);

#endif

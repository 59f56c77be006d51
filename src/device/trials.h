/* What came of the first trials of compiled kernels, so that a kernel is tried once on a device and not at each start
 * of a program: in memory while the device is open, and on disk across processes.
 *
 * A trial is known by a text that the caller makes, in which everything stands that decides what the kernel is: strategy,
 * config, types, device with its driver, compiler, hash of the source. A file `trials` in the folder of compiled kernels
 * has a line for each:
 *
 *   right 0.0123 2026-03-01T12:00:00Z <what is known by>
 *   wrong 0.0123 2026-03-01T12:00:00Z <what is known by><tab><what was wrong>
 *
 * (device/lines.h says how.) */
#ifndef TSL_DEVICE_TRIALS_H
#define TSL_DEVICE_TRIALS_H

#include "device/device.h"

typedef struct tsl_trial {
  bool right;
  double seconds; /* that it took */
  char date[24];  /* when it ended, UTC, ISO 8601; set by tsl_trial_keep() */
  char why[256];  /* what was wrong */
} tsl_trial;

/* The latest trial of this name on the device; false where there is none. `known_by` is one line without tabs. Safe from
 * many threads. */
bool tsl_trial_find(tsl_device *device, const char *known_by, tsl_trial *trial);
/* Whether the file has a trial of this device with a name that starts so, that came out right: then the kernels were compiled
 * on this machine. */
bool tsl_trial_has(const tsl_device *device, const char *prefix);
/* Keeps a trial that ended now. What cannot be written is a line in the log (cache). */
void tsl_trial_keep(tsl_device *device, const char *known_by, const tsl_trial *trial);
/* Drops what is kept in memory; called by tsl_devices_destroy(). */
void tsl_trial_forget(tsl_device *device);

/* How many trials the file holds, and how many of them found something wrong. */
typedef struct tsl_trial_count {
  int right, wrong;
  double seconds; /* of all */
} tsl_trial_count;
tsl_trial_count tsl_trial_counts(void);
/* Removes the file, where it is the cache's own. */
void tsl_trial_clear(void);

#endif

#ifndef TSL_DEVICE_DEVICES_H
#define TSL_DEVICE_DEVICES_H

#include "device/device_open.h"

/* Devices of this machine for one context. */
typedef struct tsl_devices tsl_devices;

/* Creates the list, without a search for devices. */
tesela_status tsl_devices_create(tsl_devices **devices);
/* Closes all open devices. All objects of the devices must be destroyed before. */
void tsl_devices_destroy(tsl_devices *devices);

/* Limits each device's threads, compute threads on a processor, else copy threads. Called before use. */
void tsl_devices_limit(tsl_devices *devices, int threads);

int tsl_device_kind_count(void);
/* Gets a kind's description and number of devices, and the reason for none ("" otherwise). The first call for
 * a kind searches for its devices, so that "cpu" does not load OpenCL. */
tesela_status tsl_devices_kind(tsl_devices *devices, int kind, const char **name, const char **what,
                               int *count, const char **why_none);

const tsl_device_kind *tsl_device_kind_at(int kind);
/* Returns device `index` of a kind; NULL past the end. */
tsl_device *tsl_devices_of_kind(tsl_devices *devices, int kind, int index);
/* Returns true if all devices of the kind are known to be the processor. Searches for no devices. */
bool tsl_devices_is_processor(tsl_devices *devices, int kind);

/* Returns device `index` of all kinds, in order; NULL past the end. */
tsl_device *tsl_devices_at(tsl_devices *devices, int index);

/* Finds a device by name: "cpu", "opencl:0", "cuda" (first of its kind). A list "opencl:0,cpu", or a kind
 * "cuda:*", gives a group with TSL_CAN_SEVERAL, equal for equal lists, or its only device. Fails with
 * TESELA_NO_DEVICE and the reason, or TESELA_BAD_CALL for a malformed name. */
tesela_status tsl_devices_find(tsl_devices *devices, const char *name, tsl_device **device);
/* Checks that a name is well formed ("auto" is), without a search. */
tesela_status tsl_device_name_check(const char *name);

/* Adds a kind for tests, at most four, before any tsl_devices_create(). Ignores a known kind. */
void tsl_device_kind_add(const tsl_device_kind *kind);

#endif

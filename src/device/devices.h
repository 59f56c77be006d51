#ifndef TSL_DEVICE_DEVICES_H
#define TSL_DEVICE_DEVICES_H

#include "device/device_open.h"

/* Devices of this machine, as one context sees them. */
typedef struct tsl_devices tsl_devices;

tesela_status tsl_devices_create(tsl_devices **devices);
/* Closes all open devices. All objects of the devices must be destroyed before. */
void tsl_devices_destroy(tsl_devices *devices);

/* Limits the host threads of all devices, also of devices found later: compute threads of a
 * processor, copy threads of the others. Called before the devices are used. */
void tsl_devices_limit(tsl_devices *devices, int threads);

int tsl_devices_kinds(void);
/* Gets description and number of devices of a kind, and the reason why it has none ("" when it has some). The
 * first call for a kind searches for its devices, so a run on "cpu" does not load OpenCL. */
tesela_status tsl_devices_kind(tsl_devices *devices, int kind, const char **name, const char **what,
                               int *count, const char **why_none);

const tsl_device_kind *tsl_device_kind_at(int kind);
/* Returns device `index` of a kind; NULL past the end. */
tsl_device *tsl_devices_of_kind(tsl_devices *devices, int kind, int index);
/* Returns true if all devices of the kind are known to be the host's processor. Uses the devices
 * once they were searched for, else is_processor(), called once. */
bool tsl_devices_is_processor(tsl_devices *devices, int kind);

/* Returns device `index` of all kinds, in order; NULL past the end. */
tsl_device *tsl_devices_at(tsl_devices *devices, int index);

/* Finds a device by name: "cpu", "opencl:0", "cuda" (first of its kind). A list "opencl:0,cpu", or
 * a whole kind "cuda:*", gives a group with TSL_CAN_SEVERAL, equal for equal lists; a single device
 * is returned itself. Fails with TESELA_NO_DEVICE and the available devices or the reason, or
 * TESELA_BAD_CALL for a malformed name. */
tesela_status tsl_devices_find(tsl_devices *devices, const char *name, tsl_device **device);
/* Checks that a name is well formed ("auto" included), without a search for devices. */
tesela_status tsl_device_name_check(const char *name);

/* Adds a kind of device for tests, before any tsl_devices_create(). At most four; a known kind is
 * not added again. */
void tsl_device_kind_add(const tsl_device_kind *kind);

#endif

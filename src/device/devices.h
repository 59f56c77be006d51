/* The devices that there are: found, named, opened. */
#ifndef TSL_DEVICE_DEVICES_H
#define TSL_DEVICE_DEVICES_H

#include "device/device_open.h"

/* The devices of this machine, as one context sees them. */
typedef struct tsl_devices tsl_devices;

tesela_status tsl_devices_create(tsl_devices **devices);
/* Closes the devices that are open. Nothing created on them is alive. */
void tsl_devices_destroy(tsl_devices *devices);

/* Gives all devices at most so many threads of the host, those too that are found later: what a processor
 * computes with, and what brings operands to the others. Before they are used. */
void tsl_devices_limit(tsl_devices *devices, int threads);

/* Number of kinds and, per kind: its description, how many devices it has, and the sentence that says why it
 * has none ("" when it has some). The kind's devices are looked for at the first question about them, so that
 * a run on "cpu" loads no OpenCL. */
int tsl_devices_kinds(void);
tesela_status tsl_devices_kind(tsl_devices *devices, int kind, const char **name, const char **what,
                               int *count, const char **why_none);

/* Kind number `kind`; and its devices, `index` from 0, NULL past the end. */
const tsl_device_kind *tsl_device_kind_at(int kind);
tsl_device *tsl_devices_of_kind(tsl_devices *devices, int kind, int index);
/* Whether all devices of the kind are the host's processor again, as far as that can be told: by the devices,
 * once they were looked for, else by is_processor(), which is asked once. */
bool tsl_devices_is_processor(tsl_devices *devices, int kind);

/* All devices of all kinds, in order; `index` from 0, NULL past the end. */
tsl_device *tsl_devices_at(tsl_devices *devices, int index);

/* By name: "cpu", "opencl:0", "cuda" (the kind's first). TESELA_NO_DEVICE says which ones there are, or why
 * the kind has none; TESELA_BAD_CALL says how names look. Several by commas, "opencl:0,cpu", or all of a
 * kind, "cuda:*", are one device with TSL_CAN_SEVERAL, the same at each question, unless it is one device
 * alone. */
tesela_status tsl_devices_find(tsl_devices *devices, const char *name, tsl_device **device);
/* Whether a name is well formed ("auto" included), without looking for devices. */
tesela_status tsl_device_name_check(const char *name);

/* Tests add their own kind, before any tsl_devices_create(). At most four; one that is there already is not
 * added again. */
void tsl_device_kind_add(const tsl_device_kind *kind);

#endif

/* Group of devices as one device, for strategies that distribute work (TSL_CAN_SEVERAL). It has no
 * memory, streams or kernels of its own. For devices.c. */
#ifndef TSL_DEVICE_GROUP_H
#define TSL_DEVICE_GROUP_H

#include "device/device.h"

/* Fills all members of the group except members, member_count, and the members that devices.c sets. */
void tsl_group_describe(tsl_device *group);
/* Sets the name: the members' names separated by commas. */
void tsl_group_name(tsl_device *group);
/* Returns true if both groups have equal members in equal order. */
bool tsl_group_is(const tsl_device *group, const tsl_device *other);

/* Kind of groups, which is not listed. */
extern const tsl_device_kind tsl_device_kind_several;

#endif

/* Group of devices as one device (TSL_CAN_SEVERAL), without memory, streams or kernels. For devices.c. */
#ifndef TSL_DEVICE_GROUP_H
#define TSL_DEVICE_GROUP_H

#include "device/device.h"

/* Fills the group from its `members` and member_count, except members that devices.c sets. */
void tsl_group_describe(tsl_device *group);
/* Sets the name: the members' names separated by commas. */
void tsl_group_name(tsl_device *group);
/* Returns true if both groups have equal members in equal order. */
bool tsl_group_is(const tsl_device *group, const tsl_device *other);

extern const tsl_device_kind tsl_device_kind_several;

#endif

/* Several devices that work together, as one device: it has no memory, streams or kernels of its own, and
 * takes what a strategy shares out among its members (TSL_CAN_SEVERAL). For devices.c. */
#ifndef TSL_DEVICE_GROUP_H
#define TSL_DEVICE_GROUP_H

#include "device/device.h"

/* Fills in everything but members and member_count, which are given, and what devices.c gives every device.
 */
void tsl_group_describe(tsl_device *group);
/* Its members' names by commas. */
void tsl_group_name(tsl_device *group);
/* Whether two have the same members in the same order. */
bool tsl_group_is(const tsl_device *group, const tsl_device *other);

/* Its kind, which is not one that is listed. */
extern const tsl_device_kind tsl_device_kind_several;

#endif

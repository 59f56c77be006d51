/* X(kind), in the order of `tesela devices`; src/device/<kind> defines tsl_device_kind_<kind>. */
#ifndef TSL_DEVICE_DEVICE_LIST_H
#define TSL_DEVICE_DEVICE_LIST_H

#define TSL_DEVICE_KIND_LIST(X) X(cpu) X(opencl) X(cuda)

#endif

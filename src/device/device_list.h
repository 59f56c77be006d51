/* Kinds of device, in the order of `tesela devices`. X(kind): the folder src/device/<kind> defines
 * `const tsl_device_kind tsl_device_kind_<kind>`. */
#ifndef TSL_DEVICE_DEVICE_LIST_H
#define TSL_DEVICE_DEVICE_LIST_H

#define TSL_DEVICE_KIND_LIST(X) X(cpu) X(opencl) X(cuda)

#endif

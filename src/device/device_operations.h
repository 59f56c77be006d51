/* Device operations (tsl_device_ops in device.h) with names tsl_<kind>_<operation>. The lists declare the
 * functions in a kind's header and set them in its tsl_device_ops. */
#ifndef TSL_DEVICE_DEVICE_OPERATIONS_H
#define TSL_DEVICE_DEVICE_OPERATIONS_H

#include "device/device.h"

/* clang-format off */
/* Operations that every kind names so. */
#define TSL_BUFFER_OPERATIONS(X, kind)                                                                       \
  X(kind, buffer_create) X(kind, buffer_destroy) X(kind, write) X(kind, read) X(kind, copy)                  \
  X(kind, reaches) X(kind, copy_rows) X(kind, fill)
/* Operations on memory that host and device share. */
#define TSL_SHARED_OPERATIONS(X, kind) X(kind, buffer_wrap) X(kind, buffer_map) X(kind, buffer_unmap)
/* Operations of kinds with a compiler. */
#define TSL_KERNEL_OPERATIONS(X, kind) TSL_BUFFER_OPERATIONS(X, kind)                                        \
  X(kind, buffer_adopt) X(kind, pinned_create) X(kind, pinned_destroy) X(kind, write_later)                  \
  X(kind, read_later) X(kind, stream_create) X(kind, stream_adopt) X(kind, stream_destroy) X(kind, finish)   \
  X(kind, image_create) X(kind, image_destroy) X(kind, event_create) X(kind, event_destroy)                  \
  X(kind, event_record) X(kind, stream_wait) X(kind, event_wait) X(kind, event_seconds) X(kind, build)       \
  X(kind, compiler) X(kind, module_load) X(kind, module_destroy) X(kind, kernel_get)                         \
  X(kind, kernel_items_max) X(kind, launch)
/* clang-format on */

#define TSL_DECLARE_OPERATION(kind, operation)                                                               \
  __typeof__(*((tsl_device_ops *)NULL)->operation) tsl_##kind##_##operation;
#define TSL_SET_OPERATION(kind, operation) .operation = tsl_##kind##_##operation,

#endif

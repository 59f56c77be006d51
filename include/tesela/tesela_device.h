/** @file tesela_device.h
 * @brief Devices of a context. Part of tesela.h. */
#include <tesela/tesela.h> /* outside of the guard, because tesela.h includes this header */

#ifndef TESELA_TESELA_DEVICE_H
#define TESELA_TESELA_DEVICE_H

#ifdef __cplusplus
extern "C" {
#endif

/** Properties of a device, filled by tesela_device_info(). The context owns the texts. */
typedef struct tesela_device {
  const char *name;      /**< name for other calls: "cpu", "opencl:0", "cuda:0" */
  const char *label;     /**< the vendor's name of the device */
  const char *platform;  /**< driver or platform, with its version */
  uint64_t memory_bytes; /**< bytes of memory that the device can address */
  uint64_t local_bytes;  /**< bytes of local (shared) memory of a work-group; 0: none */
  int compute_units;     /**< number of cores or multiprocessors */
  int clock_mhz;         /**< highest clock in MHz; 0: unknown */
  /** maximum number of work-items in a work-group; 0: the device has no work-groups */
  int group_items_max;
  int has_f64;            /**< nonzero: the device computes in double precision */
  int shares_host_memory; /**< nonzero: host and device share memory, and no copies are needed */
} tesela_device;

/** Counts the devices that this context sees. The first call looks for them. */
static inline tesela_status tesela_device_count(tesela_context *context, int *count) {
  return tesela_device_info_sized(context, 0, NULL, count, 0);
}

/** Describes device `index`, 0 <= index < count; see tesela_device. */
static inline tesela_status tesela_device_info(tesela_context *context, int index, tesela_device *info) {
  return tesela_device_info_sized(context, index, info, NULL, sizeof *info);
}

#ifdef __cplusplus
}
#endif

#endif

/* Shared code of the tests of the OpenCL device: opens each OpenCL device in turn, with a stream.
 * PoCL, a device for the processor, must be installed. */
#ifndef TESTS_UNIT_OPENCL_FIXTURE_H
#define TESTS_UNIT_OPENCL_FIXTURE_H

#include "unit/unit.h"

#include "core/status.h"
#include "device/devices.h"
#include "device/opencl/opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tsl_devices *devices;
static tsl_device *device;
static const tsl_device_ops *ops;
static tsl_stream *stream;

static inline void must(tesela_status status) {
  if (status != TESELA_OK)
    fail_msg("%s: %s\n%s", tesela_status_name(status), tesela_last_error(), tesela_last_log());
}

#define assert_says(text)                                                                                    \
  do {                                                                                                       \
    if (strstr(tesela_last_error(), text) == NULL)                                                           \
      fail_msg("\"%s\" is not in \"%s\"", text, tesela_last_error());                                        \
  } while (0)

static inline tsl_buffer *buffer_of(size_t bytes) {
  tsl_buffer *buffer;
  must(ops->buffer_create(device, bytes, &buffer));
  assert_int_equal(buffer->bytes, bytes);
  return buffer;
}

static inline int set_up(void **state) {
  (void)state;
  if (tsl_device_open(device) == TESELA_OK && device->ops->stream_create(device, &stream) == TESELA_OK)
    return 0;
  print_error("%s cannot be used: %s\n", device->name, tesela_last_error());
  return -1;
}

static inline int tear_down(void **state) {
  (void)state;
  ops->stream_destroy(stream);
  return 0;
}

/* Runs the tests on every OpenCL device; returns how many failed, at least 1 where none is a processor. */
static inline int run_on_each_device(const struct CMUnitTest *tests, size_t count) {
  int failed = 0, processors = 0;
  if (tsl_devices_create(&devices) != TESELA_OK)
    return 1;
  for (int i = 0; (device = tsl_devices_at(devices, i)) != NULL; i++) {
    if (strcmp(device->kind, "opencl") != 0)
      continue;
    ops = device->ops;
    processors += device->is_cpu;
    failed += _cmocka_run_group_tests(device->name, tests, count, set_up, tear_down);
  }
  tsl_devices_destroy(devices);
  if (processors == 0)
    print_error("OpenCL has no processor here: install pocl-opencl-icd\n");
  return failed + (processors == 0);
}

/* For tests of memory that host and device share, in place. */
static inline void need_shared_memory(void) {
  if ((device->capabilities & TSL_CAN_SHARED_MEMORY) == 0 || device->host_alignment == 0) {
    print_message("%s shares no memory with the host\n", device->name);
    skip();
  }
}

#endif

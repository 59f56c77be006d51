/* What the tests of the OpenCL device share: the first OpenCL device that is a processor (PoCL), open, with a
 * stream. Its absence is a failure. */
#ifndef TESTS_UNIT_OPENCL_FIXTURE_H
#define TESTS_UNIT_OPENCL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/status.h"
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
  if (tsl_devices_create(&devices) != TESELA_OK)
    return -1;
  for (int i = 0; tsl_devices_at(devices, i) != NULL && device == NULL; i++) {
    tsl_device *at = tsl_devices_at(devices, i);
    if (strcmp(at->kind, "opencl") == 0 && at->is_cpu)
      device = at;
  }
  if (device == NULL || tsl_device_open(device) != TESELA_OK) {
    print_error("no OpenCL device for the processor: %s; install pocl-opencl-icd\n", tesela_last_error());
    return -1;
  }
  ops = device->ops;
  return ops->stream_create(device, &stream) == TESELA_OK ? 0 : -1;
}

static inline int tear_down(void **state) {
  (void)state;
  if (stream != NULL)
    ops->stream_destroy(stream);
  tsl_devices_destroy(devices);
  return 0;
}

#endif

/* Shared code of the tests of the OpenCL device: opens each OpenCL device in turn, with a stream.
 * PoCL, a device for the processor, must be installed. */
#ifndef TESTS_UNIT_OPENCL_FIXTURE_H
#define TESTS_UNIT_OPENCL_FIXTURE_H

#include "unit/calls.h"

#include "device/devices.h"
#include "device/opencl/opencl.h"

extern tsl_devices *opencl_devices;
extern tsl_device *device;
extern const tsl_device_ops *ops;
extern tsl_stream *stream;

#define assert_says(text)                                                                                    \
  do {                                                                                                       \
    if (strstr(tesela_last_error(), text) == NULL)                                                           \
      fail_msg("\"%s\" is not in \"%s\"", text, tesela_last_error());                                        \
  } while (0)

tsl_buffer *opencl_buffer(size_t bytes);

/* Setup and teardown of tests on `device`: opens the device, and creates `stream`. */
int stream_set_up(void **state);
int stream_tear_down(void **state);

/* Runs the tests on every OpenCL device; returns how many failed, at least 1 where none is a processor. */
int run_on_each_device(const struct CMUnitTest *tests, size_t count);

/* For tests of memory that host and device share, in place. */
void need_shared_memory(void);

#endif

/* Shared code of the tests of the OpenCL device: opens each OpenCL device in turn, with a stream.
 * PoCL, a device for the processor, must be installed. */
#ifndef TESTS_UNIT_OPENCL_FIXTURE_H
#define TESTS_UNIT_OPENCL_FIXTURE_H

#include "unit/calls.h"

#include "device/devices.h"
#include "device/opencl/opencl.h"

/* Current device of run_on_each_device(), with its functions and a stream. */
extern tsl_devices *opencl_devices;
extern tsl_device *device;
extern const tsl_device_ops *ops;
extern tsl_stream *stream;

/* Fails the test unless the last error message contains `text`. */
#define assert_says(text)                                                                                    \
  do {                                                                                                       \
    if (strstr(tesela_last_error(), text) == NULL)                                                           \
      fail_msg("\"%s\" is not in \"%s\"", text, tesela_last_error());                                        \
  } while (0)

/* Returns a buffer of the device. The caller destroys it. */
tsl_buffer *opencl_buffer(size_t bytes);

/* Setup and teardown of tests on `device`: opens the device, and creates `stream`. */
int stream_set_up(void **state);
int stream_tear_down(void **state);

/* Runs the tests on every OpenCL device. Returns the number of failures, at least 1 if no device is a
 * processor. */
int run_on_each_device(const struct CMUnitTest *tests, size_t count);

/* Skips the test unless the device shares memory with the host. */
void need_shared_memory(void);

#endif

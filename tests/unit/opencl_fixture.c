#include "unit/opencl_fixture.h"

#include "core/status.h"

#include <string.h>

tsl_devices *opencl_devices;
tsl_device *device;
const tsl_device_ops *ops;
tsl_stream *stream;

tsl_buffer *opencl_buffer(size_t bytes) {
  tsl_buffer *buffer;
  must(ops->buffer_create(device, bytes, &buffer));
  assert_int_equal(buffer->bytes, bytes);
  return buffer;
}

int stream_set_up(void **state) {
  (void)state;
  if (tsl_device_open(device) == TESELA_OK && device->ops->stream_create(device, &stream) == TESELA_OK)
    return 0;
  print_error("%s cannot be used: %s\n", device->name, tesela_last_error());
  return -1;
}

int stream_tear_down(void **state) {
  (void)state;
  ops->stream_destroy(stream);
  return 0;
}

int run_on_each_device(const struct CMUnitTest *tests, size_t count) {
  int failed = 0, processors = 0;
  if (tsl_devices_create(&opencl_devices) != TESELA_OK)
    return 1;
  for (int i = 0; (device = tsl_devices_at(opencl_devices, i)) != NULL; i++) {
    if (strcmp(device->kind, "opencl") != 0)
      continue;
    ops = device->ops;
    processors += device->is_cpu;
    failed += _cmocka_run_group_tests(device->name, tests, count, stream_set_up, stream_tear_down);
  }
  tsl_devices_destroy(opencl_devices);
  if (processors == 0)
    print_error("OpenCL has no processor here: install pocl-opencl-icd\n");
  return failed + (processors == 0);
}

void need_shared_memory(void) {
  if ((device->capabilities & TSL_CAN_SHARED_MEMORY) == 0 || device->host_alignment == 0) {
    print_message("%s shares no memory with the host\n", device->name);
    skip();
  }
}

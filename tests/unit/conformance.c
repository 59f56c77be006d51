#include "unit/conformance.h"

#include "core/status.h"

#include <stdlib.h>
#include <string.h>

void device_must(tesela_status status, const char *call, const char *file, int line) {
  if (status != TESELA_OK) {
    print_error("%s\n  %s\n  %s\n", call, tesela_last_error(), tesela_last_log());
    _fail(file, line);
  }
}

void device_must_fail(const tsl_device *device, tesela_status expected, tesela_status status,
                      const char *call, const char *file, int line) {
  const char *sentence = tesela_last_error();
  if (status != expected || strncmp(sentence, device->name, strlen(device->name)) != 0) {
    print_error("%s\n  %s: %s\n", call, tesela_status_name(status), sentence);
    _fail(file, line);
  }
}

tsl_devices *all_devices;

int find_devices(void **state) {
  (void)state;
  return tsl_devices_create(&all_devices) == TESELA_OK ? 0 : -1;
}

int close_devices(void **state) {
  (void)state;
  tsl_devices_destroy(all_devices);
  return 0;
}

void on_each_device(unsigned needs, device_test test) {
  int count = 0;
  tsl_device *device;
  for (int i = 0; (device = tsl_devices_at(all_devices, i)) != NULL; i++) {
    tsl_stream *stream = NULL;
    if (tsl_capability_missing(needs, device->capabilities))
      continue;
    print_message("  on %s (%s)\n", device->name, device->label);
    MUST(tsl_device_open(device));
    MUST(device->ops->stream_create(device, &stream));
    test(device, stream);
    device->ops->stream_destroy(stream);
    count++;
  }
  if (count == 0) {
    print_message("  no device here offers what this test needs\n");
    skip();
  }
}

tsl_buffer *buffer_of(tsl_stream *stream, tsl_device *device, const void *bytes, size_t count) {
  tsl_buffer *buffer = NULL;
  MUST(device->ops->buffer_create(device, count, &buffer));
  assert_non_null(buffer);
  assert_ptr_equal(buffer->device, device);
  assert_true(buffer->bytes >= count);
  if (bytes)
    MUST(tsl_device_write(stream, buffer, 0, bytes, count));
  return buffer;
}

unsigned char pattern(size_t index, unsigned seed) {
  return (unsigned char)(index * 7 + (index >> 8) * 13 + seed);
}

unsigned char *patterned(size_t count, unsigned seed) {
  unsigned char *bytes = malloc(count ? count : 1);
  assert_non_null(bytes);
  for (size_t i = 0; i < count; i++)
    bytes[i] = pattern(i, seed);
  return bytes;
}

/* Shared code of the device conformance tests, which run on every device of this machine in turn.
 * Each kind of device must give the same answers, so no test depends on the kind. A test depends
 * only on the capabilities of the contract in device/device.h. */
#ifndef TSL_TESTS_UNIT_CONFORMANCE_H
#define TSL_TESTS_UNIT_CONFORMANCE_H

#include "unit/unit.h"

#include "device/devices.h"

/* Fails the test, with the error and the log, unless the call succeeded. */
#define MUST(call) device_must(call, #call, __FILE__, __LINE__)
void device_must(tesela_status status, const char *call, const char *file, int line);

/* Fails the test unless the call failed with the status `expected` and a message that begins with the
 * device's name. */
#define MUST_FAIL(device, expected, call) device_must_fail(device, expected, call, #call, __FILE__, __LINE__)
void device_must_fail(const tsl_device *device, tesela_status expected, tesela_status status,
                      const char *call, const char *file, int line);

typedef void (*device_test)(tsl_device *device, tsl_stream *stream);

/* Devices from find_devices() to close_devices(), setup and teardown of a group of tests. */
extern tsl_devices *all_devices;

int find_devices(void **state);

int close_devices(void **state);

/* Calls test() with each device that has all capabilities `needs`, opened, and a stream. Skips the test if no
 * device has them. */
void on_each_device(unsigned needs, device_test test);

/* Returns a buffer of `count` bytes, a copy of `bytes` unless NULL. The caller destroys it. */
tsl_buffer *buffer_of(tsl_stream *stream, tsl_device *device, const void *bytes, size_t count);

/* Returns a byte that depends on its index. */
unsigned char pattern(size_t index, unsigned seed);

/* Returns `count` bytes by pattern(). The caller frees them. */
unsigned char *patterned(size_t count, unsigned seed);

#endif

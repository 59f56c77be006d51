/* Shared code of the device conformance tests, which run on every device of this machine in turn.
 * Each kind of device must give the same answers, so no test depends on the kind. A test depends
 * only on the capabilities of the contract in device/device.h. */
#ifndef TSL_TESTS_UNIT_CONFORMANCE_H
#define TSL_TESTS_UNIT_CONFORMANCE_H

#include "unit/unit.h"

#include "device/devices.h"

/* The call must work; its sentence is printed when it does not. */
#define MUST(call) device_must(call, #call, __FILE__, __LINE__)
void device_must(tesela_status status, const char *call, const char *file, int line);

/* The call must fail with this status, and its sentence must start with the device's name. */
#define MUST_FAIL(device, expected, call) device_must_fail(device, expected, call, #call, __FILE__, __LINE__)
void device_must_fail(const tsl_device *device, tesela_status expected, tesela_status status,
                      const char *call, const char *file, int line);

typedef void (*device_test)(tsl_device *device, tsl_stream *stream);

extern tsl_devices *all_devices;

int find_devices(void **state);

int close_devices(void **state);

/* Calls test() with each device that offers all of `needs`, open, and a stream of it; skips where none does.
 */
void on_each_device(unsigned needs, device_test test);

/* A buffer with these bytes in it. */
tsl_buffer *buffer_of(tsl_stream *stream, tsl_device *device, const void *bytes, size_t count);

/* Bytes that tell where they come from. */
unsigned char pattern(size_t index, unsigned seed);

unsigned char *patterned(size_t count, unsigned seed);

#endif

/* A device that fails on demand. The kind "fake" has one device, fake:0, or as many as a test sets.
 * It forwards every operation to another device (the inner one), counts live objects, and fails the
 * call that a test selected.
 *
 *   tesela_fake_install();                         before any context or tsl_devices_create()
 *   tesela_fake_inner("opencl:0");                 default: cpu
 *   tesela_fake_fail(TESELA_FAKE_COPY_OUT, 2);     the second copy to the host from now on fails
 *   ... use the device fake:0 ...
 *   tesela_fake_live_text() is "" when every object was destroyed
 *
 * For programs, the environment has the same settings, read at install:
 *   TESELA_FAKE_INNER=opencl:0 TESELA_FAKE=copy_out:2,finish:1+ TESELA_FAKE_HIDE=SHARED_MEMORY
 *
 * A failing call does nothing (finish waits first), and returns the status below with a sentence that
 * starts with "fake:0: " and contains "on demand". Counters belong to the process, and any thread may
 * use them. While a failure of build or load is armed, lookups in the kernel cache miss, so that build
 * or load is called. */
#ifndef TESELA_TESTS_FAKE_H
#define TESELA_TESTS_FAKE_H

#include "device/devices.h"

/* X(NAME, name, status of a failure, what fails) */
#define TESELA_FAKE_LIST(X)                                                                                  \
  X(ALLOCATION, allocation, OUT_OF_MEMORY, "taking memory: buffer_create, buffer_wrap")                      \
  X(PINNED, pinned, OUT_OF_MEMORY, "taking pinned memory of the host: pinned_create")                        \
  X(BUILD, build, BUILD_FAILED, "compiling")                                                                 \
  X(LOAD, load, BUILD_FAILED, "loading a compiled kernel: module_load, kernel_get")                          \
  X(LAUNCH, launch, DEVICE_FAILED, "launching a kernel")                                                     \
  X(COPY_IN, copy_in, DEVICE_FAILED, "copying to the device: write, write_later")                            \
  X(COPY_OUT, copy_out, DEVICE_FAILED, "copying to the host: read, read_later")                              \
  X(COPY_ON, copy_on, DEVICE_FAILED, "copying on the device: copy, fill")                                    \
  X(MAP, map, DEVICE_FAILED, "showing a buffer to the host: buffer_map, buffer_unmap")                       \
  X(IMAGE, image, OUT_OF_MEMORY, "making an image: image_create")                                            \
  X(FINISH, finish, DEVICE_FAILED, "waiting for a stream")                                                   \
  X(STREAM, stream, DEVICE_FAILED, "making a stream")                                                        \
  X(EVENT, event, DEVICE_FAILED, "events: event_create, _record, _seconds, _wait, _done, stream_wait")       \
  X(OPEN, open, DEVICE_FAILED, "opening the device")

typedef enum tesela_fake_operation {
#define TESELA_FAKE_MEMBER(NAME, name, status, what) TESELA_FAKE_##NAME,
  TESELA_FAKE_LIST(TESELA_FAKE_MEMBER)
#undef TESELA_FAKE_MEMBER
      TESELA_FAKE_COUNT
} tesela_fake_operation;

/* Kinds of objects that are counted. */
#define TESELA_FAKE_OBJECT_LIST(X)                                                                           \
  X(BUFFER, "buffer")                                                                                        \
  X(PINNED, "pinned block") X(IMAGE, "image") X(STREAM, "stream") X(EVENT, "event") X(MODULE, "module")

typedef enum tesela_fake_object {
#define TESELA_FAKE_OBJECT_MEMBER(NAME, name) TESELA_FAKE_LIVE_##NAME,
  TESELA_FAKE_OBJECT_LIST(TESELA_FAKE_OBJECT_MEMBER)
#undef TESELA_FAKE_OBJECT_MEMBER
      TESELA_FAKE_LIVE_COUNT
} tesela_fake_object;

/* Adds the kind and reads the environment. A variable that is malformed shows as the kind's reason for having
 * no device. */
void tesela_fake_install(void);

/* Which device is wrapped, and which of its capabilities are not offered (a set of TSL_CAN_..., 0: none).
 * Hiding SHARED_MEMORY takes away wrapping and mapping, hiding HOST takes away the buffers' host pointers, so
 * that copies are made. For lists of devices whose kinds were not asked for yet. */
void tesela_fake_inner(const char *name);
void tesela_fake_hide(unsigned capabilities);

/* Sets the number of devices: fake:0 and on, each with an inner device of its own; 1 by default.
 * Applies to lists of devices that are made afterwards. */
void tesela_fake_devices(int count);
/* Only calls on this one are counted and fail; -1, as at first: on all. */
void tesela_fake_only(int index);

/* Makes the devices cards over the cpu. Their memory has addresses that a vendor's library can use,
 * and each is in a slot of its own (pci). An event is complete at the third query. Applies to lists
 * of devices that are made afterwards. */
void tesela_fake_cards(bool on);
/* How often this thread has entered a device that it has not left. */
int tesela_fake_entered(void);

/* Lets the nth call from now on fail (1: the next one), once; or that one and all after it. 0 disarms. */
void tesela_fake_fail(tesela_fake_operation operation, int nth);
void tesela_fake_fail_from(tesela_fake_operation operation, int nth);
/* Disarms everything, and forgets calls and failures; objects that are alive stay counted. */
void tesela_fake_reset(void);

/* A clock of its own for the device's events, which stands still but for tesela_fake_pass(): what a strategy
 * of a test is said to have taken. Off at first and after tesela_fake_reset(): events are the inner device's.
 */
void tesela_fake_clock(void);
void tesela_fake_pass(double seconds);

/* The operation's name, "copy_out"; the status of its failures. */
const char *tesela_fake_name(tesela_fake_operation operation);
tesela_status tesela_fake_status(tesela_fake_operation operation);
/* Calls since the start or the last reset, failed ones included; and failures of all operations. A test that
 * lets each call of a kind fail in turn counts up to the first run without a failure. */
int tesela_fake_calls(tesela_fake_operation operation);
int tesela_fake_failures(void);

/* Failures of an operation have this status from now on, until the next reset; a failed copy to the host
 * has brought half of its rows before (of a single row half of its bytes). */
void tesela_fake_fail_as(tesela_fake_operation operation, tesela_status status);
/* Buffers over the caller's memory that were made since the last reset. */
int tesela_fake_wraps(void);
/* Returns the number of buffers destroyed since the last reset while a stream had pending work on
 * them. Waits are finish(), blocking copies to the host, maps and the stream's end. Waits for
 * events are not tracked. */
int tesela_fake_torn(void);

/* Returns the number of live objects of a kind. tesela_fake_live_text() returns all of them as
 * text, "2 buffers, 1 stream" ("" when there are none), valid until this thread's next call. */
int tesela_fake_live(tesela_fake_object object);
const char *tesela_fake_live_text(void);

#endif

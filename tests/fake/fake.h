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
 * or load is called. A launch that "flip" selects is done and succeeds, but its result is wrong.
 * With flip:1+ each launch flips the bit again: two launches with the same last buffer leave it as it was.
 * Launches of a verification count, too. Their last buffer begins with a double, whose flipped bit is below
 * the bound. */
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
  X(OPEN, open, DEVICE_FAILED, "opening the device")                                                         \
  X(FLIP, flip, DEVICE_FAILED, "no call: a launch flips a bit of the first number in its last buffer")

typedef enum tesela_fake_operation {
#define TESELA_FAKE_MEMBER(NAME, name, status, what) TESELA_FAKE_##NAME,
  TESELA_FAKE_LIST(TESELA_FAKE_MEMBER)
#undef TESELA_FAKE_MEMBER
      TESELA_FAKE_COUNT,
  TESELA_FAKE_CALLS = TESELA_FAKE_FLIP /* operations whose calls fail */
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

/* Adds the kind and reads the environment. A malformed variable becomes the kind's reason for
 * having no device. */
void tesela_fake_install(void);

/* tesela_fake_inner() sets the inner device by its name. tesela_fake_hide() hides capabilities (a
 * set of TSL_CAN_..., 0: none). Hiding SHARED_MEMORY removes wrapping and mapping. Hiding HOST
 * removes the buffers' host pointers, so that copies are made. Both apply to lists of devices that
 * have not listed this kind yet. */
void tesela_fake_inner(const char *name);
void tesela_fake_hide(unsigned capabilities);

/* Sets the number of devices: fake:0 and on, each with an inner device of its own; 1 by default.
 * Applies to lists of devices that have not listed this kind yet. */
void tesela_fake_devices(int count);
/* Restricts counts and failures to calls on one device, by its index; -1 (the default): all
 * devices. */
void tesela_fake_only(int index);

/* Makes the devices cards over the cpu. Their memory has addresses that a vendor's library can use,
 * and each is in a slot of its own (pci). An event is complete at the third query. Applies to lists
 * of devices that have not listed this kind yet. */
void tesela_fake_cards(bool on);
/* Lets callers ask whether events are complete where the inner device cannot tell: it is so at the third
 * query. Applies to lists of devices that have not listed this kind yet. */
void tesela_fake_polls(bool on);
/* Returns how often this thread has entered a device without leaving it. */
int tesela_fake_entered(void);

/* Makes the nth call from now on fail (1: the next call). tesela_fake_fail() fails that call only,
 * tesela_fake_fail_from() also all calls after it. 0 disarms. */
void tesela_fake_fail(tesela_fake_operation operation, int nth);
void tesela_fake_fail_from(tesela_fake_operation operation, int nth);
/* Disarms all failures and resets the counts of calls and failures. Live objects stay counted. */
void tesela_fake_reset(void);

/* Gives the device's events a clock of their own, which only tesela_fake_pass() advances, by a test
 * strategy's run time. Off by default and after tesela_fake_reset(): events then use the inner
 * device's clock. */
void tesela_fake_clock(void);
void tesela_fake_pass(double seconds);

/* Returns the operation's name, such as "copy_out". tesela_fake_status() returns the status of its
 * failures. */
const char *tesela_fake_name(tesela_fake_operation operation);
tesela_status tesela_fake_status(tesela_fake_operation operation);
/* Returns the number of calls since the start or the last reset, failed ones included.
 * tesela_fake_failures() returns the failures of all operations. A test that makes each call of a
 * kind fail in turn ends at the first run without a failure. */
int tesela_fake_calls(tesela_fake_operation operation);
int tesela_fake_failures(void);

/* Sets the status of an operation's failures until the next reset. A copy to the host that fails in
 * this way first copies half of its rows (of a single row, half of its bytes). */
void tesela_fake_fail_as(tesela_fake_operation operation, tesela_status status);
/* Returns the number of buffers over the caller's memory that were made since the last reset. */
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

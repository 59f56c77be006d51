// A device whose compiler is the C compiler: kernels' texts become functions of this process, whose items
// take turns on one thread. Each buffer ends, or begins, at a page that nobody may touch. So a read outside
// of an operand ends the test, though nobody uses what was read; an access that is less aligned than it
// promises and a barrier that some items do not reach are counted; and a missing barrier shows in the result,
// because an item goes on to its next barrier before another item starts.
#ifndef TSL_TESTS_AS_C_DEVICE_H
#define TSL_TESTS_AS_C_DEVICE_H

#include "device/device.h"
#include "fenced/fence.h"

#include <stdbool.h>

extern const tsl_device_kind as_c_kind;

/* At which end of buffers the protected page lies, of those that are made from now on. */
extern fence_side as_c_side;
/* Whether the last item of a group goes first. */
extern bool as_c_backwards;
/* What was complained of, the last of it in words, and how many kernels were launched. */
extern int as_c_complaints, as_c_launches;
extern const char *as_c_complaint;

#endif

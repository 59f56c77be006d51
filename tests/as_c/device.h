// A device whose compiler is the C compiler: kernels' texts become functions of this process, whose
// items alternate on one thread. Each buffer ends, or begins, at a protected page, so a read
// outside an operand ends the test even if the value is not used. Accesses with less alignment than
// promised, and barriers that some items do not reach, are counted. A missing barrier changes the
// result, because an item runs to its next barrier before another item starts.
#ifndef TSL_TESTS_AS_C_DEVICE_H
#define TSL_TESTS_AS_C_DEVICE_H

#include "device/device.h"
#include "fenced/fence.h"

#include <stdbool.h>

extern const tsl_device_kind as_c_kind;

/* The end of a buffer at which the protected page is. Applies to buffers made afterwards. */
extern fence_side as_c_side;
/* True: the last item of a group runs first. */
extern bool as_c_backwards;
/* Number of complaints and of launched kernels; as_c_complaint is the text of the last complaint. */
extern int as_c_complaints, as_c_launches;
extern const char *as_c_complaint;

#endif

/* OpenCL for tests that use other devices as well. PoCL must be installed, except under an emulator
 * (TESELA_EMULATOR). */
#ifndef TSL_TESTS_OPENCL_H
#define TSL_TESTS_OPENCL_H

#include <stdbool.h>

enum { OPENCL_SKIPPED = 77 };

/* Returns true, and prints the reason, if there is no OpenCL and an emulator runs the test. */
bool opencl_is_missing(void);

#endif

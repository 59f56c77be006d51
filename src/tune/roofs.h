/* Roofs: maximum rates of a device, measured in about a second (roofline; Williams, Waterman, Patterson
 * 2009). A strategy's rate is at most operations per byte times the memory rate, and the arithmetic rate.
 *
 *  - copy: bytes read plus bytes written between two arrays; read: bytes of one array that is summed. Arrays
 *    are several times the last cache.
 *  - level1 to level3, local: bytes read by all units, from half of a cache or from local memory. The cpu has
 *    the levels that it reports. GPUs have the last cache and local memory.
 *  - fma: a multiply-add counts two operations; independent chains in registers, on all units. Matrix units
 *    (tensor cores, AMX) are not used and exceed this roof.
 *
 * Results are checked. Devices use portable kernels (roofs/roofs_memory.cl, roofs/roofs_fma.cl), and their
 * own copy if faster; the cpu uses C per instruction set on all threads (TESELA_THREADS) with non-temporal
 * stores. Tuned on one GPU and one processor (docs/lab/roofs.md): others may have a higher roof. */
#ifndef TSL_TUNE_ROOFS_H
#define TSL_TUNE_ROOFS_H

#include "tune/roofs/roof.h"

/* Zeros are defaults. */
typedef struct tsl_roofs_options {
  double seconds; /* approximate total, longer on a busy machine; 0: 1 */
  size_t bytes;   /* bytes of each array; 0: several times the last cache, limited by memory */
} tsl_roofs_options;

const char *tsl_roof_name_of(tsl_roof_name roof);

/* Measures all roofs anew; opens the device. options may be NULL. A roof is left out, with a reason, for lack
 * of memory or f64. Fails if the device fails; TESELA_WRONG_RESULT for a wrong result. */
tesela_status tsl_roofs_measure(tsl_device *device, const tsl_roofs_options *options, tsl_roofs *roofs);

/* Measures f32 operations per second of a core in registers: the best of some bursts in this thread, 1 ms. */
tesela_status tsl_roofs_core(const tsl_device *cpu, double *rate);

/* Returns the lowest roof in operations per second for `flops` and `bytes`; NaN: missing. f32 or f64. */
double tsl_roofs_lowest(const tsl_roofs *roofs, tesela_type type, double flops, double bytes);

#endif

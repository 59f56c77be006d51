/* Roofs: what a device does at most, measured in about a second. Copying and reading its memory, and fused
 * multiply-adds in registers: whatever a strategy does, its rate is at most operations per byte times the
 * one, and at most the other (the roofline; Williams, Waterman, Patterson 2009).
 *
 *  - copy: bytes read plus bytes written, from one array to another; read: bytes of one array, summed up. The
 * arrays are several times as large as the last cache. What was copied and summed is compared with what
 * should have been.
 *  - fma: a multiply-add counts two; independent chains of them in registers, on all units. The results are
 * compared with what they should be. Units for whole matrices (tensor cores, AMX) are not used, and pass this
 * roof.
 *
 * On devices with kernels these are portable kernels (roofs/roofs_memory.cl, roofs/roofs_fma.cl), and the
 * device's own copy where that is faster; on the cpu, C per instruction set on all threads (TESELA_THREADS),
 * with stores that pass the caches. Nothing is kept: every call measures. The grids and chains that are tried
 * were tuned on one GPU and one processor (docs/lab/roofs.md); on others they may leave something unseen.
 * Measurements: docs/lab/roofs.md. */
#ifndef TSL_TUNE_ROOFS_H
#define TSL_TUNE_ROOFS_H

#include "tune/roofs/roof.h"

/* Zeros are the defaults. */
typedef struct tsl_roofs_options {
  double seconds; /* about so long in all, some times as long on a busy machine; 0: 1 */
  size_t
      bytes; /* of each array, whatever the caches hold; 0: several times the last cache, as memory allows */
} tsl_roofs_options;

const char *tsl_roof_name_of(tsl_roof_name roof);
const char *tsl_roof_what(tsl_roof_name roof);

/* Measures all roofs; opens the device. options may be NULL. Little memory or a device without f64 leaves a
 * roof out, with its reason. Fails where the device does, and with TESELA_WRONG_RESULT where it computes
 * something wrong. */
tesela_status tsl_roofs_measure(tsl_device *device, const tsl_roofs_options *options, tsl_roofs *roofs);

/* Multiply-adds of f32 in the registers of one core, as operations a second: the best of some bursts in the
 * caller's thread, in about a millisecond, which a busy machine does not hold up. The device is the cpu. */
tesela_status tsl_roofs_core(const tsl_device *cpu, double *rate);

/* The least of the roofs over work with so many operations and bytes, as operations a second; `type` is f32
 * or f64. NaN where one of them is missing. */
double tsl_roofs_over(const tsl_roofs *roofs, tesela_type type, double flops, double bytes);

#endif

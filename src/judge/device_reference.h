/* What elements of a product should be, summed on the device where the product runs, from operands in its
 * memory (device_reference.cl): of a measurement's sample (judge_measure.h) its sums and the elements of C
 * come to the host, and none of A and B. */
#ifndef TSL_JUDGE_DEVICE_REFERENCE_H
#define TSL_JUDGE_DEVICE_REFERENCE_H

#include "judge/judge.h"
#include "judge/sample.h"
#include "plan/plan.h"

typedef struct tsl_device_reference tsl_device_reference;

/* Whether there are such sums of this product: of real numbers, on a device with kernels and double
 * precision. */
bool tsl_device_reference_suits(const tsl_plan *plan, const tsl_operands *operands);

/* Its kernels: `twice` as below, `flushed` where the strategy takes small numbers as 0. */
tesela_status tsl_device_reference_build(const tsl_problem *problem, tsl_device *device, bool twice,
                                         bool flushed, tsl_kernel *kernel[TSL_DEVICE_REFERENCE_KERNELS]);

/* Before the run, which may go on beside: sums what C should be where rows and columns meet, in twice
 * double's precision where C has doubles or its elements are promised to be rounded once, and keeps what the
 * run overwrites. The operands lie where they are until tsl_device_reference_free(). */
tesela_status tsl_device_reference_begin(const tsl_plan *plan, const tsl_operands *operands,
                                         const tsl_indices *rows, const tsl_indices *cols,
                                         tsl_device_reference **look);
/* Then either this, before a run without: waits as far as that has to; or the run is made with what is queued
 * beside it. */
tesela_status tsl_device_reference_ready(tsl_device_reference *look);
const tsl_concurrent_hook *tsl_device_reference_beside(tsl_device_reference *look);

/* What came of it, in memory of the look: C's elements after and before the run (NULL where it does not read
 * them), row after row. */
typedef struct tsl_device_reference_result {
  const void *c, *before;
  double own; /* what sums may be off themselves, of |A||B| */
} tsl_device_reference_result;

/* After the run. `part` is the sample's problem, C dense by rows. *known is false where the sums do not tell,
 * and terms have to be looked at: where something is not finite, too small or wrong. */
tesela_status tsl_device_reference_end(tsl_device_reference *look, const tsl_problem *part,
                                       const tsl_judge *rule, tsl_device_reference_result *seen,
                                       tsl_verdict *verdict, bool *known);
/* Queues for further copies. */
tsl_stream *tsl_device_reference_stream(const tsl_device_reference *look);
/* `done`: the run was, and what was asked of the look; NULL is allowed. */
void tsl_device_reference_free(tsl_device_reference *look, bool done);

#endif

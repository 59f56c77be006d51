/* Reference sums of sampled elements on the device (device_reference.cl). For measurements (judge_measure.h)
 * the sums and the sampled elements of C are copied to the host, but not A and B. */
#ifndef TSL_JUDGE_DEVICE_REFERENCE_H
#define TSL_JUDGE_DEVICE_REFERENCE_H

#include "judge/judge.h"
#include "judge/sample.h"
#include "plan/plan.h"

typedef struct tsl_device_reference tsl_device_reference;

/* Returns true if the product is supported: real types, on a device with kernels and double precision. */
bool tsl_device_reference_supports(const tsl_plan *plan, const tsl_operands *operands);

/* Compiles the kernels. `in_pairs`: sums in twice double's precision; `flushed`: the strategy may flush. */
tesela_status tsl_device_reference_build(const tsl_problem *problem, tsl_device *device, bool in_pairs,
                                         bool flushed, tsl_kernel *kernel[TSL_DEVICE_REFERENCE_KERNELS]);

/* Starts the sums before the run, for the elements where rows and columns meet, and saves elements that the
 * run overwrites. The sums have twice double's precision where C has doubles or results are rounded once. The
 * run may execute at the same time. Operands must not move until tsl_device_reference_free(). */
tesela_status tsl_device_reference_begin(const tsl_plan *plan, const tsl_operands *operands,
                                         const tsl_indices *rows, const tsl_indices *cols,
                                         tsl_device_reference **reference);
/* Waits before a run without the hook, as far as the run requires. */
tesela_status tsl_device_reference_wait_before_run(tsl_device_reference *reference);
/* Returns the hook that queues the reference work during the run; NULL: the device cannot wait for events. */
const tsl_concurrent_hook *tsl_device_reference_hook(tsl_device_reference *reference);

/* Result, owned by the reference: C's elements after and before the run (NULL: not read), row by row. */
typedef struct tsl_device_reference_result {
  const void *c, *before;
  double sums_error; /* error bound of the sums themselves, relative to |A||B| */
} tsl_device_reference_result;

/* Judges after the run. `part` is the sample's problem with a dense C. *is_known is false where a value is
 * not finite, too small or wrong: the caller must then use the terms. */
tesela_status tsl_device_reference_judge(tsl_device_reference *reference, const tsl_problem *part,
                                         const tsl_judge *rule, tsl_device_reference_result *seen,
                                         tsl_verdict *verdict, bool *is_known);
/* Returns the stream of the reference, which owns it, for further copies. */
tsl_stream *tsl_device_reference_stream(const tsl_device_reference *reference);
/* Frees the reference. `done`: the run and the judgement are complete. NULL is allowed. */
void tsl_device_reference_free(tsl_device_reference *reference, bool done);

#endif

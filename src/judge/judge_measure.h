/* Measurement of the error of a run. All elements of a small result are judged; of a large result the
 * elements where random rows and columns meet. The reference is summed in higher precision (judge.h) from
 * these rows of A and columns of B; no other parts of device operands are copied to the host.
 *
 *            B  . | . | .
 *               . | . | .
 *     A      C
 *     . .       . | . | .
 *     ----      --o---o--      o: sampled
 *     . .       . | . | .
 *     ----      --o---o-- */
#ifndef TSL_JUDGE_JUDGE_MEASURE_H
#define TSL_JUDGE_JUDGE_MEASURE_H

#include "core/floats.h"
#include "judge/judge.h"
#include "plan/plan.h"

typedef struct tsl_error_measurement tsl_error_measurement;

typedef struct tsl_error_measured {
  /* largest |C - R| / (|alpha| |A||B| + |beta| |C0|), R being the reference, less the underflow bound */
  double error;
  int64_t rows, cols; /* size of the sample; 0: nothing to judge */
} tsl_error_measured;

/* Starts a measurement before the run: draws rows and columns by `seed`, copies all that the run overwrites.
 * Operands of tsl_plan_run(), of one product, must stay until tsl_measure_end(). TESELA_UNSUPPORTED: packed,
 * scaled, or structured on a device. Free with tsl_measure_free(). */
tesela_status tsl_measure_begin(const tsl_plan *plan, const tsl_operands *operands, uint64_t seed,
                                tsl_error_measurement **measuring);
/* Runs the plan within a measurement. `phases` gets the times of tsl_plan_run(). */
tesela_status tsl_measure_run(tsl_error_measurement *measuring, tsl_plan *plan, const tsl_operands *operands,
                              tsl_phases *phases);
/* Prepares for a run by the caller, directly before it. */
tesela_status tsl_measure_ready(tsl_error_measurement *measuring);
/* Ends the measurement after the run. TESELA_WRONG_RESULT with the worst element: the error exceeds the
 * strategy's guarantee; *measured is set in that case, too. */
tesela_status tsl_measure_end(tsl_error_measurement *measuring, tsl_error_measured *measured);
/* Returns the judge's rule for results of a plan, without operands. Plans guarantee errors with rounding to
 * nearest; directed rounding doubles them. Where the caller's mode flushes subnormals, the product may, too.
 */
tsl_judge tsl_measure_rule(const tsl_plan *plan, const tsl_floats_before *floats);
/* Judges `cols` elements of a row of C after the run of a product of general operands that does not read C.
 */
tesela_status tsl_measure_segment(const tsl_plan *plan, const tsl_operands *operands,
                                  const tsl_floats_before *floats, int64_t row, int64_t col, int64_t cols,
                                  tsl_verdict *verdict);
/* Frees a measurement at any stage. NULL is allowed. */
void tsl_measure_free(tsl_error_measurement *measuring);

#endif

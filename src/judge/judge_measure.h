/* The error of one run that somebody else makes, measured: all elements of a small result, else those where
 * some rows and some columns of it meet, which are drawn at random, one in each of as many equal parts. What
 * they should be is summed in higher precision (judge.h), from A's rows and B's columns alone: no more of
 * operands on a device is brought to the host.
 *
 *            B  . | . | .
 *               . | . | .
 *     A      C
 *     . .       . | . | .
 *     ----      --o---o--      o: looked at
 *     . .       . | . | .
 *     ----      --o---o--
 */
#ifndef TSL_JUDGE_JUDGE_MEASURE_H
#define TSL_JUDGE_JUDGE_MEASURE_H

#include "plan/plan.h"

typedef struct tsl_error_measurement tsl_error_measurement;

typedef struct tsl_error_measured {
  double error; /* largest |C - R| / (|alpha| |A||B| + |beta| |C0|), R being right; what underflow may cost is
                   taken off */
  int64_t rows, cols; /* of the sample; 0: there is nothing to look at */
} tsl_error_measured;

/* Before the run: draws rows and columns by `seed`, the same for the same problem and device, and keeps what
 * the run overwrites and the result depends on. Operands as tsl_plan_run() is given them, of one product; A,
 * B and C are in place, none of them packed, until tsl_measure_end(). TESELA_UNSUPPORTED where one is packed,
 * and where structures are to be completed of operands that are on a device. */
tesela_status tsl_measure_begin(const tsl_plan *plan, const tsl_operands *operands, uint64_t seed,
                                tsl_error_measurement **measuring);
/* The run between both. With a record's phases in it their time is taken, as by tsl_plan_run(). */
tesela_status tsl_measure_run(tsl_error_measurement *measuring, tsl_plan *plan, const tsl_operands *operands,
                              tsl_phases *phases);
/* Or, where somebody else makes it: just before. */
tesela_status tsl_measure_ready(tsl_error_measurement *measuring);
/* After it. TESELA_WRONG_RESULT where an element is further off than the plan's strategy guarantees;
 * *measured is set then, too. The sentence names the worst. */
tesela_status tsl_measure_end(tsl_error_measurement *measuring, tsl_error_measured *measured);
/* NULL is allowed. */
void tsl_measure_free(tsl_error_measurement *measuring);

#endif

/* The last step of products, C = activation(C + bias), over a C that is there, or where they have scales
 *
 *   C = activation(alpha S(i,j) scale_a(i) scale_b(j) + beta C + bias)
 *
 * of sums S = A B in f32 or i32, which lie where operands->sums says: apart, or in C itself, element by
 * element. The factors are multiplied one after the other in f32, the scales first; sums of no terms are 0
 * and not scaled. It is for strategies that leave all this to others. */
#ifndef TSL_STRATEGY_STRATEGY_EPILOGUE_H
#define TSL_STRATEGY_STRATEGY_EPILOGUE_H

#include "strategy/launch.h"

/* In host memory, by the operands' team: of all products of a batch. Elements of C alone are touched. */
void tsl_finish_on_host(const tsl_problem *problem, const tsl_operands *operands);

/* On a device, by a kernel of its own (strategy/strategy_epilogue.cl). `work` is a product's: what is
 * compiled is the same for all of its types, and is counted in it as its own kernels are. */
tesela_status tsl_finish_build(tsl_work *work, tsl_kernel **kernel);
/* Enqueues it behind what made C, in one launch. The problem may be a block of that which it was built for.
 */
tesela_status tsl_finish_on_device(const tsl_work *work, tsl_kernel *kernel, const tsl_operands *operands,
                                   tsl_stream *stream);

/* C = alpha S + beta C, rounded to C's type: sums of f32 that lie apart, of a problem with C's sizes and type
 * and no last step. Compiles the kernel at its first call, and enqueues it. */
tesela_status tsl_finish_round(tsl_device *device, const tsl_problem *problem, const tsl_operands *operands,
                               tsl_stream *stream);

/* C = C + bias of a problem that has no other last step, where the bias may be a matrix, by its two strides.
 * Likewise. */
tesela_status tsl_finish_add(tsl_device *device, const tsl_problem *problem, const tsl_operands *operands,
                             tsl_stream *stream);

/* What it takes on a device, as a guess: C and sums that lie apart read, and C written, once more. */
double tsl_finish_seconds(const tsl_problem *problem, const tsl_device *device);

#endif

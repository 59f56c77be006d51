/* The epilogue as a separate pass over C, for strategies that do not fuse it: C = activation(C + bias), or
 *
 *   C = activation(alpha S(i,j) scale_a(i) scale_b(j) + beta C + bias)
 *
 * of sums S = A B in f32 or i32 at operands->sums, which may be C itself. Factors are multiplied in f32 one
 * by one, scales first. With k = 0, S is 0 and not scaled. */
#ifndef TSL_STRATEGY_STRATEGY_EPILOGUE_H
#define TSL_STRATEGY_STRATEGY_EPILOGUE_H

#include "strategy/kernel_launch/launch.h"

/* Runs the epilogue in host memory for all products of a batch, with the operands' team. */
void tsl_finish_on_host(const tsl_problem *problem, const tsl_operands *operands);

/* Compiles the epilogue kernel (strategy/epilogue/strategy_epilogue.cl) as a kernel of `work`. */
tesela_status tsl_finish_build(tsl_work *work, tsl_kernel **kernel);
/* Enqueues the epilogue after the product, in one launch. The problem may be a block of the built problem. */
tesela_status tsl_finish_on_device(const tsl_work *work, tsl_kernel *kernel, const tsl_operands *operands,
                                   tsl_stream *stream);

/* Enqueues C = alpha S + beta C, rounded to C's type, for separate sums S in f32 and a problem without an
 * epilogue. Compiles the kernel at the first call. */
tesela_status tsl_finish_round(tsl_device *device, const tsl_problem *problem, const tsl_operands *operands,
                               tsl_stream *stream);

/* Enqueues C = C + bias for a problem without other epilogue parts. The bias may be a matrix with two
 * strides. Compiles the kernel at the first call. */
tesela_status tsl_finish_add(tsl_device *device, const tsl_problem *problem, const tsl_operands *operands,
                             tsl_stream *stream);

/* Predicts the seconds of the epilogue on a device: C and separate sums are read, and C is written, once. */
double tsl_finish_seconds(const tsl_problem *problem, const tsl_device *device);

#endif

/* Kinds of calls in tesela's terms. */
#ifndef TSL_CUBLAS_CUBLAS_DESCRIBE_H
#define TSL_CUBLAS_CUBLAS_DESCRIBE_H

#include "api/queue.h"
#include "cublas/cublas_problem.h"

/* Creates the plan of a kind. `anchor` is any buffer of its device. */
tesela_status tsl_cublas_describe_plan(tesela_context *context, const tsl_cublas_key *key,
                                       tesela_buffer *anchor, tesela_plan **plan);
/* Fills the operands of a call, in the plan's order. */
void tsl_cublas_describe_operands(const tsl_cublas_call *call, tsl_queue_operands *out);

#endif

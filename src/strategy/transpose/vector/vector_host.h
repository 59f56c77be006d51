/* A transpose on the processor: which of its elements lie side by side, and what its threads do. */
#ifndef TSL_STRATEGY_TRANSPOSE_VECTOR_VECTOR_HOST_H
#define TSL_STRATEGY_TRANSPOSE_VECTOR_VECTOR_HOST_H

#include "strategy/strategy.h"

/* All of it, on the threads of the shared pool. */
void tsl_vector_on_host(const tsl_problem *problem, const tsl_operands *operands, const tsl_device *device);

#endif

#ifndef TSL_STRATEGY_TRANSPOSE_VECTOR_VECTOR_HOST_H
#define TSL_STRATEGY_TRANSPOSE_VECTOR_VECTOR_HOST_H

#include "strategy/strategy.h"

/* Transposes on the processor with the operands' team. `device` gives the cache size. */
void tsl_vector_on_host(const tsl_problem *problem, const tsl_operands *operands, const tsl_device *device);

#endif

#ifndef TSL_STRATEGY_GEMM_SEQUENTIAL_OPTIMIZED_SEQUENTIAL_OPTIMIZED_LOOPS_H
#define TSL_STRATEGY_GEMM_SEQUENTIAL_OPTIMIZED_SEQUENTIAL_OPTIMIZED_LOOPS_H

#include "host/host_isa.h"
#include "strategy/strategy.h"

typedef void (*tsl_triple_loop)(const tsl_problem *problem, const tsl_operands *operands);

typedef struct tsl_triple_loops {
  tsl_triple_loop f32, f64;
} tsl_triple_loops;

#define TSL_DECLARE(isa, header, needs, ...) extern const tsl_triple_loops tsl_triple_loops_##isa;
TSL_ISA_LIST(TSL_DECLARE)
#undef TSL_DECLARE

#endif

#include "strategy/gemm/ladder/sequential_optimized/sequential_optimized_loops.h"

#include "host/simd.h"

#define REAL float
#define TRIPLE_LOOP multiply_f32
#include "strategy/gemm/ladder/sequential/triple_loop.h"
#define REAL double
#define TRIPLE_LOOP multiply_f64
#include "strategy/gemm/ladder/sequential/triple_loop.h"

const tsl_triple_loops TSL_ISA_NAME(tsl_triple_loops) = {multiply_f32, multiply_f64};

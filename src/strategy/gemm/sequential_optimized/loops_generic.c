/* The triple loop for any processor; flags.cmake has the compiler's flags. */
#include "strategy/gemm/sequential_optimized/loops.h"

#define REAL float
#define TRIPLE_LOOP multiply_f32
#include "strategy/gemm/sequential/triple_loop.h"
#undef REAL
#undef TRIPLE_LOOP
#define REAL double
#define TRIPLE_LOOP multiply_f64
#include "strategy/gemm/sequential/triple_loop.h"

const tsl_triple_loops tsl_triple_loops_generic = {multiply_f32, multiply_f64};

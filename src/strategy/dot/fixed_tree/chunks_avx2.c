/* Chunks for AVX2 with FMA; flags.cmake has the compiler's flags. */
#define VECTOR_BYTES 32
#include "strategy/dot/fixed_tree/chunk.h"

const tsl_tree_functions tsl_tree_functions_avx2 = {chunk_f32, chunk_f64};

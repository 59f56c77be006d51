/* Chunks for AVX-512; flags.cmake has the compiler's flags. */
#define VECTOR_BYTES 64
#include "strategy/dot/fixed_tree/chunk.h"

const tsl_tree_functions tsl_tree_functions_avx512 = {chunk_f32, chunk_f64};

/* Chunks for any processor; flags.cmake has the compiler's flags. */
#define VECTOR_BYTES 16
#include "strategy/dot/fixed_tree/chunk.h"

const tsl_tree_functions tsl_tree_functions_generic = {chunk_f32, chunk_f64};

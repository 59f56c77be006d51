/* Moves for AVX-512; flags.cmake has the compiler's flags. */
#include "strategy/transpose/vector/moves.h"

#if defined(__AVX512F__)
#include "strategy/transpose/vector/lanes_avx512.h"
#else
#include "strategy/transpose/vector/lanes_generic.h"
#endif

#include "strategy/transpose/vector/sizes.h"

const tsl_moves_functions tsl_moves_avx512[TSL_MOVES_COUNT] = MOVES_TABLE;

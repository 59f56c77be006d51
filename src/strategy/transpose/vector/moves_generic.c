/* Moves for any processor; flags.cmake has the compiler's flags. */
#include "strategy/transpose/vector/moves.h"

#include "strategy/transpose/vector/lanes_generic.h"

#include "strategy/transpose/vector/sizes.h"

const tsl_moves_functions tsl_moves_generic[TSL_MOVES_COUNT] = MOVES_TABLE;

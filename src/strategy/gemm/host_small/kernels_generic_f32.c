/* Kernels in f32 for any processor, with vectors of 16 bytes; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_small/kernels.h"

#include "strategy/gemm/host_small/lanes_generic.h"

#define REAL float
#define SUFFIX _f32
#define ROWS_OF_1 8
#define ROWS_OF_2 4
#define ROWS_OF_3 4
#include "strategy/gemm/host_small/kernels_text.h"

const tsl_small_kernels tsl_small_kernels_generic_f32 = TILE_TABLE_ROW(TESELA_F32, NO_EXACT);

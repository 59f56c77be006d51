/* Kernels in f32 for AVX-512 with vectors of 16 bytes; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_small/kernels.h"

#if defined(__x86_64__)
#include "strategy/gemm/host_small/lanes_avx512_quarter.h"

#define REAL float
#define SUFFIX _f32
#define ROWS_OF_1 12
#define ROWS_OF_2 0
#define ROWS_OF_3 0
#include "strategy/gemm/host_small/kernels_text.h"
#define EXACT_ROWS 4
#define EXACT_VECTORS 1
#define EXACT_DEPTH 4
#define EXACT_HEIGHT 4
#include "strategy/gemm/host_small/exact.h"

const tsl_small_kernels tsl_small_kernels_avx512_quarter_f32 = TILE_TABLE_ROW(TESELA_F32, EXACT(4, 1, 4));

#endif

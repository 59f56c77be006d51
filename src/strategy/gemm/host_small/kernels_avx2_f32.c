/* Kernels in f32 for AVX2, sixteen registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_small/kernels.h"

#if defined(__x86_64__)
#include "strategy/gemm/host_small/lanes_avx2.h"

#define REAL float
#define SUFFIX _f32
#define ROWS_OF_1 12
#define ROWS_OF_2 6
#define ROWS_OF_3 4
#include "strategy/gemm/host_small/kernels_text.h"
#define EXACT_ROWS 8
#define EXACT_VECTORS 1
#define EXACT_DEPTH 8
#define EXACT_HEIGHT 4
#include "strategy/gemm/host_small/exact.h"

const tsl_small_kernels tsl_small_kernels_avx2_f32 = TILE_TABLE_ROW(TESELA_F32, EXACT(8, 1, 8));

#endif

/* Kernels in f64 for AVX-512, thirty-two registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_small/kernels.h"

#if defined(__x86_64__)
#include "strategy/gemm/host_small/lanes_avx512.h"

#define REAL double
#define SUFFIX _f64
#define ROWS_OF_1 12
#define ROWS_OF_2 0
#define ROWS_OF_3 0
#include "strategy/gemm/host_small/kernels_text.h"
#define EXACT_ROWS 8
#define EXACT_VECTORS 1
#define EXACT_DEPTH 8
#define EXACT_HEIGHT 8
#include "strategy/gemm/host_small/exact.h"

const tsl_small_kernels tsl_small_kernels_avx512_f64 = TILE_TABLE_ROW(TESELA_F64, EXACT(8, 1, 8));

#endif

/* Kernels in f64 for AVX2, sixteen registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_small/kernels.h"

#if defined(__x86_64__)
#include "strategy/gemm/host_small/lanes_avx2.h"

#define REAL double
#define SUFFIX _f64
#define ROWS_OF_1 12
#define ROWS_OF_2 6
#define ROWS_OF_3 4
#include "strategy/gemm/host_small/kernels_text.h"
#define EXACT_ROWS 4
#define EXACT_VECTORS 1
#define EXACT_DEPTH 4
#define EXACT_HEIGHT 4
#include "strategy/gemm/host_small/exact.h"
#define EXACT_ROWS 4
#define EXACT_VECTORS 2
#define EXACT_DEPTH 8
#define EXACT_HEIGHT 4
#include "strategy/gemm/host_small/exact.h"
#define EXACT_ROWS 5
#define EXACT_VECTORS 2
#define EXACT_DEPTH 16
#define EXACT_HEIGHT 5
#include "strategy/gemm/host_small/exact.h"
#define EXACT_ROWS 6
#define EXACT_VECTORS 2
#define EXACT_DEPTH 16
#define EXACT_HEIGHT 6
#include "strategy/gemm/host_small/exact.h"

const tsl_small_kernels tsl_small_kernels_avx2_f64 =
    TILE_TABLE_ROW(TESELA_F64, EXACT(4, 1, 4), EXACT(4, 2, 8), EXACT(5, 2, 16), EXACT(6, 2, 16));

#endif

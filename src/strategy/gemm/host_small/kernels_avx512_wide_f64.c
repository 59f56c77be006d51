/* Kernels in f64 for AVX-512 on processors that do two multiply-adds a clock: a tile of one vector loads a number for each,
 * which two loads a clock do not keep up with, so tiles are wider; and higher where there is one vector only, since a
 * multiply-add takes four clocks. flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_small/kernels.h"

#if defined(__x86_64__)
#include "strategy/gemm/host_small/lanes_avx512.h"

#define REAL double
#define SUFFIX _f64
#define ROWS_OF_1 16
#define ROWS_OF_2 12
#define ROWS_OF_3 8
#include "strategy/gemm/host_small/kernels_text.h"
#define EXACT_ROWS 8
#define EXACT_VECTORS 1
#define EXACT_DEPTH 8
#define EXACT_HEIGHT 4
#include "strategy/gemm/host_small/exact.h"
#define EXACT_ROWS 8
#define EXACT_VECTORS 2
#define EXACT_DEPTH 16
#define EXACT_HEIGHT 8
#include "strategy/gemm/host_small/exact.h"

const tsl_small_kernels tsl_small_kernels_avx512_wide_f64 =
    TILE_TABLE_ROW(TESELA_F64, EXACT(8, 1, 8), EXACT(8, 2, 16));

#endif

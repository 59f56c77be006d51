/* Kernels in f64 for AVX2 with FMA, sixteen registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_packed/kernels.h"

#if defined(__x86_64__)
#include "strategy/gemm/host_packed/lanes_avx2.h"

#define ELEMENT double
#define SUFFIX _f64
#include "strategy/gemm/host_packed/copies.h"

#define COPIED(word) word##_f64
#define REAL double
#define PARTS 1
#define ROWS_OF_1 6
#define ROWS_OF_2 6
#define ROWS_OF_3 4
#define ROWS_OF_4 2
#define TILE_STEPS 4
#include "strategy/gemm/host_packed/tiles.h"

const tsl_packed_kernels tsl_packed_kernels_avx2_f64 = TILE_TABLE_ROW(TESELA_F64);

#endif

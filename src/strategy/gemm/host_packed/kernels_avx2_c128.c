/* Kernels in c128 for AVX2 with FMA, sixteen registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_packed/kernels.h"

#if defined(__x86_64__)
#include "strategy/gemm/host_packed/lanes_avx2.h"

#define ELEMENT pair
#define SUFFIX _pair
#include "strategy/gemm/host_packed/copies.h"
#undef SUFFIX
#define SUFFIX _f64

#define COPIED(word) word##_pair
#define REAL double
#define PARTS 2
#define ROWS_OF_1 3
#define ROWS_OF_2 3
#define ROWS_OF_3 2
#define ROWS_OF_4 1
#define TILE_STEPS 4
#include "strategy/gemm/host_packed/tiles.h"

const tsl_packed_kernels tsl_packed_kernels_avx2_c128 = TILE_TABLE_ROW(TESELA_C128);

#endif

/* Kernels in c128 for AVX-512, thirty-two registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_packed/kernels.h"

#if defined(__x86_64__)
#include "strategy/gemm/host_packed/lanes_avx512.h"

#define ELEMENT pair
#define SUFFIX _pair
#include "strategy/gemm/host_packed/copies.h"
#undef SUFFIX
#define SUFFIX _f64

#define COPIED(word) word##_pair
#define REAL double
#define PARTS 2
#define ROWS_OF_1 7
#define ROWS_OF_2 7
#define ROWS_OF_3 4
#define ROWS_OF_4 3
#define TILE_STEPS 1
#include "strategy/gemm/host_packed/tiles.h"

const tsl_packed_kernels tsl_packed_kernels_avx512_c128 = TILE_TABLE_ROW(TESELA_C128);

#endif

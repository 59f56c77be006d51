/* Kernels in f64 for AVX-512, thirty-two registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_packed/kernels.h"

#if defined(__x86_64__)
#include "strategy/gemm/host_packed/lanes_avx512.h"

#define ELEMENT double
#define SUFFIX _f64
#include "strategy/gemm/host_packed/copies.h"

#define COPIED(word) word##_f64
#define REAL double
#define PARTS 1
#define ROWS_OF_1 14
#define ROWS_OF_2 14
#define ROWS_OF_3 8
#define ROWS_OF_4 6
#define TILE_STEPS 1
#include "strategy/gemm/host_packed/tiles.h"

const tsl_packed_kernels tsl_packed_kernels_avx512_f64 = TILE_TABLE_ROW(TESELA_F64);

#endif

/* Kernels in f32 for AVX-512, thirty-two registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_packed/kernels.h"

#if defined(__x86_64__)
#include "strategy/gemm/host_packed/lanes_avx512.h"

#define ELEMENT float
#define SUFFIX _f32
#include "strategy/gemm/host_packed/copies.h"

#define COPIED(word) word##_f32
#define REAL float
#define PARTS 1
#define ROWS_OF_1 14
#define ROWS_OF_2 14
#define ROWS_OF_3 8
#define ROWS_OF_4 6
#define TILE_STEPS 1
#include "strategy/gemm/host_packed/tiles.h"

const tsl_packed_kernels tsl_packed_kernels_avx512_f32 = TILE_TABLE_ROW(TESELA_F32);

#endif

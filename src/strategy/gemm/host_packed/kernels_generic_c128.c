/* Kernels in c128 for any processor, with vectors of 16 bytes; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_packed/kernels.h"

#include "strategy/gemm/host_packed/lanes_generic.h"

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
#define TILE_STEPS 1
#include "strategy/gemm/host_packed/tiles.h"

const tsl_packed_kernels tsl_packed_kernels_generic_c128 = TILE_TABLE_ROW(TESELA_C128);

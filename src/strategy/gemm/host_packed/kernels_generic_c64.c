/* Kernels in c64 for any processor, with vectors of 16 bytes; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_packed/kernels.h"

#include "strategy/gemm/host_packed/lanes_generic.h"

#define ELEMENT couple
#define SUFFIX _couple
#include "strategy/gemm/host_packed/copies.h"
#undef SUFFIX
#define SUFFIX _f32

#define COPIED(word) word##_couple
#define REAL float
#define PARTS 2
#define ROWS_OF_1 3
#define ROWS_OF_2 3
#define ROWS_OF_3 2
#define ROWS_OF_4 1
#define TILE_STEPS 1
#include "strategy/gemm/host_packed/tiles.h"

const tsl_packed_kernels tsl_packed_kernels_generic_c64 = TILE_TABLE_ROW(TESELA_C64);

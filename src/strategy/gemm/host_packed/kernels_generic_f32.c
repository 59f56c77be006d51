/* Kernels in f32 for any processor, with vectors of 16 bytes; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_packed/kernels.h"

#include "strategy/gemm/host_packed/lanes_generic.h"

#define ELEMENT float
#define SUFFIX _f32
#include "strategy/gemm/host_packed/copies.h"

#define COPIED(word) word##_f32
#define REAL float
#define PARTS 1
#define ROWS_OF_1 6
#define ROWS_OF_2 6
#define ROWS_OF_3 4
#define ROWS_OF_4 2
#define TILE_STEPS 1
#include "strategy/gemm/host_packed/tiles.h"

const tsl_packed_kernels tsl_packed_kernels_generic_f32 = TILE_TABLE_ROW(TESELA_F32);

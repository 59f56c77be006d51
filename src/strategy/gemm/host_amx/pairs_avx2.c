/* Pairs of 16-bit integers by VPMADDWD. */
#if defined(__x86_64__)
#include "strategy/gemm/host_amx/kernels.h"

#include "strategy/gemm/host_amx/lanes_avx2_whole.h"
#define DOT(sum, a, b) _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
#include "strategy/gemm/host_amx/tiles.h"

tsl_amx_tile_function *const tsl_amx_pairs_avx2[] = {ALL_ROWS};
#else
typedef int tsl_no_tiles_here;
#endif

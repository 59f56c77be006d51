/* Pairs of 16-bit integers by VPMADDWD, for processors without VNNI. */
#if defined(__x86_64__)
#include "strategy/gemm/host_amx/kernels.h"

#include "strategy/gemm/host_amx/lanes_avx512_whole.h"
#define DOT(sum, a, b) _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
#include "strategy/gemm/host_amx/tiles.h"

tsl_amx_tile_function *const tsl_amx_pairs_avx512[] = {ALL_ROWS};
#else
typedef int tsl_no_tiles_here;
#endif

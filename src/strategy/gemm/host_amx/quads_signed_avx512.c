/* Quads by VPDPBUSD: four products a lane and instruction, A unsigned and B signed. */
#if defined(__x86_64__)
#include "strategy/gemm/host_amx/kernels.h"

#include "strategy/gemm/host_amx/lanes_avx512_whole.h"
#define DOT(sum, a, b) _mm512_dpbusd_epi32(sum, a, b)
#include "strategy/gemm/host_amx/tiles.h"

tsl_amx_tile_function *const tsl_amx_quads_signed_avx512[] = {ALL_ROWS};
#else
typedef int tsl_no_tiles_here;
#endif

/* Pairs of bf16 by VDPBF16PS: two products a lane and instruction, subnormal numbers taken as 0. */
#if defined(__x86_64__)
#include "strategy/gemm/host_amx/kernels.h"

#include "strategy/gemm/host_amx/lanes_avx512_real.h"
#define DOT(sum, a, b) _mm512_dpbf16_ps(sum, (__m512bh)(a), (__m512bh)(b))
#include "strategy/gemm/host_amx/tiles.h"

tsl_amx_tile_function *const tsl_amx_bf16_avx512[] = {ALL_ROWS};
#else
typedef int tsl_no_tiles_here;
#endif

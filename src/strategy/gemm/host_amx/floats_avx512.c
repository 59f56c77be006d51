/* f32 made from f16 or bf16, by multiply-adds. */
#if defined(__x86_64__)
#include "strategy/gemm/host_amx/kernels.h"

#include "strategy/gemm/host_amx/lanes_avx512_real.h"
#define DOT(sum, a, b) _mm512_fmadd_ps(a, b, sum)
#include "strategy/gemm/host_amx/tiles.h"

tsl_amx_tile_function *const tsl_amx_floats_avx512[] = {ALL_ROWS};
#else
typedef int tsl_no_tiles_here;
#endif

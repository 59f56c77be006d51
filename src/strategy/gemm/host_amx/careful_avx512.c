/* What bf16_avx512.c computes, where VDPBF16PS would take numbers or sums as 0: two multiply-adds of f32 for each pair. */
#if defined(__x86_64__)
#include "strategy/gemm/host_amx/kernels.h"

#include "strategy/gemm/host_amx/lanes_avx512_real.h"

/* A bf16 is the upper half of an f32. */
static inline VECTOR first_of(VECTOR pairs) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(pairs), 16));
}

static inline VECTOR second_of(VECTOR pairs) {
  return _mm512_castsi512_ps(
      _mm512_and_si512(_mm512_castps_si512(pairs), _mm512_set1_epi32((int)0xffff0000)));
}

#define DOT(sum, a, b)                                                                                       \
  _mm512_fmadd_ps(second_of(a), second_of(b), _mm512_fmadd_ps(first_of(a), first_of(b), sum))
#include "strategy/gemm/host_amx/tiles.h"

tsl_amx_tile_function *const tsl_amx_careful_avx512[] = {ALL_ROWS};
#else
typedef int tsl_no_tiles_here;
#endif

/* Pairs of 16-bit integers: PMADDWD of SSE2 where that is, which is every x86-64, and plain C elsewhere. */
#include "strategy/gemm/host_amx/kernels.h"

#include <string.h>

enum { LANES = 4 };
#if defined(__SSE2__)
#include <emmintrin.h>
typedef __m128i VECTOR;
#define ZERO _mm_setzero_si128()
#define LOAD(at) _mm_loadu_si128((const __m128i *)(const void *)(at))
#define STORE(at, value) _mm_storeu_si128((__m128i *)(void *)(at), value)
#define BROADCAST(at) _mm_set1_epi32((int)*(at))
#define ADD(a, b) _mm_add_epi32(a, b)
#define DOT(sum, a, b) _mm_add_epi32(sum, _mm_madd_epi16(a, b))
#else
typedef int32_t VECTOR __attribute__((vector_size(16)));

static inline VECTOR load(const uint32_t *at) {
  VECTOR value;
  memcpy(&value, at, sizeof value);
  return value;
}

static inline void store(uint32_t *at, VECTOR value) {
  memcpy(at, &value, sizeof value);
}

/* As unsigned, so that sums wrap. */
typedef uint32_t unsigned_vector __attribute__((vector_size(16)));
static inline VECTOR add(VECTOR a, VECTOR b) {
  return (VECTOR)((unsigned_vector)a + (unsigned_vector)b);
}

static inline VECTOR dot(VECTOR sum, VECTOR a, VECTOR b) {
  const VECTOR low = ((VECTOR)((unsigned_vector)a << 16) >> 16) * ((VECTOR)((unsigned_vector)b << 16) >> 16);
  return add(sum, add(low, (a >> 16) * (b >> 16)));
}

#define ZERO ((VECTOR){0})
#define LOAD load
#define STORE store
#define BROADCAST(at) ((VECTOR){0} + (int32_t) * (at))
#define ADD add
#define DOT dot
#endif
#include "strategy/gemm/host_amx/tiles.h"

tsl_amx_tile_function *const tsl_amx_pairs_generic[] = {ALL_ROWS};

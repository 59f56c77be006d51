/* What registers_bf16.c computes, where TDPBF16PS would take numbers or sums as 0: registers are arrays, and their products
 * two multiply-adds of f32 for each pair. */
#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

typedef __m512i file_row; /* 16 units */

static inline void load_rows(file_row *to, const void *from, int64_t stride) {
  for (int i = 0; i < 16; i++)
    to[i] = _mm512_loadu_si512((const unsigned char *)from + i * stride);
}

static inline void store_rows(const file_row *from, void *to, int64_t stride) {
  for (int i = 0; i < 16; i++)
    _mm512_storeu_si512((unsigned char *)to + i * stride, from[i]);
}

/* A bf16 is the upper half of an f32. */
static inline __m512 first_of(file_row pairs) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
}

static inline __m512 second_of(file_row pairs) {
  return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32((int)0xffff0000)));
}

static void add_products(file_row *sums, const file_row *a, const file_row *b) {
  for (int i = 0; i < 16; i++) {
    uint32_t units[16];
    memcpy(units, &a[i], sizeof units);
    __m512 sum = _mm512_castsi512_ps(sums[i]);
    for (int u = 0; u < 16; u++) {
      const file_row unit = _mm512_set1_epi32((int)units[u]);
      sum = _mm512_fmadd_ps(first_of(unit), first_of(b[u]), sum);
      sum = _mm512_fmadd_ps(second_of(unit), second_of(b[u]), sum);
    }
    sums[i] = _mm512_castps_si512(sum);
  }
}

#define REGISTER_FILE file_row file[8][16]
#define REGISTER_LOAD(t, at, stride) load_rows(file[t], at, stride)
#define REGISTER_LOAD_ONCE(t, at, stride) load_rows(file[t], at, stride)
#define REGISTER_STORE(t, at, stride) store_rows(file[t], at, stride)
#define REGISTER_ZERO(t) memset(file[t], 0, sizeof file[t])
#define REGISTER_STREAM(to, from) _mm512_stream_si512((void *)(to), _mm512_loadu_si512((const void *)(from)))
#define REGISTER_COPY_REST(to, from, bytes) memcpy(memset(to, 0, 64), from, (size_t)(bytes))
#define REGISTER_DOT(c, a, b) add_products(file[c], file[a], file[b])
#include "strategy/gemm/host_amx/registers.h"

tsl_amx_tile_function *const tsl_amx_registers_careful[] = {multiply_16, multiply_32};
#else
typedef int tsl_no_registers_here;
#endif

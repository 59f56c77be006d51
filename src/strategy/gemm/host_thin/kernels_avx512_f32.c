/* Kernels in f32 for AVX-512, thirty-two registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_thin/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define REAL float
#define SUFFIX _f32
#define VECTOR_BYTES 64
#define STREAM(to, value) _mm512_stream_ps(to, (__m512)(value))
#define FENCE() _mm_sfence()
#define LOAD_PART(from, count) _mm512_maskz_loadu_ps((__mmask16)((1u << (count)) - 1), from)
#define TOTAL(value) _mm512_reduce_add_ps((__m512)(value))
#define COLUMNS_OF(q) ((q) <= 2 ? 8 : (q) <= 4 ? 4 : 2)
#include "strategy/gemm/host_thin/kernels_text.h"

const tsl_thin_kernels tsl_thin_kernels_avx512_f32 = TABLE_ROW(TESELA_F32);

#endif

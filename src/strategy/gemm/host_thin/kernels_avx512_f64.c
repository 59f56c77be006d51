/* Kernels in f64 for AVX-512, thirty-two registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_thin/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define REAL double
#define SUFFIX _f64
#define VECTOR_BYTES 64
#define STREAM(to, value) _mm512_stream_pd(to, (__m512d)(value))
#define FENCE() _mm_sfence()
#define LOAD_PART(from, count) _mm512_maskz_loadu_pd((__mmask8)((1u << (count)) - 1), from)
#define TOTAL(value) _mm512_reduce_add_pd((__m512d)(value))
#define COLUMNS_OF(q) ((q) <= 2 ? 8 : (q) <= 4 ? 4 : 2)
#include "strategy/gemm/host_thin/kernels_text.h"

const tsl_thin_kernels tsl_thin_kernels_avx512_f64 = TABLE_ROW(TESELA_F64);

#endif

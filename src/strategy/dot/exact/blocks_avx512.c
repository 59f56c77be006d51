/* Blocks for AVX-512; flags.cmake has the compiler's flags. Where there is no AVX-512 this is never called. */
#include "strategy/dot/exact/blocks.h"

#ifdef __AVX512F__
#include <immintrin.h>

#define VECTOR_BYTES 64
#define PRODUCT_ERROR(a, b, product) ((vector)_mm512_fmsub_pd((__m512d)(a), (__m512d)(b), (__m512d)(product)))
#define FUSED(a, b, c) ((vector)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define WIDENED(pointer) ((vector)_mm512_cvtps_pd(_mm256_loadu_ps(pointer)))
#include "strategy/dot/exact/block.h"

const tsl_exact_blocks tsl_exact_blocks_avx512 = BLOCKS;
#else
const tsl_exact_blocks tsl_exact_blocks_avx512 = {0};
#endif

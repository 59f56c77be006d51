/* Blocks for AVX2 and FMA; flags.cmake has the compiler's flags. Where there is no AVX2 this is never called. */
#include "strategy/dot/exact/blocks.h"

#ifdef __AVX2__
#include <immintrin.h>

#define VECTOR_BYTES 32
#define PRODUCT_ERROR(a, b, product) ((vector)_mm256_fmsub_pd((__m256d)(a), (__m256d)(b), (__m256d)(product)))
#define FUSED(a, b, c) ((vector)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define WIDENED(pointer) ((vector)_mm256_cvtps_pd(_mm_loadu_ps(pointer)))
#include "strategy/dot/exact/block.h"

const tsl_exact_blocks tsl_exact_blocks_avx2 = BLOCKS;
#else
const tsl_exact_blocks tsl_exact_blocks_avx2 = {0};
#endif

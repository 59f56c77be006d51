/* Micro-kernels of one element type; for narrow C with narrower vectors, if the set has them. SMALL_WIDE: for
 * processors with two multiply-adds a clock; wider tiles, as one vector would need more than two loads. */
#include "strategy/gemm/host/host_small/host_small_job.h"

#include "host/simd.h"

#define REAL JOIN(REAL_, TSL_TYPE)
#define COMPONENTS JOIN(COMPONENTS_, TSL_TYPE)

typedef JOIN(element_, TSL_TYPE) element;

/* A whole element of up to 8 bytes, which copies do not look into. */
typedef __typeof__(__builtin_choose_expr(sizeof(element) == 4, 1.0F, 1.0)) word;

/* Transposes four columns of four elements to rows, in vectors of 16 or 32 bytes. */
static inline void transpose_four(const word *in, int64_t across, int64_t width, word *out) {
  typedef word four __attribute__((vector_size(4 * sizeof(word)), may_alias, aligned(4)));
  const four a = *(const four *)in, b = *(const four *)(in + across), c = *(const four *)(in + 2 * across),
             d = *(const four *)(in + 3 * across);
  enum { FLOAT = sizeof(word) == 4, SECOND = FLOAT ? 1 : 2, THIRD = 3 - SECOND };
  const four ab = __builtin_shufflevector(a, b, 0, 4, SECOND, SECOND + 4),
             ab_rest = __builtin_shufflevector(a, b, THIRD, THIRD + 4, 3, 7),
             cd = __builtin_shufflevector(c, d, 0, 4, SECOND, SECOND + 4),
             cd_rest = __builtin_shufflevector(c, d, THIRD, THIRD + 4, 3, 7);
  *(four *)out = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
  *(four *)(out + SECOND * width) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  *(four *)(out + THIRD * width) = __builtin_shufflevector(ab_rest, cd_rest, 0, 1, 4, 5);
  *(four *)(out + 3 * width) = __builtin_shufflevector(ab_rest, cd_rest, 2, 3, 6, 7);
}

static void copy(const void *from, int64_t across, int64_t along, int64_t count, int64_t depth, int64_t width,
                 void *dst) {
  const element *in = from;
  element *out = dst;
  if (across == 1) {
    for (int64_t l = 0; l < depth; l++)
      memcpy(out + l * width, in + l * along, (size_t)count * sizeof(element));
    return;
  }
  const bool transposes = sizeof(element) <= 8 && along == 1;
  const int64_t deep = transposes ? depth / 4 * 4 : 0, wide = count / 4 * 4;
  for (int64_t l = 0; l < deep; l += 4)
    for (int64_t j = 0; j < wide; j += 4)
      transpose_four((const void *)(in + j * across + l), across, width, (void *)(out + l * width + j));
  for (int64_t l = 0; l < depth; l++)
    for (int64_t j = l < deep ? wide : 0; j < count; j++)
      out[l * width + j] = in[l * along + j * across];
}

#define FOUR 0
#define SUFFIX JOIN(COMPONENT_SUFFIX_, TSL_TYPE)
#define VARIANT JOIN(_, TSL_TYPE)
#if COMPONENTS == 2
#include "host/tile_epilogue.h"
#endif
#if COMPONENTS == 1
#define SIZES JOIN(SMALL, SUFFIX)
#elif REGISTERS >= 32
#define SIZES (12, 6, 4, 0, 0, 0)
#else
#define SIZES (6, 3, 2, 0, 0, 0)
#endif
#include "strategy/gemm/host/host_small/kernels/variant.h"
#undef VARIANT
#undef SIZES

#if defined(SMALL_WIDE_NEEDS) && COMPONENTS == 1
#undef FOUR
#define FOUR SMALL_WIDE_FOUR
#define VARIANT _wide
#define SIZES JOIN(SMALL_WIDE, SUFFIX)
#include "strategy/gemm/host/host_small/kernels/variant.h"
#undef VARIANT
#undef SIZES
#undef FOUR
#define FOUR 0
#define WIDE &kernels_wide, SMALL_WIDE_NEEDS
#else
#define WIDE NULL, 0
#endif
#undef SUFFIX

#define SIZES (12, 0, 0, 4, 0, 0)
#if JOIN(HAS_HALF_, TSL_TYPE)
#define SUFFIX JOIN(JOIN(_, TSL_TYPE), _half)
#define VARIANT _half
#include "strategy/gemm/host/host_small/kernels/variant.h"
#undef VARIANT
#undef SUFFIX
#define HALF kernels_half
#else
#define HALF JOIN(kernels_, TSL_TYPE)
#endif

#if JOIN(HAS_QUARTER_, TSL_TYPE)
#define SUFFIX JOIN(JOIN(_, TSL_TYPE), _quarter)
#define VARIANT _quarter
#include "strategy/gemm/host/host_small/kernels/variant.h"
#define QUARTER kernels_quarter
#else
#define QUARTER HALF
#endif

const tsl_small_set TSL_ISA_NAME(tsl_small) = {{&JOIN(kernels_, TSL_TYPE), &HALF, &QUARTER}, WIDE};

/* Accumulators of a warpgroup, 64 x TILE_N, and their stores to C. Needs sm90.h, TSL_PARAM_TILE_N, ELEMENT,
 * A_TYPE, B_TYPE, A_MN_MAJOR, B_MN_MAJOR, C_FORM (0 f32, 1 f16, 2 bf16, 3 i32), SPLIT (sums leave unscaled
 * and unrounded). Optional WHOLE_SUMS: sums are i32 although C is not; the epilogue converts them. */
#ifndef TSL_WGMMA_TILE_H
#define TSL_WGMMA_TILE_H

#define WGMMA_TEXT_(text) #text
#define WGMMA_TEXT(text) WGMMA_TEXT_(text)
#ifndef WHOLE_SUMS
#define WHOLE_SUMS (C_FORM == 3)
#endif
#define IS_INTEGER WHOLE_SUMS
#define C_PAIR_POSITIVE (FINISH && FINISH_FUNCTION == 1 && (C_FORM == 1 || C_FORM == 2))

#if IS_INTEGER
typedef int sum_t;
#define WGMMA_REGISTER "r"
#define WGMMA_SUM "s32"
#define WGMMA_FLAGS ""
#else
typedef float sum_t;
#define WGMMA_REGISTER "f"
#define WGMMA_SUM "f32"
#if ELEMENT == 2
#define WGMMA_FLAGS ", 1, 1, " WGMMA_TEXT(A_MN_MAJOR) ", " WGMMA_TEXT(B_MN_MAJOR)
#else
#define WGMMA_FLAGS ", 1, 1"
#endif
#endif
#if ELEMENT == 1
#define WGMMA_DEPTH "k32"
#elif ELEMENT == 2
#define WGMMA_DEPTH "k16"
#else
#define WGMMA_DEPTH "k8"
#endif

/* Form of C in memory: 16-bit floating point, or words: f32, i32, or sums of a part of k (SPLIT). */
constexpr bool C_IS_16_BITS = !SPLIT && (C_FORM == 1 || C_FORM == 2),
               C_IS_SUMS = SPLIT || C_FORM == 3; /* C has the type of the sums */
static_assert(C_FORM >= 0 && C_FORM <= 3, "f32, f16, bf16, i32");
template <bool IS_FIRST, class FIRST, class SECOND>
struct choose_type {
  typedef FIRST type;
};
template <class FIRST, class SECOND>
struct choose_type<false, FIRST, SECOND> {
  typedef SECOND type;
};
typedef choose_type<C_IS_SUMS, sum_t, choose_type<C_FORM == 0, float, unsigned short>::type>::type c_element;

typedef sum_t wgmma_sums[TSL_PARAM_TILE_N / 8][4];

SM90_FUNCTION void wgmma_tile_multiply(wgmma_sums sums, descriptor_t a, descriptor_t b, bool add) {
  wgmma_multiply(TSL_PARAM_TILE_N, "m64n" WGMMA_TEXT(TSL_PARAM_TILE_N) WGMMA_DEPTH,
                 WGMMA_SUM "." WGMMA_TEXT(A_TYPE) "." WGMMA_TEXT(B_TYPE), WGMMA_FLAGS, WGMMA_REGISTER, sums,
                 a, b, add);
}

SM90_FUNCTION void wgmma_fence_sums(wgmma_sums *sums, int blocks) {
#pragma unroll
  for (int i = 0; i < blocks; i++)
#pragma unroll
    for (int j = 0; j < TSL_PARAM_TILE_N / 8; j++)
      wgmma_fence_operand(WGMMA_REGISTER, sums[i], j);
}

SM90_FUNCTION sum_t wgmma_tile_sum(unsigned word) {
  if constexpr (IS_INTEGER)
    return (int)word;
  else
    return __uint_as_float(word);
}

/* Boxes: 64 rows of 128 bytes in shared memory, chunks of 16 bytes swizzled by row. */

SM90_FUNCTION int swizzled(int row, int byte) {
  return row * 128 + (byte ^ (row % 8) << 4);
}

/* Returns the bits of alpha * sum. Even alpha 1 is multiplied: else the compiler stores directly from the
 * accumulators and waits for the next tile's wgmma. */
SM90_FUNCTION unsigned scaled(int sum, cuda_wgmma_scalar alpha) {
  return (unsigned)alpha.integer * (unsigned)sum;
}
SM90_FUNCTION unsigned scaled(float sum, cuda_wgmma_scalar alpha) {
  return __float_as_uint(alpha.real * sum);
}
/* Replaces alpha for scaled values in other registers than the accumulators. */
struct wgmma_identity_scale {};
SM90_FUNCTION unsigned scaled(int sum, wgmma_identity_scale) {
  return (unsigned)sum;
}
SM90_FUNCTION unsigned scaled(float sum, wgmma_identity_scale) {
  return __float_as_uint(sum);
}

/* Writes up to 32 columns from `column` on, times alpha, as words, to the thread's rows `row` and
 * `row` + `step`. Threads that swap write pairs of columns in another order, to use different banks. */
template <class ALPHA>
SM90_FUNCTION void wgmma_tile_put_words(shared_t end, wgmma_sums sums, int column, ALPHA alpha, int row,
                                        int step, bool swaps) {
  const int groups = (TSL_PARAM_TILE_N - column) / 8, odd = groups >= 4 ? 2 : 0, thread = threadIdx.x % 128;
#pragma unroll
  for (int x = 0; x < 4; x++) {
    if (x >= groups)
      break;
    const sum_t *own = sums[column / 8 + x], *other = sums[column / 8 + (x ^ odd)];
    const int byte = 32 * (swaps ? x ^ odd : x) + thread % 4 * 8;
#pragma unroll
    for (int e = 0; e < 4; e += 2) {
      const sum_t first = swaps ? other[e] : own[e], second = swaps ? other[e + 1] : own[e + 1];
      store_pair(end + swizzled(row + e / 2 * step, byte), scaled(first, alpha), scaled(second, alpha));
    }
  }
}
/* Writes them in the layout of wgmma's accumulators; odd rows swap. */
template <class ALPHA>
SM90_FUNCTION void wgmma_tile_put_words(shared_t end, wgmma_sums sums, int column, ALPHA alpha) {
  const int thread = threadIdx.x % 128, row = thread / 32 * 16 + thread % 32 / 4;
  wgmma_tile_put_words(end, sums, column, alpha, row, 8, row % 2 == 1);
}

/* Rounds two f32 to 16-bit elements of C, the first in the low half; includes a fused ReLU. */
SM90_FUNCTION unsigned c_pair(float first, float second) {
  unsigned out;
  if constexpr (C_FORM == 1 && C_PAIR_POSITIVE)
    asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  else if constexpr (C_FORM == 1)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  else if constexpr (C_PAIR_POSITIVE)
    asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  return out;
}
/* Returns two adjacent elements of C. The epilogue has put f32 bits into i32 sums. */
template <class ALPHA>
SM90_FUNCTION unsigned wgmma_tile_pair(const sum_t *sums, ALPHA alpha) {
  if constexpr (IS_INTEGER)
    return c_pair(__int_as_float(sums[0]), __int_as_float(sums[1]));
  else
    return c_pair(__uint_as_float(scaled(sums[0], alpha)), __uint_as_float(scaled(sums[1], alpha)));
}

/* Writes a box of C from `column` on: 32 columns of 4 bytes, or 64 of 2. */
template <class ALPHA>
SM90_FUNCTION void wgmma_tile_put(shared_t end, wgmma_sums sums, int column, ALPHA alpha) {
  if constexpr (!C_IS_16_BITS) {
    wgmma_tile_put_words(end, sums, column, alpha);
  } else {
    const int groups = (TSL_PARAM_TILE_N - column) / 8, thread = threadIdx.x % 128,
              row = thread / 32 * 16 + thread % 16;
#pragma unroll
    for (int x = 0; x < 4; x++) {
      if (2 * x >= groups) /* a narrow tile: C ends with the tile */
        break;
      const sum_t *left = sums[column / 8 + 2 * x],
                  *right = sums[column / 8 + (2 * x + 1 < groups ? 2 * x + 1 : 2 * x)];
      stmatrix_x4(end + swizzled(row, 32 * x + thread % 32 / 16 * 16), wgmma_tile_pair(left, alpha),
                  wgmma_tile_pair(left + 2, alpha), wgmma_tile_pair(right, alpha),
                  wgmma_tile_pair(right + 2, alpha));
    }
  }
}

/* Writes up to 64 columns from `column` on, times alpha, transposed: a line of a box has a column's 64 rows
 * of 2 bytes, or 32 rows of 4. Two boxes follow each other then. */
template <class ALPHA>
SM90_FUNCTION void wgmma_tile_put_columns(shared_t end, wgmma_sums sums, int column, ALPHA alpha) {
  const int groups = (TSL_PARAM_TILE_N - column) / 8, thread = threadIdx.x % 128;
  if constexpr (C_IS_16_BITS) {
    const int line = thread % 32 / 16 * 8 + thread % 8, byte = thread / 32 * 32 + thread / 8 % 2 * 16;
#pragma unroll
    for (int x = 0; x < 4; x++) {
      if (2 * x >= groups)
        break;
      const sum_t *left = sums[column / 8 + 2 * x],
                  *right = sums[column / 8 + (2 * x + 1 < groups ? 2 * x + 1 : 2 * x)];
      stmatrix_x4_trans(end + swizzled(16 * x + line, byte), wgmma_tile_pair(left, alpha),
                        wgmma_tile_pair(left + 2, alpha), wgmma_tile_pair(right, alpha),
                        wgmma_tile_pair(right + 2, alpha));
    }
  } else {
    const int row = thread / 32 * 16 + thread % 32 / 4;
    end += row / 32 * 64 * 128;
#pragma unroll
    for (int x = 0; x < 8; x++) {
      if (x >= groups)
        break;
#pragma unroll
      for (int e = 0; e < 4; e++)
        store_shared(end + swizzled(8 * x + thread % 4 * 2 + e % 2, (row % 32 + e / 2 * 8) * 4),
                     scaled(sums[column / 8 + x][e], alpha));
    }
  }
}

SM90_FUNCTION float c_to_f32(float x) {
  return x;
}
SM90_FUNCTION float c_to_f32(unsigned short bits) {
  float x;
  if constexpr (C_FORM == 1)
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  else
    x = __uint_as_float((unsigned)bits << 16);
  return x;
}

/* Stores alpha * sum (`scaled`: its bits) plus beta * C, rounded; with SPLIT the bits alone. */
template <class C_ELEMENT>
SM90_FUNCTION void wgmma_tile_store(C_ELEMENT *c, unsigned scaled, cuda_wgmma_scalar beta) {
  if constexpr (SPLIT) {
    *(unsigned *)c = scaled;
  } else if constexpr (C_FORM == 3) {
    *c = (int)(beta.integer == 0 ? scaled : scaled + (unsigned)beta.integer * (unsigned)*c);
  } else if constexpr (C_FORM == 0) {
    const float product = __uint_as_float(scaled);
    *c = beta.real == 0 ? product : __fmaf_rn(beta.real, *c, product);
  } else {
    const float product = __uint_as_float(scaled), before = beta.real != 0 ? c_to_f32(*c) : 0,
                sum = beta.real == 0 ? product : __fmaf_rn(beta.real, before, product);
    *c = (unsigned short)c_pair(sum, sum);
  }
}

#endif

/* What a warp of cuda_dmma multiplies at a time: its factors from shared
 * memory, and their products (instructions and who holds what: sm80.h).
 *
 * Complex numbers are four real products, re += a.re b.re - a.im b.im and im +=
 * a.re b.im + a.im b.re; the factors of a step are half as deep, so that
 * registers hold two of them. */
#include "cuda_dmma_panels.cu"

constexpr int BLOCKS_M = WARP_M / 16, BLOCKS_N = WARP_N / 8; /* of 16 rows and of 8 columns, in a warp */
constexpr int STEP = 8 / NUMBERS, STEPS = SLICE / STEP;      /* of k: what is multiplied at a time, and
                                       how often in a panel */

/* Real parts, then imaginary ones. */
typedef double warp_sums[NUMBERS][BLOCKS_M][BLOCKS_N][4];

#if NUMBERS == 1

struct factors {
  double a[BLOCKS_M][4], b[BLOCKS_N][2];
};

SM80_FUNCTION void load_factors(factors &target, shared_t a, shared_t b, int step) {
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
    for (int e = 0; e < 4; e++)
      target.a[i][e] = load_double(a + place<A_MN_MAJOR, TILE_M>(16 * i + e % 2 * 8, step * STEP + e / 2 * 4));
#pragma unroll
  for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
    for (int e = 0; e < 2; e++)
      target.b[j][e] = load_double(b + place<B_MN_MAJOR, TILE_N>(8 * j, step * STEP + e * 4));
}

/* `between` is called after each row of blocks: what it does goes on while
 * tensor cores multiply. */
template <typename function>
SM80_FUNCTION void multiply(warp_sums sums, const factors &from, function between) {
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++) {
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
      dmma_16x8x8(sums[0][i][j], from.a[i], from.b[j]);
    between(i);
  }
}

#else

struct factors {
  double a[NUMBERS][BLOCKS_M][2], b[NUMBERS][BLOCKS_N];
};

SM80_FUNCTION void load_factors(factors &target, shared_t a, shared_t b, int step) {
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const double2 value = load_doubles(a + place<A_MN_MAJOR, TILE_M>(16 * i + e * 8, step * STEP));
      target.a[0][i][e] = value.x, target.a[1][i][e] = CONJUGATE_A * value.y;
    }
#pragma unroll
  for (int j = 0; j < BLOCKS_N; j++) {
    const double2 value = load_doubles(b + place<B_MN_MAJOR, TILE_N>(8 * j, step * STEP));
    target.b[0][j] = value.x, target.b[1][j] = CONJUGATE_B * value.y;
  }
}

/* Likewise. Products of the same sums are as far apart as may be. */
template <typename function>
SM80_FUNCTION void multiply(warp_sums sums, const factors &from, function between) {
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++) {
    const double negative[2] = {-from.a[1][i][0], -from.a[1][i][1]};
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
      dmma_16x8x4(sums[0][i][j], from.a[0][i], from.b[0][j]);
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
      dmma_16x8x4(sums[1][i][j], from.a[0][i], from.b[1][j]);
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
      dmma_16x8x4(sums[0][i][j], negative, from.b[1][j]);
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
      dmma_16x8x4(sums[1][i][j], from.a[1][i], from.b[0][j]);
    between(i);
  }
}

#endif

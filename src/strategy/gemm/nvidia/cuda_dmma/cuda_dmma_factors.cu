/* A step of a warp: fragments from shared memory, and their products (instructions: sm80.h). Complex elements
 * are four real products: re += a.re b.re - a.im b.im and im += a.re b.im + a.im b.re. Their steps are half
 * as deep, so that two sets of fragments fit in registers. */
#include "cuda_dmma_panels.cu"

/* Blocks of 16 rows and of 8 columns of a warp. */
constexpr int BLOCKS_M = WARP_M / 16, BLOCKS_N = WARP_N / 8;
constexpr int STEP = 8 / NUMBERS, STEPS = SLICE / STEP; /* k of a step, and steps of a slice */

/* Accumulators: real parts, then imaginary parts. */
typedef double warp_sums[NUMBERS][BLOCKS_M][BLOCKS_N][4];

/* load_factors() loads the fragments of step `step`; a and b: place of the thread's first line. */
#if NUMBERS == 1

/* A thread's fragments for one step. */
struct factors {
  double a[BLOCKS_M][4], b[BLOCKS_N][2];
};

SM80_FUNCTION void load_factors(factors &target, shared_t a, shared_t b, int step) {
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
    for (int e = 0; e < 4; e++)
      target.a[i][e] =
          load_double(a + place<A_MN_MAJOR, TILE_M>(16 * i + e % 2 * 8, step * STEP + e / 2 * 4));
#pragma unroll
  for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
    for (int e = 0; e < 2; e++)
      target.b[j][e] = load_double(b + place<B_MN_MAJOR, TILE_N>(8 * j, step * STEP + e * 4));
}

/* Adds a step's products to `sums`. Calls `between(i)` after each row of blocks, to issue copies. */
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

/* Adds the complex products of a step. Products of equal sums are far apart, to hide latency. */
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

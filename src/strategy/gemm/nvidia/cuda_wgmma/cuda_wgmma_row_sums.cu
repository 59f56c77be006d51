/* Sums of C's rows over the columns of a tile, for a verification (tsl_row_sums of strategy/run_hints.h).
 * They are of the elements that are stored; with a fused epilogue, of the accumulators. Sums of floats are in
 * f32:
 *
 *   lanes 0 to 3 have columns 0 1 | 2 3 | 4 5 | 6 7 of each 8    BLOCK_N / 4 numbers follow one another, then
 *                                                                two sums of lanes
 */
#include "checksum_weights.h"

/* Returns two adjacent elements as they are stored, unless an epilogue follows. */
SM90_FUNCTION void get_stored(const sum_t *sums, cuda_wgmma_scalar alpha, float x[2]) {
  x[0] = __uint_as_float(scaled(sums[0], alpha));
  x[1] = __uint_as_float(scaled(sums[1], alpha));
  if constexpr (C_IS_16_BITS && !FINISH) {
    const unsigned pair = c_pair(x[0], x[1]);
    x[0] = c_to_f32((unsigned short)pair);
    x[1] = c_to_f32((unsigned short)(pair >> 16));
  }
}

SM90_FUNCTION float sum_four_lanes(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

/* Stores the sums of the warpgroup's rows of a tile. */
SM90_FUNCTION void store_row_sums(char *row_sums, wgmma_sums sums[WAVES], const work_tile &tile,
                                  const cuda_wgmma_arguments &args) {
  static_assert(BLOCK_N % 32 == 0 && !A_FROM_REGISTERS && !IS_INTEGER,
                "bits of 32 columns; rows of accumulators");
  const int thread = threadIdx.x % 128, own = thread % 4 * 2;
  float weighted[WAVES][2] = {}, sizes[WAVES][2] = {};
#pragma unroll
  for (int j = 0; j < BLOCK_N / 8; j++) {
    const unsigned bits = checksum_bits((tile.col >> 5) + j / 4);
    float weight[2];
#pragma unroll
    for (int e = 0; e < 2; e++)
      weight[e] = __uint_as_float(0x3f800000u | checksum_sign(bits, j % 4 * 8 + own + e));
#pragma unroll
    for (int i = 0; i < WAVES * 2; i++) {
      float x[2];
      get_stored(sums[i / 2][j] + i % 2 * 2, args.alpha, x);
#pragma unroll
      for (int e = 0; e < 2; e++) {
        weighted[i / 2][i % 2] += weight[e] * x[e];
        sizes[i / 2][i % 2] += fabsf(x[e]);
      }
    }
  }
  double *const out = (double *)(row_sums + args.row_sums) + (long long)(tile.col / BLOCK_N) * args.m;
#pragma unroll
  for (int i = 0; i < WAVES * 2; i++) {
    const int row = tile.row + rows_above() + i / 2 * 64 + thread / 32 * 16 + thread % 32 / 4 + i % 2 * 8;
    const float sum = sum_four_lanes(weighted[i / 2][i % 2]), size = sum_four_lanes(sizes[i / 2][i % 2]);
    if (own != 0 || row >= args.m)
      continue;
    out[row] = sum;
    out[(long long)args.tiles_n * args.m + row] = size;
  }
}

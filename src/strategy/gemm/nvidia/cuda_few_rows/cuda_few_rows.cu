/* Idea: a product of few rows takes the time in which memory delivers the large factor. Warps load it
 * straight to registers and multiply by tensor cores, without panels, barriers or a second launch. Beyond
 * cuda_mma: a block reads long contiguous parts of few lines, its warps share k, and it prefetches before it
 * may start.
 *
 *   B, transposed:   k ->                             a warp's loads of a step, 64 bytes of 8 lines:
 *     line 0        | piece 0  | piece 1  | ...         line 0 | lane 0 | lane 1 | lane 2 | lane 3 |
 *     ...           | (warp 0) | (warp 1) |             line 1 | lane 4 | ...
 *     line 15       |          |          |                    16 bytes each
 *     lines 16 on: further warps of the block, which load the same pieces of A from L1
 *
 * A piece has FLIGHT steps of 16 lines; all its loads are on their way at once. A and B have one order of k,
 * in which their lanes hold it: words 0 and 1 of all lanes, then words 2 and 3. Lines outside of a matrix are
 * copies of its last line, whose sums are not stored. In the end the block adds its warps' sums in order.
 *
 * Blocks of the next launch become resident early and prefetch their first steps to L2. That is valid
 * whenever it was read, because all multiprocessors write to memory through L2.
 *
 * Lines that are not aligned, and the rest of k after the last whole step, are loaded element by element.
 *
 * Parameters: TSL_PARAM_TILE_N, _WARPS. Defines of the host: ROWS (8 or 16: most rows of C), RESIDENT
 * (blocks of a multiprocessor), ELEMENT (bytes), A_TYPE, B_TYPE (PTX types), IS_EIGHT (8-bit floating point),
 * C_FORM (0 f32, 1 f16, 2 bf16, 3 i32). Limits: sm_80; 8-bit floating point sm_89; m <= 16; n, k < 2^30. */
#define SPLIT 0
#include "../sm80/sm80_number.cu"
#include "cuda_few_rows_shared.h"

constexpr int TILE_N = TSL_PARAM_TILE_N, WARP_N = 16, WARPS = TSL_PARAM_WARPS, FLIGHT = 4,
              WARPS_N = TILE_N / WARP_N, BLOCKS_M = 1, BLOCKS_N = WARP_N / 8, ROW_BLOCKS = ROWS / 8,
              THREADS = 32 * WARPS * WARPS_N,
              A_FLIGHT = FLIGHT / ROW_BLOCKS; /* steps of A that are on their way, from L1 or L2 */
#include "../cuda_mma/cuda_mma_products.cu"

typedef either<ELEMENT == 1, unsigned char, either<ELEMENT == 2, unsigned short, unsigned>::type>::type
    element;
constexpr int CHUNK = 16 / ELEMENT, STEP = 4 * CHUNK, WORD = 4 / ELEMENT; /* elements of k */

/* Returns the warp's place along k, and along n: adjacent warps share A. */
SM80_FUNCTION int warp_of_k() {
  return threadIdx.x / 32 / WARPS_N;
}
SM80_FUNCTION int warp_of_n() {
  return threadIdx.x / 32 % WARPS_N;
}

/* This thread's lines, at its chunk of the first step. */
struct lane_lines {
  const element *a[ROW_BLOCKS], *b[BLOCKS_N];
};

/* A step's chunks. */
struct step_words {
  unsigned a[ROW_BLOCKS][4], b[BLOCKS_N][4];
};

SM80_FUNCTION lane_lines get_lines(const element *a, const element *b, int col,
                                   const cuda_few_rows_arguments &args) {
  const int line = threadIdx.x % 32 / 4, k = threadIdx.x % 4 * CHUNK;
  lane_lines lines;
#pragma unroll
  for (int i = 0; i < ROW_BLOCKS; i++)
    lines.a[i] = a + args.a.offset + min(8 * i + line, args.m - 1) * args.a.row + k * args.a.col;
#pragma unroll
  for (int j = 0; j < BLOCKS_N; j++)
    lines.b[j] = b + args.b.offset + min(col + 8 * j + line, args.n - 1) * args.b.col + k * args.b.row;
  return lines;
}

/* Adds the products of a step: words 0 and 1 of each line, then 2 and 3. */
SM80_FUNCTION void multiply_step(warp_sums sums, const step_words &words) {
#pragma unroll
  for (int w = 0; w < 4; w += 2) {
    factors held;
#pragma unroll
    for (int e = 0; e < 4; e++)
      held.a[0][e] = words.a[e % 2 % ROW_BLOCKS][w + e / 2];
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
      for (int e = 0; e < 2; e++)
        held.b[j / 2][j % 2 * 2 + e] = words.b[j][w + e];
    if (ELEMENT == 4) {
      round_to_tf32(held.a[0]);
#pragma unroll
      for (int j = 0; j < BLOCKS_N / 2; j++)
        round_to_tf32(held.b[j]);
    }
    multiply(sums, held, [](int) {});
  }
}

/* Adds the products of whole steps, each warp FLIGHT steps at a time. */
SM80_FUNCTION void multiply_whole(warp_sums sums, const lane_lines &lines, int steps) {
#pragma unroll 1
  for (int first = warp_of_k() * FLIGHT; first < steps; first += WARPS * FLIGHT) {
    step_words words[FLIGHT];
#pragma unroll
    for (int s = 0; s < FLIGHT; s++)
#pragma unroll
      for (int j = 0; j < BLOCKS_N; j++)
        load_words_if<false>(words[s].b[j], first + s < steps, lines.b[j] + (first + s) * STEP);
    if (first + WARPS * FLIGHT >= steps)
      grid_dependency_launch(); /* all loads of B are issued */
#pragma unroll
    for (int s = 0; s < FLIGHT; s++) {
      if (s % A_FLIGHT == 0)
#pragma unroll
        for (int t = s; t < s + A_FLIGHT; t++)
#pragma unroll
          for (int i = 0; i < ROW_BLOCKS; i++)
            load_words_if<true>(words[t].a[i], first + t < steps, lines.a[i] + (first + t) * STEP);
      multiply_step(sums, words[s]);
    }
  }
}

/* Loads a chunk element by element; zeros after the first `count`. */
SM80_FUNCTION void gather_chunk(unsigned (&words)[4], const element *from, long long step, int count) {
#pragma unroll
  for (int w = 0; w < 4; w++) {
    words[w] = 0;
#pragma unroll
    for (int e = w * WORD; e < (w + 1) * WORD; e++)
      words[w] |= load_if<ELEMENT>(e < count, from + e * step) << 8 * ELEMENT * (e % WORD);
  }
}

/* Adds the products of steps from `step` on, up to a part of a step at the end of k. */
SM80_FUNCTION void multiply_rest(warp_sums sums, const lane_lines &lines, int step,
                                 const cuda_few_rows_arguments &args) {
#pragma unroll 1
  for (step += warp_of_k(); step * STEP < args.k; step += WARPS) {
    const int k = step * STEP, count = args.k - k - threadIdx.x % 4 * CHUNK;
    step_words words;
#pragma unroll
    for (int i = 0; i < ROW_BLOCKS; i++)
      gather_chunk(words.a[i], lines.a[i] + k * args.a.col, args.a.col, count);
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
      gather_chunk(words.b[j], lines.b[j] + k * args.b.row, args.b.row, count);
    multiply_step(sums, words);
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    tsl_gemm_cuda_few_rows(const element *a, const element *b, c_number *c,
                           const __grid_constant__ cuda_few_rows_arguments args) {
  __shared__ sum_t parts[WARPS][WARPS_N][BLOCKS_N * 4][32];
  const int lane = threadIdx.x % 32, col = blockIdx.x * TILE_N;
  if (args.ahead > 0 && threadIdx.x < TILE_N && col + threadIdx.x < args.n)
    prefetch_bulk(b + args.b.offset + (col + threadIdx.x) * args.b.col, args.ahead);
  const lane_lines lines = get_lines(a, b, col + warp_of_n() * WARP_N, args);
  warp_sums sums;
  clear_sums(sums);
  const int whole = args.is_wide ? args.k / STEP : 0;
  grid_dependency_wait();
  multiply_whole(sums, lines, whole);
  multiply_rest(sums, lines, whole, args);
#pragma unroll
  for (int i = 0; i < BLOCKS_N * 4; i++)
    parts[warp_of_k()][warp_of_n()][i][lane] = sums[0][i / 4][i % 4];
  __syncthreads();
#pragma unroll 1
  for (int e = threadIdx.x; e < ROWS * TILE_N; e += THREADS) {
    const int row = e / TILE_N, x = e % TILE_N, n = x / WARP_N, holder = row % 8 * 4 + x % 8 / 2,
              i = x % WARP_N / 8 * 4 + row / 8 * 2 + x % 2;
    sum_t sum = parts[0][n][i][holder];
#pragma unroll
    for (int w = 1; w < WARPS; w++)
      sum += parts[w][n][i][holder];
    if (row < args.m && col + x < args.n)
      store_number(c + args.c.offset + row * args.c.row + (col + x) * args.c.col, sum, args.scalars);
  }
}

/* Split-k reduction of cuda_wgmma.cu: C from the sums of all parts. With no parts the sums are 0: the only
 * kernel for k = 0, where blockIdx.y runs over the products of a batch.
 *   sums: | part 0: rows of `pitch` sums | part 1 | ...    a block: ACROSS elements by SHARES groups of parts
 * Each of SHARES groups of ACROSS threads adds a consecutive range of parts, in order, one element a thread.
 * The first group then adds the groups' sums, in order, so that equal parts always give equal bits.
 * Consecutive threads take elements along rows of C or, where C's columns are dense, down strips of 8
 * columns: 8 sums are one memory sector.
 * Defines of the host: SHARES, 1 to 8; others as in cuda_wgmma.cu. */
#include "cuda_wgmma_shared.h"
#include "sm90.h"

#define SPLIT 0
#define TSL_PARAM_TILE_N 8
#define ELEMENT 2
#define A_MN_MAJOR 0
#define B_MN_MAJOR 0
#include "wgmma_tile.h"

constexpr int BLOCK_N = 8, WAVES = 1;
#include "cuda_wgmma_epilogue.cu"

constexpr int ITEMS = 256, ACROSS = ITEMS / SHARES;

/* Computes the position of element `i` of C; rows_first: numbered down strips of eight columns. */
SM90_FUNCTION void find_element(long long i, bool rows_first, const cuda_wgmma_fold_arguments &args,
                                long long &row, long long &col) {
  constexpr int WIDE = 8;
  if (!rows_first) {
    row = i / args.n, col = i % args.n;
    return;
  }
  const long long first = i / (WIDE * args.m) * WIDE, inside = i - first * args.m,
                  wide = min(args.n - first, (long long)WIDE);
  row = inside / wide, col = first + inside % wide;
}

SM90_FUNCTION void reduce_parts(sum_t shares[SHARES][ACROSS], c_element *c, const sum_t *sums,
                                long long sums_offset, int product, const epilogue_vectors &vectors,
                                const cuda_wgmma_fold_arguments &args) {
  const int lane = threadIdx.x % ACROSS, own = threadIdx.x / ACROSS;
  const int first = args.parts * own / SHARES, end = args.parts * (own + 1) / SHARES;
  const bool rows_first = args.c_row == 1 && args.c_col != 1;
  const long long count = args.m * args.n;
  for (long long start = (long long)ACROSS * blockIdx.x; start < count;
       start += (long long)ACROSS * gridDim.x) {
    const long long i = start + lane < count ? start + lane : count - 1;
    long long row, col;
    find_element(i, rows_first, args, row, col);
    const sum_t *from = sums + sums_offset + first * args.part + row * args.pitch + col;
    sum_t sum = 0;
#pragma unroll 8
    for (int p = first; p < end; p++, from += args.part)
      sum += *from;
    shares[own][lane] = sum;
    __syncthreads();
    if (own == 0 && start + lane < count) {
#pragma unroll
      for (int s = 1; s < SHARES; s++)
        sum += shares[s][lane];
      store_element(c + args.c_offset + row * args.c_row + col * args.c_col, sum, args.alpha, (int)row,
                    (int)col, product, vectors, args.beta, args.parts > 0);
    }
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(ITEMS)
    tsl_gemm_cuda_wgmma_fold(c_element *c, const sum_t *sums, long long sums_offset,
                             const __grid_constant__ cuda_wgmma_fold_arguments args,
                             const epilogue_bias *bias, const float *scale_a, const float *scale_b,
                             const __grid_constant__ cuda_wgmma_finish steps) {
  const epilogue_vectors vectors = {bias, scale_a, scale_b, &steps};
  __shared__ sum_t shares[SHARES][ACROSS];
  grid_dependency_launch();
  grid_dependency_wait();
  for (int product = blockIdx.y; product < args.products; product += gridDim.y)
    reduce_parts(shares, c + product * args.c_step, sums, sums_offset, product, vectors, args);
}

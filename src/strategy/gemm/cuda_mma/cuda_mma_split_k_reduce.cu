/* The last step where cuda_mma.cu splits k: C from the sums of all parts. Also the only one where there are no products: of no parts
 * the sum is 0.
 *
 *   sums: | part 0: rows of `pitch` sums | part 1 | ...        a block: ACROSS elements of C by SHARES shares of the parts
 *
 * ACROSS threads of a block add up a share of the parts, each for an element, in their order; the first of them add up what all have,
 * in their order, so that the same parts always give the same bits.
 *
 * From the host: C_FORM, as cuda_mma.cu; SHARES, 1 to 8. */
#define SPLIT 0
#include "cuda_mma_number.cu"

constexpr int ITEMS = 256, ACROSS = ITEMS / SHARES;

extern "C" __global__ void __launch_bounds__(ITEMS)
    tsl_gemm_cuda_mma_fold(c_number *c, const sum_t *sums, long long sums_offset,
                           const __grid_constant__ cuda_mma_fold_arguments args) {
  __shared__ sum_t shares[SHARES][ACROSS];
  const int lane = threadIdx.x % ACROSS, own = threadIdx.x / ACROSS;
  const int first = args.parts * own / SHARES, end = args.parts * (own + 1) / SHARES;
  const long long count = args.m * args.n;
  c += blockIdx.y * args.c_step;
  grid_dependency_wait();
  for (long long start = (long long)ACROSS * blockIdx.x; start < count;
       start += (long long)ACROSS * gridDim.x) {
    const long long i = start + lane < count ? start + lane : count - 1, row = i / args.n, col = i % args.n;
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
      store_number(c + args.c.offset + row * args.c.row + col * args.c.col, sum, args.alpha, args.beta);
    }
    __syncthreads();
  }
}

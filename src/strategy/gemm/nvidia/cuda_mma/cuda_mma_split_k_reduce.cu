/* Split-k reduction of cuda_mma.cu: C from the sums of all parts. With no parts the sums are 0: the only
 * kernel for k = 0.
 *   sums: | part 0: rows of `pitch` sums | part 1 | ...    a block: ACROSS elements by SHARES groups of parts
 * Each of SHARES groups of ACROSS threads adds a consecutive range of parts, in order, one element a thread.
 * The first group then adds the groups' sums, in order, so that equal parts always give equal bits. Defines
 * of the host: C_FORM, as in cuda_mma.cu; SHARES, 1 to 8. */
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

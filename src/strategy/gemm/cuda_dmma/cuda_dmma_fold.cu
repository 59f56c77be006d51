/* The last step where cuda_dmma.cu splits k: C from the sums of all parts. Also the only one where there are no products: of no
 * parts the sum is 0.
 *
 *   sums: | part 0: rows of `pitch` sums | part 1 | ...        a block: 32 elements of C by 8 shares of the parts
 *
 * Each warp of a block adds up a share of the parts for 32 elements, in their order; the first warp adds up what the eight have, in
 * their order, so that the same parts always give the same bits. */
#include "cuda_dmma_shared.h"
#include "sm80.h"

constexpr int SHARES = 8;

extern "C" __global__ void __launch_bounds__(32 * SHARES)
    tsl_gemm_cuda_dmma_fold(double *c, const double *sums,
                            const __grid_constant__ cuda_dmma_fold_arguments given) {
  __shared__ double shares[SHARES][32];
  const int lane = threadIdx.x % 32, own = threadIdx.x / 32;
  const int first = given.parts * own / SHARES, end = given.parts * (own + 1) / SHARES;
  const long long count = given.m * given.n;
  c += blockIdx.y * given.c_step;
  dependency_wait();
  for (long long start = 32ll * blockIdx.x; start < count; start += 32ll * gridDim.x) {
    const long long i = start + lane < count ? start + lane : count - 1, row = i / given.n, col = i % given.n;
    const double *from = sums + first * given.part + row * given.pitch + col;
    double sum = 0;
#pragma unroll 8
    for (int p = first; p < end; p++, from += given.part)
      sum += *from;
    shares[own][lane] = sum;
    __syncthreads();
    if (own == 0 && start + lane < count) {
#pragma unroll
      for (int s = 1; s < SHARES; s++)
        sum += shares[s][lane];
      double *to = c + given.c.offset + row * given.c.row + col * given.c.col;
      *to = given.beta == 0 ? given.alpha * sum : fma(given.beta, *to, given.alpha * sum);
    }
    __syncthreads();
  }
}

/* Split-k reduction of cuda_dmma.cu: C from the sums of all parts. With no parts the sums are 0: the only
 * kernel for k = 0.
 *   sums: | part 0: rows of `pitch` sums | part 1 | ...        a block: 32 elements of C by 8 groups of parts
 * Each warp of a block adds a consecutive range of parts for 32 elements, in order. The first warp then adds
 * the eight sums, in order, so that equal parts always give equal bits. */
#include "cuda_dmma_number.cu"
#include "cuda_dmma_shared.h"

constexpr int SHARES = 8;

extern "C" __global__ void __launch_bounds__(32 * SHARES)
    tsl_gemm_cuda_dmma_fold(double *c, const double *sums,
                            const __grid_constant__ cuda_dmma_fold_arguments args) {
  __shared__ double shares[SHARES][NUMBERS][32];
  const int lane = threadIdx.x % 32, own = threadIdx.x / 32;
  const int first = args.parts * own / SHARES, end = args.parts * (own + 1) / SHARES;
  const long long count = args.m * args.n;
  c += blockIdx.y * args.c_step * NUMBERS;
  if (is_unwanted(args.wanted, args.wanted_above))
    return;
  grid_dependency_wait();
  for (long long start = 32ll * blockIdx.x; start < count; start += 32ll * gridDim.x) {
    const long long i = start + lane < count ? start + lane : count - 1, row = i / args.n, col = i % args.n;
    const double *from = sums + NUMBERS * (first * args.part + row * args.pitch + col);
    double sum[NUMBERS] = {};
#pragma unroll 8
    for (int p = first; p < end; p++, from += NUMBERS * args.part)
#pragma unroll
      for (int e = 0; e < NUMBERS; e++)
        sum[e] += from[e];
#pragma unroll
    for (int e = 0; e < NUMBERS; e++)
      shares[own][e][lane] = sum[e];
    __syncthreads();
    if (own == 0 && start + lane < count) {
#pragma unroll
      for (int s = 1; s < SHARES; s++)
#pragma unroll
        for (int e = 0; e < NUMBERS; e++)
          sum[e] += shares[s][e][lane];
      double *to = c + NUMBERS * (args.c.offset + row * args.c.row + col * args.c.col);
#if NUMBERS == 2
      double2 value = scaled(make_double2(sum[0], sum[1]), args.alpha);
      if (args.beta[0] != 0 || args.beta[1] != 0) {
        const double2 before = scaled(make_double2(to[0], to[1]), args.beta);
        value.x += before.x, value.y += before.y;
      }
      to[0] = value.x, to[1] = value.y;
#else
      *to = args.beta[0] == 0 ? args.alpha[0] * sum[0] : fma(args.beta[0], *to, args.alpha[0] * sum[0]);
#endif
    }
    __syncthreads();
  }
}

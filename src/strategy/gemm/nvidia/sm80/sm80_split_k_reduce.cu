/* Split-k reduction of the sm_80 base: C from the sums of all parts. With no parts the sums are 0: the only
 * kernel for k = 0.
 *   sums: | part 0: rows of `pitch` sums | part 1 | ...    a block: ACROSS elements by SHARES groups of parts
 * Each of SHARES groups of ACROSS threads adds a consecutive range of parts, in order, one element a thread.
 * The first group then adds the groups' sums, in order, so that equal parts always give equal bits. Defines
 * of the host: C_FORM (sm80_number.cu); SHARES, 1 to 8. */
#define SPLIT 0
#include "sm80_number.cu"

constexpr int ITEMS = 256, ACROSS = ITEMS / SHARES, NUMBERS = IS_COMPLEX ? 2 : 1 /* of an element */;

SM80_FUNCTION real_t joined(const real_t (&sum)[1]) {
  return sum[0];
}
SM80_FUNCTION real_pair joined(const real_t (&sum)[2]) {
  return make_pair(sum[0], sum[1]);
}

extern "C" __global__ void __launch_bounds__(ITEMS)
    tsl_gemm_sm80_reduce(c_number *c, const real_t *sums, long long sums_offset,
                         const __grid_constant__ sm80_reduce_arguments args) {
  __shared__ real_t shares[SHARES][NUMBERS][ACROSS];
  const int lane = threadIdx.x % ACROSS, own = threadIdx.x / ACROSS;
  const int first = args.parts * own / SHARES, end = args.parts * (own + 1) / SHARES;
  const long long count = args.m * args.n;
  c += blockIdx.y * args.c_step;
  if (C_FORM >= 4 && is_unwanted(args.wanted, args.wanted_above))
    return;
  grid_dependency_wait();
  for (long long start = (long long)ACROSS * blockIdx.x; start < count;
       start += (long long)ACROSS * gridDim.x) {
    const long long i = start + lane < count ? start + lane : count - 1, row = i / args.n, col = i % args.n;
    const real_t *from = sums + sums_offset + NUMBERS * (first * args.part + row * args.pitch + col);
    real_t sum[NUMBERS]; /* added to -0, the first part's sum keeps its sign */
#pragma unroll
    for (int e = 0; e < NUMBERS; e++)
      sum[e] = args.parts > 0 ? -(real_t)0 : 0;
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
      store_number(c + args.c.offset + row * args.c.row + col * args.c.col, joined(sum), args.scalars);
    }
    __syncthreads();
  }
}

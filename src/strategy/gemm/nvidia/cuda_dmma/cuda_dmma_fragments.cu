/* A step of a warp: fragments from shared memory, and their products (instructions: sm80.h). Complex elements
 * are four real products: re += a.re b.re - a.im b.im and im += a.re b.im + a.im b.re. Their steps are half
 * as deep, so that two sets of fragments fit in registers. */
#include "cuda_dmma_panels.cu"

/* Blocks of 16 rows and of 8 columns of a warp. */
constexpr int BLOCKS_M = WARP_M / 16, BLOCKS_N = WARP_N / 8;
constexpr int STEP = 8 / NUMBERS, STEPS = SLICE / STEP; /* k of a step, and steps of a slice */

/* Accumulators: real parts, then imaginary parts. */
typedef double warp_sums[NUMBERS][BLOCKS_M][BLOCKS_N][4];

/* Returns this thread's row in its warp's first block, within the tile. */
SM80_FUNCTION int own_row() {
  return threadIdx.x / 32 % WARPS / WARPS_N * WARP_M + threadIdx.x % 32 / 4;
}
SM80_FUNCTION int warp_col() {
  return threadIdx.x / 32 % WARPS_N * WARP_N;
}
SM80_FUNCTION int own_col() {
  return threadIdx.x / 32 % WARPS_N * WARP_N + threadIdx.x % 32 / 4;
}
SM80_FUNCTION int own_k() {
  return threadIdx.x / 32 / WARPS * SLICE + threadIdx.x % 4;
}
SM80_FUNCTION int own_slice() {
  return threadIdx.x / 32 / WARPS;
}

/* A thread's fragments for one step; load_factors() loads those of step `step`. */
#if C_FORM == 4

struct factors {
  double a[BLOCKS_M][4], b[BLOCKS_N][2];
};

template <class A, class B>
SM80_FUNCTION void load_factors(factors &target, shared_t stage, shared_t first_a, shared_t first_b,
                                int step) {
  const shared_t a = stage + first_a, b = stage + first_b;
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
    for (int e = 0; e < 4; e++)
      target.a[i][e] = load_double(a + A::place(16 * i + e % 2 * 8, step * STEP + e / 2 * 4));
#pragma unroll
  for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
    for (int e = 0; e < 2; e++)
      target.b[j][e] = load_double(b + B::place(8 * j, step * STEP + e * 4));
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

template <class A, class B>
SM80_FUNCTION void load_factors(factors &target, shared_t stage, shared_t first_a, shared_t first_b,
                                int step) {
  const shared_t a = stage + first_a, b = stage + first_b;
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const double2 value = load_doubles(a + A::place(16 * i + e * 8, step * STEP));
      target.a[0][i][e] = value.x, target.a[1][i][e] = CONJUGATE_A * value.y;
    }
#pragma unroll
  for (int j = 0; j < BLOCKS_N; j++) {
    const double2 value = load_doubles(b + B::place(8 * j, step * STEP));
    target.b[0][j] = value.x, target.b[1][j] = CONJUGATE_B * value.y;
  }
}

/* Adds the complex products of a step. The first product of an imaginary part has A's real part, also if A
 * and B are swapped: C's layout changes no bits. Products of equal sums are far apart, to hide latency. */
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
      dmma_16x8x4(sums[1][i][j], from.a[SWAPPED][i], from.b[1 - SWAPPED][j]);
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
      dmma_16x8x4(sums[0][i][j], negative, from.b[1][j]);
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
      dmma_16x8x4(sums[1][i][j], from.a[1 - SWAPPED][i], from.b[SWAPPED][j]);
    between(i);
  }
}

#endif

/* Issues part PART of PARTS of a panel's copies, if the panel is whole. */
template <class PANEL, int PART, int PARTS>
SM80_FUNCTION void issue_part(shared_t panel, copy_source &source, bool is_whole) {
  typedef copies<PANEL> each;
#pragma unroll
  for (int i = each::COUNT * PART / PARTS; i < each::COUNT * (PART + 1) / PARTS; i++) {
#pragma unroll
    for (int half = 0; half < PANEL::HALVES; half++)
      cp_async_if<PANEL::COPY>(is_whole, panel + source.to + i * each::APART * PANEL::PITCH + 8 * half,
                               (const char *)source.from + 8 * half);
    source.from += i + 1 < each::COUNT ? source.step : source.turn;
    make_opaque(source.from); /* otherwise the compiler multiplies for each copy */
  }
}

/* Issues the copies of a slot to `stage`, if the panel is whole. Slots are positions between products of a
 * step: A begins in the first slot and in the middle of the first step, B at its end. */
template <class A, class B>
SM80_FUNCTION void issue_copies(shared_t stage, copy_source &a, copy_source &b, int slot, bool is_whole) {
  if (slot == ALL_SLOTS) {
    issue_part<A, 0, 1>(stage, a, is_whole);
  } else {
    if (slot == 0)
      issue_part<A, 0, 2>(stage, a, is_whole);
    if (slot == BLOCKS_M / 2)
      issue_part<A, 1, 2>(stage, a, is_whole);
  }
  if (slot == ALL_SLOTS || slot == BLOCKS_M - 1)
    issue_part<B, 0, 1>(stage + A_BYTES, b, is_whole);
}

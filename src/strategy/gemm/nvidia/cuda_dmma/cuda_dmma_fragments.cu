/* A step of a warp: fragments from shared memory, and their products (instructions: sm80.h). Complex elements
 * are four real products: re += a.re b.re - a.im b.im and im += a.re b.im + a.im b.re. Their steps are half
 * as deep, so that two sets of fragments fit in registers. Tensor cores have no
 * f32: for c64 a thread multiplies its rows and columns of the blocks by FMA, one k a step. */
#include "cuda_dmma_panels.cu"

/* Blocks of 16 rows and of 8 columns of a warp. */
constexpr int BLOCKS_M = WARP_M / 16, BLOCKS_N = WARP_N / 8;
constexpr int STEP = C_FORM == 6 ? 1 : 8 / NUMBERS,
              STEPS = SLICE / STEP; /* k of a step, and steps of a slice */
/* A panel of FMA for c64 would exceed the instruction cache; longer code also has more register conflicts. */
constexpr int UNROLLED = C_FORM == 6 ? 2 : STEPS;

/* Accumulators: real parts, then imaginary parts. */
typedef real_t warp_sums[NUMBERS][BLOCKS_M][BLOCKS_N][4];

/* Returns this thread's row in its warp's first block, within the tile. */
SM80_FUNCTION int own_row() {
  return threadIdx.x / 32 % WARPS / WARPS_N * WARP_M + threadIdx.x % 32 / 4;
}
SM80_FUNCTION int warp_col() {
  return threadIdx.x / 32 % WARPS_N * WARP_N;
}
SM80_FUNCTION int own_col() {
  return warp_col() + (C_FORM == 6 ? threadIdx.x % 4 * 2 : threadIdx.x % 32 / 4);
}
SM80_FUNCTION int own_k() {
  return threadIdx.x / 32 / WARPS * SLICE + (C_FORM == 6 ? 0 : threadIdx.x % 4);
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

#elif C_FORM == 6

struct factors {
  float2 a[2 * BLOCKS_M], b[2 * BLOCKS_N];
};

template <class A, class B>
SM80_FUNCTION void load_factors(factors &target, shared_t stage, shared_t first_a, shared_t first_b,
                                int step) {
  const shared_t b = stage + first_b;
#pragma unroll
  for (int j = 0; j < BLOCKS_N; j++) {
    float2 *to = target.b + 2 * j;
    if constexpr (B::MN_MAJOR) {
      load_floats(to[0], to[1], b + B::place(8 * j, step));
    } else {
      to[0] = load_floats(b + B::place(8 * j, step));
      to[1] = load_floats(b + B::place(8 * j + 1, step));
    }
    to[0].y *= CONJUGATE_B, to[1].y *= CONJUGATE_B;
  }
}

/* Loads two rows of A after the present step has used them: both sets would take too many registers. */
template <class A>
SM80_FUNCTION void load_rows(factors &target, shared_t a, int step, int i) {
#pragma unroll
  for (int e = 2 * i; e < 2 * i + 2; e++) {
    target.a[e] = load_floats(a + A::place(8 * e, step));
    target.a[e].y *= CONJUGATE_A;
  }
}

/* Adds the complex products of a step. Products of equal sums are far apart, to hide latency. Successive
 * products share a register of A: three new registers take two clocks. */
template <typename function>
SM80_FUNCTION void multiply(warp_sums sums, const factors &from, function between) {
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++) {
#pragma unroll
    for (int e = 0; e < 2; e++)
#pragma unroll
      for (int term = 0; term < 4; term++)
#pragma unroll
        for (int j = 0; j < 2 * BLOCKS_N; j++) {
          const float2 a = from.a[2 * i + e], b = from.b[j];
          float &sum = sums[term % 2][i][j / 2][2 * e + j % 2];
          sum = __fmaf_rn(term == 0 || term == 1 ? a.x
                          : term == 2            ? -a.y
                                                 : a.y,
                          term == 0 || term == 3 ? b.x : b.y, sum);
        }
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
      cp_async_if<PANEL::COPY>(is_whole && is_within<PANEL>(source, i),
                               panel + source.to + i * each::APART * PANEL::PITCH + PANEL::COPY * half,
                               (const char *)source.from + PANEL::COPY * half);
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

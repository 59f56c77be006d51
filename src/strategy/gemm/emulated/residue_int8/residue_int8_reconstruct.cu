/* C from its residues: a thread computes four neighbours of a row of C. If residues are few, the next row's
 * are prefetched.
 *   f32: C' modulo 2^64, by integers    f64: in doubles, by parts of 40 bits with exact sums (kernels/join.h)
 *   scales of rows, of columns: NO_SCALE marks elements that are left to residue_int8_fallback.cu
 * Complex: a thread computes both parts of each element. Defines of the host: TSL_RESIDUE_F64 or not,
 * TSL_RESIDUE_COMPLEX or not; MODULI_FIRST, MODULI_SECOND, MODULI_THIRD: moduli of the candidates; IS_CUT, 1:
 * k was split into parts. */
#include "sm90.h"

#define TSL_WIDE(a, b, c) wide_of(a, b, c)
static __device__ __forceinline__ unsigned long long wide_of(unsigned a, unsigned b, unsigned long long c) {
  unsigned long long sum;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(sum) : "r"(a), "r"(b), "l"(c));
  return sum;
}
#include "residue_int8_shared.h"

constexpr int JOINERS = 64, FOUR = 4, EACH_ELEMENT = TSL_RESIDUE_EACH;

/* Returns the 32-bit limbs of P. */
SM90_FUNCTION constexpr int limbs_of(int moduli) {
  return moduli <= 8 ? 2 : 4;
}

#ifdef TSL_RESIDUE_F64
/* Returns the 40-bit parts of P. */
SM90_FUNCTION constexpr int parts_of(int moduli) {
  return moduli <= 10 ? 2 : moduli <= 15 ? 3 : 4;
}
SM90_FUNCTION double whole_of(double x) { /* the integer nearest to |x| < 2^51 */
  return __dsub_rn(__dadd_rn(x, 0x1.8p52), 0x1.8p52);
}

/* Returns the value of parts below 2^53, rounded once to double. Carries make lower parts at most 2^39. The
 * top parts are added with their exact rounding error; the lower parts are collapsed with round-to-odd. */
template <int PARTS>
SM90_FUNCTION double value_of(double part[PARTS]) {
  if (PARTS == 2)
    return __fma_rn(part[1], 0x1p40, part[0]);
#pragma unroll
  for (int i = 0; i < PARTS - 1; i++) {
    const double carry = whole_of(__dmul_rn(part[i], 0x1p-40));
    part[i] = __fma_rn(carry, -0x1p40, part[i]);
    part[i + 1] = __dadd_rn(part[i + 1], carry);
  }
  const double top = PARTS == 4 ? __fma_rn(part[PARTS - 1], 0x1p40, part[2]) : part[2];
  const double high = __fma_rn(top, 0x1p40, part[1]), lost = __dsub_rn(part[1], __fma_rn(top, -0x1p40, high));
  const double low = __fma_rn(lost, 0x1p40, part[0]),
               error = __dsub_rn(part[0], __fma_rn(lost, -0x1p40, low));
  long long bits = __double_as_longlong(low);
  if (error != 0 && (bits & 1) == 0)
    bits += (__double_as_longlong(error) ^ bits) < 0 ? -1 : 1;
  return __fma_rn(high, 0x1p40, __longlong_as_double(bits));
}

template <int CANDIDATE, int MODULI>
SM90_FUNCTION double number_of(const unsigned rests[MODULI], int column, int scale,
                               const residue_tables &tables, const residue_arguments &args) {
  const residue_weights &by = tables.candidates[CANDIDATE];
  constexpr int PARTS = parts_of(MODULI);
  double part[PARTS] = {};
#pragma unroll
  for (int l = 0; l < MODULI; l++) {
    const double c = __dsub_rn(__hiloint2double(0x43300000, rests[l] >> 8 * column & 255), 0x1p52);
#pragma unroll
    for (int i = 0; i < PARTS; i++)
      part[i] = __fma_rn(c, by.weight[l][i], part[i]);
  }
  const double q = whole_of(__dmul_rn(__fma_rn(part[PARTS - 2], 0x1p-40, part[PARTS - 1]), by.inverse));
#pragma unroll
  for (int i = 0; i < PARTS; i++)
    part[i] = __fma_rn(-q, by.product[i], part[i]);
  const double value = value_of<PARTS>(part);
  return scale > -900 && scale < 900 ? value * residue_two(-scale) : residue_power(-scale, value);
}
#else
/* Returns C' 2^-scale. A sum that fits in 64 bits becomes a double by its halves, the low bits of two
 * doubles: only their sum is rounded. */
template <int CANDIDATE, int MODULI>
SM90_FUNCTION double number_of(const unsigned rests[MODULI], int column, int scale,
                               const residue_tables &tables, const residue_arguments &args) {
  const residue_sieve &sieve = args.rules.sieves[CANDIDATE];
  residue_sum sum = {};
#pragma unroll
  for (int l = 0; l < MODULI; l++)
    residue_sum_add(&sum, &sieve, l, rests[l] >> 8 * column & 255, limbs_of(MODULI));
  sum.quotient += 1u << 19;
  if (MODULI > 8)
    return residue_sum_long(&sum, &sieve, scale);
  const long long whole = residue_sum_short(&sum, &sieve);
  const double low = __hiloint2double(0x43300000, (int)whole),
               high = __hiloint2double(0x45300000, (int)(whole >> 32) ^ (int)0x80000000);
  return __dadd_rn(__dsub_rn(high, 0x1.00000801p84), low) * residue_two(-scale);
}
#endif

/* Returns the residues of four neighbours, a byte each; parts of a split k are added and reduced again. */
SM90_FUNCTION unsigned rests_of(const unsigned char *from, int plane, const residue_arguments &args) {
  if (!IS_CUT)
    return *(const unsigned *)(from + plane * args.rest_plane);
  unsigned out = 0;
#pragma unroll 1
  for (int i = 0; i < FOUR; i++) {
    unsigned rest = 0;
#pragma unroll 1
    for (int part = 0; part < args.parts; part++)
      rest += from[(plane * args.parts + part) * args.rest_plane + i];
    out |= rest % args.rules.moduli[plane / TSL_RESIDUE_KINDS].p << 8 * i;
  }
  return out;
}

/* Residues of a row's four neighbours, and the row's scale. MODULI is a constant for full unrolling. */
template <int MODULI>
struct fetched {
  unsigned rests[EACH_ELEMENT][MODULI]; /* of each part of an element */
  int scale;
};
template <int MODULI>
SM90_FUNCTION void fetch_rests(fetched<MODULI> &dst, const unsigned char *from, const int *scales, int row,
                               const residue_arguments &args) {
  const int own = min(row, args.m - 1); /* rows past the last read any row */
  dst.scale = scales[own];
#pragma unroll
  for (int l = 0; l < MODULI; l++) {
    const unsigned char *at = from + own * args.rest_pitch;
#ifdef TSL_RESIDUE_COMPLEX
    const unsigned x = rests_of(at, 3 * l, args), y = rests_of(at, 3 * l + 1, args),
                   z = rests_of(at, 3 * l + 2, args), p = args.rules.moduli[l].p;
    dst.rests[0][l] = dst.rests[1][l] = 0;
#pragma unroll
    for (int i = 0; i < FOUR; i++) {
      const unsigned one = x >> 8 * i & 255, other = y >> 8 * i & 255;
      dst.rests[0][l] |= residue_less(one, other, p) << 8 * i;
      dst.rests[1][l] |= residue_imaginary(one, other, z >> 8 * i & 255, p) << 8 * i;
    }
#else
    dst.rests[0][l] = rests_of(at, l, args);
#endif
  }
}

struct columns_t {
  int scales[FOUR];
  bool here[FOUR], is_wide; /* in C and not native; all four are here, and aligned to 16 bytes */
};

/* AT_ONCE: columns that are reconstructed together; two for complex numbers, to halve the machine code. */
constexpr int AT_ONCE = EACH_ELEMENT == 2 ? 2 : FOUR, NUMBERS = AT_ONCE * EACH_ELEMENT;

SM90_FUNCTION void store_wide(residue_real *dst, const residue_real out[NUMBERS]) {
#ifdef TSL_RESIDUE_F64
#pragma unroll
  for (int i = 0; i < NUMBERS; i += 2)
    *(double2 *)(dst + i) = make_double2(out[i], out[i + 1]);
#else
#pragma unroll
  for (int i = 0; i < NUMBERS; i += 4)
    *(float4 *)(dst + i) = make_float4(out[i], out[i + 1], out[i + 2], out[i + 3]);
#endif
}

/* Reconstructs and stores columns first to first + AT_ONCE - 1 of the four. */
template <int CANDIDATE, int MODULI>
SM90_FUNCTION void join_columns(residue_real *dst, int first, const fetched<MODULI> &state,
                                const columns_t &columns, const residue_tables &tables,
                                const residue_arguments &args) {
  const residue_real alpha = (residue_real)args.alpha, beta = (residue_real)args.beta;
  residue_real out[NUMBERS], before[NUMBERS] = {};
  int scales[AT_ONCE];
  bool here[AT_ONCE];
#pragma unroll
  for (int i = 0; i < AT_ONCE; i++) {
    constexpr int NEXT = FOUR - AT_ONCE;
    scales[i] = first == 0 ? columns.scales[i] : columns.scales[i + NEXT];
    here[i] = first == 0 ? columns.here[i] : columns.here[i + NEXT];
  }
  if (beta != 0)
#pragma unroll
    for (int i = 0; i < NUMBERS; i++)
      if (here[i / EACH_ELEMENT])
        before[i] = dst[i / EACH_ELEMENT * args.c_col + i % EACH_ELEMENT];
#pragma unroll
  for (int i = 0; i < NUMBERS; i++) {
    const int column = i / EACH_ELEMENT;
    const double number = number_of<CANDIDATE, MODULI>(state.rests[i % EACH_ELEMENT], first + column,
                                                       state.scale + scales[column], tables, args);
    out[i] = residue_finish(number, alpha, beta, before + i);
  }
  if (columns.is_wide) {
    store_wide(dst, out);
  } else {
#pragma unroll
    for (int i = 0; i < NUMBERS; i++)
      if (here[i / EACH_ELEMENT])
        dst[i / EACH_ELEMENT * args.c_col + i % EACH_ELEMENT] = out[i];
  }
}

template <int CANDIDATE, int MODULI>
SM90_FUNCTION void join_row(residue_real *dst, const fetched<MODULI> &state, const columns_t &columns,
                            const residue_tables &tables, const residue_arguments &args) {
#pragma unroll 1
  for (int first = 0; first < FOUR; first += AT_ONCE)
    join_columns<CANDIDATE>(dst + first * args.c_col, first, state, columns, tables, args);
}

template <int CANDIDATE, int MODULI>
SM90_FUNCTION void join(residue_real *c, const unsigned char *scratch, const residue_tables &tables,
                        const residue_arguments &args, int col) {
  constexpr bool AHEAD = MODULI * EACH_ELEMENT <= 8; /* more residues do not fit in registers */
  const int4 across = *(const int4 *)((const int *)(scratch + args.scales[1]) + col);
  columns_t columns = {{across.x, across.y, across.z, across.w}, {}, args.is_wide && col + FOUR <= args.n};
#pragma unroll
  for (int i = 0; i < FOUR; i++) {
    columns.here[i] = col + i < args.n && columns.scales[i] != TSL_RESIDUE_NO_SCALE;
    columns.is_wide = columns.is_wide && columns.here[i];
    columns.scales[i] = columns.here[i] ? columns.scales[i] : 0;
  }
  const int *scales = (const int *)(scratch + args.scales[0]);
  const unsigned char *from = scratch + args.rests + col;
  fetched<MODULI> next;
  fetch_rests<MODULI>(next, from, scales, blockIdx.y, args);
#pragma unroll 1
  for (int row = blockIdx.y; row < args.m; row += gridDim.y) {
    const fetched<MODULI> own = next;
    if (AHEAD)
      fetch_rests<MODULI>(next, from, scales, row + gridDim.y, args);
    if (own.scale != TSL_RESIDUE_NO_SCALE)
      join_row<CANDIDATE>(c + args.c_offset + row * args.c_row + col * args.c_col, own, columns, tables,
                          args);
    if (!AHEAD)
      fetch_rests<MODULI>(next, from, scales, row + gridDim.y, args);
  }
}

extern "C" __global__ void __launch_bounds__(JOINERS, sizeof(residue_real) == 8 ? 8 : 12)
    tsl_gemm_residue_int8_join(residue_real *c, const unsigned char *scratch,
                               const __grid_constant__ residue_arguments args,
                               const __grid_constant__ residue_tables tables) {
  const int col = (blockIdx.x * JOINERS + threadIdx.x) * FOUR;
  grid_dependency_launch();
  grid_dependency_wait();
  const residue_choice *choice = (const residue_choice *)(scratch + args.choice);
  if (args.host_choice && blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0)
    *args.host_choice = *choice; /* written here, where no kernel waits for host memory */
  if (choice->moduli == 0 || col >= args.n)
    return;
  if (choice->candidate == 0)
    join<0, MODULI_FIRST>(c, scratch, tables, args, col);
  else if (choice->candidate == 1)
    join<1, MODULI_SECOND>(c, scratch, tables, args, col);
  else
    join<2, MODULI_THIRD>(c, scratch, tables, args, col);
}

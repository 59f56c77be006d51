/* Conversion to residues, once per instruction set and type: 64 numbers at a time, in the layout of tile
 * registers (picture: residue_int8_host.h). Float arithmetic, exact but for the quotient, with or without
 * fused operations:
 *   a' = 2^e a rounded, in digits of 16 bits:   a' = d_0 + 2^16 d_1 (+ 2^32 d_2 (+ 2^48 d_3)),   |d| <= 2^15
 *   s  = d_0 + (2^16 mod p) d_1 + ...           |s| < 2^24
 *   r  = s - p round(s inverse)                 from -127 to 127, or modulo 256 where p is 256
 * The quotient errs by less than 2^-7 before rounding: |r| is at most p / 2 + p 2^-7, below 128 for p up to
 * 251. 253 and 255 have sums below 2^22 and 2^18, as 2^16 is 9 and 1 modulo them. A number plus 1.5 2^23 has
 * its low byte in the sum's.
 *   numbers along a line:  vectors 0-15, 16-31, 32-47, 48-63 of it     -> bytes of a row of A's register
 *   numbers across lines:  vectors of 16 lines, k j, 16+j, 32+j, 48+j  -> bytes of a row of B's register.
 * Other cases transpose 16 x 16 words. Other strides and partial lines are copied first. */
#include "host/simd.h"

#define IS_DOUBLE_f32 0
#define IS_DOUBLE_f64 1
#if JOIN(IS_DOUBLE_, TSL_TYPE)
#define TSL_RESIDUE_F64
#endif
#include "host/int_math.h"
#include "strategy/gemm/emulated/residue_int8/kernels/wide.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8_host.h"

#define REAL JOIN(REAL_, TSL_TYPE)

enum { QUARTER = 16, REGISTER = TSL_RESIDUE_ROWS * TSL_RESIDUE_STEP };
#define EXACT_f32 0x1.8p23f
#define EXACT_f64 0x1.8p52

typedef struct scaling { /* 2^e of 16 lines, each in range */
  REAL factor[2][QUARTER];
} scaling;

/* 64 numbers: addresses of four vectors of 16, and the distance to prefetch. */
typedef struct numbers_64 {
  const REAL *at[4];
  int64_t ahead;
} numbers_64;

#if JOIN(IS_DOUBLE_, TSL_TYPE)
enum { DIGITS = 4 };
/* Computes the digits of 2 x 8 numbers; the rounding constant leaves a digit in a lane's lower half. */
TSL_INLINE void digits_of(const REAL *from, const scaling *by, const int digits, wide_f32 *digit) {
  (void)digits;
  wide_i64 half[2][DIGITS];
  TSL_UNROLL
  for (int h = 0; h < 2; h++) {
    wide_f64 x, first, second;
    WIDE_LOAD(x, from + 8 * h);
    WIDE_LOAD(first, by->factor[0] + 8 * h);
    WIDE_LOAD(second, by->factor[1] + 8 * h);
    x = x * first * second;
    for (int i = DIGITS - 1; i >= 0; i--) {
      const double unit = (double)((int64_t)1 << 16 * i);
      const wide_f64 sum = x * (1 / unit) + EXACT_f64;
      half[h][i] = (wide_i64)sum;
      x -= (sum - EXACT_f64) * unit;
    }
  }
  TSL_UNROLL
  for (int i = 0; i < DIGITS; i++)
    digit[i] = __builtin_convertvector(lower_halves(half[0][i], half[1][i]), wide_f32);
}
#else
enum { DIGITS = 3 };
/* Computes the digits of 16 numbers: two where |a'| < 2^28, else DIGITS. */
TSL_INLINE void digits_of(const REAL *from, const scaling *by, const int digits, wide_f32 *digit) {
  wide_f32 x, first, second;
  WIDE_LOAD(x, from);
  WIDE_LOAD(first, by->factor[0]);
  WIDE_LOAD(second, by->factor[1]);
  x = x * first * second;
  if (digits == DIGITS) {
    digit[2] = (x * 0x1p-32f + EXACT_f32) - EXACT_f32;
    x -= digit[2] * 0x1p32f;
  }
  digit[1] = (x * 0x1p-16f + EXACT_f32) - EXACT_f32;
  digit[0] = ((x - digit[1] * 0x1p16f) + EXACT_f32) - EXACT_f32;
}
#endif

TSL_INLINE void make_64_of(const tsl_residue_job *job, const numbers_64 *from, const scaling *by,
                           const int digits, unsigned char *dst, int64_t plane) {
  wide_f32 digit[4][DIGITS];
  TSL_UNROLL
  for (int v = 0; v < 4; v++) {
    __builtin_prefetch(from->at[v] + from->ahead, 0, 2);
    if (sizeof(REAL) == 8)
      __builtin_prefetch(from->at[v] + from->ahead + 8, 0, 2);
    digits_of(from->at[v], by, digits, digit[v]);
  }
  for (int l = 0; l < job->choice.moduli; l++, dst += plane) {
    const tsl_residue_rest *const modulus = &job->rests[l];
    wide_u32 rest[4];
    TSL_UNROLL
    for (int v = 0; v < 4; v++) {
      wide_f32 sum = digit[v][0];
      TSL_UNROLL
      for (int i = 1; i < digits; i++)
        sum += digit[v][i] * modulus->digit[i - 1];
      const wide_f32 quotient = (sum * modulus->inverse + EXACT_f32) - EXACT_f32;
      rest[v] = (wide_u32)((sum - quotient * modulus->p) + EXACT_f32);
    }
    /* Prefetches the next step's row, unless the row is transposed first. */
    __builtin_prefetch(dst + TSL_RESIDUE_STEP_BYTES, 1);
    const wide_u32 words = (rest[0] & 0xff) | (rest[1] & 0xff) << 8 | (rest[2] & 0xff) << 16 | rest[3] << 24;
    WIDE_STORE(dst, words);
  }
}

TSL_INLINE void make_64(const tsl_residue_job *job, const numbers_64 *from, const scaling *by,
                        unsigned char *dst, int64_t plane) {
  if (sizeof(REAL) == 4 && job->choice.moduli <= TSL_RESIDUE_SHALLOW)
    make_64_of(job, from, by, 2, dst, plane);
  else
    make_64_of(job, from, by, DIGITS, dst, plane);
}

static void transpose_words(const unsigned char *from, unsigned char *dst) {
#if HAS_UNITS
  vector_bytes line[TSL_RESIDUE_ROWS];
  memcpy(line, from, sizeof line);
  transpose_units(line);
  memcpy(dst, line, sizeof line);
#else
  uint32_t word[TSL_RESIDUE_ROWS][TSL_RESIDUE_ROWS], turned[TSL_RESIDUE_ROWS][TSL_RESIDUE_ROWS];
  memcpy(word, from, sizeof word);
  for (int i = 0; i < TSL_RESIDUE_ROWS; i++)
    for (int j = 0; j < TSL_RESIDUE_ROWS; j++)
      turned[j][i] = word[i][j];
  memcpy(dst, turned, sizeof turned);
#endif
}

/* Converts numbers along lines; all lanes have the line's factors. Not inlined, to save stack. */
static __attribute__((noinline)) void make_along(const tsl_residue_job *job, const REAL *from, int64_t across,
                                                 const scaling *by, int64_t ahead, unsigned char *dst,
                                                 int64_t plane) {
  for (int i = 0; i < TSL_RESIDUE_ROWS; i++) {
    scaling own;
    for (int lane = 0; lane < QUARTER; lane++)
      for (int f = 0; f < 2; f++)
        own.factor[f][lane] = by->factor[f][i];
    const REAL *const at = from + i * across;
    const numbers_64 line = {{at, at + QUARTER, at + 2 * QUARTER, at + 3 * QUARTER}, ahead};
    make_64(job, &line, &own, dst + i * TSL_RESIDUE_STEP, plane);
  }
}

/* Converts numbers across lines, each k `along` apart. Prefetches SOON rows ahead, also of the next step. */
static __attribute__((noinline)) void make_across(const tsl_residue_job *job, const REAL *from, int64_t along,
                                                  const scaling *by, unsigned char *dst, int64_t plane) {
  enum { SOON = 4 };
  for (int j = 0; j < TSL_RESIDUE_ROWS; j++) {
    const REAL *const at = from + j * along;
    const int64_t ahead = j + SOON < TSL_RESIDUE_ROWS ? SOON : SOON + TSL_RESIDUE_STEP - QUARTER;
    const numbers_64 four = {{at, at + QUARTER * along, at + 2 * QUARTER * along, at + 3 * QUARTER * along},
                             ahead * along};
    make_64(job, &four, by, dst + j * TSL_RESIDUE_STEP, plane);
  }
}

/* Converts 16 lines of a whole step, adjacent along or across lines; transposes residues where necessary. */
static __attribute__((noinline)) void make_whole(const tsl_residue_job *job, const tsl_residue_lines *lines,
                                                 const REAL *from, bool is_across, bool is_turned,
                                                 const scaling *by, unsigned char *dst) {
  unsigned char turned[TSL_RESIDUE_MODULI * REGISTER];
  unsigned char *const out = is_turned ? turned : dst;
  const int64_t plane = is_turned ? REGISTER : lines->plane;
  if (is_across)
    make_across(job, from, lines->along, by, out, plane);
  else
    make_along(job, from, lines->across, by, TSL_RESIDUE_STEP, out, plane);
  for (int l = 0; l < job->choice.moduli && is_turned; l++) {
    for (int at = 0; at < REGISTER; at += TSL_RESIDUE_STEP)
      __builtin_prefetch(dst + l * lines->plane + TSL_RESIDUE_STEP_BYTES + at, 1);
    transpose_words(turned + l * REGISTER, dst + l * lines->plane);
  }
}

/* Converts fewer lines or numbers, or other strides, from a copy. A separate function limits the stack. */
static __attribute__((noinline)) void make_part(const tsl_residue_job *job,
                                                const tsl_residue_lines *residue_lines, const REAL *from,
                                                int64_t lines, int64_t count, bool is_turned,
                                                const scaling *by, unsigned char *dst) {
  REAL together[TSL_RESIDUE_ROWS * TSL_RESIDUE_STEP] = {0};
  unsigned char one[REGISTER];
  for (int64_t i = 0; i < lines; i++)
    for (int64_t h = 0; h < count; h++)
      together[i * TSL_RESIDUE_STEP + h] = from[i * residue_lines->across + h * residue_lines->along];
  make_along(job, together, TSL_RESIDUE_STEP, by, 0, dst, residue_lines->plane);
  for (int l = 0; l < job->choice.moduli && is_turned; l++) {
    memcpy(one, dst + l * residue_lines->plane, sizeof one);
    transpose_words(one, dst + l * residue_lines->plane);
  }
}

static void make_register(const tsl_residue_job *job, int operand, int64_t line, int64_t first,
                          const scaling *by, unsigned char *dst) {
  const tsl_residue_lines *operand_lines = &job->operands[operand];
  const int64_t lines = tsl_min(operand_lines->count - line, TSL_RESIDUE_ROWS),
                count = tsl_min(job->k - first, TSL_RESIDUE_STEP);
  if (lines <= 0) {
    for (int l = 0; l < job->choice.moduli; l++)
      memset(dst + l * operand_lines->plane, 0, REGISTER);
    return;
  }
  const REAL *from = (const REAL *)(const void *)operand_lines->at + line * operand_lines->across +
                     first * operand_lines->along;
  const bool is_whole = lines == TSL_RESIDUE_ROWS && count == TSL_RESIDUE_STEP,
             is_across = is_whole && operand_lines->across == 1 && operand_lines->along != 1,
             is_along = is_whole && operand_lines->along == 1, is_turned = is_across == (operand == 0);
  if (is_across || is_along)
    make_whole(job, operand_lines, from, is_across, is_turned, by, dst);
  else
    make_part(job, operand_lines, from, lines, count, is_turned, by, dst);
}

/* Returns the scaling of lines. Native lines become zeros, or undefined values if not finite. */
static scaling scaling_of(const tsl_residue_lines *lines, int64_t line) {
  scaling made = {{{0}}};
  for (int64_t i = 0; i < tsl_min(lines->count - line, QUARTER); i++) {
    const int scale = lines->scales[line + i];
    if (scale == TSL_RESIDUE_NO_SCALE)
      continue;
    made.factor[0][i] = (REAL)(lines->is_negative ? -residue_two(scale / 2) : residue_two(scale / 2));
    made.factor[1][i] = (REAL)residue_two(scale - scale / 2);
  }
  return made;
}

static void convert(const tsl_residue_job *job, int operand, int64_t first, int64_t count, int64_t panel) {
  enum { HALVES = TSL_RESIDUE_LINES / TSL_RESIDUE_ROWS };
  const tsl_residue_lines *operand_lines = &job->operands[operand];
  const int64_t steps = tsl_min(job->steps, tsl_ceil_div(job->k, TSL_RESIDUE_STEP) - panel * job->steps);
  scaling by[TSL_RESIDUE_BESIDE][HALVES];
  for (int64_t i = 0; i < count; i++)
    for (int64_t half = 0; half < HALVES; half++)
      by[i][half] = scaling_of(operand_lines, (first + i) * TSL_RESIDUE_LINES + half * TSL_RESIDUE_ROWS);
  for (int64_t u = 0; u < steps; u++)
    for (int64_t i = 0; i < count; i++)
      for (int64_t half = 0; half < HALVES; half++)
        make_register(job, operand, (first + i) * TSL_RESIDUE_LINES + half * TSL_RESIDUE_ROWS,
                      (panel * job->steps + u) * TSL_RESIDUE_STEP, &by[i][half],
                      operand_lines->planes + panel * operand_lines->panel +
                          (first + i) * operand_lines->micro + u * TSL_RESIDUE_STEP_BYTES + half * REGISTER);
}

const tsl_residue_converter TSL_ISA_NAME(tsl_residue_converter) = {convert};

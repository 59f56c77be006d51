/* residue_int8 on the processor, once per instruction set and type: lines measured and made residues of, and tiles of C from these. */
#include "host/simd.h"

#define IS_DOUBLE_f32 0
#define IS_DOUBLE_f64 1
#if JOIN(IS_DOUBLE_, TSL_TYPE)
#define TSL_RESIDUE_F64
#endif
#include "host/split.h"
#include "strategy/gemm/residue_int8/residue_int8.h"

#define REAL JOIN(REAL_, TSL_TYPE)
#if JOIN(IS_DOUBLE_, TSL_TYPE)
#define TSL_FUSE_REAL(a, b, c) fma(a, b, c)
#else
#define TSL_FUSE_REAL(a, b, c) fmaf(a, b, c)
#endif

static inline residue_bits magnitude_of(const REAL *number) {
  residue_bits bits;
  memcpy(&bits, number, sizeof bits);
  return bits & ~TSL_RESIDUE_SIGN;
}

static const REAL *line_at(const tsl_residue_lines *of, int64_t line) {
  return (const REAL *)(const void *)of->at + line * of->across;
}

/* --- lines --- */

static residue_bits largest_of(const tsl_residue_job *job, const REAL *from, int64_t step) {
  residue_bits largest = 0;
  for (int64_t h = 0; h < job->k; h++) {
    const residue_bits magnitude = magnitude_of(from + h * step);
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

/* Adds up a line whose elements are below 2^exponent: else what comes out is of no use, but for the largest magnitude, which is
 * returned. */
static residue_bits add_up(const tsl_residue_job *job, const REAL *from, int64_t step, int exponent,
                           residue_sums *sums) {
  const residue_bits largest = largest_of(job, from, step);
  residue_bits least[TSL_RESIDUE_DROPS];
  memset(sums, 0, sizeof *sums);
  if (largest >= TSL_RESIDUE_INFINITY || residue_exponent(largest) > exponent)
    return largest;
  for (int i = 0; i < TSL_RESIDUE_DROPS; i++)
    least[i] = residue_threshold(exponent - residue_drop(job->rules) - TSL_RESIDUE_DROP(i));
  for (int64_t h = 0; h < job->k; h++) {
    const residue_bits magnitude = magnitude_of(from + h * step);
    const unsigned top = residue_top(magnitude, exponent);
    sums->sum += top;
    sums->squares += (residue_word)top * top;
    sums->count += magnitude != 0;
    for (int i = 0; i < TSL_RESIDUE_EXCESSES; i++)
      sums->excess[i] += top >= TSL_RESIDUE_EXCESS(i) ? top + 1 - TSL_RESIDUE_EXCESS(i) : 0;
    for (int i = 0; i < TSL_RESIDUE_DROPS; i++)
      sums->few[i] += magnitude != 0 && magnitude < least[i];
  }
  return largest;
}

static void measure(const tsl_residue_job *job, int operand, int64_t number) {
  const tsl_residue_lines *of = &job->of[operand];
  const REAL *from = line_at(of, number);
  const int64_t step = of->along;
  residue_sums sums = {.sum = 0};
  residue_bits sample = 0;
  for (int64_t h = 0; h < tsl_least(job->k, TSL_RESIDUE_SAMPLE); h++) {
    const residue_bits magnitude = magnitude_of(from + h * step);
    sample = magnitude > sample ? magnitude : sample;
  }
  const bool guesses = sample > 0 && sample < TSL_RESIDUE_INFINITY;
  int exponent = guesses ? residue_exponent(sample) + TSL_RESIDUE_ROOM : -TSL_RESIDUE_BIAS;
  residue_bits largest = guesses ? add_up(job, from, step, exponent, &sums) : largest_of(job, from, step);
  if (largest > 0 && largest < TSL_RESIDUE_INFINITY && residue_exponent(largest) > exponent) {
    exponent = residue_exponent(largest);
    add_up(job, from, step, exponent, &sums);
  }
  residue_know(job->rules, largest, exponent, &sums, &of->lines[number]);
}

static void convert(const tsl_residue_job *job, int operand, int64_t number) {
  const tsl_residue_lines *of = &job->of[operand];
  const REAL *from = line_at(of, number);
  const int moduli = job->choice.moduli, scale = of->scales[number];
  signed char *to = of->planes + number * moduli * job->pitch;
  if (scale == TSL_RESIDUE_NO_SCALE)
    return;
  for (int64_t h = 0; h < job->k; h++) {
    residue_bits bits;
    memcpy(&bits, from + h * of->along, sizeof bits);
    const residue_word whole = residue_scaled(bits & ~TSL_RESIDUE_SIGN, scale);
    for (int l = 0; l < moduli; l++) {
      const int p = (int)job->rules->moduli[l].p, rest = (int)(whole % (unsigned)p),
                own = bits & TSL_RESIDUE_SIGN ? p - rest : rest;
      to[l * job->pitch + h] = (signed char)(own > 127 ? own - p : own);
    }
  }
  for (int l = 0; l < moduli; l++)
    memset(to + l * job->pitch + job->k, 0, (size_t)(job->pitch - job->k));
}

/* --- tiles --- */

enum { WIDE = 4 }; /* columns whose sums are made together */

/* C = alpha x + beta C, at an element. */
static void finish(const tsl_residue_job *job, int64_t row, int64_t column, double x) {
  REAL *c = (REAL *)(void *)job->c + row * job->c_row + column * job->c_col;
  *c = residue_finish(x, (REAL)job->alpha, (REAL)job->beta, c);
}

/* The sums of a row's residues times WIDE columns', `step` bytes apart: `count` terms, at most TSL_RESIDUE_PART. */
static void dots(const signed char *restrict a, const signed char *restrict b, int64_t step, int64_t count,
                 int sums[WIDE]) {
  int s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  const signed char *b1 = b + step, *b2 = b1 + step, *b3 = b2 + step;
  for (int64_t h = 0; h < count; h++) {
    s0 += a[h] * b[h];
    s1 += a[h] * b1[h];
    s2 += a[h] * b2[h];
    s3 += a[h] * b3[h];
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

/* Elements of a row, in columns that follow each other: the last WIDE ones of C are together, where it has so many. */
static void multiply_few(const tsl_residue_job *job, int64_t row, int64_t column, int64_t columns) {
  const residue_sieve *sieve = &job->rules->sieves[job->choice.candidate];
  const int moduli = job->choice.moduli;
  const int64_t step = moduli * job->pitch,
                first = job->n >= WIDE ? tsl_least(column, job->n - WIDE) : column;
  const signed char *a = job->of[0].planes + row * step, *b = job->of[1].planes + first * step;
  residue_sum of[WIDE];
  memset(of, 0, sizeof of);
  for (int l = 0; l < moduli; l++) {
    const residue_modulus *p = &job->rules->moduli[l];
    unsigned rest[WIDE] = {0};
    for (int64_t h = 0; h < job->k; h += TSL_RESIDUE_PART) {
      int sums[WIDE];
      dots(a + l * job->pitch + h, b + l * job->pitch + h, job->n >= WIDE ? step : 0, /* one column */
           tsl_least(job->pitch - h, TSL_RESIDUE_PART), sums);
      for (int j = 0; j < WIDE; j++)
        rest[j] += ((unsigned)sums[j] + p->bias) % p->p;
    }
    for (int j = 0; j < WIDE; j++)
      residue_sum_add(&of[j], sieve, l, rest[j] % p->p, 4);
  }
  for (int64_t j = column; j < column + columns; j++) {
    const int across = job->of[1].scales[j], down = job->of[0].scales[row];
    residue_sum *sum = &of[j - first];
    sum->quotient += 1u << 19;
    if (across != TSL_RESIDUE_NO_SCALE)
      finish(job, row, j, residue_sum_long(sum, sieve, down + across));
  }
}

/* An element in C's own type: k products added one after the other, each fused. */
static void native(const tsl_residue_job *job, int64_t row, int64_t column) {
  const REAL *a = line_at(&job->of[0], row), *b = line_at(&job->of[1], column);
  REAL sum = 0;
  for (int64_t h = 0; h < job->k; h++)
    sum = TSL_FUSE_REAL(a[h * job->of[0].along], b[h * job->of[1].along], sum);
  finish(job, row, column, sum);
}

static void multiply(const tsl_residue_job *job, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  const int64_t together = job->n >= WIDE ? WIDE : 1;
  for (int64_t i = row; i < row + rows; i++) {
    const bool all = job->choice.moduli == 0 || job->of[0].scales[i] == TSL_RESIDUE_NO_SCALE;
    for (int64_t j = column; j < column + columns; j += together) {
      const int64_t wide = tsl_least(together, column + columns - j);
      if (!all)
        multiply_few(job, i, j, wide);
      for (int64_t w = j; w < j + wide; w++)
        if (all || job->of[1].scales[w] == TSL_RESIDUE_NO_SCALE)
          native(job, i, w);
    }
  }
}

const tsl_residue_kernel TSL_ISA_NAME(tsl_residue_kernel) = {measure, convert, multiply};

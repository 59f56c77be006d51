/* A tile needs registers for sums, a step's vectors of b, and an element of a for each. These limit MR. */
#include "strategy/gemm/host/host_skinny/host_skinny_job.h"

#include "host/int_math.h"
#include "host/simd.h"

#include <string.h>
#if VECTOR_BYTES == 64
#include "host/transpose_line_avx512.h"
#endif

#define REAL JOIN(REAL_, TSL_TYPE)
#define COMPONENTS 1
#define SUFFIX JOIN(_, TSL_TYPE)

#if REGISTERS >= 32
#define TILE_ROWS_OF_1 16
#define TILE_ROWS_OF_2 12
#define TILE_ROWS_OF_3 8
#else
#define TILE_ROWS_OF_1 12
#define TILE_ROWS_OF_2 6
#define TILE_ROWS_OF_3 4
#endif
#define TILE_ROWS_OF_4 0
#define TILE_NAME_LATE(rows, vectors) tiles_##rows##x##vectors
#define TILE_NAME(rows, vectors) TILE_NAME_LATE(rows, vectors)

#define TILE_TEXT "strategy/gemm/host/host_skinny/kernels/host_skinny_tile.h"
#include "host/tiles.h"
#undef TILE_TEXT

typedef NAME(vector) vector;
enum { LANES = NAME(LANES), STEPS = NAME(STEPS), LINE = 64 / (int)sizeof(REAL) };

#include "strategy/gemm/host/host_skinny/kernels/host_skinny_lines.h"

#define OF(word, number) JOIN(word##_, number)
#define TILE_TEXT "strategy/gemm/host/host_skinny/kernels/host_skinny_entries.h"
#define TILE_ROWS_MAX 8
#include "host/tile_rows.h"
#undef TILE_ROWS_MAX
#undef TILE_TEXT

/* Columns of strided elements that are copied at once, since their lines are read again for each row. */
static int64_t columns_at_once(int64_t column, int64_t rows, int64_t width) {
  enum { AT_ONCE = 64 };
  return column == 1 || rows == 1 ? tsl_max(width, 1) : AT_ONCE;
}

/* Strided elements are copied by fours: the speed of a shorter loop depends on its address. */
static void copy_columns(const REAL *src, int64_t row, int64_t column, int64_t rows, int64_t columns,
                         int64_t width, REAL *dst, int64_t pitch) {
  for (int64_t i = 0; i < rows; i++, src += row, dst += pitch) {
    int64_t j = 0;
    if (column == 1 && width % LANES == 0) { /* load_part() fills a partial vector with zeros */
      for (; j + LANES <= columns; j += LANES)
        NAME(store)(dst + j, NAME(load)(src + j));
      if (j < columns)
        NAME(store)(dst + j, NAME(load_part)(src + j, columns - j));
      j += j < columns ? LANES : 0;
    } else {
      for (; j + 4 <= columns; j += 4)
        TSL_UNROLL for (int64_t l = j; l < j + 4; l++) dst[l] = src[l * column];
      for (; j < columns; j++)
        dst[j] = src[j * column];
    }
    for (; j < width; j++)
      dst[j] = 0;
  }
}

static void copy(const void *in, int64_t row, int64_t column, int64_t rows, int64_t columns, int64_t width,
                 void *out, int64_t pitch) {
  const int64_t most = columns_at_once(column, rows, width);
  for (int64_t j = 0; j < width; j += most)
    copy_columns((const REAL *)in + j * column, row, column, rows, tsl_max(0, tsl_min(most, columns - j)),
                 tsl_min(most, width - j), (REAL *)out + j, pitch);
}

static void finish_row(const REAL *sums, int64_t count, REAL alpha, REAL beta, REAL *c) {
  int64_t j = 0;
  if (beta == 0) {
    for (; j + LANES <= count; j += LANES)
      NAME(store)(c + j, NAME(load)(sums + j) * alpha);
    if (j < count)
      NAME(store_part)(c + j, NAME(load_part)(sums + j, count - j) * alpha, count - j);
    return;
  }
  for (; j + LANES <= count; j += LANES)
    NAME(store)(c + j, NAME(fma)(NAME(load)(sums + j) * alpha, beta, NAME(load)(c + j)));
  if (j < count)
    NAME(store_part)
  (c + j, NAME(fma)(NAME(load_part)(sums + j, count - j) * alpha, beta, NAME(load_part)(c + j, count - j)),
   count - j);
}

TSL_INLINE void finish_strided(const REAL *sums, int64_t step, int64_t count, REAL alpha, REAL beta, REAL *c,
                               int64_t column) {
  if (beta == 0)
    for (int64_t j = 0; j < count; j++)
      c[j * column] = alpha * sums[j * step];
  else
    for (int64_t j = 0; j < count; j++)
      c[j * column] = NAME(fma_number)(alpha * sums[j * step], beta, c[j * column]);
}

static void finish(const void *sums, int64_t step, int64_t count, double alpha, double beta, void *c,
                   int64_t column) {
  if (step == 1 && column == 1)
    finish_row(sums, count, (REAL)alpha, (REAL)beta, c);
  else if (column == 1)
    finish_strided(sums, step, count, (REAL)alpha, (REAL)beta, c, 1);
  else
    finish_strided(sums, step, count, (REAL)alpha, (REAL)beta, c, column);
}

/* Returns the pairs of LANES / 2 complex numbers that are `column` numbers apart. */
TSL_INLINE vector load_pairs(const REAL *src, int64_t column) {
  if (column == 1)
    return NAME(load)(src);
  vector pairs = {0};
  TSL_UNROLL for (int i = 0; i < LANES; i++) pairs[i] = src[i / 2 * 2 * column + i % 2];
  return pairs;
}

/* Makes columns from `first` to `end` of TSL_SKINNY_TURNS with `columns`. */
TSL_INLINE void turn_columns(const REAL *src, int64_t row, int64_t column, int64_t rows, int64_t columns,
                             int64_t first, int64_t end, const int signs[2], REAL *dst) {
  REAL factors[2][LANES];
  for (int i = 0; i < LANES; i++) {
    factors[0][i] = (REAL)(i % 2 ? signs[0] : 1);
    factors[1][i] = (REAL)(i % 2 ? signs[1] : -signs[0] * signs[1]);
  }
  const vector own = NAME(load)(factors[0]), turned = NAME(load)(factors[1]);
  for (int64_t i = 0; i < rows; i++, src += 2 * row, dst += 4 * columns) {
    int64_t j = first;
    for (; j + LANES / 2 <= end; j += LANES / 2) {
      const vector pairs = load_pairs(src + 2 * j * column, column);
      NAME(store)(dst + 2 * j, pairs * own);
      NAME(store)(dst + 2 * (columns + j), NAME(swap_pairs)(pairs) * turned);
    }
    for (; j < end; j++)
      for (int part = 0; part < 2; part++) {
        dst[2 * j + part] = factors[0][part] * src[2 * j * column + part];
        dst[2 * (columns + j) + part] = factors[1][part] * src[2 * j * column + 1 - part];
      }
  }
}

/* Makes columns from `first` to `end` of another real form with `columns`. */
static void expand_columns(const REAL *src, int64_t row, int64_t column, int64_t rows, int64_t columns,
                           int64_t first, int64_t end, tsl_skinny_form form, const int signs[2], REAL *dst) {
  const REAL own = (REAL)signs[0], other = (REAL)signs[1];
  for (int64_t i = 0; i < rows; i++, src += 2 * row)
    switch (form) {
    case TSL_SKINNY_PARTS:
      for (int64_t j = first; j < end; j++) {
        dst[j] = src[2 * j * column];
        dst[columns + j] = own * src[2 * j * column + 1];
      }
      dst += 2 * columns;
      break;
    case TSL_SKINNY_DOTS:
      for (int64_t j = first; j < end; j++) {
        const REAL real = src[2 * j * column], imaginary = own * src[2 * j * column + 1];
        dst[2 * j] = real;
        dst[2 * j + 1] = -other * imaginary;
        dst[2 * (columns + j)] = imaginary;
        dst[2 * (columns + j) + 1] = other * real;
      }
      dst += 4 * columns;
      break;
    case TSL_SKINNY_PAIRS:
      for (int64_t j = first; j < end; j++) {
        dst[2 * j] = src[2 * j * column];
        dst[2 * j + 1] = src[2 * j * column + 1];
      }
      dst += 2 * columns;
      break;
    default:
      break;
    }
}

static void expand(const void *in, int64_t row, int64_t column, int64_t rows, int64_t columns,
                   tsl_skinny_form form, const int signs[2], void *out) {
  const int64_t most = columns_at_once(column, rows, columns);
  for (int64_t j = 0; j < columns; j += most) {
    const int64_t end = tsl_min(j + most, columns);
    if (form != TSL_SKINNY_TURNS)
      expand_columns(in, row, column, rows, columns, j, end, form, signs, out);
    else if (column == 1)
      turn_columns(in, row, 1, rows, columns, j, end, signs, out);
    else
      turn_columns(in, row, column, rows, columns, j, end, signs, out);
  }
}

/* Scalars that are 1 and 0 skip multiplications; equal bits. */
TSL_INLINE void store_complex(REAL real, REAL imaginary, const REAL alpha[2], const REAL beta[2], bool scales,
                              bool adds, REAL *c) {
  if (scales) {
    const REAL before = real;
    real = NAME(fma_number)(-(alpha[1] * imaginary), alpha[0], real);
    imaginary = NAME(fma_number)(alpha[1] * before, alpha[0], imaginary);
  }
  if (adds) {
    const REAL c_real = c[0], c_imaginary = c[1];
    real = NAME(fma_number)(NAME(fma_number)(real, -beta[1], c_imaginary), beta[0], c_real);
    imaginary = NAME(fma_number)(NAME(fma_number)(imaginary, beta[1], c_real), beta[0], c_imaginary);
  }
  c[0] = real;
  c[1] = imaginary;
}

TSL_INLINE void finish_pairs(const REAL *sums, const REAL *imaginary, int sign, int64_t step, int64_t count,
                             const REAL alpha[2], const REAL beta[2], bool scales, bool adds, REAL *c,
                             int64_t column) {
  const REAL turn = (REAL)sign;
  if (!imaginary)
    for (int64_t j = 0; j < count; j++)
      store_complex(sums[j * step], sums[j * step + 1], alpha, beta, scales, adds, c + j * column);
  else
    for (int64_t j = 0; j < count; j++)
      store_complex(sums[j * 2] - turn * imaginary[j * 2 + 1], turn * sums[j * 2 + 1] + imaginary[j * 2],
                    alpha, beta, scales, adds, c + j * column);
}

/* Stores joined sums to strided elements, LANES / 2 at a time; returns their number. Equal bits. */
static int64_t join_vectors(const REAL *sums, const REAL *imaginary, int sign, int64_t count, REAL *c,
                            int64_t column) {
  REAL factors[2][LANES], pairs[LANES];
  int64_t j = 0;
  for (int i = 0; i < LANES; i++) {
    factors[0][i] = (REAL)(i % 2 ? sign : 1);
    factors[1][i] = (REAL)(i % 2 ? 1 : -sign);
  }
  const vector own = NAME(load)(factors[0]), turned = NAME(load)(factors[1]);
  for (; j + LANES / 2 <= count; j += LANES / 2) {
    const vector joined =
        NAME(load)(sums + 2 * j) * own + NAME(swap_pairs)(NAME(load)(imaginary + 2 * j)) * turned;
    NAME(store)(pairs, joined);
    TSL_UNROLL for (int i = 0; i < LANES / 2; i++)
        memcpy(c + (j + i) * column, pairs + 2 * i, 2 * sizeof *pairs);
  }
  return j;
}

static void finish_complex(const void *sums, const void *imaginary, int sign, int64_t step, int64_t count,
                           const double alpha[2], const double beta[2], void *c, int64_t column) {
  const REAL factor[2] = {(REAL)alpha[0], (REAL)alpha[1]}, kept[2] = {(REAL)beta[0], (REAL)beta[1]};
  const bool scales = alpha[0] != 1 || alpha[1] != 0, adds = beta[0] != 0 || beta[1] != 0;
  const int64_t joined = imaginary && !scales && !adds && column != 2
                             ? join_vectors(sums, imaginary, sign, count, c, column)
                             : 0;
  if (joined > 0)
    finish_pairs((const REAL *)sums + 2 * joined, (const REAL *)imaginary + 2 * joined, sign, step,
                 count - joined, factor, kept, false, false, (REAL *)c + joined * column, column);
  else if (!scales && !adds && column == 2)
    finish_pairs(sums, imaginary, sign, step, count, factor, kept, false, false, c, 2);
  else
    finish_pairs(sums, imaginary, sign, step, count, factor, kept, scales, adds, c, column);
}

/* Streams whole cache lines; elements before the first and after the last one are stored normally. */
static void stream(const void *sums, int64_t count, void *c) {
  const REAL *src = sums;
  REAL *dst = c;
  const int64_t before = tsl_min(count, (int64_t)(-(uintptr_t)dst % 64 / sizeof(REAL)));
  int64_t j = 0;
  for (; j < before; j++)
    dst[j] = src[j];
  for (; j + LINE <= count; j += LINE)
    TSL_UNROLL for (int part = 0; part < LINE; part += LANES)
        NAME(store_nontemporal)(dst + j + part, NAME(load)(src + j + part));
  for (; j < count; j++)
    dst[j] = src[j];
}

#define EVERY(word)                                                                                          \
  { word##_1, word##_2, word##_3, word##_4, word##_5, word##_6, word##_7, word##_8 }
const tsl_skinny_kernels TSL_ISA_NAME(tsl_skinny) = {.type = JOIN(ENUM_, TSL_TYPE),
                                                     .lanes = LANES,
                                                     .rows = {TILE_ROWS_OF_1, TILE_ROWS_OF_2, TILE_ROWS_OF_3},
                                                     .copy = copy,
                                                     .finish = finish,
                                                     .expand = expand,
                                                     .finish_complex = finish_complex,
                                                     .stream = stream,
                                                     .fence = fence,
                                                     .add = EVERY(add),
                                                     .reduce = EVERY(reduce),
                                                     .dots = dots,
                                                     .reduce_in_order = EVERY(reduce_in_order),
                                                     .outer = {outer_1, outer_2, outer_3, outer_4},
                                                     .multiply = {
#define TILE_TEXT "host/tile_entry.h"
#include "host/tiles.h"
#undef TILE_TEXT
                                                     }};

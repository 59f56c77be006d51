/* A tile needs registers for sums, a step's vectors of b, and an element of a for each. These limit MR. */
#include "strategy/gemm/host/host_skinny/host_skinny_job.h"

#include "host/int_math.h"
#include "host/simd.h"

#define REAL JOIN(REAL_, TSL_TYPE)
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
enum { LANES = NAME(LANES), LINE = 64 / (int)sizeof(REAL) };

#include "strategy/gemm/host/host_skinny/kernels/host_skinny_lines.h"

#define OF(word, number) JOIN(word##_, number)
#define TILE_TEXT "strategy/gemm/host/host_skinny/kernels/host_skinny_entries.h"
#define TILE_ROWS_MAX 8
#include "host/tile_rows.h"
#undef TILE_ROWS_MAX
#undef TILE_TEXT

/* Strided elements are copied by fours: the speed of a shorter loop depends on its address. */
static void copy(const void *in, int64_t row, int64_t column, int64_t rows, int64_t columns, int64_t width,
                 void *out, int64_t pitch) {
  const REAL *src = in;
  REAL *dst = out;
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
                                                     .stream = stream,
                                                     .fence = fence,
                                                     .add = EVERY(add),
                                                     .reduce = EVERY(reduce),
                                                     .outer = {outer_1, outer_2, outer_3, outer_4},
                                                     .multiply = {
#define TILE_TEXT "host/tile_entry.h"
#include "host/tiles.h"
#undef TILE_TEXT
                                                     }};

/* The kernels of one element type, as text. Included by files that differ in their compiler flags, with
 *   REAL, SUFFIX          the element type, and _f32 or _f64: the type's version of a name
 *   VECTOR_BYTES          a vector register
 *   STREAM(to, value)     stores a vector past the caches, where the instruction set has such a store; FENCE() after it
 *   LOAD_PART(from, count) the first numbers of a vector, and zeros; nothing behind them is touched
 *   TOTAL(value)          the sum of a vector's numbers, in a fixed order
 *   COLUMNS_OF(q)         columns that are reduced together with q rows: as many as leave registers */
#define JOIN_LATE(word, suffix) word##suffix
#define JOIN(word, suffix) JOIN_LATE(word, suffix)
#define NAME(word) JOIN(word, SUFFIX)

#if defined(__clang__)
#define TSL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TSL_UNROLL _Pragma("GCC unroll 16")
#endif

typedef REAL NAME(vector) __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef REAL NAME(loose) __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(sizeof(REAL))));
enum {
  LANES = VECTOR_BYTES / (int)sizeof(REAL),
  LINE = 64 / (int)sizeof(REAL),
  AHEAD = 1024 / (int)sizeof(REAL)
};

static inline NAME(vector) NAME(load)(const REAL *from) {
  return *(const NAME(loose) *)from;
}
static inline void NAME(store)(REAL *to, NAME(vector) value) {
  *(NAME(loose) *)to = value;
}

/* --- sums over rows --- */

/* One vector of each row of a group, `count` numbers of it; what the next group needs is asked for meanwhile. Sums have
 * room for whole vectors. */
static inline __attribute__((always_inline)) void NAME(add_vectors)(const REAL *x, int64_t along,
                                                                    const REAL *y, REAL *sums, int64_t pitch,
                                                                    int q, int rows, int64_t count) {
  NAME(vector) sum[TSL_THIN_MOST];
  TSL_UNROLL for (int i = 0; i < q; i++) sum[i] = NAME(load)(sums + i * pitch);
  TSL_UNROLL for (int l = 0; l < rows; l++) {
    const REAL *at = x + l * along;
    const NAME(vector) from = count == LANES ? NAME(load)(at) : (NAME(vector))LOAD_PART(at, count);
    if (rows == TSL_THIN_GROUP)
      __builtin_prefetch(at + rows * along, 0, 2);
    TSL_UNROLL for (int i = 0; i < q; i++) sum[i] += y[l * q + i] * from;
  }
  TSL_UNROLL for (int i = 0; i < q; i++) NAME(store)(sums + i * pitch, sum[i]);
}

static inline __attribute__((always_inline)) void NAME(add_group)(const REAL *x, int64_t along, const REAL *y,
                                                                  int64_t width, REAL *sums, int64_t pitch,
                                                                  int q, int rows) {
  int64_t j = 0;
  for (; j + LANES <= width; j += LANES)
    NAME(add_vectors)(x + j, along, y, sums + j, pitch, q, rows, LANES);
  if (j < width)
    NAME(add_vectors)(x + j, along, y, sums + j, pitch, q, rows, width - j);
}

static inline __attribute__((always_inline)) void NAME(add)(const void *x, int64_t along, int64_t rows,
                                                            const void *y, int64_t width, void *sums,
                                                            int64_t pitch, int q) {
  const REAL *from = x, *by = y;
  for (; rows >= TSL_THIN_GROUP;
       rows -= TSL_THIN_GROUP, from += TSL_THIN_GROUP * along, by += TSL_THIN_GROUP * q)
    NAME(add_group)(from, along, by, width, sums, pitch, q, TSL_THIN_GROUP);
  for (; rows > 0; rows--, from += along, by += q)
    NAME(add_group)(from, along, by, width, sums, pitch, q, 1);
}

/* --- sums along rows --- */

static inline __attribute__((always_inline)) void NAME(reduce)(const void *x, int64_t across, int64_t depth,
                                                               const void *y, int64_t pitch, void *out, int q,
                                                               int columns) {
  const REAL *from = x, *by = y;
  NAME(vector) sum[TSL_THIN_TOGETHER][TSL_THIN_MOST], row[TSL_THIN_MOST];
  REAL *to = out;
  int64_t l = 0;
  TSL_UNROLL for (int j = 0; j < columns; j++) {
    TSL_UNROLL for (int i = 0; i < q; i++) sum[j][i] = (NAME(vector)){0};
  }
  for (; l + LANES <= depth; l += LANES) {
    TSL_UNROLL for (int i = 0; i < q; i++) row[i] = NAME(load)(by + i * pitch + l);
    TSL_UNROLL for (int j = 0; j < columns; j++) {
      const NAME(vector) column = NAME(load)(from + j * across + l);
      __builtin_prefetch(from + (columns + j) * across + l, 0, 2);
      TSL_UNROLL for (int i = 0; i < q; i++) sum[j][i] += row[i] * column;
    }
  }
  if (l < depth) {
    TSL_UNROLL for (int i = 0; i < q; i++) row[i] = (NAME(vector))LOAD_PART(by + i * pitch + l, depth - l);
    TSL_UNROLL for (int j = 0; j < columns; j++) {
      const NAME(vector) column = (NAME(vector))LOAD_PART(from + j * across + l, depth - l);
      TSL_UNROLL for (int i = 0; i < q; i++) sum[j][i] += row[i] * column;
    }
  }
  TSL_UNROLL for (int j = 0; j < columns; j++) {
    TSL_UNROLL for (int i = 0; i < q; i++) to[j * q + i] = TOTAL(sum[j][i]);
  }
}

/* --- outer products --- */

static inline __attribute__((always_inline)) NAME(vector)
    NAME(mix)(const tsl_thin_row *row, const REAL *y, int64_t j, int steps) {
  const REAL *b = (const REAL *)row->b + j;
  NAME(vector) sum = y[0] * NAME(load)(b);
  TSL_UNROLL for (int l = 1; l < steps; l++) sum += y[l] * NAME(load)(b + l * row->pitch);
  return (REAL)row->alpha * sum;
}

static inline __attribute__((always_inline)) void NAME(one)(const tsl_thin_row *row, const REAL *y, REAL *c,
                                                            int64_t j, int steps) {
  const REAL *b = (const REAL *)row->b + j;
  REAL sum = y[0] * b[0];
  for (int l = 1; l < steps; l++)
    sum += y[l] * b[l * row->pitch];
  sum *= (REAL)row->alpha;
  c[j] = row->beta == 0 ? sum : (REAL)row->beta * c[j] + sum;
}

static inline __attribute__((always_inline)) void NAME(outer)(const tsl_thin_row *row, const void *y_at,
                                                              void *c_at, int steps) {
  const REAL *y = y_at, beta = (REAL)row->beta;
  const int64_t width = row->width;
  REAL *c = c_at;
  int64_t j = 0;
  if (row->streams) {
    for (; j < width && (uintptr_t)(c + j) % VECTOR_BYTES != 0; j++)
      NAME(one)(row, y, c, j, steps);
    for (; j + LINE <= width; j += LINE)
      TSL_UNROLL for (int part = 0; part < LINE; part += LANES)
          STREAM(c + j + part, NAME(mix)(row, y, j + part, steps));
  }
  if (beta == 0)
    for (; j + LANES <= width; j += LANES)
      NAME(store)(c + j, NAME(mix)(row, y, j, steps));
  else
    for (; j + LANES <= width; j += LANES)
      NAME(store)(c + j, beta * NAME(load)(c + j) + NAME(mix)(row, y, j, steps));
  for (; j < width; j++)
    NAME(one)(row, y, c, j, steps);
}

static void NAME(fence)(void) {
  FENCE();
}

/* --- copies, and C --- */

static void NAME(pack)(const void *in, int64_t row, int64_t column, int64_t rows, int64_t columns, void *out,
                       int64_t pitch) {
  const REAL *from = in;
  REAL *to = out;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      to[i * pitch + j] = from[i * row + j * column];
}

static void NAME(finish)(const void *sums, int64_t step, int64_t count, double alpha, double beta, void *c,
                         int64_t column) {
  const REAL *from = sums, a = (REAL)alpha, b = (REAL)beta;
  REAL *to = c;
  if (beta == 0)
    for (int64_t j = 0; j < count; j++)
      to[j * column] = a * from[j * step];
  else
    for (int64_t j = 0; j < count; j++)
      to[j * column] = b * to[j * column] + a * from[j * step];
}

/* --- for every number --- */

#define VERSION_LATE(word, number, suffix) word##_##number##suffix
#define VERSION(word, number, suffix) VERSION_LATE(word, number, suffix)
#define OF(word, number) VERSION(word, number, SUFFIX)

#define NUMBER 1
#include "strategy/gemm/host_thin/versions.h"
#undef NUMBER
#define NUMBER 2
#include "strategy/gemm/host_thin/versions.h"
#undef NUMBER
#define NUMBER 3
#include "strategy/gemm/host_thin/versions.h"
#undef NUMBER
#define NUMBER 4
#include "strategy/gemm/host_thin/versions.h"
#undef NUMBER
#define NUMBER 5
#include "strategy/gemm/host_thin/versions.h"
#undef NUMBER
#define NUMBER 6
#include "strategy/gemm/host_thin/versions.h"
#undef NUMBER
#define NUMBER 7
#include "strategy/gemm/host_thin/versions.h"
#undef NUMBER
#define NUMBER 8
#include "strategy/gemm/host_thin/versions.h"
#undef NUMBER

#define EVERY(word)                                                                                          \
  { OF(word, 1), OF(word, 2), OF(word, 3), OF(word, 4), OF(word, 5), OF(word, 6), OF(word, 7), OF(word, 8) }
/* The type's row of the table; `type_` is its name in the enumeration. */
#define TABLE_ROW(type_)                                                                                     \
  {                                                                                                          \
    .type = (type_), .lanes = LANES,                                                                         \
    .columns = {COLUMNS_OF(1), COLUMNS_OF(2), COLUMNS_OF(3), COLUMNS_OF(4),                                  \
                COLUMNS_OF(5), COLUMNS_OF(6), COLUMNS_OF(7), COLUMNS_OF(8)},                                 \
    .add = EVERY(add), .reduce = EVERY(reduce), .reduce_one = EVERY(reduce_one),                             \
    .outer = {OF(outer, 1), OF(outer, 2), OF(outer, 3), OF(outer, 4)}, .pack = NAME(pack),                   \
    .finish = NAME(finish), .fence = NAME(fence)                                                             \
  }

/* The kernels of one element type, as text. Included by files that differ in their compiler flags, with
 *   REAL, SUFFIX          the element type, and _f32 or _f64: the type's version of a name
 *   VECTOR_BYTES          a vector register
 *   STREAM(to, value)     stores a vector past the caches, where the instruction set has such a store; FENCE() after it
 *   LOAD_PART(from, count) the first numbers of a vector, and zeros; nothing behind them is touched
 *   TOTAL(value)          the sum of a vector's numbers, in a fixed order
 *   TOTALS(values, to)    those of four vectors, stored side by side
 *   KEEP(value)           lets the compiler believe that a vector changes: gcc loads it again for each use otherwise
 *   HELD                  numbers of the thin operand that are kept in registers, a vector each
 *   NEAR_ROWS(q)          rows of a group where q rows are added up from the caches
 *   OUTER_ROWS(steps)     rows of C that are made together in an outer product
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
  NARROW_VECTORS = 8,             /* of sums that are kept in registers, a few at a time */
  AHEAD = 512 / (int)sizeof(REAL) /* in a row of C that is written */
};

static inline NAME(vector) NAME(load)(const REAL *from) {
  return *(const NAME(loose) *)from;
}
static inline void NAME(store)(REAL *to, NAME(vector) value) {
  *(NAME(loose) *)to = value;
}

/* --- sums over rows --- */

/* One vector of each row of a group, `count` numbers of it; where `asks`, what the next group needs is asked for meanwhile.
 * Sums have room for whole vectors. */
static inline __attribute__((always_inline)) void NAME(add_vectors)(const REAL *x, int64_t along,
                                                                    const NAME(vector) * held, const REAL *y,
                                                                    REAL *sums, int64_t pitch, int q,
                                                                    int rows, bool asks, int64_t count) {
  NAME(vector) sum[TSL_THIN_MOST];
  TSL_UNROLL for (int i = 0; i < q; i++) sum[i] = NAME(load)(sums + i * pitch);
  TSL_UNROLL for (int l = 0; l < rows; l++) {
    const REAL *at = x + l * along;
    NAME(vector) from = count == LANES ? NAME(load)(at) : (NAME(vector))LOAD_PART(at, count);
    if (q > 1)
      KEEP(from);
    if (asks)
      __builtin_prefetch(at + rows * along, 0, 2);
    TSL_UNROLL for (int i = 0; i < q; i++) sum[i] +=
        rows * q <= HELD ? held[l * q + i] * from : y[l * q + i] * from;
  }
  TSL_UNROLL for (int i = 0; i < q; i++) NAME(store)(sums + i * pitch, sum[i]);
}

/* The thin operand's numbers are taken to registers, or to the stack, since stores of sums might change them otherwise. */
static inline __attribute__((always_inline)) void NAME(add_group)(const REAL *x, int64_t along,
                                                                  const tsl_thin_numbers *numbers, int64_t l,
                                                                  int64_t width, REAL *sums, int64_t pitch,
                                                                  int q, int rows, bool asks) {
  const REAL *from = (const REAL *)numbers->at + l * numbers->along;
  NAME(vector) held[HELD];
  REAL y[TSL_THIN_MOST * TSL_THIN_GROUP];
  int64_t j = 0;
  TSL_UNROLL for (int i = 0; i < q; i++) {
    TSL_UNROLL for (int r = 0; r < rows; r++) {
      const REAL number = from[i * numbers->across + r * numbers->along];
      if (rows * q <= HELD)
        held[r * q + i] = number - (NAME(vector)){0};
      else
        y[r * q + i] = number;
    }
  }
  for (; j + LANES <= width; j += LANES)
    NAME(add_vectors)(x + j, along, held, y, sums + j, pitch, q, rows, asks, LANES);
  if (j < width)
    NAME(add_vectors)(x + j, along, held, y, sums + j, pitch, q, rows, asks, width - j);
}

/* A few vectors of the sums, kept in registers while all rows pass. */
static inline __attribute__((always_inline)) void NAME(add_narrow)(const REAL *x, int64_t along, int64_t rows,
                                                                   const tsl_thin_numbers *numbers,
                                                                   REAL *sums, int64_t pitch, int q,
                                                                   int vectors, int64_t last, bool fresh) {
  const int64_t across = numbers->across, step = numbers->along;
  const REAL *y = numbers->at;
  NAME(vector) sum[TSL_THIN_NARROW][TSL_THIN_KEPT];
  TSL_UNROLL for (int i = 0; i < q; i++) {
    TSL_UNROLL for (int v = 0; v < vectors; v++) sum[i][v] =
        fresh ? (NAME(vector)){0} : NAME(load)(sums + i * pitch + v * LANES);
  }
  for (int64_t l = 0; l < rows; l++, x += along, y += step)
    TSL_UNROLL for (int v = 0; v < vectors; v++) {
      NAME(vector)
      from = v < vectors - 1 || last == LANES ? NAME(load)(x + v * LANES)
                                              : (NAME(vector))LOAD_PART(x + v * LANES, last);
      if (q > 1)
        KEEP(from);
      TSL_UNROLL for (int i = 0; i < q; i++) sum[i][v] += y[i * across] * from;
    }
  TSL_UNROLL for (int i = 0; i < q; i++) {
    TSL_UNROLL for (int v = 0; v < vectors; v++) NAME(store)(sums + i * pitch + v * LANES, sum[i][v]);
  }
}

static inline __attribute__((always_inline)) void
NAME(add_narrows)(const REAL *x, int64_t along, int64_t rows, const tsl_thin_numbers *numbers, int64_t width,
                  REAL *sums, int64_t pitch, int q, bool fresh) {
  int64_t j = 0;
  for (; j + TSL_THIN_KEPT * LANES <= width; j += TSL_THIN_KEPT * LANES)
    NAME(add_narrow)(x + j, along, rows, numbers, sums + j, pitch, q, TSL_THIN_KEPT, LANES, fresh);
  if (j + 2 * LANES <= width) {
    NAME(add_narrow)(x + j, along, rows, numbers, sums + j, pitch, q, 2, LANES, fresh);
    j += 2 * LANES;
  }
  if (j + LANES < width)
    NAME(add_narrow)(x + j, along, rows, numbers, sums + j, pitch, q, 2, width - j - LANES, fresh);
  else if (j < width)
    NAME(add_narrow)(x + j, along, rows, numbers, sums + j, pitch, q, 1, width - j, fresh);
}

static inline __attribute__((always_inline)) void NAME(add)(const void *x, int64_t along, int64_t rows,
                                                            const tsl_thin_numbers *numbers, int64_t width,
                                                            void *sums, int64_t pitch, bool fresh, bool asks,
                                                            int q) {
  enum { FAR = TSL_THIN_GROUP };
  const int near = NEAR_ROWS(q);
  const REAL *from = x;
  int64_t l = 0;
  if (q <= TSL_THIN_NARROW && width <= NARROW_VECTORS * LANES) {
    if (fresh)
      NAME(add_narrows)(from, along, rows, numbers, width, sums, pitch, q, true);
    else
      NAME(add_narrows)(from, along, rows, numbers, width, sums, pitch, q, false);
    return;
  }
  if (fresh)
    for (int i = 0; i < q; i++)
      for (int64_t j = 0; j < width; j += LANES)
        NAME(store)((REAL *)sums + i * pitch + j, (NAME(vector)){0});
  if (asks)
    for (; l + FAR <= rows; l += FAR)
      NAME(add_group)(from + l * along, along, numbers, l, width, sums, pitch, q, FAR, true);
  for (; l + near <= rows; l += near)
    NAME(add_group)(from + l * along, along, numbers, l, width, sums, pitch, q, near, false);
  if (near > 4)
    for (; l + 4 <= rows; l += 4)
      NAME(add_group)(from + l * along, along, numbers, l, width, sums, pitch, q, 4, false);
  for (; l < rows; l++)
    NAME(add_group)(from + l * along, along, numbers, l, width, sums, pitch, q, 1, false);
}

/* --- sums along rows --- */

/* Whole vectors of the columns; where `asks`, those of the next columns are asked for meanwhile. Returns where the last
 * part of a vector begins. */
static inline __attribute__((always_inline)) int64_t NAME(reduce_vectors)(const REAL *from, int64_t across,
                                                                          int64_t depth, const REAL *by,
                                                                          int64_t pitch, NAME(vector) * sum,
                                                                          int q, int columns, bool asks) {
  NAME(vector) row[TSL_THIN_MOST];
  int64_t l = 0;
  for (; l + LANES <= depth; l += LANES) {
    TSL_UNROLL for (int i = 0; i < q; i++) row[i] = NAME(load)(by + i * pitch + l);
    TSL_UNROLL for (int j = 0; j < columns; j++) {
      NAME(vector) column = NAME(load)(from + j * across + l);
      if (q > 1)
        KEEP(column);
      if (asks)
        __builtin_prefetch(from + (columns + j) * across + l, 0, 2);
      TSL_UNROLL for (int i = 0; i < q; i++) sum[j * q + i] += row[i] * column;
    }
  }
  return l;
}

static inline __attribute__((always_inline)) void NAME(reduce_some)(const REAL *from, int64_t across,
                                                                    int64_t depth, const REAL *by,
                                                                    int64_t pitch, REAL *to, int q,
                                                                    int columns, bool asks) {
  NAME(vector) sum[TSL_THIN_TOGETHER * 2], row[TSL_THIN_MOST];
  TSL_UNROLL for (int t = 0; t < columns * q; t++) sum[t] = (NAME(vector)){0};
  const int64_t l = NAME(reduce_vectors)(from, across, depth, by, pitch, sum, q, columns, asks);
  if (l < depth) {
    TSL_UNROLL for (int i = 0; i < q; i++) row[i] = (NAME(vector))LOAD_PART(by + i * pitch + l, depth - l);
    TSL_UNROLL for (int j = 0; j < columns; j++) {
      const NAME(vector) column = (NAME(vector))LOAD_PART(from + j * across + l, depth - l);
      TSL_UNROLL for (int i = 0; i < q; i++) sum[j * q + i] += row[i] * column;
    }
  }
  const int fours = columns * q / 4 * 4;
  TSL_UNROLL for (int t = 0; t < fours; t += 4) TOTALS(sum + t, to + t);
  TSL_UNROLL for (int t = fours; t < columns * q; t++) to[t] = TOTAL(sum[t]);
}

/* The last columns lie over those before, where there are enough. */
static inline __attribute__((always_inline)) void NAME(reduce)(const tsl_thin_columns *x, const void *y,
                                                               int64_t pitch, void *out, int q) {
  const int64_t across = x->across, depth = x->depth, count = x->count;
  const REAL *from = x->at;
  REAL *to = out;
  if (count < COLUMNS_OF(q))
    for (int64_t j = 0; j < count; j++)
      NAME(reduce_some)(from + j * across, across, depth, y, pitch, to + j * q, q, 1, false);
  else if (x->asks)
    for (int64_t j = 0; j < count; j += COLUMNS_OF(q)) {
      const int64_t at = j + COLUMNS_OF(q) <= count ? j : count - COLUMNS_OF(q);
      NAME(reduce_some)(from + at * across, across, depth, y, pitch, to + at * q, q, COLUMNS_OF(q), true);
    }
  else
    for (int64_t j = 0; j < count; j += COLUMNS_OF(q)) {
      const int64_t at = j + COLUMNS_OF(q) <= count ? j : count - COLUMNS_OF(q);
      NAME(reduce_some)(from + at * across, across, depth, y, pitch, to + at * q, q, COLUMNS_OF(q), false);
    }
}

/* --- outer products --- */

/* What rows of C are made of, in registers: stores to C might change it where it lies. */
typedef struct NAME(making) {
  const REAL *b;
  int64_t pitch, y_pitch, c_pitch, width;
  REAL alpha, beta;
} NAME(making);

static inline __attribute__((always_inline)) void NAME(one)(NAME(making) now, const REAL *y, REAL *c,
                                                            int64_t j, int steps) {
  REAL sum = y[0] * now.b[j];
  for (int l = 1; l < steps; l++)
    sum += y[l] * now.b[j + l * now.pitch];
  sum *= now.alpha;
  c[j] = now.beta == 0 ? sum : now.beta * c[j] + sum;
}

/* A vector of each of some rows of C, from the same vectors of B. */
static inline __attribute__((always_inline)) void NAME(mix)(NAME(making) now, const NAME(vector) * held,
                                                            REAL *c, int64_t j, int steps, int together,
                                                            bool adds, bool streams) {
  NAME(vector) b[TSL_THIN_STEPS];
  TSL_UNROLL for (int l = 0; l < steps; l++) {
    b[l] = NAME(load)(now.b + j + l * now.pitch);
    if (together > 1)
      KEEP(b[l]);
  }
  TSL_UNROLL for (int i = 0; i < together; i++) {
    REAL *to = c + i * now.c_pitch + j;
    NAME(vector) sum = held[i * steps] * b[0];
    TSL_UNROLL for (int l = 1; l < steps; l++) sum += held[i * steps + l] * b[l];
    sum *= now.alpha;
    if (!streams)
      __builtin_prefetch(to + AHEAD, 1);
    if (adds)
      sum += now.beta * NAME(load)(to);
    if (streams)
      STREAM(to, sum);
    else
      NAME(store)(to, sum);
  }
}

static inline __attribute__((always_inline)) void
NAME(outer_rows)(NAME(making) now, const REAL *y, REAL *c, int steps, int together, bool adds, bool streams) {
  NAME(vector) held[TSL_THIN_STEPS * TSL_THIN_STEPS];
  int64_t j = 0;
  TSL_UNROLL for (int i = 0; i < together; i++) {
    TSL_UNROLL for (int l = 0; l < steps; l++) held[i * steps + l] =
        y[i * now.y_pitch + l] - (NAME(vector)){0};
  }
  if (streams) {
    for (; j < now.width && (uintptr_t)(c + j) % VECTOR_BYTES != 0; j++)
      NAME(one)(now, y, c, j, steps);
    for (; j + LINE <= now.width; j += LINE)
      TSL_UNROLL for (int part = 0; part < LINE; part += LANES)
          NAME(mix)(now, held, c, j + part, steps, together, adds, true);
  }
  for (; j + LANES <= now.width; j += LANES)
    NAME(mix)(now, held, c, j, steps, together, adds, false);
  if (!adds && !streams && now.width >= LANES) { /* the last vector lies over the one before */
    if (j < now.width)
      NAME(mix)(now, held, c, now.width - LANES, steps, together, false, false);
  } else
    TSL_UNROLL for (int i = 0; i < together; i++) for (int64_t t = j; t < now.width; t++)
        NAME(one)(now, y + i * now.y_pitch, c + i * now.c_pitch, t, steps);
}

static inline __attribute__((always_inline)) void NAME(outer_way)(const tsl_thin_rows *rows, int steps,
                                                                  int together, bool adds, bool streams) {
  const NAME(making) now = {rows->b,     rows->pitch,       rows->y_pitch,   rows->c_pitch,
                            rows->width, (REAL)rows->alpha, (REAL)rows->beta};
  const REAL *y = rows->y;
  REAL *c = rows->c;
  int64_t left = rows->rows;
  for (; left >= together; left -= together, y += together * now.y_pitch, c += together * now.c_pitch)
    NAME(outer_rows)(now, y, c, steps, together, adds, streams);
  for (; left > 0; left--, y += now.y_pitch, c += now.c_pitch)
    NAME(outer_rows)(now, y, c, steps, 1, adds, streams);
}

static inline __attribute__((always_inline)) void NAME(outer)(const tsl_thin_rows *rows, int steps) {
  if (rows->streams)
    NAME(outer_way)(rows, steps, 1, false, true);
  else if (rows->beta != 0)
    NAME(outer_way)(rows, steps, OUTER_ROWS(steps), true, false);
  else
    NAME(outer_way)(rows, steps, OUTER_ROWS(steps), false, false);
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

/* With constants for the steps the compiler makes vectors. */
static inline __attribute__((always_inline)) void
NAME(scale)(const REAL *from, int64_t step, int64_t count, REAL alpha, REAL beta, REAL *to, int64_t column) {
  if (beta == 0)
    for (int64_t j = 0; j < count; j++)
      to[j * column] = alpha * from[j * step];
  else
    for (int64_t j = 0; j < count; j++)
      to[j * column] = beta * to[j * column] + alpha * from[j * step];
}

static void NAME(finish)(const void *sums, int64_t step, int64_t count, double alpha, double beta, void *c,
                         int64_t column) {
  if (step == 1 && column == 1)
    NAME(scale)(sums, 1, count, (REAL)alpha, (REAL)beta, c, 1);
  else
    NAME(scale)(sums, step, count, (REAL)alpha, (REAL)beta, c, column);
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
    .type = (type_), .lanes = LANES, .add = EVERY(add), .reduce = EVERY(reduce),                             \
    .outer = {OF(outer, 1), OF(outer, 2), OF(outer, 3), OF(outer, 4)}, .pack = NAME(pack),                   \
    .finish = NAME(finish), .fence = NAME(fence)                                                             \
  }

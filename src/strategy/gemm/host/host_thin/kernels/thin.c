/* The number of registers decides:
 *
 *   HELD                  elements of the thin operand that are kept in registers, a vector each
 *   NEAR_ROWS(q)          rows of a group if q rows are added up from the caches
 *   OUTER_ROWS(steps)     rows of C that are computed together in an outer product
 *   COLUMNS_OF(q)         columns that are reduced together with q rows */
#include "strategy/gemm/host/host_thin/host_thin_job.h"

#include "host/int_math.h"
#include "host/simd.h"

#define REAL JOIN(REAL_, TSL_TYPE)
#define SUFFIX JOIN(_, TSL_TYPE)

#if REGISTERS >= 32
#define HELD 24
#define NEAR_ROWS(q) ((q) == 1 ? 16 : (q) == 4 || (q) == 5 ? 4 : 8)
#define OUTER_ROWS(steps) ((steps) == 1 ? 1 : 4)
#define COLUMNS_OF(q) ((q) <= 2 ? 8 : (q) <= 4 ? 4 : 2)
#else
#define HELD 8
#define NEAR_ROWS(q) 8
#define OUTER_ROWS(steps) ((steps) == 1 ? 1 : 2)
#define COLUMNS_OF(q) ((q) == 1 ? 8 : (q) == 2 ? 4 : (q) <= 4 ? 2 : 1)
#endif

typedef NAME(vector) vector;
enum {
  LANES = NAME(LANES),
  LINE = 64 / (int)sizeof(REAL),
  NARROW_VECTORS = 8,                  /* vectors of a row of sums that are added in registers */
  PREFETCHED = 512 / (int)sizeof(REAL) /* prefetch distance in a row of C that is written */
};

/* Adds one vector, or `count` elements of it, of each row of a group. Rows of sums are whole vectors. */
TSL_INLINE void add_vectors(const REAL *x, int64_t along, const vector *held, const REAL *y, REAL *sums,
                            int64_t pitch, int q, int rows, bool prefetches, int64_t count) {
  vector sum[TSL_THIN_MOST];
  TSL_UNROLL for (int i = 0; i < q; i++) sum[i] = NAME(load)(sums + i * pitch);
  TSL_UNROLL for (int l = 0; l < rows; l++) {
    const REAL *row = x + l * along;
    vector from = count == LANES ? NAME(load)(row) : NAME(load_part)(row, count);
    if (q > 1)
      TSL_KEEP(from);
    if (prefetches)
      __builtin_prefetch(row + rows * along, 0, 2);
    TSL_UNROLL for (int i = 0; i < q; i++) sum[i] = rows * q <= HELD
                                                        ? NAME(fma_vectors)(sum[i], held[l * q + i], from)
                                                        : NAME(fma)(sum[i], y[l * q + i], from);
  }
  TSL_UNROLL for (int i = 0; i < q; i++) NAME(store)(sums + i * pitch, sum[i]);
}

/* Adds a group of rows. The thin elements are copied first: stores to sums might change them. */
TSL_INLINE void add_group(const REAL *x, int64_t along, const tsl_thin_numbers *numbers, int64_t l,
                          int64_t width, REAL *sums, int64_t pitch, int q, int rows, bool prefetches) {
  const REAL *from = (const REAL *)numbers->at + l * numbers->along;
  vector held[HELD];
  REAL y[TSL_THIN_MOST * TSL_THIN_GROUP];
  int64_t j = 0;
  TSL_UNROLL for (int i = 0; i < q; i++) {
    TSL_UNROLL for (int r = 0; r < rows; r++) {
      const REAL number = from[i * numbers->across + r * numbers->along];
      if (rows * q <= HELD)
        held[r * q + i] = number - (vector){0};
      else
        y[r * q + i] = number;
    }
  }
  for (; j + LANES <= width; j += LANES)
    add_vectors(x + j, along, held, y, sums + j, pitch, q, rows, prefetches, LANES);
  if (j < width)
    add_vectors(x + j, along, held, y, sums + j, pitch, q, rows, prefetches, width - j);
}

TSL_INLINE void add_in_registers(const REAL *x, int64_t along, int64_t rows, const tsl_thin_numbers *numbers,
                                 REAL *sums, int64_t pitch, int q, int vectors, int64_t last, bool fresh) {
  const int64_t across = numbers->across, step = numbers->along;
  const REAL *y = numbers->at;
  vector sum[TSL_THIN_NARROW][TSL_THIN_KEPT];
  TSL_UNROLL for (int i = 0; i < q; i++) {
    TSL_UNROLL for (int v = 0; v < vectors; v++) sum[i][v] =
        fresh ? (vector){0} : NAME(load)(sums + i * pitch + v * LANES);
  }
  for (int64_t l = 0; l < rows; l++, x += along, y += step)
    TSL_UNROLL for (int v = 0; v < vectors; v++) {
      vector from =
          v < vectors - 1 || last == LANES ? NAME(load)(x + v * LANES) : NAME(load_part)(x + v * LANES, last);
      if (q > 1)
        TSL_KEEP(from);
      TSL_UNROLL for (int i = 0; i < q; i++) sum[i][v] = NAME(fma)(sum[i][v], y[i * across], from);
    }
  TSL_UNROLL for (int i = 0; i < q; i++) {
    TSL_UNROLL for (int v = 0; v < vectors; v++) NAME(store)(sums + i * pitch + v * LANES, sum[i][v]);
  }
}

TSL_INLINE void add_strips_in_registers(const REAL *x, int64_t along, int64_t rows,
                                        const tsl_thin_numbers *numbers, int64_t width, REAL *sums,
                                        int64_t pitch, int q, bool fresh) {
  int64_t j = 0;
  for (; j + TSL_THIN_KEPT * LANES <= width; j += TSL_THIN_KEPT * LANES)
    add_in_registers(x + j, along, rows, numbers, sums + j, pitch, q, TSL_THIN_KEPT, LANES, fresh);
  if (j + 2 * LANES <= width) {
    add_in_registers(x + j, along, rows, numbers, sums + j, pitch, q, 2, LANES, fresh);
    j += 2 * LANES;
  }
  if (j + LANES < width)
    add_in_registers(x + j, along, rows, numbers, sums + j, pitch, q, 2, width - j - LANES, fresh);
  else if (j < width)
    add_in_registers(x + j, along, rows, numbers, sums + j, pitch, q, 1, width - j, fresh);
}

TSL_INLINE void add(const void *x, int64_t along, int64_t rows, const tsl_thin_numbers *numbers,
                    int64_t width, void *sums, int64_t pitch, bool fresh, bool prefetches, int q) {
  enum { FAR = TSL_THIN_GROUP };
  const int near = NEAR_ROWS(q);
  const REAL *from = x;
  int64_t l = 0;
  if (q <= TSL_THIN_NARROW && width <= NARROW_VECTORS * LANES) {
    if (fresh)
      add_strips_in_registers(from, along, rows, numbers, width, sums, pitch, q, true);
    else
      add_strips_in_registers(from, along, rows, numbers, width, sums, pitch, q, false);
    return;
  }
  if (fresh)
    for (int i = 0; i < q; i++)
      for (int64_t j = 0; j < width; j += LANES)
        NAME(store)((REAL *)sums + i * pitch + j, (vector){0});
  if (prefetches)
    for (; l + FAR <= rows; l += FAR)
      add_group(from + l * along, along, numbers, l, width, sums, pitch, q, FAR, true);
  for (; l + near <= rows; l += near)
    add_group(from + l * along, along, numbers, l, width, sums, pitch, q, near, false);
  if (near > 4)
    for (; l + 4 <= rows; l += 4)
      add_group(from + l * along, along, numbers, l, width, sums, pitch, q, 4, false);
  for (; l < rows; l++)
    add_group(from + l * along, along, numbers, l, width, sums, pitch, q, 1, false);
}

/* Multiplies whole vectors of the columns. Returns the position of the partial last vector. */
TSL_INLINE int64_t reduce_vectors(const REAL *from, int64_t across, int64_t depth, const REAL *by,
                                  int64_t pitch, vector *sum, int q, int columns, bool prefetches) {
  vector row[TSL_THIN_MOST];
  int64_t l = 0;
  for (; l + LANES <= depth; l += LANES) {
    TSL_UNROLL for (int i = 0; i < q; i++) row[i] = NAME(load)(by + i * pitch + l);
    TSL_UNROLL for (int j = 0; j < columns; j++) {
      vector column = NAME(load)(from + j * across + l);
      if (q > 1)
        TSL_KEEP(column);
      if (prefetches)
        __builtin_prefetch(from + (columns + j) * across + l, 0, 2);
      TSL_UNROLL for (int i = 0; i < q; i++) sum[j * q + i] =
          NAME(fma_vectors)(sum[j * q + i], row[i], column);
    }
  }
  return l;
}

TSL_INLINE void reduce_some(const REAL *from, int64_t across, int64_t depth, const REAL *by, int64_t pitch,
                            REAL *dst, int q, int columns, bool prefetches) {
  vector sum[TSL_THIN_TOGETHER * 2], row[TSL_THIN_MOST];
  TSL_UNROLL for (int t = 0; t < columns * q; t++) sum[t] = (vector){0};
  const int64_t l = reduce_vectors(from, across, depth, by, pitch, sum, q, columns, prefetches);
  if (l < depth) {
    TSL_UNROLL for (int i = 0; i < q; i++) row[i] = NAME(load_part)(by + i * pitch + l, depth - l);
    TSL_UNROLL for (int j = 0; j < columns; j++) {
      const vector column = NAME(load_part)(from + j * across + l, depth - l);
      TSL_UNROLL for (int i = 0; i < q; i++) sum[j * q + i] =
          NAME(fma_vectors)(sum[j * q + i], row[i], column);
    }
  }
  const int fours = columns * q / 4 * 4;
  TSL_UNROLL for (int t = 0; t < fours; t += 4) NAME(sum_lanes_of_4)(sum + t, dst + t);
  TSL_UNROLL for (int t = fours; t < columns * q; t++) dst[t] = NAME(sum_lanes)(sum[t]);
}

/* Reduces all columns in groups; the last group may overlap its predecessor. */
TSL_INLINE void reduce(const tsl_thin_columns *x, const void *y, int64_t pitch, void *out, int q) {
  const int64_t across = x->across, depth = x->depth, count = x->count;
  const REAL *src = x->at;
  REAL *dst = out;
  if (count < COLUMNS_OF(q))
    for (int64_t j = 0; j < count; j++)
      reduce_some(src + j * across, across, depth, y, pitch, dst + j * q, q, 1, false);
  else if (x->prefetches)
    for (int64_t j = 0; j < count; j += COLUMNS_OF(q)) {
      const int64_t group = j + COLUMNS_OF(q) <= count ? j : count - COLUMNS_OF(q);
      reduce_some(src + group * across, across, depth, y, pitch, dst + group * q, q, COLUMNS_OF(q), true);
    }
  else
    for (int64_t j = 0; j < count; j += COLUMNS_OF(q)) {
      const int64_t group = j + COLUMNS_OF(q) <= count ? j : count - COLUMNS_OF(q);
      reduce_some(src + group * across, across, depth, y, pitch, dst + group * q, q, COLUMNS_OF(q), false);
    }
}

/* Local copy of the arguments: the compiler assumes that stores to C may change the original. */
typedef struct outer_arguments {
  const REAL *b;
  int64_t pitch, y_pitch, c_pitch, width;
  REAL alpha, beta;
} outer_arguments;

TSL_INLINE void outer_element(outer_arguments args, const REAL *y, REAL *c, int64_t j, int steps) {
  REAL sum = y[0] * args.b[j];
  for (int l = 1; l < steps; l++)
    sum = NAME(fma_number)(sum, y[l], args.b[j + l * args.pitch]);
  sum *= args.alpha;
  c[j] = args.beta == 0 ? sum : NAME(fma_number)(sum, args.beta, c[j]);
}

TSL_INLINE void outer_vector(outer_arguments args, const vector *held, REAL *c, int64_t j, int steps,
                             int together, bool adds, bool nontemporal) {
  vector b[TSL_THIN_STEPS];
  TSL_UNROLL for (int l = 0; l < steps; l++) {
    b[l] = NAME(load)(args.b + j + l * args.pitch);
    if (together > 1)
      TSL_KEEP(b[l]);
  }
  TSL_UNROLL for (int i = 0; i < together; i++) {
    REAL *row = c + i * args.c_pitch + j;
    vector sum = held[i * steps] * b[0];
    TSL_UNROLL for (int l = 1; l < steps; l++) sum = NAME(fma_vectors)(sum, held[i * steps + l], b[l]);
    sum *= args.alpha;
    if (!nontemporal)
      __builtin_prefetch(row + PREFETCHED, 1);
    if (adds)
      sum = NAME(fma)(sum, args.beta, NAME(load)(row));
    if (nontemporal)
      NAME(store_nontemporal)(row, sum);
    else
      NAME(store)(row, sum);
  }
}

TSL_INLINE void outer_rows(outer_arguments args, const REAL *y, REAL *c, int steps, int together, bool adds,
                           bool nontemporal) {
  vector held[TSL_THIN_STEPS * TSL_THIN_STEPS];
  int64_t j = 0;
  TSL_UNROLL for (int i = 0; i < together; i++) {
    TSL_UNROLL for (int l = 0; l < steps; l++) held[i * steps + l] = y[i * args.y_pitch + l] - (vector){0};
  }
  if (nontemporal) {
    for (; j < args.width && (uintptr_t)(c + j) % VECTOR_BYTES != 0; j++)
      outer_element(args, y, c, j, steps);
    for (; j + LINE <= args.width; j += LINE)
      TSL_UNROLL for (int part = 0; part < LINE; part += LANES)
          outer_vector(args, held, c, j + part, steps, together, adds, true);
  }
  for (; j + LANES <= args.width; j += LANES)
    outer_vector(args, held, c, j, steps, together, adds, false);
  if (!adds && !nontemporal && args.width >= LANES) { /* the last vector overlaps its predecessor */
    if (j < args.width)
      outer_vector(args, held, c, args.width - LANES, steps, together, false, false);
  } else
    TSL_UNROLL for (int i = 0; i < together; i++) for (int64_t t = j; t < args.width; t++)
        outer_element(args, y + i * args.y_pitch, c + i * args.c_pitch, t, steps);
}

TSL_INLINE void outer_way(const tsl_thin_rows *rows, int steps, int together, bool adds, bool nontemporal) {
  const outer_arguments args = {rows->b,     rows->pitch,       rows->y_pitch,   rows->c_pitch,
                                rows->width, (REAL)rows->alpha, (REAL)rows->beta};
  const REAL *y = rows->y;
  REAL *c = rows->c;
  int64_t left = rows->rows;
  for (; left >= together; left -= together, y += together * args.y_pitch, c += together * args.c_pitch)
    outer_rows(args, y, c, steps, together, adds, nontemporal);
  for (; left > 0; left--, y += args.y_pitch, c += args.c_pitch)
    outer_rows(args, y, c, steps, 1, adds, nontemporal);
}

TSL_INLINE void outer(const tsl_thin_rows *rows, int steps) {
  if (rows->nontemporal)
    outer_way(rows, steps, 1, false, true);
  else if (rows->beta != 0)
    outer_way(rows, steps, OUTER_ROWS(steps), true, false);
  else
    outer_way(rows, steps, OUTER_ROWS(steps), false, false);
}

static void pack(const void *in, int64_t row, int64_t column, int64_t rows, int64_t columns, void *out,
                 int64_t pitch) {
  const REAL *src = in;
  REAL *dst = out;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      dst[i * pitch + j] = src[i * row + j * column];
}

TSL_INLINE void scale(const REAL *from, int64_t step, int64_t count, REAL alpha, REAL beta, REAL *dst,
                      int64_t column) {
  if (beta == 0)
    for (int64_t j = 0; j < count; j++)
      dst[j * column] = alpha * from[j * step];
  else
    for (int64_t j = 0; j < count; j++)
      dst[j * column] = NAME(fma_number)(alpha * from[j * step], beta, dst[j * column]);
}

static void finish(const void *sums, int64_t step, int64_t count, double alpha, double beta, void *c,
                   int64_t column) {
  if (step == 1 && column == 1)
    scale(sums, 1, count, (REAL)alpha, (REAL)beta, c, 1);
  else
    scale(sums, step, count, (REAL)alpha, (REAL)beta, c, column);
}

#define OF(word, number) JOIN(word##_, number)

#define TILE_TEXT "strategy/gemm/host/host_thin/kernels/versions.h"
#define TILE_ROWS_MAX 8
#include "host/tile_rows.h"

#define EVERY(word)                                                                                          \
  { word##_1, word##_2, word##_3, word##_4, word##_5, word##_6, word##_7, word##_8 }
const tsl_thin_kernels TSL_ISA_NAME(tsl_thin) = {.type = JOIN(ENUM_, TSL_TYPE),
                                                 .lanes = LANES,
                                                 .add = EVERY(add),
                                                 .reduce = EVERY(reduce),
                                                 .outer = {outer_1, outer_2, outer_3, outer_4},
                                                 .pack = pack,
                                                 .finish = finish,
                                                 .fence = fence};

/* The micro-kernels and copies of one element type, as text. Included by files that differ in their compiler flags,
 * after a lanes_<set>.h, with
 *   REAL     the element type
 *   SUFFIX   _f32 or _f64: the type's version of a name
 *   ROWS_OF_1 ... ROWS_OF_4   rows of the largest tile of so many vectors: few enough that registers are left
 *
 *   TILE_STEPS  steps along the panel in a turn of a tile's loop: where a step has few multiply-adds, the loop's own work counts
 *
 * Vectors are the compiler's own type, because whether a compiler turns nested loops into vectors depends on the
 * compiler. */
#define JOIN_LATE(word, suffix) word##suffix
#define JOIN(word, suffix) JOIN_LATE(word, suffix)
#define NAME(word) JOIN(word, SUFFIX)
#define TILE_NAME_LATE(rows, vectors, suffix) tile_##rows##x##vectors##suffix
#define TILE_NAME(rows, vectors, suffix) TILE_NAME_LATE(rows, vectors, suffix)

/* How many steps ahead a copy asks for its rows. */
enum { COPY_AHEAD = 12 };

#if defined(__clang__)
#define TSL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TSL_UNROLL _Pragma("GCC unroll 16")
#endif

/* A vector where it need not be aligned. */
typedef REAL NAME(loose) __attribute__((vector_size(sizeof(NAME(vector))), may_alias, aligned(sizeof(REAL))));
static inline NAME(vector) NAME(load)(const REAL *from) {
  return *(const NAME(loose) *)from;
}
static inline void NAME(store)(REAL *to, NAME(vector) value) {
  *(NAME(loose) *)to = value;
}

/* The last vector of a row, of which `count` numbers are there. */
static inline NAME(vector) NAME(load_edge)(const REAL *from, int64_t count) {
  return count == NAME(LANES) ? NAME(load)(from) : NAME(load_part)(from, count);
}
static inline void NAME(store_edge)(REAL *to, NAME(vector) value, int64_t count) {
  if (count == NAME(LANES))
    NAME(store)(to, value);
  else
    NAME(store_part)(to, value, count);
}

static inline int64_t NAME(least)(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* --- copies --- */

/* Neighbours that lie side by side. */
static void NAME(copy_side_by_side)(const REAL *in, int64_t along, int64_t count, int64_t depth,
                                    int64_t width, REAL *out) {
  enum { LANES = NAME(LANES) };
  const int64_t whole = count / LANES * LANES, rest = count - whole, last = width - whole;
  for (int64_t l = 0; l < depth; l++, in += along, out += width) {
    __builtin_prefetch(in + COPY_AHEAD * along);
    __builtin_prefetch(in + COPY_AHEAD * along + LANES);
    for (int64_t t = 0; t < whole; t += LANES)
      NAME(store)(out + t, NAME(load)(in + t));
    if (rest > 0)
      NAME(store_edge)(out + whole, NAME(load_part)(in + whole, rest), last);
  }
}

/* At most LANES neighbours, each with its numbers side by side: they are turned in registers, and `stored` of them
 * are written. A row that is not there is read as the first one. */
static void NAME(copy_turned)(const REAL *in, int64_t across, int64_t count, int64_t depth, int64_t width,
                              int64_t stored, REAL *out) {
  enum { LANES = NAME(LANES), TURN = NAME(TURN) };
  const REAL *row[LANES];
  int64_t l = 0;
  for (int64_t t = 0; t < LANES; t++)
    row[t] = in + (t < count ? t * across : 0);
  for (; l + TURN <= depth; l += TURN) {
    NAME(vector) turned[TURN];
    NAME(turn)(row, l, turned);
    TSL_UNROLL for (int s = 0; s < TURN; s++, out += width) NAME(store_edge)(out, turned[s], stored);
  }
  for (; l < depth; l++, out += width)
    for (int64_t t = 0; t < stored; t++)
      out[t] = row[t][l];
}

static void NAME(copy_any)(const REAL *in, int64_t across, int64_t along, int64_t count, int64_t depth,
                           int64_t width, REAL *out) {
  for (int64_t l = 0; l < depth; l++, in += along, out += width)
    for (int64_t t = 0; t < width; t++)
      out[t] = t < count ? in[t * across] : 0;
}

/* kernels.h has the contract. */
static void NAME(copy_sliver)(const void *in, int64_t across, int64_t along, int64_t count, int64_t depth,
                              int64_t width, void *out) {
  const REAL *from = in;
  REAL *to = out;
  if (across == 1)
    NAME(copy_side_by_side)(from, along, count, depth, width, to);
  else if (along == 1)
    for (int64_t t = 0; t < count; t += NAME(LANES)) {
      const int64_t read = NAME(least)(count - t, NAME(LANES)), stored = NAME(least)(width - t, NAME(LANES));
      NAME(copy_turned)(from + t * across, across, read, depth, width, stored, to + t);
    }
  else
    NAME(copy_any)(from, across, along, count, depth, width, to);
}

/* Whole strips whose columns lie side by side: a row of all of them at a time, since the next row may be on another
 * page. */
static void NAME(copy_rows)(const REAL *in, int64_t along, int64_t strips, int64_t depth, int64_t width,
                            REAL *out) {
  for (int64_t l = 0; l < depth; l++, in += along, out += width)
    for (int64_t j = 0; j < strips; j++)
      for (int64_t t = 0; t < width; t += NAME(LANES)) {
        __builtin_prefetch(in + COPY_AHEAD * along + j * width + t);
        NAME(store)(out + j * width * depth + t, NAME(load)(in + j * width + t));
      }
}

static void NAME(copy_strips)(const void *in, int64_t across, int64_t along, int64_t count, int64_t depth,
                              int64_t width, void *out) {
  const int64_t in_rows = across == 1 ? count / width : 0;
  NAME(copy_rows)(in, along, in_rows, depth, width, out);
  for (int64_t t = in_rows * width; t < count; t += width) {
    const int64_t rest = NAME(least)(count - t, width);
    NAME(copy_sliver)
    ((const REAL *)in + t * across, across, along, rest, depth,
     (rest + NAME(LANES) - 1) / NAME(LANES) * NAME(LANES), (REAL *)out + t * depth);
  }
}

/* --- C --- */

static inline void NAME(look_ahead)(tsl_packed_ahead *ahead) {
  for (int64_t i = ahead->count; i > 0; i--) {
    __builtin_prefetch(ahead->at, 0, 2);
    ahead->at += 64;
    if (--ahead->left == 0) {
      ahead->at += ahead->jump;
      ahead->left = ahead->lines;
    }
  }
}

/* A tile of C whose columns do not lie side by side. */
static __attribute__((noinline)) void NAME(scatter)(const tsl_packed_tile *tile, int rows, int vectors,
                                                    const NAME(vector) * sums) {
  const REAL alpha = (REAL)tile->alpha[0], beta = (REAL)tile->beta[0];
  for (int i = 0; i < rows; i++, sums += vectors)
    for (int64_t j = 0; j < tile->columns; j++) {
      REAL *c = (REAL *)tile->c + i * tile->c_row + j * tile->c_column;
      const REAL sum = alpha * ((const REAL *)sums)[j];
      *c = beta == 0 ? sum : beta * *c + sum;
    }
}

/* kernels.h has the contract. */
static void NAME(add_parts)(const void *sums, int64_t parts, int64_t stride, int64_t count, void *c,
                            int64_t column, const double *alpha, const double *beta) {
  const REAL *first = sums, a = (REAL)alpha[0], b = (REAL)beta[0];
  REAL *out = c;
  for (int64_t j = 0; j < count; j++, out += column) {
    REAL sum = first[j];
    for (int64_t part = 1; part < parts; part++)
      sum += first[part * stride + j];
    *out = b == 0 ? a * sum : b * *out + a * sum;
  }
}

/* --- tiles --- */

#define TILE_VECTORS 1
#define TILE_ROWS_MAX ROWS_OF_1
#include "strategy/gemm/host_packed/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX
#define TILE_VECTORS 2
#define TILE_ROWS_MAX ROWS_OF_2
#include "strategy/gemm/host_packed/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX
#define TILE_VECTORS 3
#define TILE_ROWS_MAX ROWS_OF_3
#include "strategy/gemm/host_packed/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX
#define TILE_VECTORS 4
#define TILE_ROWS_MAX ROWS_OF_4
#include "strategy/gemm/host_packed/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX

/* The type's row of the table; `type_` is its name in the enumeration. */
#define TILE_TABLE_ROW(type_)                                                                                \
  {                                                                                                          \
    .type = (type_), .lanes_log2 = NAME(LANES_LOG2), .rows = {ROWS_OF_1, ROWS_OF_2, ROWS_OF_3, ROWS_OF_4},   \
    .takes_strips = true, .copy_sliver = NAME(copy_sliver), .copy_strips = NAME(copy_strips),                \
    .add_parts = NAME(add_parts), .multiply = {                                                              \
      {TILES_UP_TO(ROWS_OF_1, 1)},                                                                           \
      {TILES_UP_TO(ROWS_OF_2, 2)},                                                                           \
      {TILES_UP_TO(ROWS_OF_3, 3)},                                                                           \
      {TILES_UP_TO(ROWS_OF_4, 4)}                                                                            \
    }                                                                                                        \
  }

/* The tiles of so many vectors, by their rows. */
#define TILES_UP_TO(rows, vectors) TILES_UP_TO_LATE(rows, vectors)
#define TILES_UP_TO_LATE(rows, vectors) TILES_UP_TO_##rows(vectors)
#define TILE(rows, vectors) TILE_NAME(rows, vectors, SUFFIX)
#define TILES_UP_TO_1(vectors) TILE(1, vectors)
#define TILES_UP_TO_2(vectors) TILES_UP_TO_1(vectors), TILE(2, vectors)
#define TILES_UP_TO_3(vectors) TILES_UP_TO_2(vectors), TILE(3, vectors)
#define TILES_UP_TO_4(vectors) TILES_UP_TO_3(vectors), TILE(4, vectors)
#define TILES_UP_TO_6(vectors) TILES_UP_TO_4(vectors), TILE(5, vectors), TILE(6, vectors)
#define TILES_UP_TO_8(vectors) TILES_UP_TO_6(vectors), TILE(7, vectors), TILE(8, vectors)
#define TILES_UP_TO_14(vectors)                                                                              \
  TILES_UP_TO_8(vectors), TILE(9, vectors), TILE(10, vectors), TILE(11, vectors), TILE(12, vectors),         \
      TILE(13, vectors), TILE(14, vectors)

/* The micro-kernels of one element type, as text. Included by files that differ in their compiler flags, after a
 * lanes_<set>.h, with
 *   REAL     the element type
 *   SUFFIX   _f32 or _f64: the type's version of a name
 *   ROWS_OF_1 ... ROWS_OF_3   rows of the largest tile of so many vectors: few enough that registers are left; 0: none
 *
 * Vectors are the compiler's own type, because whether a compiler turns nested loops into vectors depends on the
 * compiler. */
#define JOIN_LATE(word, suffix) word##suffix
#define JOIN(word, suffix) JOIN_LATE(word, suffix)
#define NAME(word) JOIN(word, SUFFIX)
#define TILE_NAME_LATE(rows, vectors, suffix) tile_##rows##x##vectors##suffix
#define TILE_NAME(rows, vectors, suffix) TILE_NAME_LATE(rows, vectors, suffix)
#define EXACT_NAME_LATE(rows, vectors, depth, suffix) exact_##rows##x##vectors##x##depth##suffix
#define EXACT_NAME(rows, vectors, depth, suffix) EXACT_NAME_LATE(rows, vectors, depth, suffix)

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

/* A tile of C whose columns do not lie side by side: it is made where they do, and brought there number by number. Apart,
 * so that tiles need no memory of their own. */
static __attribute__((noinline)) tesela_status NAME(scatter)(tsl_small_function multiply,
                                                             const tsl_small_tile *tile, int rows,
                                                             int vectors, const void *a, const void *b,
                                                             void *to) {
  enum { MOST = TSL_SMALL_ROWS_MAX * TSL_SMALL_VECTORS_MAX * NAME(LANES) };
  REAL sums[MOST], *c = to;
  const REAL beta = (REAL)tile->beta;
  const int64_t width = vectors * (int64_t)NAME(LANES), columns = width - NAME(LANES) + tile->last;
  tsl_small_tile here = *tile;
  here.c_row = width;
  here.c_column = 1;
  here.adds = false;
  (void)multiply(&here, a, b, sums);
  for (int i = 0; i < rows; i++, c += tile->c_row)
    for (int64_t j = 0; j < columns; j++) {
      REAL *at = c + j * tile->c_column;
      *at = tile->adds ? beta * *at + sums[i * width + j] : sums[i * width + j];
    }
  return TESELA_OK;
}

/* --- copies --- */

/* Four columns of four numbers each become four rows, in vectors of 16 bytes. */
static inline void NAME(turn_four)(const REAL *in, int64_t across, int64_t width, REAL *out) {
  typedef REAL four __attribute__((vector_size(4 * sizeof(REAL)), may_alias, aligned(sizeof(REAL))));
  const four a = *(const four *)in, b = *(const four *)(in + across), c = *(const four *)(in + 2 * across),
             d = *(const four *)(in + 3 * across);
  const four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5),
             ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7),
             cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5),
             cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  *(four *)out = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  *(four *)(out + width) = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  *(four *)(out + 2 * width) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  *(four *)(out + 3 * width) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

/* kernels.h has the contract. */
static void NAME(copy)(const void *from, int64_t across, int64_t along, int64_t count, int64_t depth,
                       int64_t width, void *to) {
  const REAL *in = from;
  REAL *out = to;
  const int64_t deep = along == 1 ? depth / 4 * 4 : 0, wide = count / 4 * 4;
  for (int64_t l = 0; l < deep; l += 4)
    for (int64_t j = 0; j < wide; j += 4)
      NAME(turn_four)(in + j * across + l, across, width, out + l * width + j);
  for (int64_t l = 0; l < depth; l++)
    for (int64_t j = l < deep ? wide : 0; j < count; j++)
      out[l * width + j] = in[l * along + j * across];
}

/* --- tiles --- */

#define TILE_TEXT "strategy/gemm/host_small/tile.h"
#define TILE_VECTORS 1
#define TILE_ROWS_MAX ROWS_OF_1
#include "strategy/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX
#define TILE_VECTORS 2
#define TILE_ROWS_MAX ROWS_OF_2
#include "strategy/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX
#define TILE_VECTORS 3
#define TILE_ROWS_MAX ROWS_OF_3
#include "strategy/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX
#undef TILE_TEXT

/* An exact tile in the table; its text is exact.h. */
#define EXACT(rows, vectors, depth)                                                                          \
  { rows, vectors, depth, EXACT_NAME(rows, vectors, depth, SUFFIX) }
#define NO_EXACT                                                                                             \
  { 0, 0, 0, NULL }

/* The type's row of the table; `type_` is its name in the enumeration, behind which the exact tiles stand. */
#define TILE_TABLE_ROW(type_, ...)                                                                           \
  {                                                                                                          \
    .type = (type_), .lanes = NAME(LANES), .lanes_log2 = NAME(LANES_LOG2),                                   \
    .rows = {ROWS_OF_1, ROWS_OF_2, ROWS_OF_3}, .copy = NAME(copy), .exact = {__VA_ARGS__}, .multiply = {     \
      {TILES_UP_TO(ROWS_OF_1, 1)},                                                                           \
      {TILES_UP_TO(ROWS_OF_2, 2)},                                                                           \
      {TILES_UP_TO(ROWS_OF_3, 3)}                                                                            \
    }                                                                                                        \
  }

/* The tiles of so many vectors, by their rows. */
#define TILES_UP_TO(rows, vectors) TILES_UP_TO_LATE(rows, vectors)
#define TILES_UP_TO_LATE(rows, vectors) TILES_UP_TO_##rows(vectors)
#define TILE(rows, vectors) TILE_NAME(rows, vectors, SUFFIX)
#define TILES_UP_TO_0(vectors) NULL
#define TILES_UP_TO_4(vectors) TILE(1, vectors), TILE(2, vectors), TILE(3, vectors), TILE(4, vectors)
#define TILES_UP_TO_6(vectors) TILES_UP_TO_4(vectors), TILE(5, vectors), TILE(6, vectors)
#define TILES_UP_TO_8(vectors) TILES_UP_TO_6(vectors), TILE(7, vectors), TILE(8, vectors)
#define TILES_UP_TO_12(vectors)                                                                              \
  TILES_UP_TO_8(vectors), TILE(9, vectors), TILE(10, vectors), TILE(11, vectors), TILE(12, vectors)
#define TILES_UP_TO_14(vectors) TILES_UP_TO_12(vectors), TILE(13, vectors), TILE(14, vectors)
#define TILES_UP_TO_16(vectors) TILES_UP_TO_14(vectors), TILE(15, vectors), TILE(16, vectors)

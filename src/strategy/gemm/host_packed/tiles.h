/* The tiles of one type, and its row of the table, as text. Included by files that differ in their compiler flags, after
 * copies.h, with
 *   REAL, SUFFIX   the type, or its part where it is complex, and what its names end in
 *   COPIED(word)   the name of what copies.h made for whole elements
 *   PARTS          1; 2 where the type is complex
 *   ROWS_OF_1 ... ROWS_OF_4   rows of the largest tile of so many vectors: few enough that registers are left
 *   TILE_STEPS     steps along the panel in a turn of a tile's loop: where a step has few multiply-adds, the loop's
 *                  own work counts */
#define TILE_NAME_LATE(rows, vectors, suffix) tile_##rows##x##vectors##suffix
#define TILE_NAME(rows, vectors, suffix) TILE_NAME_LATE(rows, vectors, suffix)

#if PARTS == 1
#include "strategy/gemm/host_packed/real.h"
#else
#include "strategy/gemm/host_packed/complex.h"
#endif

static inline void look_ahead(tsl_packed_ahead *ahead) {
  for (int64_t i = ahead->count; i > 0; i--) {
    __builtin_prefetch(ahead->at, 0, 2);
    ahead->at += 64;
    if (--ahead->left == 0) {
      ahead->at += ahead->jump;
      ahead->left = ahead->lines;
    }
  }
}

#define TILE_TEXT "strategy/gemm/host_packed/tile.h"
#define TILE_VECTORS 1
#define TILE_ROWS_MAX ROWS_OF_1
#include "host/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX
#define TILE_VECTORS 2
#define TILE_ROWS_MAX ROWS_OF_2
#include "host/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX
#define TILE_VECTORS 3
#define TILE_ROWS_MAX ROWS_OF_3
#include "host/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX
#define TILE_VECTORS 4
#define TILE_ROWS_MAX ROWS_OF_4
#include "host/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX
#undef TILE_TEXT

/* The type's row of the table; `type_` is its name in the enumeration. */
#define TILE_TABLE_ROW(type_)                                                                                \
  {                                                                                                          \
    .type = (type_), .lanes_log2 = COPIED(LANES_LOG2), .rows = {ROWS_OF_1, ROWS_OF_2, ROWS_OF_3, ROWS_OF_4}, \
    .copy_sliver = COPIED(copy_sliver), .copy_strips = COPIED(copy_strips), .add_parts = NAME(add_parts),    \
    .multiply = {                                                                                            \
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
#define TILES_UP_TO_7(vectors) TILES_UP_TO_6(vectors), TILE(7, vectors)
#define TILES_UP_TO_8(vectors) TILES_UP_TO_7(vectors), TILE(8, vectors)
#define TILES_UP_TO_14(vectors)                                                                              \
  TILES_UP_TO_8(vectors), TILE(9, vectors), TILE(10, vectors), TILE(11, vectors), TILE(12, vectors),         \
      TILE(13, vectors), TILE(14, vectors)

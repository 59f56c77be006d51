/* TILE_TEXT, a file that is a tile of so many rows and vectors as text, for every tile: one to four vectors
 * wide, of each width from one row to TILE_ROWS_OF_<vectors>, which is 0 where there are none so wide. */
#define TILE_VECTORS 1
#define TILE_ROWS_MAX TILE_ROWS_OF_1
#include "host/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX
#define TILE_VECTORS 2
#define TILE_ROWS_MAX TILE_ROWS_OF_2
#include "host/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX
#define TILE_VECTORS 3
#define TILE_ROWS_MAX TILE_ROWS_OF_3
#include "host/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX
#define TILE_VECTORS 4
#define TILE_ROWS_MAX TILE_ROWS_OF_4
#include "host/tile_rows.h"
#undef TILE_VECTORS
#undef TILE_ROWS_MAX

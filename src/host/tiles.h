/* Includes TILE_TEXT for tiles of one to four vectors with up to TILE_ROWS_OF_<vectors> rows (0: none). */
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

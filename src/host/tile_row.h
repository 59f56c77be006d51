/* Includes TILE_TEXT if there are tiles of TILE_ROWS rows; a part of tile_rows.h. */
#if TILE_ROWS <= TILE_ROWS_MAX
#include TILE_TEXT
#endif
#undef TILE_ROWS

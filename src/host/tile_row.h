#if TILE_ROWS <= TILE_ROWS_MAX
#include TILE_TEXT
#endif
#undef TILE_ROWS

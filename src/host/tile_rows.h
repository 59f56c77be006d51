/* TILE_TEXT, a file that is a tile of so many rows as text, for every number of rows up to TILE_ROWS_MAX, with TILE_VECTORS. */
#if TILE_ROWS_MAX >= 1
#define TILE_ROWS 1
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 2
#define TILE_ROWS 2
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 3
#define TILE_ROWS 3
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 4
#define TILE_ROWS 4
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 5
#define TILE_ROWS 5
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 6
#define TILE_ROWS 6
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 7
#define TILE_ROWS 7
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 8
#define TILE_ROWS 8
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 9
#define TILE_ROWS 9
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 10
#define TILE_ROWS 10
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 11
#define TILE_ROWS 11
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 12
#define TILE_ROWS 12
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 13
#define TILE_ROWS 13
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 14
#define TILE_ROWS 14
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 15
#define TILE_ROWS 15
#include TILE_TEXT
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 16
#define TILE_ROWS 16
#include TILE_TEXT
#undef TILE_ROWS
#endif

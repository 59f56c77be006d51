/* tile.h for every number of rows up to TILE_ROWS_MAX, with TILE_VECTORS. */
#if TILE_ROWS_MAX >= 1
#define TILE_ROWS 1
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 2
#define TILE_ROWS 2
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 3
#define TILE_ROWS 3
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 4
#define TILE_ROWS 4
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 5
#define TILE_ROWS 5
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 6
#define TILE_ROWS 6
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 7
#define TILE_ROWS 7
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 8
#define TILE_ROWS 8
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 9
#define TILE_ROWS 9
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 10
#define TILE_ROWS 10
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 11
#define TILE_ROWS 11
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 12
#define TILE_ROWS 12
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 13
#define TILE_ROWS 13
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 14
#define TILE_ROWS 14
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 15
#define TILE_ROWS 15
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif
#if TILE_ROWS_MAX >= 16
#define TILE_ROWS 16
#include "strategy/gemm/host_small/tile.h"
#undef TILE_ROWS
#endif

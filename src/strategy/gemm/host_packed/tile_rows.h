/* tile.h for every number of rows up to ROWS, with TILE_VECTORS. */
#define TILE_ROWS 1
#include "strategy/gemm/host_packed/tile.h"
#undef TILE_ROWS
#define TILE_ROWS 2
#include "strategy/gemm/host_packed/tile.h"
#undef TILE_ROWS
#define TILE_ROWS 3
#include "strategy/gemm/host_packed/tile.h"
#undef TILE_ROWS
#define TILE_ROWS 4
#include "strategy/gemm/host_packed/tile.h"
#undef TILE_ROWS
#define TILE_ROWS 5
#include "strategy/gemm/host_packed/tile.h"
#undef TILE_ROWS
#define TILE_ROWS 6
#include "strategy/gemm/host_packed/tile.h"
#undef TILE_ROWS
#if ROWS > 6
#define TILE_ROWS 7
#include "strategy/gemm/host_packed/tile.h"
#undef TILE_ROWS
#define TILE_ROWS 8
#include "strategy/gemm/host_packed/tile.h"
#undef TILE_ROWS
#define TILE_ROWS 9
#include "strategy/gemm/host_packed/tile.h"
#undef TILE_ROWS
#define TILE_ROWS 10
#include "strategy/gemm/host_packed/tile.h"
#undef TILE_ROWS
#define TILE_ROWS 11
#include "strategy/gemm/host_packed/tile.h"
#undef TILE_ROWS
#define TILE_ROWS 12
#include "strategy/gemm/host_packed/tile.h"
#undef TILE_ROWS
#define TILE_ROWS 13
#include "strategy/gemm/host_packed/tile.h"
#undef TILE_ROWS
#define TILE_ROWS 14
#include "strategy/gemm/host_packed/tile.h"
#undef TILE_ROWS
#endif

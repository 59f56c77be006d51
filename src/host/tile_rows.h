/* Includes TILE_TEXT, a tile's source, for one to TILE_ROWS_MAX rows of TILE_VECTORS. */
#define TILE_ROWS 1
#include "host/tile_row.h"
#define TILE_ROWS 2
#include "host/tile_row.h"
#define TILE_ROWS 3
#include "host/tile_row.h"
#define TILE_ROWS 4
#include "host/tile_row.h"
#define TILE_ROWS 5
#include "host/tile_row.h"
#define TILE_ROWS 6
#include "host/tile_row.h"
#define TILE_ROWS 7
#include "host/tile_row.h"
#define TILE_ROWS 8
#include "host/tile_row.h"
#define TILE_ROWS 9
#include "host/tile_row.h"
#define TILE_ROWS 10
#include "host/tile_row.h"
#define TILE_ROWS 11
#include "host/tile_row.h"
#define TILE_ROWS 12
#include "host/tile_row.h"
#define TILE_ROWS 13
#include "host/tile_row.h"
#define TILE_ROWS 14
#include "host/tile_row.h"
#define TILE_ROWS 15
#include "host/tile_row.h"
#define TILE_ROWS 16
#include "host/tile_row.h"

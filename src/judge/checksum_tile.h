/* Tiles of an operand as doubles, for checksums. Structures are completed by their definition. */
#ifndef TSL_JUDGE_CHECKSUM_TILE_H
#define TSL_JUDGE_CHECKSUM_TILE_H

#include "judge/checksum_kernels.h"
#include "problem/problem.h"

typedef struct tsl_checksum_source {
  tsl_shape shape;
  const unsigned char *base; /* element (0, 0) */
  const double *scale;       /* factor of each column, for real types; NULL: none */
  const tsl_checksum_kernels *kernels;
} tsl_checksum_source;

/* Loads elements as `target` type, which has two numbers for a complex element; rows are `pitch` numbers
 * apart in the tile. Structures are ignored. */
void tsl_checksum_load_as(const tsl_checksum_source *source, int64_t row, int rows, int64_t col, int cols,
                          tesela_type target, void *tile, int64_t pitch);
/* Returns the address of a tile of doubles and its pitch: the matrix itself where that is possible. `tile`
 * has room for TSL_CHECKSUM_ROWS x TSL_CHECKSUM_COLUMNS elements. */
const double *tsl_checksum_load_tile(const tsl_checksum_source *source, int64_t row, int rows, int64_t col,
                                     int cols, double *tile, int64_t *pitch);

#endif

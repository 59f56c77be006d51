#include "strategy/gemm/ladder/blocked/blocked_block.h"

#include "host/int_math.h"
#include "host/simd.h"

#define REAL JOIN(REAL_, TSL_TYPE)
#define SUFFIX JOIN(_, TSL_TYPE)

/* A tile of two vectors leaves a few registers free. */
enum { TILE_ROWS = REGISTERS >= 32 ? 12 : 6, TILE_VECTORS = 2, TILE_COLUMNS = TILE_VECTORS * NAME(LANES) };

/* Packs `count` lines of `depth` elements as micro-panels of `width` elements a step, zeros after the last
 * line. Strides: `across` between lines, `along` the panel. */
static inline void copy(const REAL *restrict in, int64_t across, int64_t count, int64_t along, int64_t depth,
                        int width, REAL *restrict out) {
  for (; count > 0; count -= width, in += width * across, out += width * depth)
    if (across == 1 && count >= width)
      for (int64_t d = 0; d < depth; d++)
        for (int t = 0; t < width; t++)
          out[d * width + t] = in[d * along + t];
    else if (across == 1)
      for (int64_t d = 0; d < depth; d++)
        for (int t = 0; t < width; t++)
          out[d * width + t] = t < count ? in[d * along + t] : 0;
    else
      for (int t = 0; t < width; t++)
        for (int64_t d = 0; d < depth; d++)
          out[d * width + t] = t < count ? in[t * across + d * along] : 0;
}

/* Stores the sums of one tile, dense, for `depth` steps of two micro-panels. */
static void multiply_tile(int64_t depth, const REAL *restrict a, const REAL *restrict b, REAL *restrict out) {
  NAME(vector) sum[TILE_ROWS][TILE_VECTORS] = {{{0}}};
  for (int64_t l = 0; l < depth; l++, a += TILE_ROWS, b += TILE_COLUMNS)
    for (int i = 0; i < TILE_ROWS; i++)
      for (int j = 0; j < TILE_VECTORS; j++)
        sum[i][j] = NAME(fma)(sum[i][j], a[i], ((const NAME(vector) *)b)[j]);
  for (int i = 0; i < TILE_ROWS; i++)
    for (int j = 0; j < TILE_VECTORS; j++)
      ((NAME(vector) *)out)[i * TILE_VECTORS + j] = sum[i][j];
}

/* Stores a row of a tile. beta = 0 never reads c. A constant stride of 1 lets the compiler use vectors. */
static inline void finish_row(REAL *restrict c, int64_t stride, const REAL *restrict sum, int columns,
                              REAL alpha, REAL beta) {
  if (beta == 0)
    for (int j = 0; j < columns; j++)
      c[j * stride] = alpha * sum[j];
  else
    for (int j = 0; j < columns; j++)
      c[j * stride] = NAME(fma_number)(alpha * sum[j], beta, c[j * stride]);
}

/* Stores the rows x columns of a tile that lie in C: alpha sums + beta c; beta = 0 never reads c. */
static void finish_tile(const tsl_cache_blocks *job, int64_t row, int rows, int64_t column, int columns,
                        const REAL *sums, REAL beta) {
  const int64_t stride = job->views.c.col_stride;
  for (int i = 0; i < rows; i++, sums += TILE_COLUMNS) {
    REAL *c = (REAL *)(void *)job->views.c.at + (row + i) * job->views.c.row_stride + column * stride;
    if (stride == 1)
      finish_row(c, 1, sums, columns, (REAL)job->alpha, beta);
    else
      finish_row(c, stride, sums, columns, (REAL)job->alpha, beta);
  }
}

/* Packs, multiplies and updates C panel by panel. Only the first panel uses beta; k = 0: an empty panel. */
static void multiply_block(const tsl_cache_blocks *job, int64_t row, int64_t column, void *a_copy,
                           void *b_copy) {
  enum { HEIGHT = TILE_ROWS, WIDTH = TILE_COLUMNS };
  const tsl_views *views = &job->views;
  const int64_t rows = tsl_min(job->rows, views->m - row), columns = tsl_min(job->columns, views->n - column);
  const tsl_view *a = &views->a, *b = &views->b;
  _Alignas(64) REAL sums[HEIGHT * WIDTH];
  for (int64_t l = 0; l == 0 || l < views->k; l += job->depth) {
    const int64_t depth = tsl_min(job->depth, views->k - l);
    copy((const REAL *)(const void *)a->at + row * a->row_stride + l * a->col_stride, a->row_stride, rows,
         a->col_stride, depth, HEIGHT, a_copy);
    copy((const REAL *)(const void *)b->at + column * b->col_stride + l * b->row_stride, b->col_stride,
         columns, b->row_stride, depth, WIDTH, b_copy);
    for (int64_t i = 0; i < rows; i += HEIGHT)
      for (int64_t j = 0; j < columns; j += WIDTH) {
        multiply_tile(depth, (const REAL *)a_copy + i * depth, (const REAL *)b_copy + j * depth, sums);
        finish_tile(job, row + i, (int)tsl_min(HEIGHT, rows - i), column + j,
                    (int)tsl_min(WIDTH, columns - j), sums, l == 0 ? (REAL)job->beta : 1);
      }
  }
}

const tsl_block_kernel TSL_ISA_NAME(tsl_block) = {multiply_block, TILE_ROWS, TILE_COLUMNS};

/* Idea: two paths to memory at once: B is read through an image, four adjacent columns a texel; A through
 * global memory, four adjacent elements a vector. Each item keeps a micro-tile of HEIGHT rows and four
 * columns of C in registers. Beyond `tile_local`: registers instead of local memory, so no barriers, and a
 * loaded element serves HEIGHT or four multiply-adds; B uses the texture caches.
 *
 *                      B (image)   texel x
 *                    l     |  b0: 4 columns |     for each step l of four along k:
 *                    l + 1 |  b1            |       b0 .. b3 = texels (x, l) .. (x, l + 3)
 *                    l + 2 |  b2            |       for each row r of the micro-tile:
 *                    l + 3 |  b3            |         a = A(r, l .. l + 3), one vector
 *       A   l .. l + 3                                sums[r] += a.0 b0 + a.1 b1 + a.2 b2 + a.3 b3
 *     r |  a: 4     |      +----------------+
 *       |           |      | sums[r]        | HEIGHT x 4
 *                          +----------------+
 *
 * Two steps are unrolled, so that many loads are in flight. If A's rows are not contiguous, or not aligned to
 * 16 bytes, its four elements are loaded one by one. Rows of the last micro-tile beyond m read row m - 1 and
 * are not stored; nor are columns beyond n.
 *
 * The image uses B directly if its rows are contiguous and their distance suits the device's images.
 * Otherwise the second kernel packs B, through tiles in local memory if B is column-major. A B that exceeds
 * an image is multiplied in several launches, along n, and along k, where C keeps the sums.
 *
 * Only float, the type of texels. Any sizes and strides. If dimension 1 has fewer groups than C needs, each
 * group advances to further rows. */
#include "kernel_epilogue.h"
#include "kernel_gemm.h"
#include "tile.h"

#define HEIGHT TSL_PARAM_HEIGHT
#define FOUR TSL_VECTOR(float, 4)

/* An item's rows of A, one stride apart; rows beyond the last are replaced by the last. */
typedef struct microtile_rows {
  TSL_GLOBAL const float *row[HEIGHT];
  TSL_INDEX stride; /* between elements of a row */
} microtile_rows;

/* Returns true if A can be loaded in vectors of four, aligned to 16 bytes. */
TSL_FUNCTION bool microtile_in_vectors(TSL_GLOBAL const float *a, TSL_INDEX row_stride,
                                       TSL_INDEX col_stride) {
  return col_stride == 1 && row_stride % 4 == 0 && (TSL_INDEX)a % 16 == 0;
}

TSL_FUNCTION FOUR microtile_four(const microtile_rows *a, int r, int l, bool in_vectors) {
  if (in_vectors)
    return TSL_LOAD_ALIGNED(float, 4, a->row[r] + l);
  FOUR v;
  TSL_LANE(v, 0) = a->row[r][l * a->stride];
  TSL_LANE(v, 1) = a->row[r][(l + 1) * a->stride];
  TSL_LANE(v, 2) = a->row[r][(l + 2) * a->stride];
  TSL_LANE(v, 3) = a->row[r][(l + 3) * a->stride];
  return v;
}

/* Computes sums += A B with k products each. */
TSL_FUNCTION void microtile_multiply(FOUR *sums, const microtile_rows *a, TSL_IMAGE b, int x, int k,
                                     bool in_vectors) {
  int l = 0;
  TSL_UNROLL_BY(2)
  for (; l + 4 <= k; l += 4) {
    const FOUR b0 = TSL_TEXEL(b, x, l), b1 = TSL_TEXEL(b, x, l + 1);
    const FOUR b2 = TSL_TEXEL(b, x, l + 2), b3 = TSL_TEXEL(b, x, l + 3);
    TSL_UNROLL
    for (int r = 0; r < HEIGHT; r++) {
      const FOUR v = microtile_four(a, r, l, in_vectors);
      sums[r] = TSL_FMA(TSL_SPLAT(float, 4, TSL_LANE(v, 0)), b0, sums[r]);
      sums[r] = TSL_FMA(TSL_SPLAT(float, 4, TSL_LANE(v, 1)), b1, sums[r]);
      sums[r] = TSL_FMA(TSL_SPLAT(float, 4, TSL_LANE(v, 2)), b2, sums[r]);
      sums[r] = TSL_FMA(TSL_SPLAT(float, 4, TSL_LANE(v, 3)), b3, sums[r]);
    }
  }
  for (; l < k; l++) {
    const FOUR b0 = TSL_TEXEL(b, x, l);
    TSL_UNROLL
    for (int r = 0; r < HEIGHT; r++)
      sums[r] = TSL_FMA(TSL_SPLAT(float, 4, a->row[r][l * a->stride]), b0, sums[r]);
  }
}

/* Stores `count` of four adjacent elements of a row of C. */
TSL_FUNCTION void microtile_store(TSL_GLOBAL float *c, TSL_INDEX stride, TSL_INDEX count, FOUR sum,
                                  float alpha, float beta) {
  tsl_store_scaled(c, TSL_LANE(sum, 0), alpha, beta);
  if (count > 1)
    tsl_store_scaled(c + stride, TSL_LANE(sum, 1), alpha, beta);
  if (count > 2)
    tsl_store_scaled(c + 2 * stride, TSL_LANE(sum, 2), alpha, beta);
  if (count > 3)
    tsl_store_scaled(c + 3 * stride, TSL_LANE(sum, 3), alpha, beta);
}

TSL_KERNEL(TSL_PARAM_COLUMNS, TSL_PARAM_ROWS, 1)
tsl_gemm_image_microtile(TSL_GLOBAL const float *TSL_RESTRICT a, TSL_IMAGE b,
                         TSL_GLOBAL float *TSL_RESTRICT c, const tsl_gemm_arguments g) {
  const TSL_INDEX x = TSL_GLOBAL_ITEM(0), step = (TSL_INDEX)TSL_GROUPS(1) * TSL_PARAM_ROWS * HEIGHT;
  const bool in_vectors = microtile_in_vectors(a + g.a_offset, g.a_row_stride, g.a_col_stride);
  if (4 * x >= g.n)
    return;
  for (TSL_INDEX top = TSL_GLOBAL_ITEM(1) * HEIGHT; top < g.m; top += step) {
    FOUR sums[HEIGHT];
    microtile_rows rows;
    rows.stride = g.a_col_stride;
    TSL_UNROLL
    for (int r = 0; r < HEIGHT; r++) {
      const TSL_INDEX row = top + r < g.m ? top + r : g.m - 1;
      rows.row[r] = a + g.a_offset + row * g.a_row_stride;
      sums[r] = TSL_SPLAT(float, 4, 0.0f);
    }
    if (in_vectors)
      microtile_multiply(sums, &rows, b, (int)x, (int)g.k, true);
    else
      microtile_multiply(sums, &rows, b, (int)x, (int)g.k, false);
    TSL_UNROLL
    for (int r = 0; r < HEIGHT; r++)
      if (top + r < g.m)
        microtile_store(c + g.c_offset + (top + r) * g.c_row_stride + 4 * x * g.c_col_stride, g.c_col_stride,
                        g.n - 4 * x, sums[r], g.alpha, g.beta);
  }
}

/* Rows x columns elements with any strides, which are packed to rows of `pitch` elements. */
typedef struct microtile_packing {
  TSL_INDEX rows, columns, offset, row_stride, col_stride, pitch;
} microtile_packing;

#define TILE 16

TSL_KERNEL(TILE, TILE, 1)
tsl_gemm_image_microtile_pack(TSL_GLOBAL const float *TSL_RESTRICT b, TSL_GLOBAL float *TSL_RESTRICT packed,
                              const microtile_packing p) {
  TSL_LOCAL float tile[TILE][TILE + 1];
  const int x = TSL_ITEM(0), y = TSL_ITEM(1);
  const bool down = p.row_stride == 1;
  const int row = down ? x : y, col = down ? y : x;
  const TSL_INDEX col0 = (TSL_INDEX)TSL_GROUP(0) * TILE, width = (p.columns + 3) / 4 * 4;
  for (TSL_INDEX row0 = (TSL_INDEX)TSL_GROUP(1) * TILE; row0 < p.rows;
       row0 += (TSL_INDEX)TSL_GROUPS(1) * TILE) {
    const TSL_INDEX l = row0 + row, j = col0 + col;
    tile[row][col] = l < p.rows && j < p.columns ? b[p.offset + l * p.row_stride + j * p.col_stride] : 0.0f;
    TSL_BARRIER();
    if (row0 + y < p.rows && col0 + x < width)
      packed[(row0 + y) * p.pitch + col0 + x] = tile[y][x];
    TSL_BARRIER();
  }
}

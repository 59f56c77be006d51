/* C = A', where a work-group turns a tile in local memory, so that neighbouring items read and write
 * neighbouring elements. A has rows x cols elements, C has cols x rows. */
#define TILE 16

__kernel void transpose(const int rows, const int cols, __global const float *a, const int lda,
                        __global float *c, const int ldc) {
  __local float tile[TILE][TILE + 1]; /* one column more: a column lies in different banks */
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int col0 = get_group_id(0) * TILE;
  const int row0 = get_group_id(1) * TILE;
  if (row0 + y < rows && col0 + x < cols)
    tile[y][x] = a[(row0 + y) * lda + col0 + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (col0 + y < cols && row0 + x < rows)
    c[(col0 + y) * ldc + row0 + x] = tile[x][y];
}

/* C = alpha A B + beta C, where a work-group multiplies tiles of A and B in local memory. An element that was
 * read once from global memory serves TILE work-items. */
#define TILE 16

__kernel void gemm(const int m, const int n, const int k, const float alpha, __global const float *a,
                   const int lda, __global const float *b, const int ldb, const float beta, __global float *c,
                   const int ldc) {
  __local float a_tile[TILE][TILE];
  __local float b_tile[TILE][TILE];
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int col = get_group_id(0) * TILE + x;
  const int row = get_group_id(1) * TILE + y;
  float sum = 0;
  for (int first = 0; first < k; first += TILE) {
    a_tile[y][x] = row < m && first + x < k ? a[row * lda + first + x] : 0;
    b_tile[y][x] = first + y < k && col < n ? b[(first + y) * ldb + col] : 0;
    barrier(CLK_LOCAL_MEM_FENCE); /* both tiles are there */
    for (int l = 0; l < TILE; l++)
      sum += a_tile[y][l] * b_tile[l][x];
    barrier(CLK_LOCAL_MEM_FENCE); /* all items have read both tiles */
  }
  if (row < m && col < n) {
    sum *= alpha;
    if (beta != 0)
      sum += beta * c[row * ldc + col];
    c[row * ldc + col] = sum;
  }
}

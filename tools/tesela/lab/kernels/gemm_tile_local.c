/* C = alpha A B + beta C, tile by tile. Tiles of A and B are copied to small arrays and multiplied there. At
 * the edges, zeros fill the arrays. */
#define TILE 16

void gemm(int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float beta,
          float *c, int ldc) {
  float a_tile[TILE][TILE], b_tile[TILE][TILE], sums[TILE][TILE];
  for (int row0 = 0; row0 < m; row0 += TILE)
    for (int col0 = 0; col0 < n; col0 += TILE) {
      for (int y = 0; y < TILE; y++)
        for (int x = 0; x < TILE; x++)
          sums[y][x] = 0;
      for (int first = 0; first < k; first += TILE) {
        for (int y = 0; y < TILE; y++)
          for (int x = 0; x < TILE; x++) {
            a_tile[y][x] = row0 + y < m && first + x < k ? a[(row0 + y) * lda + first + x] : 0;
            b_tile[y][x] = first + y < k && col0 + x < n ? b[(first + y) * ldb + col0 + x] : 0;
          }
        for (int y = 0; y < TILE; y++)
          for (int l = 0; l < TILE; l++)
            for (int x = 0; x < TILE; x++)
              sums[y][x] += a_tile[y][l] * b_tile[l][x];
      }
      for (int y = 0; y < TILE && row0 + y < m; y++)
        for (int x = 0; x < TILE && col0 + x < n; x++) {
          float *result = &c[(row0 + y) * ldc + col0 + x];
          *result = alpha * sums[y][x] + (beta != 0 ? beta * *result : 0);
        }
    }
}

/* C = alpha A B + beta C, block by block: the blocks of A, B and C that are in use stay in the cache. */
#define BLOCK 64

static int smaller(int a, int b) {
  return a < b ? a : b;
}

void gemm(int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float beta,
          float *c, int ldc) {
  for (int row = 0; row < m; row++)
    for (int col = 0; col < n; col++)
      c[row * ldc + col] = beta != 0 ? beta * c[row * ldc + col] : 0;
  for (int row0 = 0; row0 < m; row0 += BLOCK)
    for (int l0 = 0; l0 < k; l0 += BLOCK)
      for (int col0 = 0; col0 < n; col0 += BLOCK)
        for (int row = row0; row < smaller(row0 + BLOCK, m); row++)
          for (int l = l0; l < smaller(l0 + BLOCK, k); l++) {
            const float factor = alpha * a[row * lda + l];
            for (int col = col0; col < smaller(col0 + BLOCK, n); col++)
              c[row * ldc + col] += factor * b[l * ldb + col];
          }
}

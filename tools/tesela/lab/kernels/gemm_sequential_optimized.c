/* C = alpha A B + beta C with the loops in the order i-k-j. The innermost loop walks along rows of B and C,
 * so the compiler uses vector instructions, and each line of memory is used at once. */
void gemm(int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float beta,
          float *c, int ldc) {
  for (int row = 0; row < m; row++) {
    for (int col = 0; col < n; col++)
      c[row * ldc + col] = beta != 0 ? beta * c[row * ldc + col] : 0;
    for (int l = 0; l < k; l++) {
      const float factor = alpha * a[row * lda + l];
      for (int col = 0; col < n; col++)
        c[row * ldc + col] += factor * b[l * ldb + col];
    }
  }
}

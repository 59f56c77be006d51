/* C = A B, where threads share the rows of C. Compile with -fopenmp. */
void gemm(int m, int n, int k, const float *a, int lda, const float *b, int ldb, float *c, int ldc) {
#pragma omp parallel for
  for (int row = 0; row < m; row++)
    for (int col = 0; col < n; col++) {
      float sum = 0;
      for (int l = 0; l < k; l++)
        sum += a[row * lda + l] * b[l * ldb + col];
      c[row * ldc + col] = sum;
    }
}

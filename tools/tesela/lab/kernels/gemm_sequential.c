/* C = alpha A B + beta C, one element of C after the other. All matrices lie row by row. */
void gemm(int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float beta,
          float *c, int ldc) {
  for (int row = 0; row < m; row++) {
    for (int col = 0; col < n; col++) {
      float sum = 0;
      for (int l = 0; l < k; l++)
        sum += a[row * lda + l] * b[l * ldb + col];
      sum *= alpha;
      if (beta != 0)
        sum += beta * c[row * ldc + col];
      c[row * ldc + col] = sum;
    }
  }
}

/* C = alpha A B + beta C, where one work-item computes one element of C. All matrices lie row by row. */
__kernel void gemm(const int m, const int n, const int k, const float alpha, __global const float *a,
                   const int lda, __global const float *b, const int ldb, const float beta, __global float *c,
                   const int ldc) {
  const int col = get_global_id(0);
  const int row = get_global_id(1);
  if (row < m && col < n) {
    float sum = 0;
    for (int l = 0; l < k; l++)
      sum += a[row * lda + l] * b[l * ldb + col];
    sum *= alpha;
    if (beta != 0)
      sum += beta * c[row * ldc + col];
    c[row * ldc + col] = sum;
  }
}

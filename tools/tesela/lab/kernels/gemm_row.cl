/* C = alpha A B + beta C, where one work-item computes a whole row of C. All matrices lie row by row. */
#define ITEMS 64

__kernel void gemm(const int m, const int n, const int k, const float alpha, __global const float *a,
                   const int lda, __global const float *b, const int ldb, const float beta, __global float *c,
                   const int ldc) {
  const int row = get_global_id(0);
  if (row < m) {
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

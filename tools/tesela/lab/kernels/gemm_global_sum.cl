/* C = A B as in `element`, but the sum is in global memory: each step reads and writes an element of C. */
__kernel void gemm(const int m, const int n, const int k, __global const float *a, const int lda,
                   __global const float *b, const int ldb, __global float *c, const int ldc) {
  const int col = get_global_id(0);
  const int row = get_global_id(1);
  if (row < m && col < n) {
    c[row * ldc + col] = 0;
    for (int l = 0; l < k; l++)
      c[row * ldc + col] += a[row * lda + l] * b[l * ldb + col];
  }
}

/* C = A B as in `element`, but with rows on dimension 0. Neighbouring work-items then read and write elements
 * that lie a whole row apart, so each element needs its own line of memory. */
__kernel void gemm(const int m, const int n, const int k, __global const float *a, const int lda,
                   __global const float *b, const int ldb, __global float *c, const int ldc) {
  const int row = get_global_id(0);
  const int col = get_global_id(1);
  if (row < m && col < n) {
    float sum = 0;
    for (int l = 0; l < k; l++)
      sum += a[row * lda + l] * b[l * ldb + col];
    c[row * ldc + col] = sum;
  }
}

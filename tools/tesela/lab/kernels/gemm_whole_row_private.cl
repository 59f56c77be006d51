/* C = A B, where one work-item computes a row of C, with its whole row of A in private memory. Only for A
 * with at most LONGEST columns; so large an array is no longer in registers. */
#define ITEMS 64
#define LONGEST 4096

__kernel void gemm(const int m, const int n, const int k, __global const float *a, const int lda,
                   __global const float *b, const int ldb, __global float *c, const int ldc) {
  const int row = get_global_id(0);
  float row_of_a[LONGEST];
  if (row < m) {
    for (int l = 0; l < k; l++)
      row_of_a[l] = a[row * lda + l];
    for (int col = 0; col < n; col++) {
      float sum = 0;
      for (int l = 0; l < k; l++)
        sum += row_of_a[l] * b[l * ldb + col];
      c[row * ldc + col] = sum;
    }
  }
}

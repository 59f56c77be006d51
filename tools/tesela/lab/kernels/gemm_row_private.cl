/* C = alpha A B + beta C, where one work-item computes a row of C. It copies PANEL elements of its row of A
 * to private memory, and uses these for the whole row of C. Then the next PANEL elements follow. */
#define ITEMS 64
#define PANEL 32

__kernel void gemm(const int m, const int n, const int k, const float alpha, __global const float *a,
                   const int lda, __global const float *b, const int ldb, const float beta, __global float *c,
                   const int ldc) {
  const int row = get_global_id(0);
  float panel[PANEL];
  if (row < m) {
    for (int first = 0; first == 0 || first < k; first += PANEL) {
      const int count = k - first < PANEL ? k - first : PANEL;
      for (int l = 0; l < count; l++)
        panel[l] = a[row * lda + first + l];
      for (int col = 0; col < n; col++) {
        float sum = 0;
        for (int l = 0; l < count; l++)
          sum += panel[l] * b[(first + l) * ldb + col];
        sum *= alpha;
        if (first > 0)
          sum += c[row * ldc + col];
        else if (beta != 0)
          sum += beta * c[row * ldc + col];
        c[row * ldc + col] = sum;
      }
    }
  }
}

/* C = alpha A B + beta C, where one work-item computes a row of C with its row of A in private memory. The
 * work-group copies each column of B to local memory together, so that it is read once for ITEMS rows. */
#define ITEMS 64
#define PANEL 32

__kernel void gemm(const int m, const int n, const int k, const float alpha, __global const float *a,
                   const int lda, __global const float *b, const int ldb, const float beta, __global float *c,
                   const int ldc) {
  const int row = get_global_id(0);
  const int item = get_local_id(0);
  float panel[PANEL];
  __local float column[PANEL];
  for (int first = 0; first == 0 || first < k; first += PANEL) {
    const int count = k - first < PANEL ? k - first : PANEL;
    if (row < m)
      for (int l = 0; l < count; l++)
        panel[l] = a[row * lda + first + l];
    for (int col = 0; col < n; col++) {
      for (int l = item; l < count; l += ITEMS)
        column[l] = b[(first + l) * ldb + col];
      barrier(CLK_LOCAL_MEM_FENCE); /* the column is there */
      if (row < m) {
        float sum = 0;
        for (int l = 0; l < count; l++)
          sum += panel[l] * column[l];
        sum *= alpha;
        if (first > 0)
          sum += c[row * ldc + col];
        else if (beta != 0)
          sum += beta * c[row * ldc + col];
        c[row * ldc + col] = sum;
      }
      barrier(CLK_LOCAL_MEM_FENCE); /* all items have read the column */
    }
  }
}

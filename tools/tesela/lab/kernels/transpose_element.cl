/* C = A', where one work-item moves one element. A has rows x cols elements, C has cols x rows. */
__kernel void transpose(const int rows, const int cols, __global const float *a, const int lda,
                        __global float *c, const int ldc) {
  const int col = get_global_id(0);
  const int row = get_global_id(1);
  if (row < rows && col < cols)
    c[col * ldc + row] = a[row * lda + col];
}

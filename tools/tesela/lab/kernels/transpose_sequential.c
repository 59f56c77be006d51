/* C = A', element after element. A has rows x cols elements, C has cols x rows. */
void transpose(int rows, int cols, const float *a, int lda, float *c, int ldc) {
  for (int row = 0; row < rows; row++)
    for (int col = 0; col < cols; col++)
      c[col * ldc + row] = a[row * lda + col];
}

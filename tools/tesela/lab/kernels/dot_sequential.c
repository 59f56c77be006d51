/* The sum of x[i] y[i], in order. The only element of sums is the result. */
void dot_product(int n, const float *x, const float *y, float *sums) {
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum += x[i] * y[i];
  sums[0] = sum;
}

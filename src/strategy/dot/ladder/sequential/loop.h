/* Specification: C = alpha x y + beta C, one running sum from l = 0 to k - 1. Needs REAL and LOOP. */
static void LOOP(const tsl_problem *problem, const tsl_operands *operands) {
  const REAL *x = operands->a.host, *y = operands->b.host;
  const int64_t x_stride = operands->a.col_stride, y_stride = operands->b.row_stride;
  const REAL alpha = (REAL)problem->alpha[0], beta = (REAL)problem->beta[0];
  const int64_t k = alpha == 0 ? 0 : problem->k;
  REAL *element = operands->c.host, sum = 0;
  for (int64_t l = 0; l < k; l++)
    sum += x[l * x_stride] * y[l * y_stride];
  const REAL scaled = k == 0 ? 0 : alpha * sum;
  *element = beta == 0 ? scaled : scaled + beta * *element;
}

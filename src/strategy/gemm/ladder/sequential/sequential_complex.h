/* Complex products. Included with REAL, the type of a component, and COMPLEX_LOOP, the function's name, and
 * undefines them. */
static void COMPLEX_LOOP(const tsl_problem *problem, const tsl_operands *operands) {
  const tsl_operand *const a = &operands->a, *const b = &operands->b, *const c = &operands->c;
  const REAL alpha[2] = {(REAL)problem->alpha[0], (REAL)problem->alpha[1]},
             beta[2] = {(REAL)problem->beta[0], (REAL)problem->beta[1]};
  const REAL sign_a = problem->conjugate_a ? -1 : 1, sign_b = problem->conjugate_b ? -1 : 1;
  const bool reads_c = beta[0] != 0 || beta[1] != 0;
  const int64_t k = alpha[0] == 0 && alpha[1] == 0
                        ? 0
                        : problem->k; /* alpha = 0 never reads A and B, whose addresses may be invalid */
  for (int64_t i = 0; i < problem->m; i++) {
    for (int64_t j = 0; j < problem->n; j++) {
      const REAL *row = k == 0 ? NULL : (const REAL *)a->host + 2 * i * a->row_stride;
      const REAL *column = k == 0 ? NULL : (const REAL *)b->host + 2 * j * b->col_stride;
      REAL *element = (REAL *)c->host + 2 * (i * c->row_stride + j * c->col_stride);
      REAL sum[2] = {0, 0}, kept[2] = {0, 0};
      for (int64_t l = 0; l < k; l++) {
        const REAL *x = row + 2 * l * a->col_stride, *y = column + 2 * l * b->row_stride;
        sum[0] += x[0] * y[0] - sign_a * x[1] * (sign_b * y[1]);
        sum[1] += x[0] * (sign_b * y[1]) + sign_a * x[1] * y[0];
      }
      if (reads_c) {
        kept[0] = beta[0] * element[0] - beta[1] * element[1];
        kept[1] = beta[0] * element[1] + beta[1] * element[0];
      }
      element[0] = (k == 0 ? 0 : alpha[0] * sum[0] - alpha[1] * sum[1]) + kept[0];
      element[1] = (k == 0 ? 0 : alpha[0] * sum[1] + alpha[1] * sum[0]) + kept[1];
    }
  }
}
#undef REAL
#undef COMPLEX_LOOP

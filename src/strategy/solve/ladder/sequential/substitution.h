/* Specification of a solve: row after row of X, from the first for a lower triangle, else from the last. Each
 * is reduced by the previous rows and divided by the diagonal. Needs REAL and SUBSTITUTION. */
static void SUBSTITUTION(const tsl_problem *problem, const tsl_operands *operands) {
  const tsl_operand *const a = &operands->a, *const x = &operands->c,
                           *const b = problem->in_place ? x : &operands->b;
  const bool is_upper = problem->a.triangle == TESELA_UPPER,
             is_unit = problem->a.structure == TESELA_UNIT_TRIANGULAR;
  const REAL alpha = (REAL)problem->alpha[0];
  for (int64_t step = 0; step < problem->m; step++) {
    const int64_t i = is_upper ? problem->m - 1 - step : step;
    const int64_t first = is_upper ? i + 1 : 0, end = is_upper ? problem->m : i;
    for (int64_t j = 0; j < problem->n; j++) {
      REAL *const result = (REAL *)x->host + i * x->row_stride + j * x->col_stride;
      if (alpha == 0) { /* neither A nor B is read, and both may be NULL */
        *result = 0;
        continue;
      }
      const REAL *const row = (const REAL *)a->host + i * a->row_stride;
      REAL left = alpha * ((const REAL *)b->host)[i * b->row_stride + j * b->col_stride];
      for (int64_t l = first; l < end; l++)
        left -= row[l * a->col_stride] * ((const REAL *)x->host)[l * x->row_stride + j * x->col_stride];
      *result = is_unit ? left : left / row[i * a->col_stride];
    }
  }
}

/* Specification of a solve for complex types, pairs of REAL. Needs REAL, DIVISION and SUBSTITUTION. */

/* Divides z by a complex number, scaled by its larger part (Smith 1962), so that no square overflows. */
static void DIVISION(REAL z[2], REAL real, REAL imaginary) {
  const bool is_flat = (real < 0 ? -real : real) >= (imaginary < 0 ? -imaginary : imaginary);
  const REAL ratio = is_flat ? imaginary / real : real / imaginary;
  const REAL below = is_flat ? real + imaginary * ratio : real * ratio + imaginary;
  const REAL first = is_flat ? z[0] + z[1] * ratio : z[0] * ratio + z[1];
  const REAL second = is_flat ? z[1] - z[0] * ratio : z[1] * ratio - z[0];
  z[0] = first / below;
  z[1] = second / below;
}

static void SUBSTITUTION(const tsl_problem *problem, const tsl_operands *operands) {
  const tsl_operand *const a = &operands->a, *const x = &operands->c,
                           *const b = problem->in_place ? x : &operands->b;
  const bool is_upper = problem->a.triangle == TESELA_UPPER,
             is_unit = problem->a.structure == TESELA_UNIT_TRIANGULAR;
  const REAL alpha[2] = {(REAL)problem->alpha[0], (REAL)problem->alpha[1]},
             sign = problem->conjugate_a ? -1 : 1;
  for (int64_t step = 0; step < problem->m; step++) {
    const int64_t i = is_upper ? problem->m - 1 - step : step;
    const int64_t first = is_upper ? i + 1 : 0, end = is_upper ? problem->m : i;
    for (int64_t j = 0; j < problem->n; j++) {
      REAL *const result = (REAL *)x->host + 2 * (i * x->row_stride + j * x->col_stride);
      if (alpha[0] == 0 && alpha[1] == 0) { /* neither A nor B is read, and both may be NULL */
        result[0] = result[1] = 0;
        continue;
      }
      const REAL *const row = (const REAL *)a->host + 2 * i * a->row_stride;
      const REAL *const from = (const REAL *)b->host + 2 * (i * b->row_stride + j * b->col_stride);
      REAL left[2] = {from[0], from[1]};
      if (alpha[1] != 0) {
        left[0] = alpha[0] * from[0] - alpha[1] * from[1];
        left[1] = alpha[0] * from[1] + alpha[1] * from[0];
      } else {
        left[0] *= alpha[0];
        left[1] *= alpha[0];
      }
      for (int64_t l = first; l < end; l++) {
        const REAL *const y = row + 2 * l * a->col_stride;
        const REAL *const z = (const REAL *)x->host + 2 * (l * x->row_stride + j * x->col_stride);
        left[0] -= y[0] * z[0] - sign * y[1] * z[1];
        left[1] -= y[0] * z[1] + sign * y[1] * z[0];
      }
      if (!is_unit)
        DIVISION(left, row[2 * i * a->col_stride], sign * row[2 * i * a->col_stride + 1]);
      result[0] = left[0];
      result[1] = left[1];
    }
  }
}

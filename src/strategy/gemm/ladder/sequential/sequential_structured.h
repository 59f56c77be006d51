/* Structured factors and triangles of C: each element is looked up by its matrix's structure; zeros outside a
 * triangle are no terms. Included with REAL (type of a component), PARTS (components of an element, 2 or 1),
 * and NAME(function), which adds a suffix.
 *
 *   in place, C = alpha A C:   A lower: row i needs the rows before it, so the last row comes first
 *                              A upper: the first row comes first
 *             C = alpha C B:   by columns, in the opposite order */

/* Loads an element of a factor; returns false for a zero outside a triangle. */
static bool NAME(load_factor)(const tsl_shape *shape, const tsl_operand *operand, bool conjugate, int64_t row,
                              int64_t col, REAL out[2]) {
  const tsl_stored element = tsl_shape_element(shape, row, col);
  out[0] = 1;
  out[1] = 0;
  if (element.what == TSL_ELEMENT_ONE)
    return true;
  if (element.what == TSL_ELEMENT_ZERO)
    return false;
  const REAL *at = (const REAL *)operand->host +
                   PARTS * (element.row * operand->row_stride + element.col * operand->col_stride);
  out[0] = at[0];
  if (PARTS == 2 && !element.real)
    out[1] = element.conjugate != conjugate ? -at[1] : at[1];
  return true;
}

static void NAME(multiply_structured)(const tsl_problem *problem, const tsl_operands *operands) {
  const int factor = tsl_problem_structured(problem);
  const tsl_operand *const c = &operands->c;
  const tsl_operand *const a = problem->in_place && factor == TSL_OPERAND_B ? c : &operands->a;
  const tsl_operand *const b = problem->in_place && factor == TSL_OPERAND_A ? c : &operands->b;
  const REAL alpha[2] = {(REAL)problem->alpha[0], (REAL)problem->alpha[1]},
             beta[2] = {(REAL)problem->beta[0], (REAL)problem->beta[1]};
  const bool reads_c = beta[0] != 0 || beta[1] != 0;
  const bool last_row_first = problem->in_place && problem->a.triangle == TESELA_LOWER,
             last_col_first = problem->in_place && problem->b.triangle == TESELA_UPPER;
  const int64_t k = alpha[0] == 0 && alpha[1] == 0 ? 0 : problem->k; /* alpha = 0 never reads A and B */
  for (int64_t row = 0; row < problem->m; row++) {
    for (int64_t col = 0; col < problem->n; col++) {
      const int64_t i = last_row_first ? problem->m - 1 - row : row,
                    j = last_col_first ? problem->n - 1 - col : col;
      if (!tsl_shape_stores(&problem->c, i, j))
        continue;
      REAL *element = (REAL *)c->host + PARTS * (i * c->row_stride + j * c->col_stride);
      const bool is_real = PARTS == 1 || (tsl_is_hermitian(problem->c.structure) && i == j);
      REAL sum[2] = {0, 0}, x[2], y[2];
      for (int64_t l = 0; l < k; l++) {
        if (!NAME(load_factor)(&problem->a, a, problem->conjugate_a, i, l, x) ||
            !NAME(load_factor)(&problem->b, b, problem->conjugate_b, l, j, y))
          continue;
        sum[0] += x[0] * y[0] - x[1] * y[1];
        sum[1] += PARTS == 1 ? 0 : x[0] * y[1] + x[1] * y[0];
      }
      for (int64_t l = 0; l < k && tsl_is_sum(problem->c.structure);
           l++) { /* (A B)' at (i, j) is A B at (j, i) */
        NAME(load_factor)(&problem->a, a, problem->conjugate_a, j, l, x);
        NAME(load_factor)(&problem->b, b, problem->conjugate_b, l, i, y);
        sum[0] += x[0] * y[0] - x[1] * y[1];
        const REAL imaginary = PARTS == 1 ? 0 : x[0] * y[1] + x[1] * y[0];
        sum[1] += problem->c.structure == TESELA_HERMITIAN_SUM ? -imaginary : imaginary;
      }
      const REAL imaginary = !reads_c || is_real ? 0 : element[PARTS - 1];
      const REAL kept[2] = {reads_c ? beta[0] * element[0] - beta[1] * imaginary : 0,
                            reads_c ? beta[0] * imaginary + beta[1] * element[0] : 0};
      element[0] = (k == 0 ? 0 : alpha[0] * sum[0] - alpha[1] * sum[1]) + kept[0];
      if (PARTS == 2)
        element[1] = is_real ? 0 : (k == 0 ? 0 : alpha[0] * sum[1] + alpha[1] * sum[0]) + kept[1];
    }
  }
}
#undef REAL
#undef PARTS
#undef NAME

/* C = alpha A B + beta C, each sum in order. Included with REAL and TRIPLE_LOOP, the function's name, and
 * undefines them. */
static void TRIPLE_LOOP(const tsl_problem *problem, const tsl_operands *operands) {
  const tsl_operand *const a = &operands->a, *const b = &operands->b, *const c = &operands->c;
  const REAL alpha = (REAL)problem->alpha[0], beta = (REAL)problem->beta[0];
  /* alpha = 0 never reads A and B, whose addresses may be invalid */
  const int64_t k = alpha == 0 ? 0 : problem->k;
  for (int64_t i = 0; i < problem->m; i++) {
    for (int64_t j = 0; j < problem->n; j++) {
      const REAL *row = k == 0 ? NULL : (const REAL *)a->host + i * a->row_stride;
      const REAL *column = k == 0 ? NULL : (const REAL *)b->host + j * b->col_stride;
      REAL *element = (REAL *)c->host + i * c->row_stride + j * c->col_stride;
      REAL sum = 0;
      for (int64_t l = 0; l < k; l++)
        sum += row[l * a->col_stride] * column[l * b->row_stride];
      const REAL scaled = k == 0 ? 0 : alpha * sum;
      *element = beta == 0 ? scaled : scaled + beta * *element;
    }
  }
}
#undef REAL
#undef TRIPLE_LOOP

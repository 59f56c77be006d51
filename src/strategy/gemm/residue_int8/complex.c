/* Complex products of residue_int8: four real ones, of real and imaginary parts where they lie, two elements of their type apart.
 *
 *   re C = alpha re A re B + beta re C        im C = alpha re A im B + beta im C
 *   re C = re C - alpha im A im B             im C = im C + alpha im A re B
 *
 * Each part of C is rounded once between the two that make it: k + 4 roundings of each of these, and two more, where complex sums in order
 * have 2 k + 16. Three products would do modulo the same numbers (Ozaki, Uchino and Imamura, arXiv 2512.08321); that is left out. */
#include "strategy/gemm/residue_int8/residue_int8.h"

tsl_problem tsl_residue_real(const tsl_problem *problem) {
  tsl_problem real = *problem;
  if (!tsl_type(problem->c.type)->is_complex)
    return real;
  real.a.type = real.b.type = real.c.type = tsl_type(problem->c.type)->component;
  real.conjugate_a = real.conjugate_b = false;
  real.ask.accuracy = TSL_ACCURACY_DEFAULT; /* never more than was asked for */
  return real;
}

/* Part 0 or 1 of a complex operand. */
static tsl_operand part_of(const tsl_operand *whole, int part, size_t size) {
  tsl_operand real = *whole;
  if (whole->host)
    real.host = (unsigned char *)whole->host + (size_t)part * size;
  real.offset = 2 * whole->offset + part;
  real.row_stride = 2 * whole->row_stride;
  real.col_stride = 2 * whole->col_stride;
  return real;
}

tesela_status tsl_residue_run_complex(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream,
                                      tsl_residue_run *run) {
  static const struct { int a, b, c; } terms[] = {{0, 0, 0}, {1, 1, 0}, {0, 1, 1}, {1, 0, 1}};
  const tsl_problem *problem = &work->problem;
  const size_t size = tsl_type(tsl_type(problem->c.type)->component)->size;
  const bool reads = problem->alpha[0] != 0 && problem->k > 0;
  for (int t = 0; t < 4; t += reads ? 1 : 2) {
    const int a = terms[t].a, b = terms[t].b;
    const bool is_negative = (a & b) ^ (a & problem->conjugate_a) ^ (b & problem->conjugate_b);
    tsl_work real = *work;
    real.problem = tsl_residue_real(problem);
    real.problem.alpha[0] = is_negative ? -problem->alpha[0] : problem->alpha[0];
    real.problem.beta[0] = t % 2 ? 1 : problem->beta[0];
    tsl_operands parts = *operands;
    parts.a = part_of(&operands->a, a, size);
    parts.b = part_of(&operands->b, b, size);
    parts.c = part_of(&operands->c, terms[t].c, size);
    const tesela_status status = run(&real, &parts, stream);
    if (status != TESELA_OK)
      return status;
  }
  return TESELA_OK;
}

#include "blas/blas_level1.h"

typedef struct level1_operands {
  const tsl_vector_kernels *kernels;
  tsl_line x, y;
  tsl_team team;
  tsl_blas_function *next; /* the call is forwarded; NULL: tesela computes */
} level1_operands;

/* Member by member: reading a copied struct in other sizes stalls longer than a short vector takes. */
static void set_operands(const tsl_blas_call *call, const tsl_blas_lines *lines, level1_operands *out) {
  const tsl_vector_kernels *kernels = tsl_vector_kernels_of(call->symbol->type);
  const double bytes = (double)lines->n * kernels->size * (lines->y ? 2 : 1);
  const tsl_line x = tsl_vector_at(kernels, lines->x, lines->n, lines->incx),
                 y = tsl_vector_at(kernels, lines->y, lines->n, lines->incy);
  out->kernels = kernels;
  out->x.at = x.at;
  out->x.step = x.step;
  out->y.at = y.at;
  out->y.step = y.step;
  out->team.pool = NULL;
  out->team.threads = 0;
  if (bytes >= TSL_VECTOR_AWAKE_FROM)
    out->team = tsl_blas_team(bytes);
}

/* Decides the route. Returns true, with the operands set, if tesela computes and `is_needed`; n > 0 is. */
static bool begin_level1(tsl_blas_call *call, tsl_blas_class class, const tsl_blas_lines *lines, double flops,
                         bool is_needed, level1_operands *out) {
  if (tsl_blas_logging) {
    call->sizes = 1;
    call->shape[0] = lines->n > 0 ? lines->n : 0;
    call->flops = flops * (double)call->shape[0];
  }
  out->next = tsl_blas_begin_vectors(call, class, (double)lines->n);
  if (out->next || lines->n <= 0 || !is_needed)
    return false;
  set_operands(call, lines, out);
  return true;
}

/* Ends a call that tesela computed. Returns the function to forward to, or NULL. */
static inline tsl_blas_function *end_level1(tsl_blas_call *call, const level1_operands *all) {
  if (!all->next)
    tsl_blas_vectors_done(call);
  return all->next;
}

tsl_blas_function *tsl_blas_axpy(tsl_blas_call *call, const tsl_blas_lines *lines, tsl_vector_number alpha) {
  level1_operands all;
  if (begin_level1(call, TSL_BLAS_CLASS_ADD, lines, 2, alpha.re != 0 || alpha.im != 0, &all))
    tsl_vector_add(all.kernels, all.team, lines->n, alpha, all.x, all.y);
  return end_level1(call, &all);
}

tsl_blas_function *tsl_blas_scal(tsl_blas_call *call, const tsl_blas_lines *lines, tsl_vector_number alpha,
                                 bool is_real) {
  level1_operands all;
  const bool stays = alpha.re == 1 && (is_real || !tsl_vector_kernels_of(call->symbol->type)->is_complex);
  if (begin_level1(call, TSL_BLAS_CLASS_SCALE, lines, 1, lines->incx > 0 && !stays, &all))
    tsl_vector_scale(all.kernels, all.team, lines->n, alpha, is_real, all.x);
  return end_level1(call, &all);
}

tsl_blas_function *tsl_blas_copy_vector(tsl_blas_call *call, const tsl_blas_lines *lines) {
  level1_operands all;
  if (begin_level1(call, TSL_BLAS_CLASS_ADD, lines, 0, true, &all))
    tsl_vector_copy(all.kernels, all.team, lines->n, all.x, all.y);
  return end_level1(call, &all);
}

tsl_blas_function *tsl_blas_swap(tsl_blas_call *call, const tsl_blas_lines *lines) {
  level1_operands all;
  if (begin_level1(call, TSL_BLAS_CLASS_ADD, lines, 0, true, &all))
    tsl_vector_swap(all.kernels, all.team, lines->n, all.x, all.y);
  return end_level1(call, &all);
}

/* Computes (x, y) = (h[0] x + h[1] y, h[2] x + h[3] y). */
static tsl_blas_function *rotate(tsl_blas_call *call, const tsl_blas_lines *lines, const double h[4]) {
  level1_operands all;
  if (begin_level1(call, TSL_BLAS_CLASS_ADD, lines, 6, true, &all))
    tsl_vector_rot(all.kernels, all.team, lines->n, all.x, all.y, h);
  return end_level1(call, &all);
}

tsl_blas_function *tsl_blas_rot(tsl_blas_call *call, const tsl_blas_lines *lines, double c, double s) {
  return rotate(call, lines, (const double[]){c, s, -s, c});
}

tsl_blas_function *tsl_blas_rotm(tsl_blas_call *call, const tsl_blas_lines *lines, const void *param) {
  enum { FLAG, H11, H21, H12, H22, NUMBERS };
  double p[NUMBERS];
  for (int i = 0; i < NUMBERS; i++)
    p[i] = call->symbol->type == TESELA_F32 ? (double)((const float *)param)[i] : ((const double *)param)[i];
  const bool ones_on_diagonal = p[FLAG] == 0, ones_beside = p[FLAG] == 1;
  return p[FLAG] == -2 ? NULL
                       : rotate(call, lines,
                                (const double[]){ones_on_diagonal ? 1 : p[H11], ones_beside ? 1 : p[H12],
                                                 ones_beside ? -1 : p[H21], ones_on_diagonal ? 1 : p[H22]});
}

tsl_blas_function *tsl_blas_nrm2(tsl_blas_call *call, const tsl_blas_lines *lines, double *result) {
  level1_operands all;
  *result = 0;
  if (begin_level1(call, TSL_BLAS_CLASS_SUM, lines, 2, true, &all))
    *result = tsl_vector_norm(all.kernels, all.team, lines->n, all.x);
  return end_level1(call, &all);
}

tsl_blas_function *tsl_blas_asum(tsl_blas_call *call, const tsl_blas_lines *lines, double *result) {
  level1_operands all;
  *result = 0;
  if (begin_level1(call, TSL_BLAS_CLASS_SUM, lines, 1, lines->incx > 0, &all))
    *result = tsl_vector_asum(all.kernels, all.team, lines->n, all.x);
  return end_level1(call, &all);
}

tsl_blas_function *tsl_blas_iamax(tsl_blas_call *call, const tsl_blas_lines *lines, int64_t first,
                                  int64_t *result) {
  level1_operands all;
  *result = 0;
  if (begin_level1(call, TSL_BLAS_CLASS_SUM, lines, 1, lines->incx > 0, &all))
    *result = first + tsl_vector_iamax(all.kernels, all.team, lines->n, all.x);
  return end_level1(call, &all);
}

tsl_blas_function *tsl_blas_plain_dot(tsl_blas_call *call, const tsl_blas_lines *lines, bool conjugate,
                                      void *result) {
  level1_operands all;
  tsl_vector_number sum = {0, 0};
  if (begin_level1(call, TSL_BLAS_CLASS_DOT, lines, 2, true, &all))
    sum = tsl_vector_dot(all.kernels, all.team, lines->n, all.x, conjugate, all.y);
  if (!all.next)
    tsl_number_store_as(call->symbol->type, result, sum);
  return end_level1(call, &all);
}

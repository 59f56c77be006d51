#include "blas/blas_level1.h"

typedef struct level1_operands {
  const tsl_vector_kernels *kernels;
  tsl_line x, y;
  tsl_team team;
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

static tsl_blas_function *blas_level1_begin(tsl_blas_call *call, tsl_blas_class class,
                                            const tsl_blas_lines *lines, double flops) {
  if (tsl_blas_logging) {
    call->sizes = 1;
    call->shape[0] = lines->n > 0 ? lines->n : 0;
    call->flops = flops * (double)call->shape[0];
  }
  return tsl_blas_begin_vectors(call, class, (double)lines->n);
}

tsl_blas_function *tsl_blas_axpy(tsl_blas_call *call, const tsl_blas_lines *lines, tsl_vector_number alpha) {
  tsl_blas_function *next = blas_level1_begin(call, TSL_BLAS_CLASS_ADD, lines, 2);
  if (next)
    return next;
  if (lines->n > 0 && (alpha.re != 0 || alpha.im != 0)) {
    level1_operands all;
    set_operands(call, lines, &all);
    tsl_vector_add(all.kernels, all.team, lines->n, alpha, all.x, all.y);
  }
  tsl_blas_vectors_done(call);
  return NULL;
}

tsl_blas_function *tsl_blas_scal(tsl_blas_call *call, const tsl_blas_lines *lines, tsl_vector_number alpha,
                                 bool is_real) {
  tsl_blas_function *next = blas_level1_begin(call, TSL_BLAS_CLASS_SCALE, lines, 1);
  if (next)
    return next;
  const bool stays = alpha.re == 1 && (is_real || !tsl_vector_kernels_of(call->symbol->type)->is_complex);
  if (lines->n > 0 && lines->incx > 0 && !stays) {
    level1_operands all;
    set_operands(call, lines, &all);
    tsl_vector_scale(all.kernels, all.team, lines->n, alpha, is_real, all.x);
  }
  tsl_blas_vectors_done(call);
  return NULL;
}

tsl_blas_function *tsl_blas_copy_vector(tsl_blas_call *call, const tsl_blas_lines *lines) {
  tsl_blas_function *next = blas_level1_begin(call, TSL_BLAS_CLASS_ADD, lines, 0);
  if (next)
    return next;
  if (lines->n > 0) {
    level1_operands all;
    set_operands(call, lines, &all);
    tsl_vector_copy(all.kernels, all.team, lines->n, all.x, all.y);
  }
  tsl_blas_vectors_done(call);
  return NULL;
}

tsl_blas_function *tsl_blas_swap(tsl_blas_call *call, const tsl_blas_lines *lines) {
  tsl_blas_function *next = blas_level1_begin(call, TSL_BLAS_CLASS_ADD, lines, 0);
  if (next)
    return next;
  if (lines->n > 0) {
    level1_operands all;
    set_operands(call, lines, &all);
    tsl_vector_swap(all.kernels, all.team, lines->n, all.x, all.y);
  }
  tsl_blas_vectors_done(call);
  return NULL;
}

tsl_blas_function *tsl_blas_rot(tsl_blas_call *call, const tsl_blas_lines *lines, const double h[4]) {
  tsl_blas_function *next = blas_level1_begin(call, TSL_BLAS_CLASS_ADD, lines, 6);
  if (next)
    return next;
  if (lines->n > 0) {
    level1_operands all;
    set_operands(call, lines, &all);
    tsl_vector_rot(all.kernels, all.team, lines->n, all.x, all.y, h);
  }
  tsl_blas_vectors_done(call);
  return NULL;
}

bool tsl_blas_modified(const double param[5], double h[4]) {
  const double flag = param[0];
  h[0] = flag == 0 ? 1 : param[1];
  h[1] = flag == 1 ? 1 : param[3];
  h[2] = flag == 1 ? -1 : param[2];
  h[3] = flag == 0 ? 1 : param[4];
  return flag != -2;
}

tsl_blas_function *tsl_blas_nrm2(tsl_blas_call *call, const tsl_blas_lines *lines, double *result) {
  tsl_blas_function *next = blas_level1_begin(call, TSL_BLAS_CLASS_SUM, lines, 2);
  *result = 0;
  if (next)
    return next;
  if (lines->n > 0) {
    level1_operands all;
    set_operands(call, lines, &all);
    *result = tsl_vector_norm(all.kernels, all.team, lines->n, all.x);
  }
  tsl_blas_vectors_done(call);
  return NULL;
}

tsl_blas_function *tsl_blas_asum(tsl_blas_call *call, const tsl_blas_lines *lines, double *result) {
  tsl_blas_function *next = blas_level1_begin(call, TSL_BLAS_CLASS_SUM, lines, 1);
  *result = 0;
  if (next)
    return next;
  if (lines->n > 0 && lines->incx > 0) {
    level1_operands all;
    set_operands(call, lines, &all);
    *result = tsl_vector_asum(all.kernels, all.team, lines->n, all.x);
  }
  tsl_blas_vectors_done(call);
  return NULL;
}

tsl_blas_function *tsl_blas_iamax(tsl_blas_call *call, const tsl_blas_lines *lines, int64_t *result) {
  tsl_blas_function *next = blas_level1_begin(call, TSL_BLAS_CLASS_SUM, lines, 1);
  *result = 0;
  if (next)
    return next;
  if (lines->n > 0 && lines->incx > 0) {
    level1_operands all;
    set_operands(call, lines, &all);
    *result = 1 + tsl_vector_iamax(all.kernels, all.team, lines->n, all.x);
  }
  tsl_blas_vectors_done(call);
  return NULL;
}

tsl_blas_function *tsl_blas_plain_dot(tsl_blas_call *call, const tsl_blas_lines *lines, bool conjugate,
                                      void *result) {
  tsl_blas_function *next = blas_level1_begin(call, TSL_BLAS_CLASS_DOT, lines, 2);
  tsl_vector_number sum = {0, 0};
  if (next)
    return next;
  if (lines->n > 0) {
    level1_operands all;
    set_operands(call, lines, &all);
    sum = tsl_vector_dot(all.kernels, all.team, lines->n, all.x, conjugate, all.y);
  }
  tsl_blas_put_number(call->symbol->type, sum, result);
  tsl_blas_vectors_done(call);
  return NULL;
}

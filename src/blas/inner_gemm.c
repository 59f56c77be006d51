/* Uses the fast path: small inner products have many sizes, and planning each would take longer. */
#include "blas/inner_gemm.h"

#include "api/api_dispatch.h"
#include "blas/blas_context.h"
#include "blas/blas_gemm.h"
#include "blas/blas_threads.h"
#include "core/memory.h"
#include "dispatch/crossovers.h"

static bool multiply_real_at_once(const tsl_blas_work *work) {
  const tsl_fast_path *path = tsl_blas_is_complex(work->type) ? NULL : tsl_blas_fast_path();
  if (!path || work->m <= 0 || work->n <= 0 || work->k <= 0 ||
      !tsl_dispatch_aligned(work->type, work->a.data, work->b.data, work->c.data))
    return false;
  double alpha[2], beta[2];
  tsl_blas_doubles(work->type, work->alpha, alpha);
  tsl_blas_doubles(work->type, work->beta, beta);
  const tsl_fast_product product = {.type = work->type,
                                    .m = work->m,
                                    .n = work->n,
                                    .k = work->k,
                                    .a = work->a.data,
                                    .b = work->b.data,
                                    .c = tsl_writable(work->c.data),
                                    .a_row = work->a.row,
                                    .a_col = work->a.col,
                                    .b_row = work->b.row,
                                    .b_col = work->b.col,
                                    .c_row = work->c.row,
                                    .c_col = work->c.col,
                                    .alpha = alpha[0],
                                    .beta = beta[0],
                                    .alpha_is_0 = alpha[0] == 0,
                                    .alpha_is_1 = alpha[0] == 1,
                                    .beta_is_0 = beta[0] == 0};
  return path->strategy->direct.multiply(&product, path->device);
}

static double inner_gemm_volume_of(const tsl_blas_work *work) {
  return (tsl_blas_is_complex(work->type) ? 4.0 : 1.0) * (double)work->m * (double)work->n * (double)work->k;
}

static tsl_shape inner_gemm_shape_of(const tsl_blas_work *work, const tsl_blas_view *view, int64_t rows,
                                     int64_t cols) {
  return (tsl_shape){
      .type = work->type, .rows = rows, .cols = cols, .row_stride = view->row, .col_stride = view->col};
}
static tsl_operand inner_gemm_operand_of(const tsl_blas_view *view) {
  return (tsl_operand){.host = tsl_writable(view->data), .row_stride = view->row, .col_stride = view->col};
}

bool tsl_blas_pack_at_once(const tsl_blas_work *work, const tsl_blas_structures *structures) {
  const tsl_fast_path *path = tsl_blas_fast_path();
  const tsl_blas_view *b = structures->in_place ? &work->c : &work->b;
  if (!path || !path->packer || work->m <= 0 || work->n <= 0 || work->k <= 0 ||
      !tsl_dispatch_aligned(work->type, work->a.data, b->data, work->c.data))
    return false;
  tsl_problem problem = {.op = TSL_OP_GEMM,
                         .m = work->m,
                         .n = work->n,
                         .k = work->k,
                         .a = inner_gemm_shape_of(work, &work->a, work->m, work->k),
                         .b = inner_gemm_shape_of(work, b, work->k, work->n),
                         .c = inner_gemm_shape_of(work, &work->c, work->m, work->n),
                         .in_place = structures->in_place,
                         .conjugate_a = work->a.conjugate,
                         .conjugate_b = b->conjugate};
  problem.a.structure = structures->a;
  problem.a.triangle = structures->a_triangle;
  problem.c.structure = structures->c;
  problem.c.triangle = structures->c_triangle;
  tsl_blas_doubles(work->type, work->alpha, problem.alpha);
  if (!structures->in_place)
    tsl_blas_doubles(work->type, work->beta, problem.beta);
  tsl_operands operands = {.a = inner_gemm_operand_of(&work->a),
                           .b = inner_gemm_operand_of(b),
                           .c = inner_gemm_operand_of(&work->c)};
  if (inner_gemm_volume_of(work) >= (double)tsl_crossovers.thread_volume)
    operands.team = tsl_pool_team(tsl_pool_shared(), tsl_blas_threads());
  return path->packer->direct.multiply_packed(&problem, &operands, path->device);
}

bool tsl_blas_to_desc_little(const tsl_blas_work *work, const tsl_blas_structures *structures,
                             tsl_fast_structured *out) {
  const tsl_blas_view *a = &work->a, *b = &work->b, *c = &work->c;
  if (work->m <= 0 || work->n <= 0 || work->k <= 0 ||
      !tsl_dispatch_aligned(work->type, a->data, b->data, c->data))
    return false;
  out->type = work->type;
  out->m = work->m;
  out->n = work->n;
  out->k = work->k;
  out->a = a->data;
  out->b = b->data;
  out->c = tsl_writable(c->data);
  out->a_row = a->row;
  out->a_col = a->col;
  out->b_row = b->row;
  out->b_col = b->col;
  out->c_row = c->row;
  out->c_col = c->col;
  out->a_is = structures->a;
  out->c_is = structures->c;
  out->a_triangle = structures->a_triangle;
  out->c_triangle = structures->c_triangle;
  out->conjugates_a = a->conjugate;
  out->conjugates_b = b->conjugate;
  return true;
}

bool tsl_blas_multiply_little(const tsl_fast_structured *product) {
  const tsl_fast_path *path = tsl_blas_fast_path();
  return path && path->solver && path->solver->direct.multiply_small_structured &&
         path->solver->direct.multiply_small_structured(product, path->device);
}

static bool multiply_complex_small(const tsl_blas_work *work) {
  tsl_fast_structured product;
  if (!tsl_blas_is_complex(work->type) ||
      !tsl_blas_to_desc_little(work, &(tsl_blas_structures){.in_place = false}, &product))
    return false;
  tsl_blas_doubles(work->type, work->alpha, product.alpha);
  tsl_blas_doubles(work->type, work->beta, product.beta);
  return tsl_blas_multiply_little(&product);
}

void tsl_blas_inner_gemm(const tsl_blas_symbol *symbol, const tsl_blas_work *work, tesela_record *record) {
  if (multiply_real_at_once(work) || multiply_complex_small(work) ||
      (inner_gemm_volume_of(work) < (double)tsl_crossovers.plan_volume &&
       tsl_blas_pack_at_once(work, &(tsl_blas_structures){.in_place = false})) ||
      tsl_blas_by_tesela(symbol, work, record))
    return;
  tsl_blas_loop_gemm(work);
}

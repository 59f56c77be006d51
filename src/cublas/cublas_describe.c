#include "cublas/cublas_describe.h"

#include "core/env.h"

#include <string.h>

/* Returns a column-major operand; `op` is applied to the stored matrix. */
static tesela_matrix matrix_of(const tesela_buffer *anchor, int32_t type, int64_t ld, int op) {
  return (tesela_matrix){.buffer = anchor,
                         .row_stride = 1,
                         .col_stride = ld,
                         .transpose = op != TSL_CUBLAS_OP_N,
                         .conjugate = op == TSL_CUBLAS_OP_C,
                         .type = (tesela_type)type};
}

static tesela_result result_of(tesela_buffer *anchor, const tsl_cublas_key *key) {
  return (tesela_result){
      .buffer = anchor, .row_stride = 1, .col_stride = key->ldc, .type = (tesela_type)key->c_type};
}

static tesela_triangle triangle_of(const tsl_cublas_key *key) {
  return key->uplo == TSL_CUBLAS_LOWER ? TESELA_LOWER : TESELA_UPPER;
}

static tesela_structure triangular_of(const tsl_cublas_key *key) {
  return key->diag == TSL_CUBLAS_UNIT ? TESELA_UNIT_TRIANGULAR : TESELA_TRIANGULAR;
}

/* C = alpha op(A) op(A)' + beta C: B is A, transposed; for a hermitian C conjugated, too. */
static void describe_update(const tsl_cublas_key *key, tesela_gemm_desc *desc) {
  const bool is_hermitian = key->routine == TSL_CUBLAS_HERK;
  desc->b = desc->a;
  desc->b.transpose = !desc->a.transpose;
  desc->a.conjugate = is_hermitian && desc->a.transpose;
  desc->b.conjugate = is_hermitian && desc->b.transpose;
  desc->structure.c = is_hermitian ? TESELA_HERMITIAN : TESELA_GENERAL;
  desc->structure.c_triangle = triangle_of(key);
}

/* symm, hemm and trmm: a structured factor on either side of the general matrix B. */
static void describe_factor(const tsl_cublas_key *key, tesela_gemm_desc *desc) {
  const tesela_structure structure = key->routine == TSL_CUBLAS_TRMM   ? triangular_of(key)
                                     : key->routine == TSL_CUBLAS_HEMM ? TESELA_HERMITIAN
                                                                       : TESELA_SYMMETRIC;
  const tesela_matrix factor = desc->a, none = {.type = TESELA_TYPE_DEFAULT},
                      general = key->in_place ? none : desc->b;
  const bool is_left = key->side == TSL_CUBLAS_LEFT;
  desc->k = is_left ? key->size.m : key->size.n;
  desc->a = is_left ? factor : general;
  desc->b = is_left ? general : factor;
  *(is_left ? &desc->structure.a : &desc->structure.b) = structure;
  *(is_left ? &desc->structure.a_triangle : &desc->structure.b_triangle) = triangle_of(key);
  desc->structure.in_place = key->in_place;
}

static tesela_epilogue epilogue_of(const tsl_cublas_key *key, const tesela_buffer *anchor) {
  tesela_epilogue epilogue = {.activation = (tesela_activation)key->activation};
  if (key->bias_type != 0) {
    epilogue.bias_axis = (tesela_bias_axis)key->bias_axis;
    epilogue.bias = (tesela_vector){.buffer = anchor, .stride = 1, .type = (tesela_type)key->bias_type};
  }
  return epilogue;
}

/* The user's setting counts if there is one. Otherwise a call gives the same bits in each run, as cuBLAS
 * promises for work on one stream. */
static tesela_options options_of(const tsl_cublas_key *key) {
  return (tesela_options){.accuracy = tsl_cublas_accuracy(key->accuracy),
                          .reproducibility = tsl_env_get_or_null(TSL_ENV_BITS) ? NULL : "run"};
}

static tesela_status plan_solve(tesela_context *context, const tsl_cublas_key *key, tesela_buffer *anchor,
                                tesela_plan **plan) {
  const tesela_solve_desc desc = {.rows = key->size.m,
                                  .cols = key->size.n,
                                  .a = matrix_of(anchor, key->a_type, key->lda, key->trans_a),
                                  .structure = triangular_of(key),
                                  .triangle = triangle_of(key),
                                  .right = key->side == TSL_CUBLAS_RIGHT,
                                  .x = result_of(anchor, key),
                                  .in_place = 1,
                                  .alpha = key->alpha,
                                  .options = options_of(key)};
  return tsl_queue_plan(context, TESELA_SOLVE, &desc, sizeof desc, 1, plan);
}

tesela_status tsl_cublas_describe_plan(tesela_context *context, const tsl_cublas_key *key,
                                       tesela_buffer *anchor, tesela_plan **plan) {
  if (key->routine == TSL_CUBLAS_TRSM)
    return plan_solve(context, key, anchor, plan);
  const tesela_epilogue epilogue = epilogue_of(key, anchor);
  tesela_gemm_desc desc = {.m = key->size.m,
                           .n = key->size.n,
                           .k = key->size.k,
                           .a = matrix_of(anchor, key->a_type, key->lda, key->trans_a),
                           .b = matrix_of(anchor, key->a_type, key->ldb, key->trans_b),
                           .c = result_of(anchor, key),
                           .alpha = key->alpha,
                           .beta = key->routine == TSL_CUBLAS_TRMM ? NULL : key->beta,
                           .epilogue = &epilogue,
                           .options = options_of(key)};
  if (key->routine == TSL_CUBLAS_SYRK || key->routine == TSL_CUBLAS_HERK)
    describe_update(key, &desc);
  else if (key->routine != TSL_CUBLAS_GEMM)
    describe_factor(key, &desc);
  return tsl_queue_plan(context, TESELA_GEMM, &desc, sizeof desc, key->size.batch, plan);
}

void tsl_cublas_describe_operands(const tsl_cublas_call *call, tsl_queue_operands *out) {
  const bool is_update = call->routine == TSL_CUBLAS_SYRK || call->routine == TSL_CUBLAS_HERK;
  const bool swaps =
      call->routine >= TSL_CUBLAS_SYMM && call->routine <= TSL_CUBLAS_TRMM && call->side == TSL_CUBLAS_RIGHT;
  const tsl_cublas_matrix *a = swaps ? &call->b : &call->a, *b = is_update || swaps ? &call->a : &call->b;
  *out = (tsl_queue_operands){.at = {a->data, b->data, call->c.data, call->bias},
                              .step = {a->step, b->step, call->c.step, call->bias_step},
                              .count = call->size.batch};
}

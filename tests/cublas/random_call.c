#include "cublas/random_call.h"

#include "core/types.h"
#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>

static unsigned state;
static int draw(int count) {
  state = state * 1664525u + 1013904223u;
  return (int)(state >> 8) % count;
}

static tesela_type type_of(int cuda_type) {
  static const tesela_type types[] = {
      [R_32F] = TESELA_F32, [R_64F] = TESELA_F64,  [R_16F] = TESELA_F16, [R_8I] = TESELA_I8,
      [C_32F] = TESELA_C64, [C_64F] = TESELA_C128, [R_32I] = TESELA_I32, [R_16BF] = TESELA_BF16};
  return types[cuda_type];
}

static size_t size_of(int cuda_type) {
  return tsl_type(type_of(cuda_type))->size;
}

/* Returns `count` elements of -1, 0 and 1. */
static void *elements(int cuda_type, int64_t count) {
  const size_t size = size_of(cuda_type);
  char *array = malloc((size_t)count * size);
  assert_non_null(array);
  for (int64_t i = 0; i < count; i++) {
    const double value[2] = {draw(3) - 1, draw(3) - 1};
    tsl_type_store(type_of(cuda_type), array + i * (int64_t)size, value);
  }
  return array;
}

/* A solve divides by the diagonal. */
static void set_diagonal(const standin_product *p, void *a, int64_t order) {
  const double one[2] = {1, 0};
  for (int64_t i = 0; i < order; i++)
    tsl_type_store(type_of(p->a_type), (char *)a + i * (p->lda + 1) * (int64_t)size_of(p->a_type), one);
}

static void draw_sizes(standin_product *p) {
  const bool is_update = p->routine == SYRK || p->routine == HERK;
  const int most = p->routine == TRSM ? 8 : 40;
  p->m = 1 + draw(most);
  p->n = is_update ? p->m : 1 + draw(most);
  p->k = 1 + draw(most);
  p->side = draw(2);
  p->uplo = draw(2);
  p->diag = p->routine == TRMM || p->routine == TRSM ? draw(2) : 0;
  p->trans_a = draw(3);
  p->trans_b = draw(3);
  if (p->routine == SYMM || p->routine == HEMM)
    p->trans_a = 0;
  if (p->routine == SYRK)
    p->trans_a = draw(2);
  if (p->routine == HERK)
    p->trans_a = 2 * draw(2);
}

void random_call_make(random_call *call, standin_routine routine, int type, int c_type, int scalar_type,
                      int64_t batch, unsigned seed) {
  standin_product *p = &call->product;
  const bool is_gemm = routine == GEMM, is_update = routine == SYRK || routine == HERK;
  state = seed * 7919u + 17u;
  *call = (random_call){.product = {.routine = routine,
                                    .batch = batch,
                                    .a_type = type,
                                    .b_type = type,
                                    .c_type = c_type,
                                    .alpha_type = scalar_type,
                                    .beta_type = scalar_type}};
  draw_sizes(p);
  const bool is_plain = p->trans_a == 0;
  const int64_t order = p->side == 0 ? p->m : p->n,
                a_rows = is_gemm || is_update ? (is_plain ? p->m : p->k) : order,
                a_cols = is_gemm || is_update ? (is_plain ? p->k : p->m) : order,
                b_rows = is_gemm ? (p->trans_b == 0 ? p->k : p->n) : p->m,
                b_cols = is_gemm ? (p->trans_b == 0 ? p->n : p->k) : p->n;
  p->lda = a_rows + draw(4);
  p->ldb = b_rows + draw(4);
  p->ldc = p->m + draw(4);
  p->a_step = draw(4) == 0 ? 0 : p->lda * a_cols + draw(5);
  p->b_step = p->ldb * b_cols + draw(5);
  p->c_step = p->ldc * p->n + draw(5);
  call->a = elements(type, p->lda * a_cols + p->a_step * (batch - 1));
  call->b = elements(type, p->ldb * b_cols + p->b_step * (batch - 1));
  call->c = elements(c_type, p->ldc * p->n + p->c_step * (batch - 1));
  if (routine == TRSM)
    set_diagonal(p, call->a, order);
  call->c_bytes = (size_t)(p->ldc * p->n + p->c_step * (batch - 1)) * size_of(c_type);
  call->expected = malloc(call->c_bytes);
  assert_non_null(call->expected);
  memcpy(call->expected, call->c, call->c_bytes);
  const double alphas[][2] = {{1, 0}, {2, 1}, {-1, 0}}, betas[][2] = {{0, 0}, {1, 0}, {-1, 1}};
  tsl_type_store(type_of(scalar_type), call->alpha, alphas[draw(3)]);
  tsl_type_store(type_of(scalar_type), call->beta, betas[draw(3)]);
  p->alpha = call->alpha;
  p->beta = routine < TRMM ? call->beta : NULL;
  p->a = call->a;
  p->b = is_update || routine == TRSM ? NULL : call->b;
  p->c = call->expected;
}

void random_call_free(random_call *call) {
  free(call->a);
  free(call->b);
  free(call->c);
  free(call->expected);
}

void random_call_check(random_call *call, const char *name) {
  const standin_product *p = &call->product;
  const tesela_type type = type_of(p->c_type);
  const size_t size = size_of(p->c_type);
  standin_compute(p);
  for (size_t i = 0; i < call->c_bytes; i += size) {
    double seen[2], wanted[2];
    tsl_type_load(type, (char *)call->c + i, seen);
    tsl_type_load(type, (char *)call->expected + i, wanted);
    if (seen[0] != wanted[0] || seen[1] != wanted[1])
      fail_msg("%s: m %d n %d k %d ops %d %d side %d uplo %d diag %d: element %zu is %g%+gi, and not %g%+gi",
               name, (int)p->m, (int)p->n, (int)p->k, p->trans_a, p->trans_b, p->side, p->uplo, p->diag,
               i / size, seen[0], seen[1], wanted[0], wanted[1]);
  }
}

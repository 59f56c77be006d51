#include "blas/blas_gemm.h"
#include "blas/blas_level3.h"

#include "core/memory.h"

/* Writes a view once, already transposed. A struct that is filled by parts and then copied waits for its
 * stores, longer than a 4 x 4 product takes. */
static inline void level3_layout_view(tsl_call_matrix *out, const void *data, int64_t ld, bool by_row,
                                      bool conjugate) {
  out->data = data;
  out->row = by_row ? ld : 1;
  out->col = by_row ? 1 : ld;
  out->conjugate = conjugate;
}

static int other_triangle(int uplo) {
  return uplo == 'U' ? 'L' : 'U';
}

static bool is_hermitian(tsl_blas_routine routine) {
  return routine == TSL_BLAS_HERK || routine == TSL_BLAS_HER2K || routine == TSL_BLAS_HEMM;
}

/* A real scalar is followed by 0. */
static void note_scalars(tesela_type type, const tsl_blas_multiply *structured, tsl_blas_layout *out) {
  const tesela_type real = type == TESELA_F32 || type == TESELA_C64 ? TESELA_F32 : TESELA_F64;
  const bool real_beta = structured->routine == TSL_BLAS_HERK || structured->routine == TSL_BLAS_HER2K;
  tsl_call *work = &out->work;
  tsl_blas_doubles(structured->routine == TSL_BLAS_HERK ? real : type, structured->alpha, work->alpha);
  work->beta[0] = work->beta[1] = 0;
  if (structured->beta)
    tsl_blas_doubles(real_beta ? real : type, structured->beta, work->beta);
  out->alpha2[0] = work->alpha[0];
  out->alpha2[1] = structured->routine == TSL_BLAS_HER2K ? -work->alpha[1] : work->alpha[1];
}

static void note_structures(tsl_blas_layout *out) {
  const bool is_update = out->routine < TSL_BLAS_SYMM, is_factor = !is_update;
  const tesela_triangle side = tsl_blas_level3_side(out);
  const tesela_structure triangular = out->unit ? TESELA_UNIT_TRIANGULAR : TESELA_TRIANGULAR;
  tsl_call *work = &out->work;
  work->solves = out->routine == TSL_BLAS_TRSM;
  work->a_is = is_update                       ? TESELA_GENERAL
               : out->routine >= TSL_BLAS_TRMM ? triangular
               : out->hermitian                ? TESELA_HERMITIAN
                                               : TESELA_SYMMETRIC;
  work->c_is = is_update && tsl_blas_level3_is_sum(out)
                   ? (out->hermitian ? TESELA_HERMITIAN_SUM : TESELA_SYMMETRIC_SUM)
               : is_update && out->hermitian ? TESELA_HERMITIAN
                                             : TESELA_GENERAL;
  work->a_triangle = is_factor ? side : TESELA_WHOLE;
  work->c_triangle = is_update ? side : TESELA_WHOLE;
}

/* Lays out X Y' + Y X'. With one factor, Y is X, and the second product is unused. */
static void layout_update(const tsl_blas_multiply *structured, tsl_blas_layout *out) {
  const bool by_row = structured->order == TSL_BLAS_ROW_MAJOR, plain = structured->trans_a == 'N';
  const bool two = structured->routine == TSL_BLAS_SYR2K || structured->routine == TSL_BLAS_HER2K;
  const bool along = by_row == plain; /* rows of X and Y are contiguous */
  const bool of_x = out->hermitian && !plain, of_other = out->hermitian && plain;
  const bool has_y = two || structured->routine == TSL_BLAS_GEMMT;
  const void *y = has_y ? structured->b : structured->a;
  const int64_t ldy = has_y ? structured->ldb : structured->lda;
  out->work.k = structured->k;
  level3_layout_view(&out->work.a, structured->a, structured->lda, along, of_x);
  level3_layout_view(&out->work.b, y, ldy, !along, of_other);
  level3_layout_view(&out->a2, y, ldy, along, of_x);
  level3_layout_view(&out->b2, structured->a, structured->lda, !along, of_other);
  level3_layout_view(&out->work.c, structured->c, structured->ldc, by_row, false);
}

/* Lays out a factor; on the right: (B A)' = A' B'. A hermitian matrix's transpose is its conjugate, stored in
 * the other triangle. */
static void layout_factor(tesela_type type, const tsl_blas_multiply *structured, tsl_blas_layout *out) {
  const bool in_place = structured->routine >= TSL_BLAS_TRMM, on_the_right = structured->side == 'R';
  const bool by_row = (structured->order == TSL_BLAS_ROW_MAJOR) != on_the_right;
  const bool is_turned = in_place && (structured->trans_a == 'T' || structured->trans_a == 'C');
  const bool conjugates =
      in_place && tsl_blas_is_complex(type) && (structured->trans_a == 'C' || structured->trans_a == 'R');
  if (is_turned != on_the_right)
    out->uplo = other_triangle(out->uplo);
  out->work.m = on_the_right ? structured->n : structured->m;
  out->work.n = on_the_right ? structured->m : structured->n;
  out->work.k = out->work.m;
  level3_layout_view(&out->work.a, structured->a, structured->lda, by_row != is_turned, conjugates);
  level3_layout_view(&out->work.b, structured->b, structured->ldb, by_row, false);
  level3_layout_view(&out->work.c, in_place ? structured->b : structured->c,
                     in_place ? structured->ldb : structured->ldc, by_row, false);
  level3_layout_view(&out->a2, NULL, 0, false, false);
  level3_layout_view(&out->b2, NULL, 0, false, false);
}

void tsl_blas_lay_out(tesela_type type, const tsl_blas_multiply *structured, tsl_blas_layout *out) {
  out->routine = structured->routine;
  out->uplo = structured->uplo;
  out->unit = structured->diag == 'U';
  out->hermitian = is_hermitian(structured->routine);
  out->work.type = type;
  out->work.m = structured->m;
  out->work.n = structured->n;
  out->work.on_cpu = true;
  out->work.team = (tsl_team){0};
  note_scalars(type, structured, out);
  if (structured->routine < TSL_BLAS_SYMM)
    layout_update(structured, out);
  else
    layout_factor(type, structured, out);
  note_structures(out);
}

void tsl_blas_lay_out_gemmt(tesela_type type, const tsl_blas_multiply *product, tsl_blas_layout *out) {
  *out = (tsl_blas_layout){
      .routine = TSL_BLAS_GEMMT, .uplo = product->uplo, .work = tsl_blas_work_of(type, product)};
  note_structures(out);
}

void tsl_blas_make_real(const tsl_blas_layout *layout) {
  const tsl_call_matrix *c = &layout->work.c;
  const bool is_single = layout->work.type == TESELA_C64;
  void *data = tsl_writable(c->data);
  for (int64_t i = 0; layout->hermitian && i < layout->work.n; i++) {
    const int64_t imaginary = 2 * i * (c->row + c->col) + 1;
    if (is_single)
      ((float *)data)[imaginary] = 0;
    else
      ((double *)data)[imaginary] = 0;
  }
}

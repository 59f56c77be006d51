/* What a call of Level 3 multiplies, whatever its letters. */
#include "blas/element.h"
#include "blas/gemm.h"
#include "blas/level3.h"

static tsl_blas_view stored(const void *data, int64_t ld, bool by_row) {
  return (tsl_blas_view){.data = data, .row = by_row ? ld : 1, .col = by_row ? 1 : ld};
}

static tsl_blas_view transposed(tsl_blas_view view, bool conjugate) {
  return (tsl_blas_view){
      .data = view.data, .row = view.col, .col = view.row, .conjugate = view.conjugate != conjugate};
}

static int other_triangle(int uplo) {
  return uplo == 'U' ? 'L' : 'U';
}

static bool is_hermitian(tsl_blas_routine routine) {
  return routine == TSL_BLAS_HERK || routine == TSL_BLAS_HER2K || routine == TSL_BLAS_HEMM;
}

/* Scalars as numbers, and again as elements of the type, where there are any. */
static void note_scalars(tesela_type type, const tsl_blas_structured *given, tsl_blas_layout *out) {
  const tsl_blas_element *of = tsl_blas_element_of(type);
  const tesela_type real = type == TESELA_C64 ? TESELA_F32 : type == TESELA_C128 ? TESELA_F64 : type;
  const bool real_beta = given->routine == TSL_BLAS_HERK || given->routine == TSL_BLAS_HER2K;
  tsl_blas_doubles(given->routine == TSL_BLAS_HERK ? real : type, given->alpha, out->alpha);
  out->beta[0] = out->beta[1] = 0;
  if (given->beta)
    tsl_blas_doubles(real_beta ? real : type, given->beta, out->beta);
  out->alpha2[0] = out->alpha[0];
  out->alpha2[1] = given->routine == TSL_BLAS_HER2K ? -out->alpha[1] : out->alpha[1];
  of->store(out->scalars + TSL_BLAS_AT_ALPHA, CMPLX(out->alpha[0], out->alpha[1]));
  of->store(out->scalars + TSL_BLAS_AT_BETA, CMPLX(out->beta[0], out->beta[1]));
  of->store(out->scalars + TSL_BLAS_AT_ALPHA2, CMPLX(out->alpha2[0], out->alpha2[1]));
  of->store(out->scalars + TSL_BLAS_AT_ONE, 1);
  out->work.alpha = out->scalars + TSL_BLAS_AT_ALPHA;
  out->work.beta = out->scalars + TSL_BLAS_AT_BETA;
}

/* X Y' + Y X', where op makes rows of what is stored; with one factor, Y is X, and the second product is not there. */
static void lay_out_update(const tsl_blas_structured *given, tsl_blas_layout *out) {
  const bool by_row = given->order == TSL_BLAS_ROW_MAJOR, plain = given->trans == 'N';
  const bool two = given->routine == TSL_BLAS_SYR2K || given->routine == TSL_BLAS_HER2K;
  tsl_blas_view x = stored(given->a, given->lda, by_row);
  tsl_blas_view y = two || given->routine == TSL_BLAS_GEMMT ? stored(given->b, given->ldb, by_row) : x;
  if (!plain) {
    x = transposed(x, out->hermitian);
    y = transposed(y, out->hermitian);
  }
  out->work.k = given->k;
  out->work.a = x;
  out->work.b = transposed(y, out->hermitian);
  out->a2 = y;
  out->b2 = transposed(x, out->hermitian);
  out->work.c = stored(given->c, given->ldc, by_row);
}

/* On the right: (B A)' = A' B'. A symmetric matrix is its own transpose; a hermitian one's is its conjugate, with the other
 * triangle stored. Each view is written once: one that is read back while its halves are on their way to the cache takes as long as a small product. */
static void lay_out_factor(tesela_type type, const tsl_blas_structured *given, tsl_blas_layout *out) {
  const bool by_row = given->order == TSL_BLAS_ROW_MAJOR, in_place = given->routine >= TSL_BLAS_TRMM;
  const bool conjugates = tsl_blas_is_complex(type) && (given->trans == 'C' || given->trans == 'R');
  const bool right = given->side == 'R', turned = by_row != right;
  const bool transposes = in_place && (given->trans == 'T' || given->trans == 'C');
  out->uplo = right != transposes ? other_triangle(given->uplo) : given->uplo;
  out->work.m = out->work.k = right ? given->n : given->m;
  out->work.n = right ? given->m : given->n;
  out->work.a = stored(given->a, given->lda, turned != transposes);
  out->work.a.conjugate = in_place && conjugates;
  out->work.b = stored(given->b, given->ldb, turned);
  out->work.c = in_place ? stored(given->b, given->ldb, turned) : stored(given->c, given->ldc, turned);
}

void tsl_blas_lay_out(tesela_type type, const tsl_blas_structured *given, tsl_blas_layout *out) {
  out->routine = given->routine;
  out->uplo = given->uplo;
  out->unit = given->diag == 'U';
  out->hermitian = is_hermitian(given->routine);
  out->work.type = type;
  out->work.m = given->m;
  out->work.n = given->n;
  out->work.on_processor = true;
  out->a2 = out->b2 = (tsl_blas_view){.data = NULL};
  note_scalars(type, given, out);
  if (given->routine < TSL_BLAS_SYMM)
    lay_out_update(given, out);
  else
    lay_out_factor(type, given, out);
}

void tsl_blas_lay_out_gemmt(tesela_type type, const tsl_blas_multiply *product, tsl_blas_layout *out) {
  *out = (tsl_blas_layout){
      .routine = TSL_BLAS_GEMMT, .uplo = product->uplo, .work = tsl_blas_work_of(type, product)};
  note_scalars(
      type, &(tsl_blas_structured){.routine = TSL_BLAS_GEMMT, .alpha = product->alpha, .beta = product->beta},
      out);
}

void tsl_blas_make_real(const tsl_blas_layout *of) {
  const tsl_blas_element *element = tsl_blas_element_of(of->work.type);
  for (int64_t i = 0; of->hermitian && i < of->work.n; i++)
    tsl_blas_store(element, &of->work.c, i, i, creal(tsl_blas_load(element, &of->work.c, i, i)));
}

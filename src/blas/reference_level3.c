/* Level 3 in plain loops: correct, slow. */
#include "blas/blas_element.h"
#include "blas/blas_level3.h"

typedef tsl_blas_element element;
typedef tsl_blas_wide_complex wide_complex;

static void reference_level3_update(const tsl_blas_layout *layout) {
  tsl_call work = layout->work;
  tsl_blas_make_real(layout);
  tsl_blas_loop_gemmt(&work, layout->uplo);
  if (layout->routine == TSL_BLAS_SYR2K || layout->routine == TSL_BLAS_HER2K) {
    work.a = layout->a2;
    work.b = layout->b2;
    tsl_call_scale(&work, layout->alpha2, (const double[2]){1});
    tsl_blas_loop_gemmt(&work, layout->uplo);
  }
  tsl_blas_make_real(layout);
}

static wide_complex load_symmetric_element(const element *type, const tsl_blas_layout *layout, int64_t i,
                                           int64_t l) {
  const bool is_there = layout->uplo == 'L' ? i >= l : i <= l;
  const wide_complex value =
      is_there ? tsl_blas_load(type, &layout->work.a, i, l) : tsl_blas_load(type, &layout->work.a, l, i);
  return !layout->hermitian ? value : i == l ? creal(value) : is_there ? value : conj(value);
}

static void reference_level3_symmetric(const tsl_blas_layout *layout) {
  const tsl_call *work = &layout->work;
  const element *type = tsl_blas_element_of(work->type);
  const wide_complex alpha = CMPLX(layout->work.alpha[0], layout->work.alpha[1]),
                     beta = CMPLX(layout->work.beta[0], layout->work.beta[1]);
  for (int64_t j = 0; j < work->n; j++)
    for (int64_t i = 0; i < work->m; i++) {
      wide_complex sum = 0;
      for (int64_t l = 0; alpha != 0 && l < work->m; l++)
        sum += tsl_blas_times(type, load_symmetric_element(type, layout, i, l),
                              tsl_blas_load(type, &work->b, l, j));
      wide_complex result = alpha == 0 ? 0 : tsl_blas_times(type, alpha, sum);
      if (beta != 0)
        result += tsl_blas_times(type, beta, tsl_blas_load(type, &work->c, i, j));
      tsl_blas_store(type, &work->c, i, j, result);
    }
}

static wide_complex off_diagonal_sum(const element *type, const tsl_blas_layout *layout, int64_t i,
                                     int64_t j) {
  const int64_t first = layout->uplo == 'L' ? 0 : i + 1, last = layout->uplo == 'L' ? i : layout->work.m;
  wide_complex sum = 0;
  for (int64_t l = first; l < last; l++)
    sum += tsl_blas_times(type, tsl_blas_load(type, &layout->work.a, i, l),
                          tsl_blas_load(type, &layout->work.c, l, j));
  return sum;
}

static wide_complex reference_level3_divide(const element *type, wide_complex a, wide_complex b) {
  return type->complex_type ? a / b : creal(a) / creal(b);
}

/* A new row needs old (trmm) or new rows (trsm) of one side only, so a suitable order of rows suffices. */
static void reference_level3_triangle(const tsl_blas_layout *layout) {
  const tsl_call *work = &layout->work;
  const element *type = tsl_blas_element_of(work->type);
  const wide_complex alpha = CMPLX(layout->work.alpha[0], layout->work.alpha[1]);
  const bool solves = layout->routine == TSL_BLAS_TRSM, down = (layout->uplo == 'L') == solves;
  for (int64_t j = 0; j < work->n; j++)
    for (int64_t step = 0; step < work->m; step++) {
      const int64_t i = down ? step : work->m - 1 - step;
      const wide_complex old = tsl_blas_load(type, &work->c, i, j),
                         sum = off_diagonal_sum(type, layout, i, j);
      const wide_complex diagonal = layout->unit ? 1 : tsl_blas_load(type, &work->a, i, i);
      const wide_complex right = tsl_blas_times(type, alpha, old) - sum;
      const wide_complex own = layout->unit ? old : tsl_blas_times(type, diagonal, old);
      tsl_blas_store(type, &work->c, i, j,
                     !solves        ? tsl_blas_times(type, alpha, sum + own)
                     : layout->unit ? right
                                    : reference_level3_divide(type, right, diagonal));
    }
}

void tsl_blas_level3_loops(const tsl_blas_layout *layout) {
  if (layout->routine < TSL_BLAS_SYMM)
    reference_level3_update(layout);
  else if (layout->routine < TSL_BLAS_TRMM)
    reference_level3_symmetric(layout);
  else
    reference_level3_triangle(layout);
}

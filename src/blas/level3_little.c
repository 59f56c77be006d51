/* Level 3 of few rows, columns and terms, which takes less time than choosing a way: updates and products with symmetric factors are one kernel's
 * (host_blocked/kernels/little.c), and triangles are read where they lie. */
#include "blas/level3.h"
#include "blas/pieces.h"

/* Rows, columns and terms up to which it is the soonest way. Real types have kernels of more rows for whole products, and so have updates of rank 2k, which are
 * one of these and its transpose. */
static const struct most {
  int64_t f32, f64, complex;
} table[TSL_BLAS_ROUTINES] = {
    [TSL_BLAS_SYRK] = {32, 32, 32}, [TSL_BLAS_HERK] = {.complex = 32}, [TSL_BLAS_GEMMT] = {32, 32, 32},
    [TSL_BLAS_SYMM] = {16, 8, 32},  [TSL_BLAS_HEMM] = {.complex = 32},
};

/* Rows of a triangle, and columns beside it. */
enum { TRIANGLE_MOST = 64, COLUMNS_MOST = 256 };

static tsl_blas_structures structures_of(const tsl_blas_layout *of) {
  const bool is_update = of->routine < TSL_BLAS_SYMM;
  const tesela_triangle side = tsl_blas_level3_side(of);
  return (tsl_blas_structures){.a = is_update       ? TESELA_GENERAL
                                    : of->hermitian ? TESELA_HERMITIAN
                                                    : TESELA_SYMMETRIC,
                               .c = is_update && of->hermitian ? TESELA_HERMITIAN : TESELA_GENERAL,
                               .a_triangle = is_update ? TESELA_WHOLE : side,
                               .c_triangle = is_update ? side : TESELA_WHOLE};
}

static bool multiply(const tsl_blas_layout *of) {
  const tsl_blas_work *work = &of->work;
  const struct most *at = &table[of->routine];
  const int64_t most = work->type == TESELA_F32 ? at->f32 : work->type == TESELA_F64 ? at->f64 : at->complex;
  if (work->m > most || work->n > most || work->k > most)
    return false;
  const tsl_blas_structures structures = structures_of(of);
  tsl_fast_structured product;
  if (!tsl_blas_say_little(work, &structures, &product))
    return false;
  product.alpha[0] = of->alpha[0];
  product.alpha[1] = of->alpha[1];
  product.beta[0] = of->beta[0];
  product.beta[1] = of->beta[1];
  return tsl_blas_multiply_little(&product);
}

bool tsl_blas_level3_little(const tsl_blas_layout *of) {
  if (of->routine < TSL_BLAS_TRMM)
    return multiply(of);
  return of->routine == TSL_BLAS_TRMM && of->work.m <= TRIANGLE_MOST && of->work.n <= COLUMNS_MOST &&
         tsl_blas_level3_multiply(of);
}

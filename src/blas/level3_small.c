/* Level 3 that takes less time than the selection. Updates and products with symmetric factors use one kernel
 * (host_blocked/kernels/little.c). */
#include "blas/blas_level3.h"
#include "blas/inner_gemm.h"

/* Maximum rows, columns and terms for the kernel; types without a number have faster ways. */
static const struct size_limits {
  int64_t f32, f64, c64, c128;
} table[TSL_BLAS_ROUTINES] = {
    [TSL_BLAS_SYRK] = {32, 32, 32, 32},        [TSL_BLAS_HERK] = {.c64 = 32, .c128 = 32},
    [TSL_BLAS_GEMMT] = {32, 32, 32, 32},       [TSL_BLAS_SYMM] = {16, 16, 32, 32},
    [TSL_BLAS_HEMM] = {.c64 = 32, .c128 = 32},
};

/* Maximum rows and columns for a triangular factor, and columns for the vector kernel of real types. */
enum { TRIANGLE_MOST = 64, COLUMNS_MOST = 256, BESIDE_MOST = 32 };
/* Maximum rows and right-hand sides of a system. */
enum { SOLVED_MOST = 32, SIDES_MOST = 4 };
static const struct size_limits vector_most = {.f32 = 8, .f64 = 8};

static int64_t limit_of_type(const struct size_limits *limits, tesela_type type) {
  return type == TESELA_F32   ? limits->f32
         : type == TESELA_F64 ? limits->f64
         : type == TESELA_C64 ? limits->c64
                              : limits->c128;
}

static tsl_blas_structures structures_of(const tsl_blas_layout *layout) {
  const bool is_update = layout->routine < TSL_BLAS_SYMM;
  const tesela_triangle side = tsl_blas_level3_side(layout);
  return (tsl_blas_structures){.a = is_update ? TESELA_GENERAL
                                    : layout->routine == TSL_BLAS_TRMM
                                        ? (layout->unit ? TESELA_UNIT_TRIANGULAR : TESELA_TRIANGULAR)
                                    : layout->hermitian ? TESELA_HERMITIAN
                                                        : TESELA_SYMMETRIC,
                               .c = is_update && layout->hermitian ? TESELA_HERMITIAN : TESELA_GENERAL,
                               .a_triangle = is_update ? TESELA_WHOLE : side,
                               .c_triangle = is_update ? side : TESELA_WHOLE};
}

static bool level3_small_multiply(const tsl_blas_layout *layout) {
  const tsl_blas_work *work = &layout->work;
  const tsl_blas_structures structures = structures_of(layout);
  tsl_fast_structured product;
  if (!tsl_blas_to_desc_little(work, &structures, &product))
    return false;
  product.alpha[0] = layout->alpha[0];
  product.alpha[1] = layout->alpha[1];
  product.beta[0] = layout->beta[0];
  product.beta[1] = layout->beta[1];
  return tsl_blas_multiply_little(&product);
}

bool tsl_blas_level3_little(const tsl_blas_layout *layout) {
  const tsl_blas_work *work = &layout->work;
  if (layout->routine < TSL_BLAS_TRMM) {
    const int64_t size_limits = limit_of_type(&table[layout->routine], work->type);
    return work->m <= size_limits && work->n <= size_limits && work->k <= size_limits &&
           level3_small_multiply(layout);
  }
  if (layout->routine == TSL_BLAS_TRSM)
    return work->m <= SOLVED_MOST && work->n <= SIDES_MOST && tsl_blas_level3_solve(layout);
  if (layout->routine != TSL_BLAS_TRMM || work->m > TRIANGLE_MOST || work->n > COLUMNS_MOST)
    return false;
  const bool are_vectors = work->a.row == 1 && work->c.row == 1 && work->n <= BESIDE_MOST &&
                           work->m <= limit_of_type(&vector_most, work->type);
  return (are_vectors && level3_small_multiply(layout)) || tsl_blas_level3_multiply(layout);
}

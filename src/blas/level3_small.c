/* Level 3 that takes less time than the selection. Updates and products with symmetric factors use one kernel
 * (host_blocked/kernels/little.c). */
#include "blas/blas_level3.h"
#include "blas/inner_gemm.h"
#include "dispatch/crossovers.h"

/* Returns the longest side for the kernel, which has no updates of rank 2k. */
static int64_t longest_side(const tsl_blas_layout *layout) {
  if (layout->routine == TSL_BLAS_SYR2K || layout->routine == TSL_BLAS_HER2K)
    return 0;
  return layout->routine == TSL_BLAS_SYMM && !tsl_blas_is_complex(layout->work.type)
             ? tsl_crossovers.little_side_symmetric
             : tsl_crossovers.little_side;
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
  const tsl_crossover_table *limits = &tsl_crossovers;
  const tsl_blas_work *work = &layout->work;
  if (layout->routine < TSL_BLAS_TRMM) {
    const int64_t most = longest_side(layout);
    return work->m <= most && work->n <= most && work->k <= most && level3_small_multiply(layout);
  }
  if (layout->routine == TSL_BLAS_TRSM)
    return work->m <= limits->solve_rows && work->n <= limits->solve_columns && tsl_blas_level3_solve(layout);
  if (layout->routine != TSL_BLAS_TRMM || work->m > limits->triangle_rows ||
      work->n > limits->triangle_columns)
    return false;
  const bool are_vectors = work->a.row == 1 && work->c.row == 1 && !tsl_blas_is_complex(work->type) &&
                           work->n <= limits->triangle_vector_columns &&
                           work->m <= limits->triangle_vector_rows;
  return (are_vectors && level3_small_multiply(layout)) || tsl_blas_level3_multiply(layout);
}

/* Level 3 by public calls with structured operands. A plan costs 0.5 us to find if it is known, else 15 us.
 * Smaller calls use level3_direct.c or level3_blocks.c. */
#include "blas/blas_context.h"
#include "blas/blas_gemm.h"
#include "blas/blas_level3.h"
#include "blas/blas_triangle.h"

#include "dispatch/crossovers.h"
#include "vector/vector_kernels.h"

#include <math.h>

/* Returns the multiply-adds from which a plan is faster. Copying a tall factor in blocks is expensive. */
static int64_t level3_planned_min_volume(const tsl_blas_layout *layout) {
  const tsl_crossover_table *limits = &tsl_crossovers;
  const tsl_call *work = &layout->work;
  const bool is_complex = tsl_blas_is_complex(work->type), is_factor = layout->routine >= TSL_BLAS_SYMM;
  const bool is_tall = is_factor && work->m >= limits->tall_ratio * work->n,
             is_wide = is_factor && !is_tall && work->n >= limits->wide_ratio * work->m;
  switch (layout->routine) {
  case TSL_BLAS_SYMM:
  case TSL_BLAS_HEMM:
    return is_tall ? limits->plan_volume_tall : is_wide ? INT64_MAX : limits->plan_volume_symmetric;
  case TSL_BLAS_TRSM:
    return is_complex && !is_tall && !is_wide ? limits->plan_volume_solve_complex : limits->plan_volume_solve;
  case TSL_BLAS_SYR2K:
  case TSL_BLAS_HER2K:
    return is_complex ? limits->plan_volume_rank2k : limits->plan_volume;
  default:
    return is_tall                  ? limits->plan_volume_tall
           : is_complex && !is_wide ? limits->plan_volume_complex
                                    : limits->plan_volume;
  }
}

bool tsl_blas_level3_is_planned(const tsl_blas_layout *layout) {
  const tsl_call *work = &layout->work;
  /* packing the factor must be reused, and short sums are dominated by C */
  return work->n >= tsl_crossovers.plan_columns && work->k >= tsl_crossovers.plan_terms &&
         (double)work->m * (double)work->n * (double)work->k >= (double)level3_planned_min_volume(layout);
}

/* A sum of absolute values is finite only if all are. An overflowing sum may count as non-finite. */
bool tsl_blas_level3_is_finite(const tsl_call *work) {
  const tsl_vector_kernels *kernels = tsl_vector_kernels_of(work->type);
  const bool by_row = work->c.col == 1;
  const int64_t distance = by_row ? work->c.row : work->c.col;
  int64_t lines = by_row ? work->m : work->n, length = by_row ? work->n : work->m;
  if (distance == length) {
    length *= lines;
    lines = 1;
  }
  for (int64_t i = 0; i < lines; i++)
    if (!isfinite(kernels->line->absolutes(
            length, (const unsigned char *)work->c.data + i * distance * kernels->size, 1)))
      return false;
  return true;
}

static bool level3_planned_multiply(const tsl_call *work, tesela_record *record) {
  tsl_blas_desc_storage words;
  tsl_blas_to_desc(work, &words);
  return tsl_blas_run_gemm(&words.desc, record) == TESELA_OK;
}

static bool level3_planned_solve(const tsl_call *work, tesela_record *record) {
  tsl_blas_desc_storage words;
  tsl_blas_to_desc(work, &words);
  return tsl_blas_run_solve(&(tesela_solve_desc){.rows = work->m,
                                                 .cols = work->n,
                                                 .a = words.desc.a,
                                                 .structure = work->a_is,
                                                 .triangle = work->a_triangle,
                                                 .x = words.desc.c,
                                                 .in_place = 1,
                                                 .alpha = words.desc.alpha,
                                                 .options.device = words.desc.options.device},
                            record) == TESELA_OK;
}

/* Computes the second product of her2k; without memory by blocks or loops, since the first is done. */
static void multiply_second_product(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout) {
  tsl_call work = layout->work;
  work.a = layout->a2;
  work.b = layout->b2;
  tsl_call_scale(&work, layout->alpha2, (const double[2]){1});
  if (level3_planned_multiply(&work, NULL))
    return;
  if (!tsl_blas_triangle(symbol, &work, layout->uplo, NULL))
    tsl_blas_loop_gemmt(&work, layout->uplo);
  tsl_blas_make_real(layout);
}

bool tsl_blas_level3_plan(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout,
                          tesela_record *record) {
  if (!tsl_blas_level3_is_planned(layout))
    return false;
  if (layout->routine == TSL_BLAS_TRSM)
    return level3_planned_solve(&layout->work, record);
  if (layout->routine == TSL_BLAS_TRMM && !tsl_blas_level3_is_finite(&layout->work))
    return false;
  if (!level3_planned_multiply(&layout->work, record))
    return false;
  if (layout->routine == TSL_BLAS_HER2K && !tsl_blas_level3_is_sum(layout))
    multiply_second_product(symbol, layout);
  return true;
}

/* Level 3 without plans, for calls that take no longer than the search for a plan.
 *
 *   syrk herk gemmt   half of a product, by packed panels; small ones as a full square, of which half is used
 *   syr2k her2k       one product P = alpha X Y'; C's triangle = P + P' + beta C. Two triangular products
 *                     would compute the tiles on the diagonal twice
 *   trmm              by packed panels, in place; small ones of real types by level3_blocks.c
 *   symm hemm         by packed panels for complex types; for real types a full copy of the factor in
 *                     level3_blocks.c is as fast */
#include "blas/blas_gemm.h"
#include "blas/blas_level3.h"
#include "blas/level3_helpers.h"

#include "core/checked.h"
#include "core/memory.h"
#include "core/scratch.h"
#include "dispatch/crossovers.h"

enum { SQUARE_MAX = 32 }; /* limit of square_small */

/* The square has C's storage order. twice: C's triangle is the square plus its transpose. */
static void update_by_square(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout, bool twice,
                             void *square) {
  static const double zero[2];
  const tsl_call *work = &layout->work;
  const int64_t n = work->n;
  const bool by_row = work->c.row != 1, lower = (layout->uplo == 'L') != by_row;
  const int64_t ld = by_row ? work->c.row : work->c.col;
  void *c = tsl_writable(work->c.data);
  tsl_call product;
  tsl_blas_general(work, zero, &product);
  product.c.data = square;
  product.c.row = by_row ? n : 1;
  product.c.col = by_row ? 1 : n;
  tsl_blas_inner_gemm(symbol, &product, NULL);
  const tsl_blas_parts *parts = tsl_blas_parts_of(work->type);
  if (twice)
    parts->fold(square, lower, layout->hermitian, n, work->beta, c, ld);
  else
    parts->put(square, lower, n, work->beta, c, ld);
}

/* The square takes less time than the start of packing. */
static bool update_small(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout) {
  _Alignas(64) double square[SQUARE_MAX * SQUARE_MAX];
  update_by_square(symbol, layout, false, square);
  return true;
}

static bool level3_direct_multiply(const tsl_blas_layout *layout) {
  return (layout->routine != TSL_BLAS_TRMM || tsl_blas_level3_is_finite(&layout->work)) &&
         tsl_blas_packed(&layout->work);
}

static bool update_rank_2k_by_square(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout) {
  const size_t n = (size_t)layout->work.n;
  void *square;
  if (tsl_scratch_take(n * n * tsl_blas_size(layout->work.type), "a product before its transpose is added",
                       &square) != TESELA_OK)
    return false;
  tsl_blas_make_real(layout);
  update_by_square(symbol, layout, true, square);
  tsl_blas_make_real(layout); /* a NaN minus its conjugate is a NaN */
  tsl_scratch_give(square);
  return true;
}

/* With a large other size, packing pays because it is reused. */
static bool is_faster_by_blocks(const tsl_call *work, int64_t other) {
  return !tsl_blas_is_complex(work->type) &&
         (work->m <= tsl_crossovers.blocks_rows || other <= tsl_crossovers.blocks_other);
}

bool tsl_blas_level3_direct(const tsl_blas_symbol *symbol, const tsl_blas_layout *layout) {
  const tsl_call *work = &layout->work;
  const tsl_crossover_table *limits = &tsl_crossovers;
  const bool has_columns = work->m >= limits->pack_rows && work->n >= limits->plan_columns;
  if (tsl_blas_level3_is_planned(layout))
    return false;
  switch (layout->routine) {
  case TSL_BLAS_SYRK:
  case TSL_BLAS_HERK:
  case TSL_BLAS_GEMMT:
    if (work->n <= limits->square_small && is_faster_by_blocks(work, work->k))
      return update_small(symbol, layout);
    /* blocks are faster for a larger C with few terms, dominated by its stores */
    return work->n >= limits->pack_rows &&
           (work->n <= limits->square_rows || work->k >= limits->plan_terms) && tsl_blas_packed(work);
  case TSL_BLAS_SYR2K:
  case TSL_BLAS_HER2K:
    if (tsl_blas_level3_is_sum(layout) && work->k >= limits->rank2k_terms &&
        work->n >= (tsl_blas_is_complex(work->type) ? limits->rank2k_rows_complex : limits->rank2k_rows))
      return tsl_blas_packed(work);
    return work->n <= limits->square_rows && update_rank_2k_by_square(symbol, layout);
  case TSL_BLAS_SYMM:
  case TSL_BLAS_HEMM:
    return has_columns && tsl_blas_is_complex(work->type) && level3_direct_multiply(layout);
  case TSL_BLAS_TRMM:
    if (work->m <= limits->blocks_triangle && is_faster_by_blocks(work, work->n))
      return tsl_blas_level3_blocks(symbol, layout);
    return has_columns && level3_direct_multiply(layout);
  default:
    return false;
  }
}

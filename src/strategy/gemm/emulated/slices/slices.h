#ifndef TSL_STRATEGY_GEMM_SLICES_H
#define TSL_STRATEGY_GEMM_SLICES_H

#include "strategy/subplans.h"

enum { TSL_SLICES_PRODUCTS };

/* Pairs of slices in the order of multiplication, smallest products first; the last 3, 6 or 9 are used. */
enum { TSL_SLICES_PRODUCTS_MOST = 9, TSL_SLICES_ROW_UNIT = 4 /* unit of a row of sums in device memory */ };
typedef struct tsl_slices_pair {
  int a, b; /* numbers of a slice of A and of B, from 0 */
} tsl_slices_pair;
extern const tsl_slices_pair tsl_slices_pairs[TSL_SLICES_PRODUCTS_MOST];
/* Returns the slices that a number needs: 2 for three products, else 3. */
int tsl_slices_count(const tsl_config *config);
/* Returns the terms of the slices' products: k, rounded up. */
int64_t tsl_slices_depth(const tsl_problem *problem);

/* Plans of the slices' products: f32 = bf16 bf16, dense lines of `depth` numbers, sums in rows of sums_row.
 * `first` has beta = 0, `more` beta = 1. Both are NULL if there are no products. */
typedef struct tsl_slices_products {
  tsl_subplan *first, *more;
  bool is_swapped; /* C' = B' A' is computed, since C's columns are contiguous */
} tsl_slices_products;
typedef struct tsl_slices_state {
  tsl_slices_products products;
  tsl_kernel *measure, *cut, *join; /* scales of lines; slices; C from sums */
} tsl_slices_state;

tesela_status tsl_slices_run_host(const tsl_work *work, const tsl_operands *operands);

uint64_t tsl_slices_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
/* Returns the bytes of scratch memory that a child plan may use. */
uint64_t tsl_slices_workspace(const tsl_work *work);
tesela_status tsl_slices_find_kernels(tsl_work *work);
tesela_status tsl_slices_run_kernels(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

double tsl_slices_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
void tsl_slices_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                        tsl_cost_counts *account);

#endif

/* gemm slices: what its files share. */
#ifndef TSL_STRATEGY_GEMM_SLICES_H
#define TSL_STRATEGY_GEMM_SLICES_H

#include "strategy/subplans.h"

enum { TSL_SLICES_PRODUCTS };

/* Which slices are multiplied, the smallest products first: the last 3, 6 or all 9. */
enum { TSL_SLICES_PRODUCTS_MOST = 9, TSL_SLICES_ROW_UNIT = 4 /* of sums in device memory */ };
typedef struct tsl_slices_pair {
  int a, b;
} tsl_slices_pair;
extern const tsl_slices_pair tsl_slices_pairs[TSL_SLICES_PRODUCTS_MOST];
/* Slices of a number that these are of. */
int tsl_slices_count(const tsl_config *config);
/* Terms of the products of slices: those of the problem, rounded up. */
int64_t tsl_slices_depth(const tsl_problem *problem);

/* Products of slices: f32 = bf16 bf16, lines of both dense, `depth` numbers each; sums in rows of sums_row.
 * One with beta = 0, for the first pair, and one with beta = 1. Both NULL where there is nothing to multiply.
 */
typedef struct tsl_slices_products {
  tsl_subplan *first, *more;
  bool is_swapped; /* it is C' = B' A': C's columns follow each other */
} tsl_slices_products;
/* What build() leaves in work->state begins so. */
typedef struct tsl_slices_state {
  tsl_slices_products products;
  tsl_kernel *measure, *cut, *join;
} tsl_slices_state;

/* On the processor. */
tesela_status tsl_slices_run_host(const tsl_work *work, const tsl_operands *operands);

/* On devices with kernels: bytes of memory, and of it what a child may have; kernels for a state; a run. */
uint64_t tsl_slices_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
uint64_t tsl_slices_workspace(const tsl_work *work);
tesela_status tsl_slices_find_kernels(tsl_work *work);
tesela_status tsl_slices_run_kernels(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

/* Predicted seconds, and what is moved. */
double tsl_slices_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
void tsl_slices_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                        tsl_cost_counts *account);

#endif

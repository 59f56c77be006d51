#ifndef TSL_STRATEGY_GEMM_SPLIT_PRECISION_H
#define TSL_STRATEGY_GEMM_SPLIT_PRECISION_H

#include "strategy/subplans.h"

enum { TSL_SPLIT_PRODUCTS };

/* One value of `products`. A number is `parts` numbers of `type`. `left_out`: error of the products of parts
 * that are not computed, in roundings of f32 of |A||B|. */
typedef struct tsl_split_form {
  int products, parts;
  tesela_type type;
  double left_out;
} tsl_split_form;
const tsl_split_form *tsl_split_form_of(const tsl_config *config);

enum { TSL_SPLIT_PRODUCTS_MOST = 9, TSL_SPLIT_PARTS_MOST = 3 };
/* Returns the terms of the products of parts: k, for bf16 rounded up. */
int64_t tsl_split_depth(const tsl_problem *problem, const tsl_config *config);
/* Returns true if C' = B' A' is computed, since C's columns are contiguous. */
bool tsl_split_is_swapped(const tsl_problem *problem);

/* Plans of the products of parts, with sums in f32. `first` has beta = 0, `more` beta = 1. Both are NULL if
 * there are no products, and `more` for one product. */
typedef struct tsl_split_state {
  tsl_subplan *first, *more;
  /* measure: lines' scales; round: f16 of A's lines, B's; decide: states of lines from scales and counts;
   * cut: bf16 of lines; join: C from sums; native: elements of C without a proof */
  tsl_kernel *measure, *round[2], *decide, *cut, *join, *native;
} tsl_split_state;

/* Adds the products of parts to C. `first`: the first parts of A and B; `step`: elements from part to part.
 */
tesela_status tsl_split_multiply(const tsl_work *work, const tsl_operands *first, const int64_t step[2],
                                 tsl_stream *stream);
tesela_status tsl_split_run_host(const tsl_work *work, const tsl_operands *operands);

uint64_t tsl_split_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
/* Returns the bytes of scratch memory that a child plan may use. */
uint64_t tsl_split_workspace(const tsl_problem *problem, const tsl_config *config);
/* Returns the problem of a product of parts. Parts lie in the device's layout. */
tsl_problem tsl_split_product(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
/* Returns the error bound relative to |A||B| in roundings of f32. */
double tsl_split_factor(const tsl_problem *problem, const tsl_config *config);
/* Returns this problem with the accuracy that it needs; *factor gets the error bound of its plans. */
tsl_problem tsl_split_required_product(const tsl_problem *problem, const tsl_config *config,
                                       const tsl_device *device, double *factor);
tesela_status tsl_split_find_kernels(tsl_work *work);
tesela_status tsl_split_run_kernels(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

double tsl_split_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                         tsl_all_strategies *list);
void tsl_split_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                       tsl_cost_counts *account);

#endif

#ifndef TSL_STRATEGY_GEMM_FEW_ROWS_FEW_ROWS_H
#define TSL_STRATEGY_GEMM_FEW_ROWS_FEW_ROWS_H

#include "strategy/kernel_launch/split_k_sum.h"
#include "strategy/model_constants.h"
#include "strategy/row_parts.h"

/* Indices of the parameters. Parameters that exclude most configs come first. */
enum { TSL_FEW_ROWS_ITEMS_N, TSL_FEW_ROWS_SLICES, TSL_FEW_ROWS_FLIGHT, TSL_FEW_ROWS_SPLIT };
/* Maximum rows of C, or columns. */
enum { TSL_FEW_ROWS_MAX = 8 };

/* Problem as the kernels see it, a config, and the sizes derived from both. */
typedef struct tsl_few_rows {
  int items_n, slices, flight, split; /* the config's */
  tsl_problem problem;                /* m <= n */
  bool swapped;                       /* C' = B' A' is computed */
  bool b_along_k;                     /* columns of B are read along k, through local memory */
  int read;                           /* elements that are read at once, judging by B's strides */
  int rows;                           /* rows of C that a kernel computes, at least 1 */
  int numbers;                        /* numbers of an element: 2 of complex types */
  int sum_size;                       /* bytes of a number of a sum */
  int vector_elements;                /* elements of a vector of 16 bytes */
  int items, columns;                 /* work-items and columns of a group */
  int turn;                           /* k that an item reads at a time */
  int64_t depth;                      /* k of a slice */
  tsl_row_parts parts;
} tsl_few_rows;

tsl_few_rows tsl_few_rows_of(const tsl_problem *problem, const tsl_config *config);
/* Returns the local memory of a group in bytes. */
int64_t tsl_few_rows_local_bytes(const tsl_few_rows *few);
/* Returns the estimated 32-bit registers of an item. */
int tsl_few_rows_registers(const tsl_few_rows *few);
/* Returns the resident groups of a compute unit. */
int tsl_few_rows_groups(const tsl_few_rows *few, const tsl_device *device);
/* Returns the groups of a unit that the compiler is to leave registers for. */
int tsl_few_rows_groups_wanted(const tsl_few_rows *few);
/* Returns the numbers between rows of a k split of C in the workspace. */
int64_t tsl_few_rows_pitch(const tsl_few_rows *few);

/* Grids of a run, for a product that is already swapped; `sum` has no groups without split-k. */
typedef struct tsl_few_rows_grids {
  tsl_grid multiply, sum;
} tsl_few_rows_grids;
tsl_few_rows_grids tsl_few_rows_grids_of(const tsl_few_rows *few, int64_t m, int64_t n, int64_t batch,
                                         const tsl_device *device);

/* Returns the launch that adds the k splits. */
static inline tsl_split_k_sum tsl_few_rows_sum(const tsl_few_rows *few) {
  return (tsl_split_k_sum){.splits = few->split, .vector = 16, .shares = 8};
}

/* Returns the product by two launches, without a grid. */
static inline tsl_split_k_product tsl_few_rows_product(const tsl_few_rows *few) {
  return (tsl_split_k_product){.sum = tsl_few_rows_sum(few),
                               .depth = few->depth,
                               .pitch = tsl_few_rows_pitch(few),
                               .numbers = few->numbers,
                               .size = few->sum_size};
}

double tsl_few_rows_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
void tsl_few_rows_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                          tsl_cost_counts *account);

/* Adds the defines of the kernel. */
void tsl_few_rows_define(const tsl_few_rows *few, tsl_text *defines);
tesela_status tsl_few_rows_build(tsl_work *work);
tesela_status tsl_few_rows_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

#endif

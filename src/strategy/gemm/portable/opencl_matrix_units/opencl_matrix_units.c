/* Tiles, refusals and costs of opencl_mma and subgroup_mma. */
#include "strategy/gemm/portable/opencl_matrix_units/opencl_matrix_units.h"

#include "host/int_math.h"

#include <math.h>

tsl_matrix_tile tsl_matrix_tile_of(const tsl_problem *problem, const tsl_config *config) {
  const int64_t *value = config->value;
  const bool swapped = problem->c.row_stride == 1 && problem->c.col_stride != 1;
  const tsl_problem kernel_problem = swapped ? tsl_problem_swapped(problem) : *problem;
  const tsl_shape *a = &kernel_problem.a, *b = &kernel_problem.b;
  return (tsl_matrix_tile){
      .problem = kernel_problem,
      .swapped = swapped,
      .a_mn_major = !tsl_launch_along(a->col_stride, a->row_stride),
      .b_mn_major = !tsl_launch_along(b->row_stride, b->col_stride),
      .size = (int)tsl_type(problem->a.type)->size,
      .tile_m = (int)value[TSL_MATRIX_UNITS_TILE_M],
      .tile_n = (int)value[TSL_MATRIX_UNITS_TILE_N],
      .part_m = (int)value[TSL_MATRIX_UNITS_PART_M],
      .part_n = (int)value[TSL_MATRIX_UNITS_PART_N],
      .depth = (int)value[TSL_MATRIX_UNITS_DEPTH],
      .tiles_m = tsl_ceil_div(kernel_problem.m, value[TSL_MATRIX_UNITS_TILE_M]),
      .tiles_n = tsl_ceil_div(kernel_problem.n, value[TSL_MATRIX_UNITS_TILE_N]),
  };
}

void tsl_matrix_tile_account(const tsl_problem *problem, const tsl_matrix_tile *tile, double groups,
                             double read, double rate, const tsl_device *device, tsl_cost_counts *account) {
  const double depth = (double)tile->depth / tile->size;
  const double panels = (double)tile->tiles_m * (double)tile->tiles_n * ceil((double)problem->k / depth);
  tsl_cost_counts_groups(groups, tile->items, groups * tile->items, tile->local_bytes, device, account);
  account->computed = panels * tile->tile_m * tile->tile_n * depth;
  account->local =
      (tsl_moved){.read = panels * read, .written = panels * (tile->tile_m + tile->tile_n) * tile->depth};
  account->global.read = account->local.written;
  account->rate = rate;
  tsl_cost_counts_result(problem, 1, account);
}

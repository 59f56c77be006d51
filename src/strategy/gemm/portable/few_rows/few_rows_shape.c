#include "strategy/gemm/portable/few_rows/few_rows.h"

#include "host/int_math.h"

tsl_few_rows tsl_few_rows_of(const tsl_problem *problem, const tsl_config *config) {
  const int64_t *value = config->value;
  const tsl_type_info *sums = tsl_type(tsl_type(problem->c.type)->sums);
  tsl_few_rows few = {
      .items_n = (int)value[TSL_FEW_ROWS_ITEMS_N],
      .slices = (int)value[TSL_FEW_ROWS_SLICES],
      .flight = (int)value[TSL_FEW_ROWS_FLIGHT],
      .split = (int)value[TSL_FEW_ROWS_SPLIT],
      .swapped = problem->n < problem->m,
      .numbers = sums->is_complex ? 2 : 1,
      .vector_elements = 16 / (int)tsl_type(problem->a.type)->size,
  };
  few.problem = few.swapped ? tsl_problem_swapped(problem) : *problem;
  const tsl_shape *b = &few.problem.b;
  few.b_along_k = tsl_launch_along(b->row_stride, b->col_stride);
  few.read = (few.b_along_k ? b->row_stride : b->col_stride) == 1 ? few.vector_elements : 1;
  while ((few.b_along_k ? b->col_stride : b->row_stride) % few.read != 0)
    few.read /= 2;
  few.rows = (int)tsl_min(tsl_max(few.problem.m, 1), TSL_FEW_ROWS_MAX + 1);
  few.sum_size = (int)sums->size / few.numbers;
  few.items = few.items_n * few.slices;
  few.columns = few.items_n * (few.b_along_k ? 1 : few.vector_elements);
  few.turn = few.flight * (few.b_along_k ? few.vector_elements : 1);
  few.parts = tsl_row_parts_of(problem);
  few.depth = few.parts.count > 1 && few.parts.count == few.slices && few.parts.depth % few.turn == 0
                  ? few.parts.depth
                  : tsl_round_up(tsl_ceil_div(problem->k, (int64_t)few.split * few.slices), few.turn);
  return few;
}

/* Returns the numbers of A that a group copies to local memory for a turn. */
static int thin_numbers(const tsl_few_rows *few) {
  return few->slices * few->rows * few->turn * few->numbers;
}

int64_t tsl_few_rows_local_bytes(const tsl_few_rows *few) {
  const int64_t row = (int64_t)few->slices * few->columns * few->numbers * few->sum_size;
  const int64_t sums = few->rows * row <= 16384 ? few->rows * row : row;
  const int64_t thin = few->b_along_k ? (int64_t)thin_numbers(few) * few->sum_size : 0;
  const int64_t lines = few->b_along_k ? (int64_t)few->items * (few->flight + 1) * 16 : 16;
  return lines + (thin > sums ? thin : sums);
}

int tsl_few_rows_registers(const tsl_few_rows *few) {
  const int numbers = few->vector_elements * few->numbers; /* of a vector */
  const int thin = few->b_along_k ? (int)tsl_ceil_div(thin_numbers(few), few->items) + numbers
                                  : few->flight * few->rows * few->numbers;
  const int sums = few->rows * (few->b_along_k ? few->numbers : numbers);
  /* unaligned numbers of 16 bits arrive each in a register */
  const int held = few->read > 1 || few->vector_elements < 8 ? 4 : 8;
  return held * few->flight + (thin + sums + numbers) * few->sum_size / 4 + 56;
}

int tsl_few_rows_groups(const tsl_few_rows *few, const tsl_device *device) {
  const int registers = tsl_few_rows_groups_wanted(few), items = TSL_UNIT_ITEMS / few->items;
  /* a unit has about four times the local memory that one group may declare */
  const int64_t local = 4 * (int64_t)device->local_bytes / (tsl_few_rows_local_bytes(few) + 1024);
  const int64_t least = tsl_min(tsl_min(registers, items), local);
  return least < 1 ? 1 : (int)least;
}

int tsl_few_rows_groups_wanted(const tsl_few_rows *few) {
  const int groups = TSL_UNIT_REGISTERS / (few->items * tsl_few_rows_registers(few));
  return groups < 1 ? 1 : groups;
}

int64_t tsl_few_rows_pitch(const tsl_few_rows *few) {
  return tsl_round_up(few->problem.n * few->numbers, 16 / few->sum_size);
}

tsl_few_rows_grids tsl_few_rows_grids_of(const tsl_few_rows *few, int64_t m, int64_t n, int64_t batch,
                                         const tsl_device *device) {
  const tsl_split_k_sum sum = tsl_few_rows_sum(few);
  return (tsl_few_rows_grids){
      {{(uint64_t)tsl_ceil_div(n, few->columns), (uint64_t)few->split, (uint64_t)batch}, {few->items, 1, 1}},
      tsl_split_k_sum_grid(&sum, tsl_type(few->problem.c.type)->sums, m, n, batch, device)};
}

/* The model compares the bytes that a unit has on their way with memory's latency and bandwidth. */
#include "strategy/cost_counts.h"
#include "strategy/gemm/portable/few_rows/few_rows.h"

#include <math.h>

/* Returns the bytes of B that a group reads, with padding. */
static double bytes_of_group(const tsl_few_rows *few) {
  return (double)few->columns * (double)few->slices * (double)few->depth * 16 / few->vector_elements;
}

/* Amounts of a group: clocks of its reads' latency, clocks of a unit to issue them, bytes from memory. */
typedef struct group_cost {
  double wait, issue, bytes;
} group_cost;

/* Returns the seconds of groups that start together. A unit with one or two waits for each read. */
static double seconds_of_round(const group_cost *cost, double groups, const tsl_few_constants *rates,
                               const tsl_launch_pace *units, double bandwidth) {
  const double on_unit = tsl_ceil_ratio(groups, units->count);
  const double busy = (fmax(cost->wait + cost->issue, on_unit * cost->issue) + rates->group_clocks +
                       on_unit * rates->start_clocks) /
                      units->clock,
               beyond = on_unit * units->count / fmax(groups, 1) - 1,
               memory = groups * cost->bytes / bandwidth * (1 + rates->uneven * fmin(beyond, 1));
  return sqrt(hypot(busy * busy, memory * memory));
}

double tsl_few_rows_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_few_rows few = tsl_few_rows_of(problem, config);
  const tsl_few_constants *rates = &tsl_model_constants_of(device)->few_rows;
  const tsl_launch_pace units = tsl_launch_pace_of(problem, device);
  const double m = (double)few.problem.m, batch = (double)tsl_problem_batch(problem);
  const double groups = tsl_ceil_ratio((double)few.problem.n, few.columns) * few.split * batch;
  const double flight =
      few.items * few.flight * 16 * (few.read == few.vector_elements ? 1 : rates->odd_flight);
  /* numbers of A copied and products added, for 512 bytes that 32 items read at a time */
  const double numbers = m * few.vector_elements * few.numbers,
               copies = few.b_along_k ? numbers / few.items_n : 0;
  /* odd_clocks: of four reads to a vector */
  const int reads = few.vector_elements / few.read;
  const double odd = reads == 1 ? 1 : rates->odd_clocks * reads / 4;
  const double issue = (few.b_along_k ? rates->line_clocks : rates->vector_clocks) * odd +
                       copies * rates->copy_clocks +
                       numbers * few.numbers * few.sum_size / 16 * rates->row_clocks;
  /* memory moves more than short lines */
  const int line = 16 * (few.b_along_k ? few.flight : few.items_n);
  const tsl_shape *b = &few.problem.b;
  const int64_t pitch = (few.b_along_k ? b->col_stride : b->row_stride) * (int64_t)tsl_type(b->type)->size;
  const double waste =
      1 +
      ((few.b_along_k || line < 128 ? rates->line_waste : 0) + (pitch % 64 ? rates->odd_waste : 0)) / line;
  const double bytes = bytes_of_group(&few), bandwidth = rates->memory_rate * device->bandwidth;
  /* products of a sum are added one after another; other sums of the item fill the latency */
  const double sums = few.rows * (few.b_along_k ? 1 : few.vector_elements);
  const double chain = (double)few.depth * few.numbers / sums * rates->chain_clocks;
  const group_cost one = {.wait = bytes / flight * (few.b_along_k ? rates->line_wait : rates->memory_wait) +
                                  chain,
                          .issue = bytes / 512 * issue,
                          .bytes = bytes * waste};
  const double resident = units.count * tsl_few_rows_groups(&few, device);
  const double products =
      groups <= resident ? seconds_of_round(&one, groups, rates, &units, bandwidth)
                         : groups / resident * seconds_of_round(&one, resident, rates, &units, bandwidth) +
                               rates->tail * seconds_of_round(&one, units.count, rates, &units, bandwidth);
  /* barriers split a CPU's loops */
  const double seconds = (products + rates->fold_clocks * few.slices / units.clock +
                          rates->launch_share * device->launch_seconds) *
                         (device->is_cpu ? 100 : 1);
  if (few.split == 1)
    return seconds;
  const double parts = (2 * few.split + 1) * m * (double)tsl_few_rows_pitch(&few) * few.sum_size * batch;
  return seconds + parts / (rates->part_rate * device->bandwidth) +
         few.split * rates->part_clocks / units.clock +
         tsl_launch_second_seconds(device, rates->sum_launch_share);
}

/* Counts B once from memory; along k also through local memory. */
void tsl_few_rows_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                          tsl_cost_counts *account) {
  const tsl_few_rows few = tsl_few_rows_of(problem, config);
  const double m = (double)few.problem.m, n = (double)few.problem.n;
  const double groups = tsl_ceil_ratio(n, few.columns) * few.split;
  const double of_large = groups * bytes_of_group(&few);
  const double needed = tsl_ceil_ratio(n, few.b_along_k ? 1 : few.vector_elements) * few.slices * few.split;
  tsl_cost_counts_groups(groups, few.items, needed, tsl_few_rows_local_bytes(&few), device, account);
  if (!device->is_cpu)
    account->per_unit = tsl_few_rows_groups(&few, device);
  account->computed = groups * few.columns * m * few.slices * (double)few.depth;
  account->global.read = of_large + of_large * m / few.columns;
  if (few.b_along_k)
    account->local = (tsl_moved){.read = of_large * (1 + m), .written = account->global.read};
  tsl_cost_counts_result(problem, 1, account);
  if (few.split > 1)
    tsl_cost_counts_copies(few.split * m * (double)tsl_few_rows_pitch(&few) * few.sum_size, account);
}

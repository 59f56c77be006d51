#include "strategy/gemm/composite/structured/structured.h"
#include "strategy/support.h"

#include "host/int_math.h"

#include <math.h>

enum { BLOCK_UNIT = 4 }; /* unit of a block in rows: 16 bytes of f32 */

static double operations_of(const tsl_problem *problem) {
  return tsl_type(problem->c.type)->is_complex ? 8 : 2;
}

static double structured_peak_of(const tsl_problem *problem, const tsl_device *device) {
  return tsl_type(problem->c.type)->component == TESELA_F64 ? device->peak_f64 : device->peak_f32;
}

/* Returns the seconds of tiles of C in waves of one tile for each compute unit; the last counts fully. */
static double wave_seconds(const tsl_problem *problem, const tsl_structured_batch *batch,
                           const tsl_device *device) {
  const double tile = 128, units = fmax(1, device->compute_units), peak = structured_peak_of(problem, device);
  const double tiles =
      (double)batch->count * ceil((double)batch->rows / tile) * ceil((double)batch->cols / tile);
  const double tile_operations = tile * tile * (double)batch->depth * operations_of(problem);
  return (peak > 0 ? ceil(tiles / units) * tile_operations * units / peak : 0) + device->launch_seconds;
}

int tsl_structured_copies(const tsl_problem *problem, const tsl_structured_cut *cut, double *elements) {
  const bool of_c = tsl_problem_structured(problem) == TSL_OPERAND_C;
  const tsl_structured_scratch blocks = tsl_structured_diagonal_blocks(problem, cut),
                               c_copy = tsl_structured_c_copy(problem);
  const int times = blocks.elements == 0 ? 0 : of_c && tsl_problem_reads(problem, TSL_OPERAND_C) ? 2 : 1;
  const int each = cut->block > 0 && cut->size % cut->block != 0 && cut->size > cut->block ? 2 : 1;
  *elements = (double)times * (double)blocks.elements + (double)c_copy.elements;
  return times * each + (c_copy.elements > 0);
}

/* Returns the seconds of all batches at the device's peak; *copying gets the seconds of the copies. */
static double peak_seconds(const tsl_problem *problem, const tsl_structured_cut *cut,
                           const tsl_device *device, double *copying) {
  double seconds = 0, elements;
  const int launches = tsl_structured_copies(problem, cut, &elements);
  for (int i = 0; i < cut->count; i++)
    seconds += wave_seconds(problem, &cut->batches[i], device);
  *copying = launches * device->launch_seconds;
  if (device->bandwidth > 0)
    *copying += 2 * elements * (double)tsl_type(problem->c.type)->size / device->bandwidth;
  return seconds;
}

/* Returns the rows of a diagonal block that are expected to be fastest; all rows: one block. */
static int64_t structured_block(const tsl_problem *problem, const tsl_device *device) {
  const int64_t size = tsl_problem_shape(problem, tsl_problem_structured(problem))->rows;
  const int64_t least_block = device->is_cpu ? STRUCTURED_BLOCK_MIN_OF_PROCESSORS : STRUCTURED_BLOCK_MIN;
  int64_t best = size;
  double least = INFINITY;
  for (int64_t parts = 1; size > 0; parts *= 2) {
    const int64_t block = parts == 1 ? size : tsl_round_up(tsl_ceil_div(size, parts), BLOCK_UNIT);
    tsl_structured_cut cut;
    double copying;
    if (parts > 1 && block < least_block)
      break;
    tsl_structured_cut_by(problem, block, &cut);
    const double seconds = peak_seconds(problem, &cut, device, &copying) + copying;
    if (seconds < least) {
      least = seconds;
      best = block;
    }
  }
  return best;
}

void tsl_structured_cut_of(const tsl_problem *problem, int64_t block, const tsl_device *device,
                           tsl_structured_cut *cut) {
  tsl_structured_cut_by(problem, block > 0 ? block : structured_block(problem, device), cut);
}

static bool supports_part(const tsl_config_search *search, const tsl_strategy *strategy, tsl_config *config) {
  return !tsl_strategy_refuse(strategy, search->problem, config, search->device);
}

static double fastest_seconds(const tsl_problem *part, const tsl_device *device, tsl_all_strategies *list) {
  const tsl_config_search search = {part, device, list, supports_part, NULL};
  tsl_config config;
  double least = INFINITY;
  for (int i = 0; list(i); i++)
    if (!list(i)->vendor.load)
      least = tsl_strategy_fastest(&search, list(i), (tsl_walk){.begun = false}, least, &config);
  return least;
}

/* Predicts the batch with most work by the fastest model, and the others in proportion to their waves. */
double tsl_structured_seconds(const tsl_problem *problem, const tsl_structured_cut *cut,
                              const tsl_device *device, tsl_all_strategies *list) {
  double copying, longest = 0;
  int leads = 0;
  const double all = peak_seconds(problem, cut, device, &copying);
  if (cut->count == 0)
    return copying;
  for (int i = 0; i < cut->count; i++)
    if (wave_seconds(problem, &cut->batches[i], device) > longest) {
      longest = wave_seconds(problem, &cut->batches[i], device);
      leads = i;
    }
  tsl_problem part = tsl_structured_part(problem, cut, &cut->batches[leads]);
  double seconds = fastest_seconds(&part, device, list);
  if (!isfinite(seconds) && part.batch > 1) {
    part.batch = 0;
    seconds = (double)cut->batches[leads].count * fastest_seconds(&part, device, list);
  }
  return seconds * (longest > 0 ? all / longest : 1) + copying;
}

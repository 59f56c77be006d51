/* Performance model and traffic of residue_int8; docs/lab/residue_int8.md has the measurements behind the
 * constants. A call is expected to choose the number of moduli that normal random numbers need. */
#include "host/int_math.h"
#include "strategy/cost_counts.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8_host.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/model_constants.h"

static const double tile_m = 128, tile_n = 256, panel = 128;
/* Instructions of a thread for each number, with all 128 lanes of a unit busy: conversion, in all and for
 * each modulus; reconstruction, for each element, for each modulus, and more for complex elements. */
static const double convert_work[2] = {55, 128}, modulus_work[2] = {7.5, 9}, join_work[2] = {33, 90},
                    join_modulus_work[2] = {14, 19.5}, join_complex_work = 16;
/* Fixed seconds of a measuring block; resident measuring blocks of a unit, with numbers along and across
 * lines; columns of a reconstructing block. */
static const double measuring_blocks[2] = {5, 4}, join_columns = 256;
/* Latency of a measuring block, with numbers along and across lines: numbers of all its lines in flight at a
 * time, and seconds for them (f32, f64). */
static const struct {
  double numbers, seconds[2];
} measured[] = {{1024, {8e-7, 1.25e-6}}, {2048, {2.8e-6, 4.4e-6}}};
/* Rates of a core for f32 and f64: multiply-adds of residues per clock; clocks of a measured number; of a
 * converted number, and for each modulus; of a reconstructed element, and for each modulus. */
typedef struct host_work {
  double dots, measure[2], convert[2], convert_modulus[2], join[2], join_modulus[2];
} host_work;
static const host_work by_registers = {530, {1.9, 3.5}, {1, 2.5}, {0.4, 0.46}, {1.3, 3.5}, {0.57, 0.95}},
                       by_vectors = {12, {4, 8}, {4, 8}, {2, 3}, {4, 8}, {3, 5}},
                       by_words = {2, {8, 16}, {8, 16}, {6, 8}, {8, 16}, {8, 10}};

static const double complex_line_clocks = 2.1e4; /* one thread of a Xeon with AMX */

/* Extra cost of products that the subplan computes. CPU: one of glanced_lines lines is measured. CUDA:
 * seconds of a run that follows others of the subplan, with its part of a glance, and seconds per number. */
static const double glanced_lines = 16, ended_seconds = 3e-6, ended_number_seconds = 2.5e-14;

/* Portable kernels: operations of an item to measure and convert a number, in all and for each modulus.
 * Operations for each element of C and modulus, to reduce a sum and to reconstruct. Operations of i8 matrix
 * instructions per unit and clock, by one warp and by four. Multiply-adds of bytes per f32 multiply-add
 * without these, on GPUs and on others. */
static const double portable_work[2] = {190, 330}, portable_modulus_work[2] = {22, 26},
                    portable_join_work[2] = {32, 46}, mma_rate = 2500, mma_group_rate = 5500,
                    byte_rates[2] = {2, 0.28};
/* Launches of a run besides each plane's: the subplan's, and a reduction if the subplan has none. */
static const double portable_launches = 8;
static const double portable_doubt = 1.15; /* factor for strategies of subplans that were not measured */

typedef struct work_of {
  double moduli, planes, blocks, tiles; /* planes of residues; blocks of rows; tiles of all planes */
  double panels, numbers, size;         /* panels of k; real numbers of both operands, bytes of one */
  double each;                          /* real numbers of an element */
  int is_double;
} work_of;

/* Returns the expected moduli: more than the least number for short lines, whose bound is lower. */
static double expected_moduli(const tsl_problem *problem, const tsl_config *config) {
  static const int64_t short_lines[][2] = {{128, 0}, {512, 80}};
  const int is_double = tsl_residue_type(problem) == TESELA_F64;
  double moduli = tsl_residue_least(problem, config);
  for (int i = 0; i < 2; i++)
    moduli += problem->k < short_lines[is_double][i] && !tsl_numeric_requirements_has_accuracy(&problem->ask)
                  ? 1
                  : 0;
  return fmin(moduli, tsl_residue_most(problem));
}

static work_of residue_work(const tsl_problem *problem, const tsl_config *config) {
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
  const double moduli = expected_moduli(problem, config), planes = moduli * tsl_residue_kinds(problem);
  const double blocks = m > 0 ? ceil(m / (double)tsl_residue_rows(config, problem->m)) : 1;
  return (work_of){.moduli = moduli,
                   .planes = planes,
                   .blocks = blocks,
                   .tiles = planes * blocks * ceil(m / blocks / tile_m) * ceil(n / tile_n),
                   .panels = ceil(k / panel),
                   .numbers = (m + n) * (double)tsl_residue_numbers(problem),
                   .size = (double)tsl_type(tsl_residue_type(problem))->size,
                   .each = (double)tsl_residue_reals(problem, 1),
                   .is_double = tsl_residue_type(problem) == TESELA_F64};
}

/* Slowdown by other threads with tile registers where bandwidth limits; threads for the full slowdown. */
static const double crowded = 0.75, crowd = 15;

/* Returns the seconds on the CPU. Tiles are whole; all threads synchronise three times. */
static double residue_host_seconds(const tsl_problem *problem, const work_of *all, const tsl_device *device) {
  const bool has_vectors = device->capabilities & (TSL_CAN_AVX2 | TSL_CAN_AVX512);
  const host_work *core = tsl_residue_has_registers(device) ? &by_registers
                          : has_vectors                     ? &by_vectors
                                                            : &by_words;
  const int type = all->is_double;
  const double m = (double)tsl_round_up(problem->m, TSL_RESIDUE_LINES),
               n = (double)tsl_round_up(problem->n, TSL_RESIDUE_LINES),
               k = (double)tsl_round_up(problem->k, TSL_RESIDUE_STEP);
  const double clocks =
      all->planes * m * n * k / core->dots +
      all->numbers * (core->measure[type] + core->convert[type] + all->moduli * core->convert_modulus[type]) +
      all->each * m * n * (core->join[type] + all->moduli * core->join_modulus[type]) +
      (all->each > 1 ? complex_line_clocks * (m + n) : 0);
  const double slower = core == &by_registers ? 1 + crowded * fmin(1, (device->threads - 1) / crowd) : 1;
  return 1e-5 + 2e-6 * device->threads + slower * clocks / (1e6 * device->clock_mhz * device->threads);
}

/* Returns the seconds of measuring. Blocks are limited by latency, so their number per unit counts. Raises
 * *slowest to the seconds of a block if these are more. */
static double measure_seconds(const tsl_residue_constants *rates, double lines, int block_lines, double k,
                              int is_across, int is_double, double units, double *slowest) {
  const double block = rates->block_seconds + measured[is_across].seconds[is_double] *
                                                  ceil(k * block_lines / measured[is_across].numbers);
  *slowest = fmax(*slowest, block);
  return block * ceil(lines / block_lines) / (measuring_blocks[is_double] * units);
}

static double portable_products(const tsl_device *device) {
  const double rate = device->capabilities & TSL_CAN_MMA_GROUP ? mma_group_rate : mma_rate;
  if (device->capabilities & TSL_CAN_MMA)
    return rate * fmax(1, device->compute_units) * 1e6 * fmax(1, device->clock_mhz);
  return byte_rates[device->is_cpu != 0] * device->peak_f32;
}

/* Returns the seconds with portable kernels. The maximum number of moduli is multiplied, and sums go through
 * memory; only subplans by four warps skip unused planes and reduce sums. Others may copy their operands. */
static double portable_seconds(const tsl_problem *problem, const tsl_config *config, const work_of *all,
                               const tsl_device *device) {
  const tsl_residue_constants *rates = &tsl_model_constants_of(device)->residue;
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
  const double most =
      tsl_residue_candidate(problem, config, TSL_RESIDUE_CANDIDATES - 1) * tsl_residue_kinds(problem);
  const double items = device->is_cpu ? 1e6 * fmax(1, device->clock_mhz) * fmax(1, device->compute_units)
                                      : device->peak_f32 / 2;
  const bool is_group = device->capabilities & TSL_CAN_MMA_GROUP;
  const double multiplied = is_group ? all->planes : most, doubt = is_group ? 1 : portable_doubt;
  const double lines =
      all->numbers * (portable_work[all->is_double] + all->moduli * portable_modulus_work[all->is_double]);
  const double results = m * n * all->planes * portable_join_work[all->is_double];
  const double copied = device->capabilities & TSL_CAN_MMA ? 0 : 3;
  const double bytes = all->numbers * (2 * all->size + (all->planes + copied * most) / all->each) +
                       m * n *
                           ((is_group ? 0 : multiplied * 8) + all->planes * 2 +
                            all->each * all->size * (problem->beta[0] != 0 ? 2 : 1));
  const double side_m = (double)tsl_round_up(problem->m, (int64_t)tile_m),
               side_n = (double)tsl_round_up(problem->n, (int64_t)tile_m);
  return doubt * (fmax((lines + results) / items, bytes / (rates->streamed * device->bandwidth)) +
                  2 * multiplied * side_m * side_n * k / portable_products(device) +
                  (portable_launches + (is_group ? 1 : 2) * most * all->blocks) * device->launch_seconds);
}

static double cuda_seconds(const tsl_problem *problem, const work_of *all_work, const tsl_device *device) {
  const tsl_residue_constants *rates = &tsl_model_constants_of(device)->residue;
  const work_of all = *all_work;
  const double units = fmax(1, device->compute_units), clock = 1e6 * fmax(1, device->clock_mhz);
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
  const double lanes = 128 * units * clock, bytes = rates->streamed * device->bandwidth;
  const tsl_shape *a = &problem->a, *b = &problem->b;
  const int64_t lines[2] = {problem->m, problem->n};
  const bool is_across[2] = {!tsl_launch_along(a->col_stride, a->row_stride),
                             !tsl_launch_along(b->row_stride, b->col_stride)};
  int block_lines[2];
  double slowest = 0, both = 0;
  tsl_residue_block_lines(lines, is_across, device, block_lines);
  for (int o = 0; o < 2; o++)
    both += measure_seconds(rates, (double)lines[o], block_lines[o], all.each * k, is_across[o],
                            all.is_double, units, &slowest);
  const double measure = fmax(fmax(both, slowest), all.numbers * all.size / bytes);
  const double choose = rates->choose_seconds + (m + n) * rates->line_seconds;
  const double convert =
      fmax(all.numbers * (convert_work[all.is_double] + all.moduli * modulus_work[all.is_double]) / lanes,
           all.numbers * (all.size + all.planes / all.each) / bytes);
  const double cool = all.blocks * ceil(all.tiles / all.blocks / units) *
                          (all.panels * rates->panel_clocks + rates->tile_clocks) / clock +
                      rates->waited * all.planes * all.numbers / all.each / bytes;
  const double products = cool + (rates->hot - 1) * fmax(0, cool - rates->cool_seconds);
  /* threads past a row's end cost half */
  const double elements = m * (n + join_columns * ceil(n / join_columns)) / 2;
  const double join =
      fmax(all.each * elements *
               (join_work[all.is_double] +
                all.moduli * (join_modulus_work[all.is_double] + (all.each > 1 ? join_complex_work : 0))) /
               lanes,
           elements * (all.planes + all.each * all.size * (problem->beta[0] != 0 ? 2 : 1)) / bytes);
  return measure + choose + convert + products + join + 6 * rates->gap_seconds +
         (all.blocks - 1) * rates->block_seconds_more;
}

static double residue_seconds_of(const tsl_problem *problem, const tsl_config *config, const work_of *all,
                                 const tsl_device *device) {
  if (tsl_device_is_host(device))
    return residue_host_seconds(problem, all, device);
  return tsl_residue_has_cuda(device) ? cuda_seconds(problem, all, device)
                                      : portable_seconds(problem, config, all, device);
}

/* Returns the extra seconds of a product that the subplan computes after the glance; 0: not known. */
static double glance_seconds(const tsl_problem *problem, const work_of *all, const tsl_device *device) {
  if (problem->ask.bits != TSL_REPRODUCIBILITY_ANY || !tsl_problem_reads(problem, TSL_OPERAND_A))
    return 0;
  if (tsl_device_is_host(device)) {
    const double clocks = all->numbers / glanced_lines * by_registers.measure[all->is_double];
    return 2e-6 * device->threads + clocks / (1e6 * device->clock_mhz * device->threads);
  }
  return tsl_residue_has_cuda(device) ? ended_seconds + all->numbers * ended_number_seconds : 0;
}

/* Returns the predicted seconds, but at least twenty times the loss of a product that residues do not suit.
 * The prediction does not know the numbers, and the default must not lose more than a twentieth. */
double tsl_residue_int8_seconds(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device) {
  static const double least_share = 20;
  const work_of all = residue_work(problem, config);
  return fmax(residue_seconds_of(problem, config, &all, device),
              least_share * glance_seconds(problem, &all, device));
}

double tsl_residue_int8_modulus_seconds(const tsl_problem *problem, const tsl_config *config,
                                        const tsl_device *device) {
  const work_of all = residue_work(problem, config);
  return residue_seconds_of(problem, config, &all, device) / all.moduli;
}

void tsl_residue_int8_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_cost_counts *account) {
  const work_of all = residue_work(problem, config);
  const double elements = (double)problem->m * (double)problem->n, k = (double)problem->k;
  tsl_cost_counts_copies(all.numbers / all.each * all.planes, account);
  tsl_cost_counts_copies(elements * all.planes, account);
  tsl_cost_counts_operands(problem, (double)problem->m * k, (double)problem->n * k, account);
  tsl_cost_counts_result(problem, 1, account);
  if (tsl_device_is_host(device)) {
    const double side = TSL_RESIDUE_LINES;
    account->computed = all.planes * ceil((double)problem->m / side) * ceil((double)problem->n / side) *
                        side * side * ceil(k / TSL_RESIDUE_STEP) * TSL_RESIDUE_STEP;
    account->workers = fmin(device->threads, ceil((double)problem->m / 128) * ceil((double)problem->n / 128));
    account->rate =
        tsl_residue_has_registers(device) ? 2e6 * 1024 * device->clock_mhz * device->threads : account->rate;
    return;
  }
  if (!tsl_residue_has_cuda(device)) {
    const double planes =
        tsl_residue_candidate(problem, config, TSL_RESIDUE_CANDIDATES - 1) * tsl_residue_kinds(problem);
    const double fours = (double)problem->m * ceil((double)problem->n / TSL_RESIDUE_FOUR);
    tsl_cost_counts_groups(ceil(fours / TSL_RESIDUE_GROUP_ITEMS), TSL_RESIDUE_GROUP_ITEMS, fours, 0, device,
                           account);
    account->computed = planes * elements * k;
    account->launches =
        (int)(portable_launches + (device->capabilities & TSL_CAN_MMA_GROUP ? 1 : 2) * planes * all.blocks);
    account->rate = portable_products(device);
    return;
  }
  const double blocks = fmin(all.tiles, fmax(1, device->compute_units));
  tsl_cost_counts_groups(blocks, 384, blocks * 384, 200000, device, account);
  account->computed = all.tiles * tile_m * tile_n * all.panels * panel;
  account->local = (tsl_moved){.read = all.tiles * all.panels * 2 * (64 + tile_n) * panel,
                               .written = all.tiles * all.panels * (tile_m + tile_n) * panel};
  account->global.read += all.tiles * all.panels * (tile_m + tile_n) * panel;
  account->launches = 3 + 3 * (int)all.blocks;
  account->rate = 2.0 * 4096 * fmax(1, device->compute_units) * 1e6 * fmax(1, device->clock_mhz);
}

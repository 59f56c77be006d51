/* Idea: C is cut into blocks that threads take one after the other. A block of A and a block of B are packed
 * to fit the caches. They are multiplied there, a tile of C in registers at a time. Beyond
 * `sequential_optimized`: an element from memory serves a whole block, an element from a cache a tile;
 * vectors for any strides; all cores.
 *
 *                 n                        task: one block of C; for each panel p of DEPTH along k:
 *               B |   COLUMNS  |             pack A(block's rows, p) as micro-panels of TILE_ROWS rows
 *            DEPTH|micro-panels|  p          pack B(p, block's columns) as micro-panels of two vectors
 *                 +------------+             for each micro-panel of A, for each of B:
 *      A   DEPTH  |            |               tile = their product, in registers
 *   ROWS  micro-  |   block    |               C's tile = alpha tile + (first panel ? beta : 1) C's tile
 *        panels p +------------+ C
 *
 * Tiles at an edge are computed whole, with zeros, and stored partially. If C is column-major, B' A' is
 * computed, so that stores to C are vectors.
 *
 * C keeps the sums between panels: a product is rounded at most DEPTH times in its panel, once with alpha,
 * and once for each panel. The order of an element's additions depends only on its indices and the
 * parameters. Each task packs for itself, so a block of A is packed n / COLUMNS times. The instruction set is
 * the device's best (TESELA_ISA masks). Measurements: docs/lab/blocked.md. */
#include "core/memory.h"
#include "core/pool.h"
#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/cost_counts.h"
#include "strategy/gemm/ladder/blocked/blocked_block.h"
#include "strategy/host_jobs/host_job.h"

#include <math.h>

enum { ROWS, COLUMNS, DEPTH };
static const tsl_param params[] = {
    [ROWS] = {"rows", "rows of a block of C", 192, {48, 192}},
    [COLUMNS] = {"columns", "columns of a block of C", 512, {128, 512}},
    [DEPTH] = {"depth", "products of a panel", 256, {128, 256}},
    {NULL, NULL, 0, {0}},
};

typedef struct blocked {
  tsl_cache_blocks blocks; /* sizes, strides and scalars; addresses are set in blocked_run() */
  tsl_block_function multiply;
  size_t a_bytes, b_bytes; /* bytes of a worker's copies */
  int64_t size;            /* bytes of an element */
} blocked;

typedef struct blocked_launch {
  blocked job;
  unsigned char *copies; /* packed A and B of each worker, one worker after the other */
  int64_t down;          /* blocks in a column of C */
} blocked_launch;

static tsl_accuracy blocked_accuracy(const tsl_problem *problem, const tsl_config *config) {
  return tsl_accuracy_of_panels(problem, config->value[DEPTH]);
}

/* Returns the predicted seconds: multiply-adds at 0.7 of the peak; a clock for each packed element of A or
 * five packed bytes of B; a pass over C for each panel. Rows above 1 KiB exceed the first-level cache. */
static double blocked_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const int64_t *value = config->value, size = (int64_t)tsl_type(problem->c.type)->size;
  const double rows = (double)tsl_round_up(problem->m, TSL_BLOCK_ROWS_UNIT),
               columns = (double)tsl_round_up(problem->n, TSL_BLOCK_COLUMNS_UNIT), k = (double)problem->k;
  const double down = (double)tsl_ceil_div_or_one(problem->m, value[ROWS]),
               across = (double)tsl_ceil_div_or_one(problem->n, value[COLUMNS]),
               bytes = tsl_problem_bytes(problem);
  const double peak = problem->c.type == TESELA_F64 ? device->peak_f64 : device->peak_f32;
  const double clock = 1e6 * device->clock_mhz, fused = peak / (2 * clock * device->threads);
  const double products = (value[DEPTH] * size > 1024 ? 1.1 : 1) * rows * columns * k / (0.7 * fused);
  const double copies = k * (rows * across + columns * down * (double)size / 5);
  const double passes = rows * columns * (double)tsl_ceil_div_or_one(problem->k, value[DEPTH]) / 4;
  const double block = fmin((double)value[ROWS], rows) * fmin((double)value[COLUMNS], columns);
  const double rounds = fmin(1, ceil(down * across / device->threads) * block / (rows * columns));
  const double start = 2.5e-7 + (down * across > 1 && device->threads > 1 ? 5e-6 : 0);
  const double rest =
      fmax(0, bytes - tsl_near_bytes(device)) / (tsl_rest_speed(device, bytes) * device->bandwidth);
  return start + fmax((products + copies + passes) * rounds / clock + 0.4 * rest, bytes / device->bandwidth);
}

/* Returns the block kernel for f32 or f64 of the best instruction set of the device. */
static const tsl_block_kernel *blocked_kernel_for(const tsl_device *device, tesela_type type) {
#define KERNELS(isa, header, needs, ...) {&tsl_block_##isa##_f32, &tsl_block_##isa##_f64},
  static const tsl_block_kernel *const kernels[][2] = {TSL_ISA_LIST(KERNELS)};
#undef KERNELS
  return kernels[tsl_isa_best(device->capabilities)][type == TESELA_F64];
}

static void blocked_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                            tsl_cost_counts *account) {
  const int64_t *value = config->value;
  const tsl_block_kernel *kernel = blocked_kernel_for(device, problem->c.type);
  const double size = (double)tsl_type(problem->c.type)->size, k = (double)problem->k;
  const double down = (double)tsl_ceil_div_or_one(problem->m, value[ROWS]),
               across = (double)tsl_ceil_div_or_one(problem->n, value[COLUMNS]);
  const double a = across * (double)problem->m * k, b = down * (double)problem->n * k;
  account->computed = ceil((double)problem->m / kernel->tile_rows) * kernel->tile_rows *
                      ceil((double)problem->n / kernel->tile_columns) * kernel->tile_columns * k;
  account->workers = fmin(device->threads, down * across);
  account->local.written = (a + b) * size;
  tsl_cost_counts_operands(problem, a, b, account);
  tsl_cost_counts_result(problem, (double)tsl_ceil_div_or_one(problem->k, value[DEPTH]), account);
  tsl_cost_counts_tiles(problem, kernel->tile_rows, kernel->tile_columns, account);
  account->sums = kernel->tile_rows * kernel->tile_columns;
}

static void blocked_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_config *config,
                         const tsl_device *device, void *job) {
  blocked *blocked_job = job;
  const int64_t *value = config->value, size = (int64_t)tsl_type(problem->c.type)->size;
  const tsl_views views = tsl_views_of(problem, strides);
  const int64_t rows = tsl_min(value[ROWS], tsl_round_up(views.m, TSL_BLOCK_ROWS_UNIT)),
                columns = tsl_min(value[COLUMNS], tsl_round_up(views.n, TSL_BLOCK_COLUMNS_UNIT)),
                depth = tsl_min(value[DEPTH], views.k);
  *blocked_job = (blocked){
      .blocks = {.views = views,
                 .rows = value[ROWS],
                 .columns = value[COLUMNS],
                 .depth = value[DEPTH],
                 .alpha = views.k > 0 ? problem->alpha[0] : 0, /* infinity times an empty sum must be 0 */
                 .beta = problem->beta[0]},
      .multiply = blocked_kernel_for(device, problem->c.type)->multiply,
      .a_bytes = (size_t)tsl_round_up(size * rows * depth + 1, TSL_CACHE_LINE),
      .b_bytes = (size_t)tsl_round_up(size * columns * depth + 1, TSL_CACHE_LINE),
      .size = size};
}

/* Computes block `index` of C, numbered down its columns, with the copies of `worker`. */
static void blocked_multiply(void *argument, int64_t index, int worker) {
  const blocked_launch *run = argument;
  const blocked *job = &run->job;
  unsigned char *a_copy = run->copies + (size_t)worker * (job->a_bytes + job->b_bytes);
  job->multiply(&job->blocks, index % run->down * job->blocks.rows, index / run->down * job->blocks.columns,
                a_copy, a_copy + job->a_bytes);
}

static tesela_status blocked_run(const void *job, const tsl_operands *operands) {
  const size_t workers = (size_t)tsl_team_threads(operands->team);
  blocked_launch launch = {.job = *(const blocked *)job};
  tsl_cache_blocks *blocks = &launch.job.blocks;
  void *copies;
  TSL_TRY(tsl_scratch_take(workers * (launch.job.a_bytes + launch.job.b_bytes), "copies of blocks", &copies));
  tsl_views_bind_operands(&blocks->views, operands, launch.job.size, launch.job.size);
  launch.copies = copies;
  launch.down = tsl_ceil_div_or_one(blocks->views.m, blocks->rows);
  tsl_team_run(operands->team, launch.down * tsl_ceil_div_or_one(blocks->views.n, blocks->columns),
               blocked_multiply, &launch);
  tsl_scratch_give(copies);
  return TESELA_OK;
}

_Static_assert(sizeof(blocked) <= TSL_JOB_MOST, "tsl_job_run() has so many bytes for a job");
static const tsl_host_job_ops jobs = {.size = sizeof(blocked), .make = blocked_make, .run = blocked_run};

const tsl_strategy tsl_gemm_blocked = {
    .name = "blocked",
    .idea = "cache-blocked loops in C on all cores, on copies of blocks of A and B",
    .lifts = "traffic to memory and caches on the host",
    .partner = "sequential_optimized",
    .rung = 9,
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_HOST,
    .accuracy = blocked_accuracy,
    .params = params,
    .score = blocked_score,
    .build = tsl_job_build,
    .run = tsl_job_run,
    .release = tsl_job_release,
    .jobs = &jobs,
    .resources = {.count_costs = blocked_account},
};

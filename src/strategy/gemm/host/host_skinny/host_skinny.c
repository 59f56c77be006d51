/* Idea: one dimension of the product is small, so its large matrix is accessed once, in memory order. Beyond
 * `host_packed`: the large matrix is not packed, no tile is mostly empty, and its next lines are prefetched.
 *
 *   rows     Few x many, rows of the large operand are contiguous. A piece of its columns is multiplied; the
 *            sums of a piece stay in the first-level cache.
 *                   |<-- piece -->|
 *             steps [    |    |...]     sums[i][j] += thin[i][l] large[l][j]
 *             next  [    |    |...]
 *   columns  Columns of the large operand are contiguous, or neither are.
 *   update   Few steps and a large C: pieces of rows by columns of C.
 *
 * Each has two kernels; the number of rows or steps, and for rows the level of the memory, decides.
 *
 *            tiles of C in registers                      lines, at memory speed
 *   rows     6 to 16: a tile of rows x 2 vectors; the     1 to 5, beyond the caches 8: eight rows at a time
 *            next chunk of steps is prefetched            are added to the sums
 *   columns  7 to 16: vectors lie along the thin          1 to 5, half a vector, up to 1 MiB also 6 and 7: up
 *            operand, copied to whole vectors             to eight at a time, in vectors along k, whose lanes
 *                                                         are added
 *   update   5 to 32: 240 rows by columns whose part of   1 to 4: 32 rows by 1024 columns
 *            B fills a first cache
 *
 * If beta is 0 and C exceeds half of the last cache, or less of a far one, an update is stored past the
 * caches. Tiles have up to 12 x 1, 6 x 2 and 4 x 3 vectors, AVX-512 16 x 1, 12 x 2 and 8 x 3; an update has
 * tiles of one vector where AVX-512 has one multiply-add a clock. Threads take pieces, or parts of k where C
 * is small. Parts depend on the product alone, so bits do not depend on the number of threads. Except by
 * lines of columns, a part adds its products in the order of k, as in `host_small`.
 *
 * Types: f32, f64, c64 and c128. Limits: m or n at most 16, or k at most 64 (32: a small C); half of these in
 * complex types, which are computed in real forms (host_skinny_complex.c).
 * Measurements: docs/lab/host_skinny.md. */
#include "strategy/cost_counts.h"
#include "strategy/gemm/host/host_skinny/host_skinny_job.h"
#include "strategy/host_jobs/host_job.h"
#include "strategy/model_constants.h"
#include "strategy/support.h"

#include <math.h>

static tsl_accuracy skinny_accuracy(const tsl_problem *problem, const tsl_config *config) {
  return tsl_accuracy_of_components(tsl_accuracy_in_order(problem, config), problem);
}

static const char *skinny_refuse(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  (void)config;
  (void)device;
  return tsl_skinny_refuse(problem);
}

/* Returns host_packed's order for real types: jobs for bits=rows have its panels, and reduce no sums along k.
 */
static const char *skinny_row_order(const tsl_problem *problem, const tsl_config *config,
                                    const tsl_device *device) {
  (void)config, (void)device;
  return tsl_type(problem->c.type)->is_complex ? NULL : TSL_ROW_PANELS;
}

/* Returns the vectors of a line of `elements` elements. */
static double count_vectors(const tsl_skinny_job *job, int64_t elements) {
  return (double)((elements + job->kernels->lanes - 1) / job->kernels->lanes);
}

/* Returns true if elements of C with this stride in reals are contiguous. */
static bool is_contiguous(const tsl_skinny_job *job, int64_t stride) {
  return stride == (job->is_complex ? 2 : 1);
}

/* Returns the clocks of a complex product's real forms. */
static double expand_clocks(const tsl_skinny_job *job, const tsl_skinny_constants *cost) {
  const double numbers = (double)job->few * (double)job->depth,
               large = job->walk == TSL_SKINNY_UPDATE ? (double)job->depth * (double)job->many : 0;
  return job->is_complex && !job->is_dot ? cost->expand_clocks * (numbers + large) : 0;
}

/* Returns the clocks of a tile's multiply-adds (`per_clock` vectors in a clock) and others. */
static double tile_clocks(const tsl_skinny_job *job, double per_clock, const tsl_skinny_constants *cost) {
  const double few = (double)job->few, many = (double)job->many, depth = (double)job->depth,
               most = (double)job->kernels->rows[1], wide = count_vectors(job, job->many),
               part = (job->is_far ? cost->far_tile_rate : cost->tile_rate) * per_clock;
  switch (job->walk) {
  case TSL_SKINNY_UPDATE:
    return (job->is_complex && depth > 8 ? cost->update_complex : 1) * few * wide *
               (depth / part + cost->update_vector_clocks) +
           few / most * cost->update_tile_clocks +
           (job->many % job->kernels->lanes ? cost->update_edge_clocks * few : 0) +
           cost->update_copy_clocks * depth * many * (job->across != 1);
  case TSL_SKINNY_ROWS: {
    const double tiles = ceil(few / most), sums = 2 * few / tiles, wait = fmax(1, 4 * per_clock / sums);
    return few * wide * depth / part * wait +
           few * (is_contiguous(job, job->c_many) ? cost->rows_store_clocks * wide
                                                  : cost->element_clocks * many) +
           cost->rows_copy_clocks * depth * few * job->copies_thin;
  }
  default:
    return many * count_vectors(job, job->few) * depth / part + cost->thin_clocks * few * depth +
           many * (is_contiguous(job, job->c_few) ? (job->is_complex ? 2 : 1) * cost->column_clocks
                                                  : cost->element_clocks * few);
  }
}

/* Returns the clocks of kernels by lines. */
static double line_clocks(const tsl_skinny_job *job, double per_clock, const tsl_skinny_constants *cost) {
  enum { HELD_ROWS = 5 }; /* rows of sums that leave registers for the factors */
  const double few = (double)job->few, many = (double)job->many, depth = (double)job->depth,
               wide = count_vectors(job, job->many);
  const double part = (job->few > HELD_ROWS ? cost->wide_line_rate : cost->line_rate) * per_clock;
  const double copied = cost->line_copy_clocks * depth * few * (job->thin_along != 1);
  switch (job->walk) {
  case TSL_SKINNY_UPDATE:
    return copied + cost->outer_copy_clocks * depth * many * (job->across != 1) +
           few * (depth * wide / (cost->line_rate * per_clock) + cost->outer_row_clocks +
                  (job->many % job->kernels->lanes ? cost->outer_edge_clocks : 0));
  case TSL_SKINNY_ROWS:
    return depth * (few * wide / part + cost->step_clocks) +
           few * (is_contiguous(job, job->c_many) ? cost->sums_clocks * wide : cost->element_clocks * many);
  default:
    return copied + many * few * (count_vectors(job, job->depth) / part + cost->reduce_clocks);
  }
}

/* Returns the clocks of cache traffic. By lines a cache line costs by the level that holds the operands, and
 * reading C as well takes two fifths longer. Rows a multiple of a cache's way apart evict each other. Far
 * rows that stream cost most: successive rows of a tile lie in different pages, which hardware does not
 * prefetch. */
static double moved_clocks(const tsl_skinny_job *job, const tsl_problem *problem, const tsl_device *device,
                           const tsl_skinny_constants *cost) {
  enum { WAY = 4096 }; /* bytes of a way of a first-level cache */
  const double level_1 = device->level_bytes[0] ? (double)device->level_bytes[0] : 32 << 10;
  const double level_2 = device->level_bytes[1] ? (double)device->level_bytes[1] : 512 << 10;
  const double vectors = 64 / (double)(job->kernels->lanes * job->size), bytes = tsl_problem_bytes(problem);
  if (job->is_tiled) {
    const double far = job->walk != TSL_SKINNY_ROWS ? cost->far_line_clocks
                       : job->is_complex            ? cost->far_complex_clocks
                                                    : cost->far_row_clocks;
    const bool conflicts = job->walk == TSL_SKINNY_ROWS && job->along * job->size % WAY == 0;
    return bytes / 64 * cost->near_line_clocks +
           (conflicts ? fmax(0, bytes - level_2) / 64 * cost->conflict_line_clocks : 0) +
           (job->is_far ? fmax(0, bytes - level_2) / 64 * far : 0);
  }
  const double held = tsl_skinny_held_bytes(problem);
  const double line = held <= level_1 ? vectors : fmax(held <= level_2 ? 1.5 : 2, vectors);
  const double written = job->walk != TSL_SKINNY_UPDATE ? 1 : held > 2 * level_1 ? cost->written_lines : 1.25;
  return (held + 0.4 * (bytes - held)) / 64 * written * line;
}

/* Returns the speed of lines over the device's bandwidth, which counts memory and plain loads. */
static double line_speed(double bytes, const tsl_device *device, const tsl_skinny_constants *cost) {
  return bytes <= 0.75 * (double)device->level_bytes[2] ? cost->cache_speed : cost->memory_speed;
}

/* Returns the threads that pieces or parts of k occupy all the time. */
static double count_busy(const tsl_skinny_job *job, int64_t threads) {
  if (job->alone)
    return 1;
  const tsl_skinny_pieces cut = tsl_skinny_cut(job, threads);
  const int64_t pieces = job->parts > 1 ? job->parts : cut.across * cut.down;
  return (double)pieces / (double)tsl_ceil_div(pieces, threads);
}

/* Returns the predicted seconds. By lines: the maximum of cache traffic, multiply-adds and memory traffic. By
 * tiles: multiply-adds overlapped with cache traffic; long updates access C in shorter pieces. */
static double skinny_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_operands strides = tsl_strides_of(problem);
  const double clock = 1e6 * device->clock_mhz, bytes = tsl_problem_bytes(problem);
  const double peak =
      tsl_type(problem->c.type)->component == TESELA_F64 ? device->peak_f64 : device->peak_f32;
  const double last = device->level_bytes[2] ? (double)device->level_bytes[2] : 16 << 20;
  tsl_skinny_job job;
  (void)config;
  tsl_skinny_job_make(problem, &strides, device, &job);
  const double threads = count_busy(&job, device->threads);
  const double per_clock = peak / device->threads / clock / (2 * (double)job.kernels->lanes);
  const tsl_skinny_constants *cost = &tsl_model_constants_of(device)->skinny;
  const double moved = moved_clocks(&job, problem, device, cost) / clock / threads;
  const double computed =
      ((job.is_tiled ? tile_clocks(&job, per_clock, cost) : line_clocks(&job, per_clock, cost)) +
       expand_clocks(&job, cost)) /
      clock / threads;
  const bool is_update = job.walk == TSL_SKINNY_UPDATE;
  const double woken = job.parts > 1 ? 8e-6 : 4e-6; /* parts are computed, then added */
  const double share = job.is_tiled && is_update ? 0.7 : 0.9;
  const double fetched = (job.is_tiled ? bytes > last / 2 : job.is_far)
                             ? share * bytes / (device->bandwidth * threads / device->threads) /
                                   (job.is_tiled ? cost->tile_speed : line_speed(bytes, device, cost))
                             : 0;
  if (!job.is_tiled)
    return (job.alone ? cost->call_seconds : woken) + fmax(fetched, fmax(moved, computed));
  const bool is_long = is_update && job.depth > TSL_SKINNY_MAX;
  const double unfit = is_long && (threads > 1 || job.beta == 0) ? 1.25 : 1;
  return (job.alone ? cost->tile_call_seconds : woken) +
         unfit * (is_long ? fetched + computed : fmax(fetched, computed + moved));
}

/* Counts the large operand once for each tile of thin rows, or group of lines; then from a cache. */
static void skinny_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                           tsl_cost_counts *account) {
  enum { LINES_AT_ONCE = 8 };
  const tsl_operands strides = tsl_strides_of(problem);
  tsl_skinny_job job;
  (void)config;
  tsl_skinny_job_make(problem, &strides, device, &job);
  const double bytes = account->useful * (double)job.size,
               height = job.is_tiled ? fmax(1, fmin((double)job.kernels->rows[1], (double)job.few))
                        : job.walk == TSL_SKINNY_UPDATE ? 1
                                                        : LINES_AT_ONCE;
  account->workers = job.alone ? 1 : device->threads;
  account->local.read = bytes / height;
  account->local.written = !job.is_tiled && job.walk == TSL_SKINNY_ROWS ? bytes / LINES_AT_ONCE : 0;
  tsl_cost_counts_operands(problem, (double)problem->m * (double)problem->k,
                           (double)problem->k * (double)problem->n, account);
  tsl_cost_counts_result(problem, 1, account);
}

static void skinny_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_config *config,
                        const tsl_device *device, void *job) {
  (void)config;
  tsl_skinny_job_make(problem, strides, device, job);
}

static tesela_status skinny_run(const void *job, const tsl_operands *operands) {
  return tsl_skinny_job_run(job, operands->team, operands->a.host, operands->b.host, operands->c.host);
}

_Static_assert(sizeof(tsl_skinny_job) <= TSL_JOB_MOST, "tsl_job_run() has so many bytes for a job");
static const tsl_host_job_ops jobs = {.size = sizeof(tsl_skinny_job), .make = skinny_make, .run = skinny_run};

static tesela_status skinny_run_prepared(const void *state, const void *a, const void *b, void *c) {
  const tsl_skinny_job *job = state;
  return tsl_skinny_job_run(job, job->team, a, b, c);
}

static tsl_fast_kernel *skinny_run_at(const tsl_work *work, const void **state) {
  *state = tsl_job_of(work);
  return skinny_run_prepared;
}

const tsl_strategy tsl_gemm_host_skinny = {
    .name = "host_skinny",
    .idea = "the large matrix of a product with one small dimension, in memory order once, on all cores",
    .lifts = "copies that few rows do not pay for, and lines that are asked for too late",
    .partner = "host_packed",
    .op = TSL_OP_GEMM,
    .version = 2,
    .needs = TSL_CAN_HOST,
    .accuracy = skinny_accuracy,
    .row_order = skinny_row_order,
    .refuse = skinny_refuse,
    .score = skinny_score,
    .build = tsl_job_build,
    .run = tsl_job_run,
    .release = tsl_job_release,
    .jobs = &jobs,
    .supports = {.types = tsl_types_blas, .conjugates = true},
    .resources = {.count_costs = skinny_account},
    .direct = {.run_at = skinny_run_at},
};

/* Idea: slim product: few rows, columns or steps, but not so few that only memory bandwidth counts. Tiles of
 * C stay in the vector registers while the large operand, or C, streams once in memory order. Beyond
 * `host_packed`: the large operand is not packed, and its next lines are prefetched. Beyond `host_thin`,
 * whose sums are stored and loaded: 3 to 16 rows keep the multiply-add units busy.
 *
 *   rows     Few x many, rows of the large operand are contiguous. A chunk of steps of a piece of columns
 *            is multiplied; the sums of a piece fit 16 KiB, two chunks the second-level cache. Meanwhile
 *            the next chunk is prefetched.
 *                   |<-- piece -->|
 *             steps [tile|tile|...]     sums[i][j] += thin[i][l] large[l][j]: a tile of rows x 2 vectors;
 *             next  [    |    |...]     elements of the thin operand are broadcast
 *   spread   Columns of the large operand are contiguous, or neither are. Vectors lie along the few; the thin
 *            operand is packed once, so that steps are whole vectors. Elements of the large operand are
 *            broadcast, a tile's columns at a time.
 *   update   Few steps and a large C: pieces of 240 rows by columns whose part of B fills a first cache, one
 *            row of tiles after the other. C is prefetched if the second-level cache does not hold it. If
 *            beta is 0 and C exceeds half of the last cache, a row of tiles is computed in a buffer and
 *            stored past the caches.
 *
 * Tiles have up to 12 x 1, 6 x 2 and 4 x 3 vectors, AVX-512 16 x 1, 12 x 2 and 8 x 3; an update has tiles of
 * one vector where AVX-512 has one multiply-add a clock. The last columns are copied to whole vectors.
 * Threads take pieces. Each sum adds its products in the order of k: `host_small` gives equal bits.
 *
 * Types: f32 and f64. Limits: m or n at most 16, or k at most 32. Measurements: docs/lab/host_slim.md. */
#include "strategy/cost_counts.h"
#include "strategy/gemm/host/host_slim/host_slim_job.h"
#include "strategy/host_jobs/host_job.h"

#include <math.h>

static const char *refuse(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)config;
  (void)device;
  return tsl_lopsided_refuse(problem, TSL_SLIM_MOST, TSL_SLIM_STEPS);
}

static double vectors_of(const tsl_slim_job *job, int64_t elements) {
  return (double)((elements + job->kernels->lanes - 1) / job->kernels->lanes);
}

/* Returns the measured clocks of the multiply-adds (`at_once` vectors in a clock) and of other work. */
static double computed_clocks(const tsl_slim_job *job, double at_once) {
  const double few = (double)job->shape.few, many = (double)job->shape.many, depth = (double)job->shape.depth,
               most = (double)job->kernels->rows[1];
  const double part = 0.85 * at_once;
  switch (job->way) {
  case TSL_SLIM_UPDATE:
    return few * vectors_of(job, job->shape.many) * (depth / part + 3.5) + few / most * 40 +
           1.5 * depth * many * (job->shape.across != 1);
  case TSL_SLIM_ROWS: {
    const double tiles = ceil(few / most), sums = 2 * few / tiles, wait = fmax(1, 4 * at_once / sums);
    return few * vectors_of(job, job->shape.many) * depth / part * wait +
           few * (job->shape.c_many == 1 ? 3 * vectors_of(job, job->shape.many) : 3 * many);
  }
  default:
    return many * vectors_of(job, job->shape.few) * depth / part + 2 * few * depth +
           many * (job->shape.c_few == 1 ? 16 : 2 * few);
  }
}

/* Returns the predicted seconds: multiply-adds overlapped with cache traffic. Large operands reach a little
 * more of the memory bandwidth than other strategies. A far line takes three clocks, and twelve if rows
 * stream: successive rows of a tile lie in different pages, which hardware does not prefetch. It takes 24 if
 * tiles do not prefetch either, since the thin operand's steps are not contiguous. */
static double score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_operands strides = tsl_strides_of(problem);
  const double clock = 1e6 * device->clock_mhz, bytes = tsl_problem_bytes(problem);
  const double peak = problem->c.type == TESELA_F64 ? device->peak_f64 : device->peak_f32;
  const double last = device->level_bytes[2] ? (double)device->level_bytes[2] : 16 << 20;
  tsl_slim_job job;
  (void)config;
  tsl_slim_job_make(problem, &strides, device, &job);
  const double threads = job.alone ? 1 : device->threads;
  const double at_once = peak / device->threads / clock / (2 * (double)job.kernels->lanes);
  const double line = !job.is_far ? 1 : job.way != TSL_SLIM_ROWS ? 3 : (job.shape.thin_along == 1 ? 12 : 24);
  const double moved = line * bytes / 64 / clock / threads;
  const double computed = computed_clocks(&job, at_once) / clock / threads;
  const double share = job.way == TSL_SLIM_UPDATE ? 0.7 : 0.9;
  const double fetched =
      bytes > last / 2 ? share * bytes / (device->bandwidth * threads / device->threads) : 0;
  const bool adds_up =
      job.way == TSL_SLIM_UPDATE && job.shape.depth > TSL_SLIM_MOST; /* C is accessed in shorter pieces */
  const double unfit = adds_up && (threads > 1 || job.shape.beta == 0) ? 1.25 : 1;
  return (job.alone ? 6e-8 : 4e-6) +
         unfit * (adds_up ? fetched + computed : fmax(fetched, computed + moved / 4));
}

/* Counts the large operand once for each tile of thin rows (update: of C's rows), then from a cache. */
static void account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                    tsl_cost_counts *account) {
  const tsl_operands strides = tsl_strides_of(problem);
  const double size = (double)tsl_type(problem->c.type)->size;
  tsl_slim_job job;
  (void)config;
  tsl_slim_job_make(problem, &strides, device, &job);
  const double height = fmax(1, fmin((double)job.kernels->rows[1], (double)job.shape.few));
  account->workers = job.alone ? 1 : device->threads;
  account->local.read = account->useful * size / height;
  account->local.written = 0;
  tsl_cost_counts_operands(problem, (double)problem->m * (double)problem->k,
                           (double)problem->k * (double)problem->n, account);
  tsl_cost_counts_result(problem, 1, account);
}

static void make(const tsl_problem *problem, const tsl_operands *strides, const tsl_config *config,
                 const tsl_device *device, void *job) {
  (void)config;
  tsl_slim_job_make(problem, strides, device, job);
}

static tesela_status run(const void *job, const tsl_operands *operands) {
  return tsl_slim_job_run(job, operands->team, operands->a.host, operands->b.host, operands->c.host);
}

_Static_assert(sizeof(tsl_slim_job) <= TSL_JOB_MOST, "tsl_job_run() has so many bytes for a job");
static const tsl_host_job_ops jobs = {.size = sizeof(tsl_slim_job), .make = make, .run = run};

static tesela_status run_prepared(const void *state, const void *a, const void *b, void *c) {
  const tsl_slim_job *job = state;
  return tsl_slim_job_run(job, job->team, a, b, c);
}

static tsl_fast_kernel *run_at(const tsl_work *work, const void **state) {
  *state = tsl_job_of(work);
  return run_prepared;
}

const tsl_strategy tsl_gemm_host_slim = {
    .name = "host_slim",
    .idea = "tiles of C in the registers while the large operand streams in memory order, on all cores",
    .lifts = "copies that few rows do not pay for, and lines that are asked for too late",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_HOST,
    .accuracy = tsl_accuracy_in_order,
    .refuse = refuse,
    .score = score,
    .build = tsl_job_build,
    .run = tsl_job_run,
    .release = tsl_job_release,
    .jobs = &jobs,
    .resources = {.count_costs = account},
    .direct = {.run_at = run_at},
};

/* Idea: thin product: each element of its one large matrix is read or written once. So the time is that of
 * memory if the matrix is walked in memory order. Beyond `host_packed`: the large operand is not packed, no
 * tile is mostly empty, and the hardware can prefetch.
 *
 *   rows       Few x many, rows of the large operand are contiguous: eight rows at a time are added to the
 *              sums of `few` rows. A piece is as wide as its sums fit 32 KiB. The next eight rows are
 *              prefetched.
 *                       |<-- piece -->|
 *                    l  ===============      sums[i] += thin[i][l] * row l, in the order of l
 *                  l+1  ===============
 *                       ...
 *   reduce     Its columns are contiguous: up to eight at a time, as registers allow, are multiplied with all
 *              thin rows, in vectors along k, whose lanes are added at the end.
 *   outer      k is 4 or less: C is computed row by row in pieces of 32 rows by 1024 columns. It is stored
 *              past the caches if beta is 0 and it exceeds half of the last cache.
 *
 * If the large operand has no contiguous direction, eight rows of a piece are copied at a time. The thin
 * operand is copied once. Threads take pieces; no sum is cut, so bits do not depend on the number of threads.
 * Types: f32 and f64. Limits: m or n at most 8, or k at most 4. Measurements: docs/lab/host_thin.md. */
#include "strategy/cost_counts.h"
#include "strategy/gemm/host/host_thin/host_thin_job.h"
#include "strategy/host_jobs/host_job.h"

#include <math.h>

enum { HELD_ROWS = 5 }; /* rows of sums that leave registers for the factors */

static const char *thin_refuse(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  (void)config;
  (void)device;
  return tsl_lopsided_refuse(problem, TSL_THIN_MOST, TSL_THIN_STEPS);
}

/* Returns the measured clocks of a cache line, by the cache level that holds the operands. */
static double line_clocks(const tsl_thin_job *job, double bytes, const tsl_device *device) {
  const double level_1 = device->level_bytes[0] ? (double)device->level_bytes[0] : 32 << 10;
  const double level_2 = device->level_bytes[1] ? (double)device->level_bytes[1] : 512 << 10;
  const double vectors = 64 / (double)(job->kernels->lanes * job->shape.size);
  const double level = bytes <= level_1 ? vectors : fmax(bytes <= level_2 ? 1.5 : 2, vectors);
  return job->way == TSL_THIN_ROWS && job->shape.across != 1 ? 16 * vectors
         : job->way == TSL_THIN_OUTER                        ? 1.25 * level
                                                             : level;
}

/* Returns the clocks of cache traffic; reading C as well takes two fifths longer (measured). */
static double moved_clocks(const tsl_thin_job *job, const tsl_problem *problem, const tsl_device *device) {
  const double held = tsl_thin_held_bytes(problem), again = tsl_problem_bytes(problem) - held;
  return (held + 0.4 * again) / 64 * line_clocks(job, held, device);
}

/* Returns the measured clocks of the multiply-adds (`at_once` vectors in a clock) and of other work. */
static double thin_computed_clocks(const tsl_thin_job *job, double at_once) {
  const double few = (double)job->shape.few, many = (double)job->shape.many, depth = (double)job->shape.depth;
  const int64_t lanes = job->kernels->lanes;
  const double vectors = (double)((job->shape.many + lanes - 1) / lanes),
               steps = (double)((job->shape.depth + lanes - 1) / lanes);
  const double part = (job->shape.few > HELD_ROWS ? 0.5 : 0.85) * at_once;
  const double moved = 1.5 * depth * few * (job->shape.thin_along != 1 && job->way != TSL_THIN_ROWS);
  switch (job->way) {
  case TSL_THIN_OUTER:
    return moved + few * (depth * vectors / (0.85 * at_once) + 6 + (job->shape.many % lanes ? 24 : 0)) +
           1.5 * depth * many * (job->shape.across != 1);
  case TSL_THIN_ROWS:
    return depth * (few * vectors / part + 3) + few * (job->shape.c_many == 1 ? 3 * vectors : 3 * many);
  default:
    return moved + many * few * (steps / part + 1.5);
  }
}

/* Returns the predicted seconds: the maximum of cache traffic, multiply-adds and memory traffic. */
static double thin_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_operands strides = tsl_strides_of(problem);
  const double clock = 1e6 * device->clock_mhz, bytes = tsl_problem_bytes(problem);
  const double peak = problem->c.type == TESELA_F64 ? device->peak_f64 : device->peak_f32;
  tsl_thin_job job;
  (void)config;
  tsl_thin_job_make(problem, &strides, device, &job);
  const double threads = job.alone ? 1 : device->threads;
  const double moved = moved_clocks(&job, problem, device) / clock / threads;
  const double at_once = peak / device->threads / clock / (2 * (double)job.kernels->lanes);
  const double computed = thin_computed_clocks(&job, at_once) / clock / threads;
  const double fetched = job.is_far ? 0.9 * bytes / (device->bandwidth * threads / device->threads) : 0;
  return (job.alone ? 3e-8 : 4e-6) + fmax(fetched, fmax(moved, computed));
}

/* Counts memory traffic: the large operand is read once, or from a cache for each row of C (outer). */
static void thin_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                         tsl_cost_counts *account) {
  static const double at_once = 8;
  const tsl_operands strides = tsl_strides_of(problem);
  const double size = (double)tsl_type(problem->c.type)->size, bytes = account->useful * size;
  tsl_thin_job job;
  (void)config;
  tsl_thin_job_make(problem, &strides, device, &job);
  account->workers = job.alone ? 1 : device->threads;
  account->local.read = job.way == TSL_THIN_OUTER ? bytes : bytes / at_once;
  account->local.written = job.way == TSL_THIN_ROWS ? bytes / at_once : 0;
  tsl_cost_counts_operands(problem, (double)problem->m * (double)problem->k,
                           (double)problem->k * (double)problem->n, account);
  tsl_cost_counts_result(problem, 1, account);
}

static void thin_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_config *config,
                      const tsl_device *device, void *job) {
  (void)config;
  tsl_thin_job_make(problem, strides, device, job);
}

static tesela_status thin_run(const void *job, const tsl_operands *operands) {
  return tsl_thin_job_run(job, operands->team, operands->a.host, operands->b.host, operands->c.host);
}

_Static_assert(sizeof(tsl_thin_job) <= TSL_JOB_MOST, "tsl_job_run() has so many bytes for a job");
static const tsl_host_job_ops jobs = {.size = sizeof(tsl_thin_job), .make = thin_make, .run = thin_run};

static tesela_status thin_run_prepared(const void *state, const void *a, const void *b, void *c) {
  const tsl_thin_job *job = state;
  return tsl_thin_job_run(job, job->team, a, b, c);
}

static tsl_fast_kernel *thin_run_at(const tsl_work *work, const void **state) {
  *state = tsl_job_of(work);
  return thin_run_prepared;
}

const tsl_strategy tsl_gemm_host_thin = {
    .name = "host_thin",
    .idea = "the large operand of a thin product, read once in memory order, on all cores",
    .lifts = "memory that is read in pieces, copied, or waited for",
    .op = TSL_OP_GEMM,
    .version = 2,
    .needs = TSL_CAN_HOST,
    .accuracy = tsl_accuracy_in_order,
    .refuse = thin_refuse,
    .score = thin_score,
    .build = tsl_job_build,
    .run = tsl_job_run,
    .release = tsl_job_release,
    .jobs = &jobs,
    .resources = {.count_costs = thin_account},
    .direct = {.run_at = thin_run_at},
};

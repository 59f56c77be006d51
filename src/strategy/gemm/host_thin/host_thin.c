/* Idea: a product that is thin in one direction reads, or writes, each number of its one large matrix once:
 * it takes as long as memory does, if the large matrix is walked the way it lies. What it adds to
 * `host_packed`: no copy of the large operand, no tiles that are mostly empty, and an order that memory can
 * follow.
 *
 *   rows       few x many, large operand with its rows side by side: eight rows at a time, in pieces that are
 * as wide as their sums fit 32 KiB, are added to the sums of `few` rows; the next eight are prefetched
 *              meanwhile
 *                       |<-- piece -->|
 *                    l  ===============      sums[i] += thin[i][l] * row l, in the order of l
 *                  l+1  ===============
 *                       ...
 *   reduce     its columns side by side: up to eight at a time, as registers allow, are multiplied with all
 * thin rows, in vectors along the sums, whose lanes are added in the end outer      depth 4 or less: C's rows
 * are made one after the other in pieces of 32 rows by 1024 columns, and go past the caches where nothing of
 * C is read and it is larger than half of the last cache
 *
 * Where the large operand has no direction side by side, eight rows of a piece are copied at a time. The thin
 * operand is copied once. Pieces are handed to threads; no sum is cut, so that the bits do not depend on
 * their number.
 *
 * Parameters: none.
 * Limits: f32 and f64; m or n of 8 or less, or k of 4 or less.
 * Measurements: docs/lab/host_thin.md. */
#include "strategy/cost_counts.h"
#include "strategy/gemm/host_thin/host_thin_job.h"
#include "strategy/host_job.h"

#include <math.h>

/* More rows of sums than this leave too few registers for the numbers that they are made of. */
enum { HELD_ROWS = 5 };

static const char *thin_refuse(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  (void)config;
  (void)device;
  return tsl_lopsided_refuse(problem, TSL_THIN_MOST, TSL_THIN_STEPS);
}

/* Clocks for a cache line of the operands: from the level that holds them, by measurement; what is written
 * takes a quarter more, and numbers that are copied first one after the other far longer. */
static double line_clocks(const tsl_thin_job *job, double bytes, const tsl_device *device) {
  const double level_1 = device->level_bytes[0] ? (double)device->level_bytes[0] : 32 << 10;
  const double level_2 = device->level_bytes[1] ? (double)device->level_bytes[1] : 512 << 10;
  const double vectors = 64 / (double)(job->kernels->lanes * job->of.size);
  const double level = bytes <= level_1 ? vectors : fmax(bytes <= level_2 ? 1.5 : 2, vectors);
  return job->way == TSL_THIN_ROWS && job->of.across != 1 ? 16 * vectors
         : job->way == TSL_THIN_OUTER                     ? 1.25 * level
                                                          : level;
}

/* What the caches take. A line of C that is written comes to the core before, whether it is read or not:
 * reading it takes two fifths as long again, by measurement. */
static double moved_clocks(const tsl_thin_job *job, const tsl_problem *problem, const tsl_device *device) {
  const double held = tsl_thin_held_bytes(problem), again = tsl_problem_bytes(problem) - held;
  return (held + 0.4 * again) / 64 * line_clocks(job, held, device);
}

/* Of the multiply-adds, `at_once` of vectors in a clock, and of what comes beside them, by measurement: a
 * last vector that is stored in part holds up the next store, sums of rows are stored and read again, those
 * of a column are vectors whose lanes are added, and numbers that do not lie side by side are moved one by
 * one. */
static double thin_computed_clocks(const tsl_thin_job *job, double at_once) {
  const double few = (double)job->of.few, many = (double)job->of.many, depth = (double)job->of.depth;
  const int64_t lanes = job->kernels->lanes;
  const double vectors = (double)((job->of.many + lanes - 1) / lanes),
               steps = (double)((job->of.depth + lanes - 1) / lanes);
  const double part = (job->of.few > HELD_ROWS ? 0.5 : 0.85) * at_once;
  const double moved = 1.5 * depth * few * (job->of.thin_along != 1 && job->way != TSL_THIN_ROWS);
  switch (job->way) {
  case TSL_THIN_OUTER:
    return moved + few * (depth * vectors / (0.85 * at_once) + 6 + (job->of.many % lanes ? 24 : 0)) +
           1.5 * depth * many * (job->of.across != 1);
  case TSL_THIN_ROWS:
    return depth * (few * vectors / part + 3) + few * (job->of.c_many == 1 ? 3 * vectors : 3 * many);
  default:
    return moved + many * few * (steps / part + 1.5);
  }
}

/* What the caches take, the multiply-adds, and for large operands memory at a little more than what others
 * get of it. */
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

/* The large operand is read once. Its rows are added to sums that stay near, eight at a time; along sums, as
 * many meet the thin operand; of short sums it is read again from a cache for each row of C. */
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
    .idea = "the one large operand of a thin product, walked once the way it lies, on all cores",
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
    .uses = {.account = thin_account},
    .fast_path = {.run_at = thin_run_at},
};

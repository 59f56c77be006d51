/* The descriptor of exact; idea and limits are in dot_exact.cl. The cpu uses C, other devices kernels, with
 * equal bits. Measurements: docs/lab/dot_exact.md. */

#include "core/memory.h"
#include "core/pool.h"
#include "core/scratch.h"
#include "core/status.h"
#include "strategy/exact_sums/sum.h"
#include "strategy/host_jobs/low_precision.h"
#include "strategy/kernel_launch/split_k_reduce.h"
#include "strategy/params.h"
#include "strategy/strategy.h"

#include <math.h>

enum { BLOCK = TSL_EXACT_BLOCK, CHUNK = 128 * BLOCK };

typedef struct dot_exact_worker_sum {
  bool used; /* false: `sum` is not initialized */
  tsl_exact_sum sum;
  _Alignas(TSL_CACHE_LINE) unsigned char x[BLOCK * sizeof(double)];
  unsigned char y[BLOCK * sizeof(double)];
} dot_exact_worker_sum;

typedef struct dot_exact_job {
  const unsigned char *x, *y;
  int64_t x_stride, y_stride, count; /* elements; terms */
  tesela_type x_type, y_type;
  tsl_exact_terms terms;
  dot_exact_worker_sum *worker_sums;
} dot_exact_job;

/* Returns terms for the window: in place if contiguous, else `count` terms in `dst`, filled up with zeros. */
static const void *dot_exact_gather_terms(tesela_type type, const unsigned char *from, int64_t stride,
                                          int count, void *dst) {
  const size_t size = type == TESELA_F64 ? sizeof(double) : sizeof(float);
  if (type != TESELA_F64 && type != TESELA_F32)
    tsl_narrow_gather(type, from, stride, count, dst);
  else if (stride == 1 && count == BLOCK)
    return from;
  else if (type == TESELA_F64)
    for (int i = 0; i < count; i++)
      ((double *)dst)[i] = ((const double *)from)[i * stride];
  else
    for (int i = 0; i < count; i++)
      ((float *)dst)[i] = ((const float *)from)[i * stride];
  memset((unsigned char *)dst + (size_t)count * size, 0, (size_t)(BLOCK - count) * size);
  return dst;
}

/* Adds chunk `chunk`, CHUNK terms or fewer, to the worker's sum. */
static void add_chunk(void *argument, int64_t chunk, int worker) {
  const dot_exact_job *run = argument;
  dot_exact_worker_sum *own = &run->worker_sums[worker];
  const int64_t first = chunk * CHUNK, x_step = run->x_stride * (int64_t)tsl_type(run->x_type)->size,
                y_step = run->y_stride * (int64_t)tsl_type(run->y_type)->size;
  const int64_t end = run->count - first < CHUNK ? run->count : first + CHUNK;
  if (!own->used)
    tsl_exact_sum_begin(&own->sum, TSL_EXACT_TOP_LEAST);
  own->used = true;
  for (int64_t i = first; i < end; i += BLOCK) {
    const int count = end - i < BLOCK ? (int)(end - i) : BLOCK;
    const void *x = dot_exact_gather_terms(run->x_type, run->x + i * x_step, run->x_stride, count, own->x),
               *y = dot_exact_gather_terms(run->y_type, run->y + i * y_step, run->y_stride, count, own->y);
    tsl_exact_sum_add(&run->terms, &own->sum, x, y, count);
  }
}

/* Adds the digits of all threads; returns the flags of non-finite products. */
static int dot_exact_merge(dot_exact_worker_sum *worker_sums, int workers, int64_t *digits) {
  int flags = 0;
  memset(digits, 0, TSL_EXACT_DIGITS * sizeof *digits);
  for (int w = 0; w < workers; w++) {
    if (!worker_sums[w].used)
      continue;
    tsl_exact_sum_settle(&worker_sums[w].sum);
    flags |= worker_sums[w].sum.flags;
    for (int i = 0; i < TSL_EXACT_DIGITS; i++)
      digits[i] += worker_sums[w].sum.digits[i];
    tsl_exact_settle(digits);
  }
  return flags;
}

/* Computes the dot on the cpu with all threads. */
static tesela_status exact_run_host(const tsl_work *work, const tsl_operands *operands) {
  const tsl_problem *problem = &work->problem;
  const tsl_exact_store how = tsl_exact_store_of(problem);
  const int workers = tsl_team_threads(operands->team);
  int64_t digits[TSL_EXACT_DIGITS];
  void *block;
  TSL_TRY(tsl_scratch_take((size_t)workers * sizeof(dot_exact_worker_sum), "superaccumulators", &block));
  dot_exact_job run = {.x = operands->a.host,
                       .y = operands->b.host,
                       .x_stride = operands->a.col_stride,
                       .y_stride = operands->b.row_stride,
                       .count = how.alpha == 0 ? 0 : problem->k,
                       .x_type = problem->a.type,
                       .y_type = problem->b.type,
                       .terms = tsl_exact_terms_of(problem->c.type, work->device->capabilities),
                       .worker_sums = block};
  for (int w = 0; w < workers; w++)
    run.worker_sums[w].used = false;
  tsl_team_run(operands->team, run.count == 0 ? 0 : (run.count - 1) / CHUNK + 1, add_chunk, &run);
  const int flags = dot_exact_merge(run.worker_sums, workers, digits);
  tsl_exact_sum_store(&how, digits, flags, operands->c.host);
  tsl_scratch_give(block);
  return TESELA_OK;
}

enum { GROUPS, GROUP };
static const tsl_param params[] = {
    [GROUPS] = {"groups",
                "most work-groups for each compute unit; half as many for f64 (no matter on the cpu)",
                4,
                {2, 4}},
    [GROUP] = {"group", "work-items of a group (no matter on the cpu)", 256, {128, 256}},
    {NULL, NULL, 0, {0}},
};
/* Items of the last launch's group; bytes that an item reads at a time; 8-byte numbers of a group's row of
 * digits and a summary. The last launch adds one digit of each group in 63 bits, which limits the groups. */
enum { GROUPS_MAX = 1024 };
enum { LAST_ITEMS = 256, TERM_BYTES = 32, ROW_F32 = 19 + 1, ROW_F64 = 84 + 1 };

static tsl_accuracy dot_exact_accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  const bool whole = tsl_type(problem->c.type)->is_integer;
  return (tsl_accuracy){.factor = whole ? 0 : 1, .is_reproducible = true, .is_correctly_rounded = !whole};
}

/* Returns the number of groups, limited by the terms and by the resident groups: a group that waits would
 * start after all others. Sums of doubles need more registers, and more work for each byte. */
static int64_t dot_exact_count_groups(const tsl_problem *problem, const tsl_config *config,
                                      const tsl_device *device) {
  const int64_t terms = TERM_BYTES / (problem->c.type == TESELA_F64 ? 8 : 4),
                tile = config->value[GROUP] * terms;
  const int64_t tiles = problem->k == 0 ? 1 : (problem->k - 1) / tile + 1, groups = config->value[GROUPS];
  const int64_t each = problem->c.type == TESELA_F64 ? groups / 2 : groups;
  const int64_t resident = each * (device->compute_units > 0 ? device->compute_units : 1);
  const int64_t most = resident < GROUPS_MAX ? resident : GROUPS_MAX;
  return tiles < most ? tiles : most;
}

static const char *dot_exact_make_grids(const tsl_problem *problem, const tsl_config *config,
                                        const tsl_device *device, tsl_grid *first, tsl_grid *last) {
  const int64_t groups = dot_exact_count_groups(problem, config, device);
  const char *why = tsl_fold_grid(device, groups, (int)config->value[GROUP], first);
  return why ? why : tsl_fold_grid(device, 1, LAST_ITEMS, last);
}

static const char *dot_exact_refuse(const tsl_problem *problem, const tsl_config *config,
                                    const tsl_device *device) {
  if (tsl_type(problem->c.type)->is_integer && problem->k > (int64_t)1 << 37)
    return "more than 2^37 terms of integers, whose sum a double may not hold";
  if (tsl_device_is_host(device))
    return tsl_params_refuse_kernels(params, config, device);
  const char *missing = tsl_refuse_missing(TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64, device);
  if (missing)
    return missing;
  tsl_grid first, last;
  return dot_exact_make_grids(problem, config, device, &first, &last);
}

static uint64_t dot_exact_scratch(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device) {
  return (uint64_t)dot_exact_count_groups(problem, config, device) *
         (problem->c.type == TESELA_F64 ? ROW_F64 : ROW_F32) * sizeof(int64_t);
}

/* Predicts the seconds on the cpu: clocks a term, memory traffic, the final rounding. */
static double dot_exact_score_host(const tsl_problem *problem, const tsl_device *device) {
  const bool twice = problem->c.type == TESELA_F64;
  const double clocks = device->capabilities & (TSL_CAN_AVX2 | TSL_CAN_AVX512) ? (twice ? 2 : 1.2)
                        : twice                                                ? 8
                                                                               : 2.5;
  const double chunks = ceil((double)problem->k / 32768), threads = fmin(fmax(1, chunks), device->threads);
  const double compute = 1e-6 * clocks * (double)problem->k / (device->clock_mhz * threads);
  return 1e-6 + (threads > 1 ? 5e-6 : 0) + fmax(compute, tsl_problem_bytes(problem) / device->bandwidth);
}

/* Predicts the seconds on a device: two launches, the end of a group and the final rounding. A GPU's memory
 * reaches nine tenths of its bandwidth, less with fewer resident items; a processor needs clocks a term. */
static double dot_exact_score(const tsl_problem *problem, const tsl_config *config,
                              const tsl_device *device) {
  if (tsl_device_is_host(device))
    return dot_exact_score_host(problem, device);
  const double k = (double)problem->k, units = fmax(1, device->compute_units);
  const bool twice = problem->c.type == TESELA_F64;
  const double groups = (double)dot_exact_count_groups(problem, config, device),
               memory = tsl_problem_bytes(problem) / device->bandwidth;
  const double ends = 2 * device->launch_seconds + 6e-6 + 5e-9 * groups;
  if (device->is_cpu)
    return ends + 5e-5 * groups / units + fmax(6e-6 * k / (device->clock_mhz * units), memory);
  const double items = groups * (double)config->value[GROUP] / units;
  const double busy = fmin(1, items / (twice ? 512 : 1024));
  return ends + fmax(memory / (0.92 * (0.8 + 0.2 * busy) * fmin(1, items / 256)),
                     (twice ? 34 : 16) * k / device->peak_f64);
}

static void dot_exact_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_cost_counts *account) {
  tsl_grid first, last;
  if (tsl_device_is_host(device))
    tsl_fold_account_host(problem, device, account);
  else if (!dot_exact_make_grids(problem, config, device, &first, &last)) {
    const double row = (problem->c.type == TESELA_F64 ? ROW_F64 : ROW_F32) * sizeof(int64_t);
    tsl_fold_account(problem, &first, row / first.items[0],
                     TERM_BYTES / (problem->c.type == TESELA_F64 ? 8.0 : 4.0), device, account);
  }
}

static tesela_status dot_exact_build(tsl_work *work) {
  tsl_grid first, last;
  if (tsl_device_is_host(work->device))
    return TESELA_OK;
  dot_exact_make_grids(&work->problem, &work->config, work->device, &first, &last);
  return tsl_fold_build(work, "strategy/dot/emulated/exact/dot_exact.cl", "tsl_dot_exact", &first,
                        "tsl_dot_exact_last", &last);
}

static tesela_status dot_exact_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  return tsl_device_is_host(work->device) ? exact_run_host(work, operands)
                                          : tsl_fold_run(work, operands, stream);
}

const tsl_strategy tsl_dot_exact = {
    .name = "exact",
    .idea = "the exact sum, rounded once: a superaccumulator of integers, the same bits in any order",
    .op = TSL_OP_DOT,
    .lifts = "every rounding but the last, and the order of the sum (not time)",
    .partner = "fixed_tree",
    .version = 2,
    .accuracy = dot_exact_accuracy,
    .needs_nearest = true,
    .params = params,
    .refuse = dot_exact_refuse,
    .score = dot_exact_score,
    .build = dot_exact_build,
    .run = dot_exact_run,
    .release = tsl_fold_release,
    .supports = {.types = tsl_types_real},
    .resources = {.scratch = dot_exact_scratch, .count_costs = dot_exact_account},
};

/* exact on the cpu (idea: dot_exact.cl). Threads take chunks of terms in rotation, each with its own
 * superaccumulator. Blocks of a chunk go through the vectors of exact_blocks.h in one window. A block that
 * does not fit is added term by term and moves the window. */
#include "core/memory.h"
#include "core/pool.h"
#include "core/scratch.h"
#include "core/status.h"
#include "strategy/dot/emulated/exact/dot_exact.h"
#include "strategy/exact_sums/sum.h"
#include "strategy/host_jobs/low_precision.h"

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

tesela_status tsl_exact_run_host(const tsl_work *work, const tsl_operands *operands) {
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

#include "strategy/transpose/host/vector/vector_host.h"

#include "core/pool.h"
#include "core/scratch.h"
#include "core/strides.h"
#include "host/int_math.h"
#include "strategy/transpose/host/vector/vector_moves.h"

#include <string.h>

/* GATHER_EDGE: edge in elements of a block with strided elements. EXCHANGE_EDGE_BYTES: of a block in place,
 * four lines of each row. TASK_BYTES: minimum of a task, ten times the cost of waking a thread. */
enum { GATHER_EDGE = 64, EXCHANGE_EDGE_BYTES = 256, TASK_BYTES = 128 << 10, TASKS_PER_THREAD = 4 };
enum { LINE_BYTES = 64, COPY_ELEMENTS_MAX = 1 << 20 };

typedef struct transpose_job {
  tsl_moves job;
  const tsl_moves_functions *functions;
  int64_t m, n;             /* ranges of i and j */
  int64_t size;             /* bytes of an element */
  int64_t i_lead;           /* elements that the first block lacks */
  int64_t i_block, j_block; /* elements of a block along i and j */
  int64_t down;             /* blocks along i */
  tsl_team team;
  unsigned char(
      /* remainder of a line for each row of a block and each worker; NULL: no non-temporal stores */
      *tails)[64];
} transpose_job;

/* Reverses an axis, so that `to` has a positive stride. */
static void reverse_axis(transpose_job *job, int64_t count, int64_t *from_stride, int64_t *to_stride) {
  job->job.from += (count - 1) * *from_stride;
  job->job.to += (count - 1) * *to_stride;
  *from_stride = -*from_stride;
  *to_stride = -*to_stride;
}

/* Makes the axis of the smallest stride of `to` j; an axis of one element becomes i. */
static void vector_order_axes(transpose_job *all) {
  tsl_moves *job = &all->job;
  if (all->m > 1 && job->to_stride < 0)
    reverse_axis(all, all->m, &job->from_step, &job->to_stride);
  if (all->n > 1 && job->to_step < 0)
    reverse_axis(all, all->n, &job->from_stride, &job->to_step);
  if (all->n > 1 && (all->m == 1 || job->to_step <= job->to_stride))
    return;
  tsl_exchange(&all->m, &all->n);
  tsl_exchange(&job->from_step, &job->from_stride);
  tsl_exchange(&job->to_stride, &job->to_step);
}

static unsigned char *vector_target_address(const transpose_job *all, int64_t i, int64_t j) {
  return all->job.to + i * all->job.to_stride + j * all->job.to_step;
}

static tsl_moves_block vector_block_at(const transpose_job *all, int64_t index) {
  const int64_t i = index % all->down * all->i_block - all->i_lead, j = index / all->down * all->j_block;
  return (tsl_moves_block){i > 0 ? i : 0, tsl_min(i + all->i_block, all->m), j,
                           tsl_min(j + all->j_block, all->n)};
}

static void transpose_block(void *argument, int64_t index, int worker) {
  const transpose_job *all = argument;
  const tsl_moves_block block = vector_block_at(all, index);
  all->functions->transpose(&all->job, &block, all->tails ? all->tails + worker * all->i_block : NULL);
}

static void vector_gather_block(void *argument, int64_t index, int worker) {
  const transpose_job *all = argument;
  const tsl_moves_block block = vector_block_at(all, index);
  (void)worker;
  all->functions->gather(&all->job, &block);
}

static void vector_copy_block(void *argument, int64_t index, int worker) {
  const transpose_job *all = argument;
  const tsl_moves_block block = vector_block_at(all, index);
  (void)worker;
  for (int64_t i = block.i0; i < block.i1; i++)
    all->functions->copy(&all->job, all->job.from + i * all->job.from_step + block.j0 * all->size,
                         vector_target_address(all, i, block.j0), block.j1 - block.j0);
}

/* Runs a task over blocks of at most i_max x j_max elements; narrower, if threads would be idle. */
static void run_blocks(transpose_job *all, tsl_pool_task task, int64_t i_max, int64_t j_max) {
  all->i_block = i_max;
  all->down = tsl_ceil_div_or_one(all->m + all->i_lead, i_max);
  const int64_t tasks = TASKS_PER_THREAD * (int64_t)tsl_team_threads(all->team);
  const int64_t wanted = tsl_ceil_div_or_one(tasks, all->down), unit = LINE_BYTES / all->size;
  const int64_t least_columns = tsl_ceil_div_or_one(TASK_BYTES, tsl_min(i_max, all->m) * all->size);
  int64_t columns = tsl_ceil_div_or_one(all->n, wanted);
  columns = columns < least_columns ? least_columns : columns;
  all->j_block = tsl_min(tsl_ceil_div_or_one(columns, unit) * unit, j_max);
  tsl_team_run(all->team, all->down * tsl_ceil_div_or_one(all->n, all->j_block), task, all);
}

/* Transposes by tiles. Without memory for the partial lines there are no non-temporal stores. */
static void transpose_by_tiles(transpose_job *all) {
  const int64_t rows = TSL_MOVES_ROWS(all->size);
  void *memory = NULL;
  if (all->job.nontemporal)
    all->job.nontemporal = tsl_scratch_take((size_t)(tsl_team_threads(all->team) * rows * LINE_BYTES),
                                            "parts of cache lines", &memory) == TESELA_OK;
  all->tails = memory;
  run_blocks(all, transpose_block, rows, INT64_MAX / LINE_BYTES);
  tsl_scratch_give(memory);
}

/* Transposes out of place: by rows if both sides are contiguous, by tiles, or element by element. */
static void transpose_out_of_place(transpose_job *all) {
  tsl_moves *job = &all->job;
  const int64_t size = all->size;
  vector_order_axes(all);
  if (job->to_step == size && job->from_stride == size) {
    if (all->m > 1 && job->to_stride == all->n * size && job->from_step == all->n * size) {
      all->n *= all->m;
      all->m = 1;
    }
    run_blocks(all, vector_copy_block, tsl_ceil_div_or_one(COPY_ELEMENTS_MAX, all->n * size),
               COPY_ELEMENTS_MAX / size);
  } else if (job->to_step == size && job->from_step == size && all->m > 1) {
    /* blocks end at cache lines of `from` */
    if (job->from_stride % LINE_BYTES == 0)
      all->i_lead = (int64_t)((uintptr_t)job->from % LINE_BYTES) / size;
    transpose_by_tiles(all);
  } else {
    run_blocks(all, vector_gather_block, GATHER_EDGE, GATHER_EDGE);
  }
}

typedef void (*exchanger)(const tsl_moves *job, const tsl_moves_block *block, const tsl_moves_block *next);

static void exchange_block_row(const transpose_job *all, exchanger exchange, int64_t row) {
  const int64_t unit = all->i_block, i = row * unit, end = tsl_min(i + unit, all->n);
  for (int64_t j = i; j < all->n; j += unit) {
    const tsl_moves_block block = {i, end, j, tsl_min(j + unit, all->n)};
    const tsl_moves_block next = {i, end, j + unit, j + 2 * unit};
    exchange(&all->job, &block, next.j1 <= all->n ? &next : NULL);
  }
}

/* Exchanges a row of blocks from the diagonal on, and the row mirrored from the end: equal work. */
static void exchange_rows(void *argument, int64_t index, int worker) {
  const transpose_job *all = argument;
  const bool side_by_side = all->job.to_step == all->size;
  const exchanger exchange = side_by_side ? all->functions->exchange : all->functions->exchange_elementwise;
  (void)worker;
  exchange_block_row(all, exchange, index);
  if (all->down - 1 - index != index)
    exchange_block_row(all, exchange, all->down - 1 - index);
}

static void transpose_in_place(transpose_job *all) {
  tsl_moves *job = &all->job;
  if (job->to_stride == all->size || job->to_stride == -all->size)
    tsl_exchange(&job->to_stride, &job->to_step); /* the transposed matrix has equal mirror images */
  if (job->to_step == -all->size) {               /* both axes are reversed, so the diagonal is unchanged */
    job->to += (all->n - 1) * (job->to_stride + job->to_step);
    job->to_stride = -job->to_stride;
    job->to_step = -job->to_step;
  }
  job->from = job->to;
  job->from_stride = job->to_stride;
  job->from_step = job->to_step;
  all->i_block = EXCHANGE_EDGE_BYTES / all->size;
  all->down = tsl_ceil_div_or_one(all->n, all->i_block);
  const int64_t tasks = (all->down + 1) / 2;
  if (all->n * all->n * all->size > TASK_BYTES)
    tsl_team_run(all->team, tasks, exchange_rows, all);
  else
    for (int64_t task = 0; task < tasks; task++)
      exchange_rows(all, task, 0);
}

/* Returns the index of the element's functions, TSL_MOVES_...: by size, or by type if alpha scales. */
static int find_functions(const tsl_problem *problem) {
  static const int by_size[] = {
#define SIZE_ROW(name, bytes) [bytes] = TSL_MOVES_##name,
      SIZE_ROW(1, 1) SIZE_ROW(2, 2) SIZE_ROW(4, 4) SIZE_ROW(8, 8) SIZE_ROW(16, 16)
#undef SIZE_ROW
  };
  if (problem->alpha[0] == 1 || problem->alpha[0] == 0)
    return by_size[tsl_type(problem->c.type)->size];
  return problem->c.type == TESELA_F32 ? TSL_MOVES_f32 : TSL_MOVES_f64;
}

void tsl_vector_on_host(const tsl_problem *problem, const tsl_operands *operands, const tsl_device *device) {
  static const unsigned char zero[16];
  const tsl_moves_functions *functions = tsl_moves_for(device->capabilities);
  const int64_t size = (int64_t)tsl_type(problem->c.type)->size;
  const tsl_operand *a = &operands->a, *c = &operands->c;
  const bool is_zero = problem->alpha[0] == 0;
  transpose_job all = {.functions = functions + find_functions(problem),
                       .m = problem->m,
                       .n = problem->n,
                       .size = size,
                       .team = operands->team};
  all.job = (tsl_moves){.from = is_zero ? zero : a->host,
                        .to = c->host,
                        .from_stride = is_zero ? 0 : a->row_stride * size,
                        .from_step = is_zero ? 0 : a->col_stride * size,
                        .to_stride = c->row_stride * size,
                        .to_step = c->col_stride * size,
                        .factor = problem->alpha[0]};
  /* non-temporal stores if both operands together exceed half of the last cache */
  const uint64_t cache = device->cache_bytes ? device->cache_bytes : (uint64_t)32 << 20;
  all.job.nontemporal = 4 * (uint64_t)(problem->m * problem->n * size) > cache;
  if (problem->in_place && !is_zero)
    transpose_in_place(&all);
  else
    transpose_out_of_place(&all);
}

/* The loops: copies of all panels of A and B, side by side on all threads, and then blocks of C. */
#include "strategy/gemm/host_amx/job.h"

#include "base/pool.h"
#include "base/scratch.h"
#include "base/status.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Elements of C that caches may hold until they are wanted again. */
static const int64_t most_kept = (int64_t)4 << 20;
/* More than this is not copied at once: the larger side of C is cut in two instead. */
static const int64_t most_bytes = (int64_t)256 << 20;

/* --- what is where in the copies, in units --- */

static int64_t rows_of_a(const tsl_amx_job *job) {
  const int64_t step = job->kernels->has_registers ? TSL_AMX_REGISTER_ROWS : 1;
  return tsl_amx_count(job->m, step) * step;
}

static int64_t columns_of_b(const tsl_amx_job *job) {
  return job->strips * job->kernels->width;
}

static int64_t panel_units(const tsl_amx_job *job, int64_t panel) {
  return tsl_amx_least(job->depth, job->units - panel * job->depth);
}

/* Row at which sliver `index` starts: nearly alike, or whole registers. */
static int64_t row_of(const tsl_amx_job *job, int64_t index) {
  const int64_t m = job->m, slivers = job->slivers;
  if (job->kernels->has_registers)
    return tsl_amx_least(index * job->kernels->height, rows_of_a(job));
  return m / slivers * index + tsl_amx_least(m % slivers, index);
}

/* The whole of the copies: A's panels, B's panels, and a row of starts for each of B's. */
typedef struct copies {
  uint32_t *a, *b, *starts;
} copies;

static uint32_t *sliver_at(const tsl_amx_job *job, const copies *all, int64_t panel, int64_t index) {
  return all->a + panel * job->depth * rows_of_a(job) + row_of(job, index) * panel_units(job, panel);
}

static uint32_t *strip_at(const tsl_amx_job *job, const copies *all, int64_t panel, int64_t index) {
  return all->b + panel * job->depth * columns_of_b(job) +
         index * job->kernels->width * panel_units(job, panel);
}

static uint32_t *start_at(const tsl_amx_job *job, const copies *all, int64_t panel, int64_t index) {
  return all->starts + panel * columns_of_b(job) + index * job->kernels->width;
}

/* --- copying --- */

typedef struct copying {
  const tsl_amx_job *job;
  const copies *all;
} copying;

/* What the elements of A have too much in each sum, taken off: the sums of B's columns come from a tile of one row of
 * ones. */
static void make_start(const tsl_amx_job *job, const tsl_amx_tile *strip, uint32_t *start) {
  enum { PIECE = 256 };
  uint32_t ones[PIECE];
  tsl_amx_tile piece = *strip;
  memset(ones, 1, sizeof ones);
  for (int64_t u = 0; u < strip->units; u += PIECE) {
    piece.a = ones;
    piece.b = strip->b + u * job->kernels->width;
    piece.units = tsl_amx_least(PIECE, strip->units - u);
    piece.sums = start;
    piece.goes_on = u > 0;
    job->kernels->tiles[0](&piece);
  }
  for (int j = 0; j < job->kernels->width; j++)
    start[j] *= (uint32_t)-job->kernels->turned;
}

static tsl_amx_copy panel_copy(const tsl_amx_job *job, int64_t panel, const tsl_operand *of, int64_t across,
                               int64_t along, int64_t first) {
  const int64_t per = tsl_amx_elements(job->kernels->format), step = panel * job->depth * per;
  return (tsl_amx_copy){.in = (const unsigned char *)of->host + (first * across + step * along) * job->size,
                        .across = across,
                        .along = along,
                        .depth = tsl_amx_least(job->k - step, job->depth * per),
                        .units = panel_units(job, panel)};
}

static void copy_sliver(const copying *of, int64_t panel, int64_t index) {
  const tsl_amx_job *job = of->job;
  const int64_t row = row_of(job, index), end = row_of(job, index + 1);
  tsl_amx_copy copy = panel_copy(job, panel, &job->a, job->a.row_stride, job->a.col_stride, row);
  copy.count = tsl_amx_least(end, job->m) - row;
  copy.width = end - row;
  copy.for_registers = job->kernels->has_registers;
  copy.flip = job->kernels->turned != 0 ? 0x80808080 : 0;
  copy.out = sliver_at(job, of->all, panel, index);
  job->copy_a(&copy);
}

static void copy_strip(const copying *of, int64_t panel, int64_t index) {
  const tsl_amx_job *job = of->job;
  const int64_t width = job->kernels->width;
  tsl_amx_copy copy = panel_copy(job, panel, &job->b, job->b.col_stride, job->b.row_stride, index * width);
  copy.count = tsl_amx_least(width, job->n - index * width);
  copy.width = width;
  copy.out = strip_at(job, of->all, panel, index);
  job->copy_b(&copy);
  if (job->kernels->turned != 0)
    make_start(job, &(tsl_amx_tile){.units = copy.units, .b = copy.out},
               start_at(job, of->all, panel, index));
}

/* Slivers, then strips, of a panel after the other. */
static void copy_one(void *argument, int64_t index, int worker) {
  const copying *of = argument;
  const int64_t each = of->job->slivers + of->job->strips, panel = index / each, piece = index % each;
  (void)worker;
  if (piece < of->job->slivers)
    copy_sliver(of, panel, piece);
  else
    copy_strip(of, panel, piece - of->job->slivers);
}

/* --- multiplying --- */

typedef struct multiplying {
  const tsl_amx_job *job;
  const copies *all;
  uint32_t *sums;  /* of every worker */
  int64_t room;    /* of one, in sums */
  int64_t columns; /* blocks side by side in C */
} multiplying;

/* Sums of a tile are dense, in room for the largest. */
static int64_t tile_room(const tsl_amx_job *job) {
  return (int64_t)job->kernels->height * job->kernels->width;
}

static void finish_tile(const tsl_amx_job *job, int64_t sliver, int64_t strip, const uint32_t *sums) {
  const int64_t row = row_of(job, sliver), column = strip * job->kernels->width;
  const bool any = job->k > 0;
  const tsl_amx_last last = {
      .sums = sums,
      .rows = tsl_amx_least(row_of(job, sliver + 1), job->m) - row,
      .columns = tsl_amx_least(job->kernels->width, job->n - column),
      .width = job->kernels->width,
      .c =
          (unsigned char *)job->c.host + (row * job->c.row_stride + column * job->c.col_stride) * job->c_size,
      .c_row = job->c.row_stride,
      .c_column = job->c.col_stride,
      .alpha = any ? (float)job->alpha : 0,
      .beta = (float)job->beta,
      .whole_alpha = job->c_size == 4 && any ? (uint32_t)(int64_t)job->alpha : 0,
      .whole_beta = job->c_size == 4 ? (uint32_t)(int64_t)job->beta : 0,
      .streams = job->streams,
  };
  job->last(&last);
}

/* Lines of C that the last panel's tile ends in, asked for before it is computed. */
static void fetch_c(const tsl_amx_job *job, int64_t sliver, int64_t strip) {
  const int64_t row = row_of(job, sliver), end = tsl_amx_least(row_of(job, sliver + 1), job->m),
                column = strip * job->kernels->width;
  const unsigned char *const first = (const unsigned char *)job->c.host + column * job->c_size;
  for (int64_t i = row; i < end && job->c.col_stride == 1; i++) {
    __builtin_prefetch(first + i * job->c.row_stride * job->c_size, 1);
    __builtin_prefetch(first + i * job->c.row_stride * job->c_size + 64, 1);
  }
}

static void multiply_tile(const multiplying *of, int64_t panel, int64_t sliver, int64_t strip,
                          uint32_t *sums) {
  const tsl_amx_job *job = of->job;
  const tsl_amx_kernels *kernels = job->kernels;
  const int64_t rows = row_of(job, sliver + 1) - row_of(job, sliver);
  const tsl_amx_tile tile = {
      .units = panel_units(job, panel),
      .a = sliver_at(job, of->all, panel, sliver),
      .b = strip_at(job, of->all, panel, strip),
      .start = kernels->turned != 0 ? start_at(job, of->all, panel, strip) : NULL,
      .sums = sums,
      .goes_on = panel > 0,
  };
  kernels->tiles[kernels->has_registers ? rows / TSL_AMX_REGISTER_ROWS - 1 : rows - 1](&tile);
}

/* Panel after panel of a block of C; a strip stays in the first-level cache while the block's slivers pass. */
static void multiply_block(void *argument, int64_t index, int worker) {
  const multiplying *of = argument;
  const tsl_amx_job *job = of->job;
  const int64_t room = tile_room(job), sliver_first = index / of->columns * job->block_slivers,
                strip_first = index % of->columns * job->block_strips,
                sliver_end = tsl_amx_least(sliver_first + job->block_slivers, job->slivers),
                strip_end = tsl_amx_least(strip_first + job->block_strips, job->strips);
  uint32_t *const sums = of->sums + worker * of->room;
  if (job->kernels->begin)
    job->kernels->begin();
  for (int64_t panel = 0; panel < job->panels; panel++)
    for (int64_t strip = strip_first; strip < strip_end; strip++)
      for (int64_t sliver = sliver_first; sliver < sliver_end; sliver++) {
        const int64_t place = (strip - strip_first) * (sliver_end - sliver_first) + sliver - sliver_first;
        uint32_t *const own = sums + (job->panels == 1 ? 0 : place * room);
        if (panel == job->panels - 1 && !job->streams)
          fetch_c(job, sliver, strip);
        multiply_tile(of, panel, sliver, strip, own);
        if (panel == job->panels - 1)
          finish_tile(job, sliver, strip, own);
      }
  if (job->kernels->end)
    job->kernels->end();
  if (job->streams) /* lines past the caches are there before this block is said to be done */
    atomic_thread_fence(memory_order_seq_cst);
}

/* --- the whole --- */

static void run_all(tsl_pool *pool, int64_t count, tsl_pool_task task, void *argument) {
  if (pool)
    tsl_pool_run(pool, count, task, argument);
  else
    for (int64_t i = 0; i < count; i++)
      task(argument, i, 0);
}

/* Nothing is multiplied: C = beta C. */
static void scale_only(const tsl_amx_job *job) {
  uint32_t zeros[TSL_AMX_ROWS_MAX * TSL_AMX_WIDTH_MAX] = {0};
  for (int64_t sliver = 0; sliver < job->slivers; sliver++)
    for (int64_t strip = 0; strip < job->strips; strip++)
      finish_tile(job, sliver, strip, zeros);
}

static tesela_status run_whole(const tsl_amx_job *job, tsl_pool *pool) {
  const int64_t line = 16, threads = pool ? tsl_pool_threads(pool) : 1;
  const int64_t a = tsl_amx_count(job->units * rows_of_a(job), line) * line,
                b = job->units * columns_of_b(job), starts = job->panels * columns_of_b(job);
  multiplying of = {.job = job, .columns = tsl_amx_count(job->strips, job->block_strips)};
  of.room = tile_room(job) * (job->panels == 1 ? 1 : job->block_slivers * job->block_strips);
  void *memory;
  TSL_TRY(tsl_scratch_take((size_t)(a + b + starts + threads * of.room) * sizeof(uint32_t),
                           "copies of the operands", &memory));
  const copies all = {.a = memory, .b = (uint32_t *)memory + a, .starts = (uint32_t *)memory + a + b};
  of.all = &all;
  of.sums = all.starts + starts;
  copying copied = {.job = job, .all = &all};
  run_all(pool, job->panels * (job->slivers + job->strips), copy_one, &copied);
  run_all(pool, tsl_amx_count(job->slivers, job->block_slivers) * of.columns, multiply_block, &of);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

static int64_t copied_bytes(const tsl_amx_job *job) {
  return 4 * job->units * (rows_of_a(job) + columns_of_b(job));
}

static void count_pieces(tsl_amx_job *job) {
  job->slivers = tsl_amx_count(job->m, job->kernels->height);
  job->strips = tsl_amx_count(job->n, job->kernels->width);
}

/* The part of a job with rows, or columns, from `first` to before `end`. */
static tsl_amx_job part_of(const tsl_amx_job *job, bool by_rows, int64_t first, int64_t end) {
  tsl_amx_job part = *job;
  if (by_rows) {
    part.a.host = (unsigned char *)job->a.host + first * job->a.row_stride * job->size;
    part.c.host = (unsigned char *)job->c.host + first * job->c.row_stride * job->c_size;
    part.m = end - first;
  } else {
    part.b.host = (unsigned char *)job->b.host + first * job->b.col_stride * job->size;
    part.c.host = (unsigned char *)job->c.host + first * job->c.col_stride * job->c_size;
    part.n = end - first;
  }
  count_pieces(&part);
  return part;
}

static tesela_status run_parts(const tsl_amx_job *job, tsl_pool *pool) {
  const bool by_rows = job->m > job->n, is_one = job->slivers < 2 && job->strips < 2;
  if (is_one || copied_bytes(job) <= most_bytes)
    return run_whole(job, pool);
  const int64_t step = by_rows ? job->kernels->height : job->kernels->width,
                half = tsl_amx_count((by_rows ? job->m : job->n) / 2, step) * step;
  const tsl_amx_job first = part_of(job, by_rows, 0, half),
                    second = part_of(job, by_rows, half, by_rows ? job->m : job->n);
  TSL_TRY(run_parts(&first, pool));
  return run_parts(&second, pool);
}

tesela_status tsl_amx_run(const tsl_amx_job *job, bool alone) {
  if (job->k > 0)
    return run_parts(job, alone ? NULL : tsl_pool_shared());
  scale_only(job);
  return TESELA_OK;
}

/* --- from a problem --- */

static tsl_operand turned_over(const tsl_operand *of) {
  tsl_operand turned = *of;
  turned.row_stride = of->col_stride;
  turned.col_stride = of->row_stride;
  return turned;
}

static void set_operands(tsl_amx_job *job, const tsl_operands *operands) {
  job->a = job->is_turned ? turned_over(&operands->b) : operands->a;
  job->b = job->is_turned ? turned_over(&operands->a) : operands->b;
  job->c = job->is_turned ? turned_over(&operands->c) : operands->c;
}

/* Blocks of about `kept` bytes of A by 512 columns, smaller ones where there would be too few for the threads. */
static void choose_blocks(tsl_amx_job *job, int64_t kept, int threads) {
  const int64_t wanted = threads == 1 ? 1 : 4 * (int64_t)threads;
  job->block_slivers = kept / (4 * job->depth * job->kernels->height);
  job->block_slivers = job->block_slivers < 1 ? 1 : tsl_amx_least(job->block_slivers, job->slivers);
  job->block_strips = tsl_amx_least(512 / job->kernels->width, job->strips);
  while (tsl_amx_count(job->slivers, job->block_slivers) * tsl_amx_count(job->strips, job->block_strips) <
             wanted &&
         (job->block_slivers > 1 || job->block_strips > 1)) {
    int64_t *const larger =
        job->block_slivers >= job->block_strips ? &job->block_slivers : &job->block_strips;
    *larger = (*larger + 1) / 2;
  }
}

tsl_amx_job tsl_amx_job_with(const tsl_amx_kernels *kernels, bool is_turned, const tsl_problem *problem,
                             const tsl_operands *strides, int64_t depth, int64_t kept, int threads) {
  tsl_amx_job job = {.kernels = kernels,
                     .copy_a = tsl_amx_copy_for(kernels, kernels->a),
                     .copy_b = tsl_amx_copy_for(kernels, kernels->b),
                     .last = tsl_amx_last_for(kernels, problem->c.type),
                     .m = is_turned ? problem->n : problem->m,
                     .n = is_turned ? problem->m : problem->n,
                     .k = tsl_problem_reads(problem, TSL_OPERAND_A) ? problem->k : 0,
                     .size = (int64_t)tsl_type(kernels->a)->size,
                     .c_size = (int64_t)tsl_type(problem->c.type)->size,
                     .is_turned = is_turned,
                     .streams = problem->beta[0] == 0 && tsl_shape_extent(&problem->c) > most_kept,
                     .alpha = problem->alpha[0],
                     .beta = problem->beta[0]};
  const int64_t step = kernels->has_registers ? TSL_AMX_REGISTER_UNITS : 1;
  set_operands(&job, strides);
  count_pieces(&job);
  job.units = tsl_amx_count(tsl_amx_count(job.k, tsl_amx_elements(kernels->format)), step) * step;
  job.panels = tsl_amx_count(job.units, depth);
  job.depth = depth;
  if (job.panels > 1) /* nearly alike, so that the last one is not short */
    job.depth = tsl_amx_count(tsl_amx_count(job.units, job.panels), 16) * 16;
  job.panels = tsl_amx_count(job.units, job.depth);
  choose_blocks(&job, kept, threads);
  return job;
}

tsl_amx_job tsl_amx_job_for(const tsl_problem *problem, const tsl_operands *strides, int64_t depth,
                            int64_t kept, const tsl_device *device) {
  const bool is_turned = llabs(strides->c.col_stride) > llabs(strides->c.row_stride);
  const tesela_type a = is_turned ? problem->b.type : problem->a.type,
                    b = is_turned ? problem->a.type : problem->b.type;
  return tsl_amx_job_with(tsl_amx_kernels_for(a, b, device->capabilities), is_turned, problem, strides, depth,
                          kept, device->threads);
}

void tsl_amx_job_bind(tsl_amx_job *job, const tsl_operands *operands) {
  set_operands(job, operands);
}

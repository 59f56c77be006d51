/* How a job is shared out.
 *
 * Where k is not split: dot instructions: all threads share copies of all operands. Tile registers use copies up so
 * fast that whatever another thread made comes too late: each thread takes a rectangle of C and copies for itself what
 * that needs.
 *
 *      +-------+-------+-------+
 *      |   0   |   1   |   2   |     as many rectangles as threads, whose sides make the least work for the largest of them: its
 *      +-------+-------+-------+     products, and copies in proportion to its sides
 *      |   3   |   4   |   5   |
 *      +-------+-------+-------+
 *
 * What lies in a rectangle does not depend on it, so bits are the same for any number of threads.
 *
 * Where C is small and k long: k is cut into parts, each with sums of its own, which are added in the order of the parts,
 * whoever made them. How many there are depends on the shape alone. */
#include "base/scratch.h"
#include "base/status.h"
#include "strategy/gemm/host_amx/job.h"

#include <string.h>

/* --- rectangles of C --- */

/* More than this is not copied at once: C is cut into more rectangles. */
static const int64_t most_bytes = (int64_t)256 << 20;

typedef struct cutting {
  const tsl_amx_job *job;
  int64_t rows, columns; /* of a rectangle, the last ones excepted */
  int64_t across;        /* rectangles side by side */
  uint32_t *workspace;
  int64_t each;   /* a share of it */
  bool by_worker; /* whose shares are a worker's, else a rectangle's */
  tsl_team team;
} cutting;

static tsl_amx_job rectangle(const cutting *of, int64_t index) {
  const tsl_amx_job *job = of->job;
  const int64_t row = index / of->across * of->rows, column = index % of->across * of->columns;
  return tsl_amx_rectangle_of(job, row, tsl_least(of->rows, job->views.m - row), column,
                              tsl_least(of->columns, job->views.n - column));
}

static int64_t rounded(int64_t total, int64_t parts, int64_t step) {
  return tsl_ceil_div(tsl_ceil_div(total, step), parts) * step;
}

/* Clocks for a unit of each row and column of a rectangle: 256 products a clock, a few clocks to copy a line of 16. */
static double clocks(int64_t rows, int64_t columns) {
  return (double)rows * (double)columns / 256 + (double)(rows + columns) / 4;
}

/* Into `count` rectangles, or fewer. */
static void cut(cutting *of, int64_t count) {
  const tsl_amx_job *job = of->job;
  double best = -1;
  for (int64_t down = 1; down <= count; down++) {
    if (count % down != 0)
      continue;
    const int64_t rows = rounded(job->views.m, down, job->kernels->height),
                  columns = rounded(job->views.n, count / down, job->kernels->width);
    const double cost = clocks(rows, columns);
    if (best >= 0 && cost >= best)
      continue;
    best = cost;
    of->rows = rows;
    of->columns = columns;
  }
  of->across = tsl_ceil_div(job->views.n, of->columns);
}

int64_t tsl_amx_workspace_here(const tsl_amx_job *job) {
  return job->kernels->is_amx ? tsl_amx_workspace_alone(job) : tsl_amx_workspace_shared(job, 1);
}

void tsl_amx_run_here(const tsl_amx_job *job, uint32_t *workspace) {
  if (job->kernels->is_amx)
    tsl_amx_run_alone(job, workspace);
  else
    tsl_amx_run_shared(job, (tsl_team){0}, workspace);
}

static void multiply_rectangle(void *argument, int64_t index, int worker) {
  const cutting *of = argument;
  const tsl_amx_job part = rectangle(of, index);
  if (part.kernels->is_amx)
    tsl_amx_run_alone(&part, of->workspace + (of->by_worker ? worker : index) * of->each);
  else
    tsl_amx_run_shared(&part, of->team, of->workspace);
}

tesela_status tsl_amx_run_rectangles(const tsl_amx_job *job, tsl_team team) {
  const bool is_amx = job->kernels->is_amx;
  const int threads = tsl_team_threads(team);
  const int64_t bytes = 4 * job->units * (tsl_amx_rows_of_a(job) + tsl_amx_columns_of_b(job)),
                least = tsl_ceil_div(bytes, most_bytes);
  cutting of = {.job = job, .team = team};
  cut(&of, is_amx ? tsl_ceil_div(least, threads) * threads : least);
  const int64_t count = tsl_ceil_div(job->views.m, of.rows) * of.across;
  for (int64_t i = 0; i < count; i++) {
    const tsl_amx_job part = rectangle(&of, i);
    of.each =
        tsl_most(of.each, is_amx ? tsl_amx_workspace_alone(&part) : tsl_amx_workspace_shared(&part, threads));
  }
  const int64_t workspaces = is_amx ? tsl_least(threads, count) : 1;
  of.by_worker = count > threads;
  void *memory;
  TSL_TRY(
      tsl_scratch_take((size_t)(workspaces * of.each) * sizeof(uint32_t), "copies of the operands", &memory));
  of.workspace = memory;
  tsl_team_run(is_amx ? team : (tsl_team){0}, count, multiply_rectangle, &of);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

/* --- parts of k --- */

typedef struct adding {
  const tsl_amx_job *job;
  uint32_t *sums;
  int64_t row, workspace; /* sums from row to row, and of a part */
  uint32_t *copies;       /* of every worker, or every part, whichever are fewer */
  int64_t each;           /* of one */
  bool by_worker;
} adding;

static bool is_integer(const tsl_amx_job *job) {
  return job->kernels->format == TSL_AMX_QUADS || job->kernels->format == TSL_AMX_PAIRS_I16;
}

/* The product of one part of k. */
static tsl_amx_job part_of(const adding *run, int64_t index) {
  const tsl_amx_job *whole = run->job;
  const int64_t first = whole->panels * index / whole->split_k,
                end = whole->panels * (index + 1) / whole->split_k,
                per = tsl_amx_elements(whole->kernels->format), element = first * whole->depth * per;
  tsl_amx_job part = *whole;
  part.split_k = 1;
  part.panels = end - first;
  part.units = tsl_least(end * whole->depth, whole->units) - first * whole->depth;
  part.views.k = tsl_least(whole->views.k - element, part.units * per);
  part.views.a.at = part.views.a.at + element * part.views.a.col_stride * part.size;
  part.views.b.at = part.views.b.at + element * part.views.b.row_stride * part.size;
  part.packed_a.panel -= first;
  part.packed_b.panel -= first;
  part.views.c = (tsl_view){.at = run->sums ? (unsigned char *)(run->sums + index * run->workspace)
                                            : NULL, /* prefetched sizes alone */
                            .row_stride = run->row,
                            .col_stride = 1};
  part.c_size = (int64_t)sizeof(uint32_t);
  part.epilogue = tsl_amx_epilogue_for(part.kernels, is_integer(whole) ? TESELA_I32 : TESELA_F32);
  part.alpha = 1;
  part.beta = 0;
  part.nontemporal = false;
  part.sums_are_c = true;
  return part;
}

static void multiply_part(void *argument, int64_t index, int worker) {
  const adding *run = argument;
  const tsl_amx_job part = part_of(run, index);
  tsl_amx_run_here(&part, run->copies + (run->by_worker ? worker : index) * run->each);
}

static uint32_t added(uint32_t a, uint32_t b) {
  float x, y;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  x += y;
  memcpy(&a, &x, sizeof a);
  return a;
}

/* Numbers j of the parts' rows, added in order. */
static void add_row(const adding *run, const uint32_t *first, int64_t columns, uint32_t *sums) {
  for (int64_t j = 0; j < columns; j++)
    sums[j] = first[j];
  for (int64_t part = 1; part < run->job->split_k; part++) {
    const uint32_t *const next = first + part * run->workspace;
    for (int64_t j = 0; j < columns; j++)
      sums[j] = is_integer(run->job) ? sums[j] + next[j] : added(sums[j], next[j]);
  }
}

static void add_tile(void *argument, int64_t index, int worker) {
  const adding *run = argument;
  const tsl_amx_job *job = run->job;
  const int64_t width = job->kernels->width, micro_a = index / job->micros_b,
                column = index % job->micros_b * width, row = tsl_amx_row_of(job, micro_a),
                end = tsl_least(tsl_amx_row_of(job, micro_a + 1), job->views.m);
  uint32_t sums[TSL_AMX_ROWS_MAX * TSL_AMX_WIDTH_MAX];
  (void)worker;
  for (int64_t i = row; i < end; i++)
    add_row(run, run->sums + i * run->row + column, tsl_least(width, job->views.n - column),
            sums + (i - row) * width);
  tsl_amx_finish_tile(job, micro_a, index % job->micros_b, sums);
}

tesela_status tsl_amx_run_split_k(const tsl_amx_job *job, tsl_team team) {
  adding run = {.job = job, .row = tsl_amx_columns_of_b(job)};
  run.workspace = job->views.m * run.row;
  for (int64_t i = 0; i < job->split_k; i++) {
    const tsl_amx_job part = part_of(&run, i);
    run.each = tsl_most(run.each, tsl_amx_workspace_here(&part));
  }
  const int64_t threads = tsl_team_threads(team), workspaces = tsl_least(threads, job->split_k);
  run.by_worker = threads < job->split_k;
  void *memory;
  TSL_TRY(tsl_scratch_take((size_t)(job->split_k * run.workspace + workspaces * run.each) * sizeof(uint32_t),
                           "sums of parts", &memory));
  run.sums = memory;
  run.copies = run.sums + job->split_k * run.workspace;
  tsl_team_run(team, job->split_k, multiply_part, &run);
  tsl_team_run(team, job->micros_a * job->micros_b, add_tile, &run);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

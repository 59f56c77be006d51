/* Dot instructions: all threads pack all panels of A and B, and then take blocks of C. A block with all of
 * C's rows (columns) is packed by its own thread. Its part of B (A), panel after panel, stays in the caches.
 * Tile registers consume copies faster than other threads can deliver them: each thread takes a rectangle of
 * C and packs its operands itself.
 *
 *      +-------+-------+-------+
 *      |   0   |   1   |   2   |     as many rectangles as threads; their shape minimises the work of the
 *      +-------+-------+-------+     largest: its products, and packing in proportion to its sides
 *      |   3   |   4   |   5   |
 *      +-------+-------+-------+
 *
 * Threads differ in speed, with tile registers by several times. If a rectangle takes one pass over all of k
 * (thread_rectangle.c), other threads may take some of its micro-panels of A. If k is longer, there are
 * several times as many rectangles as threads. Bits do not depend on rectangles. If C is small and k long, k
 * is cut into parts, whose sums are added in order. The number of parts depends only on the shape. */
#include "core/memory.h"
#include "core/scratch.h"
#include "core/status.h"
#include "strategy/gemm/host/host_amx/host_amx_job.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef struct schedule_launch {
  const tsl_amx_job *job;
  tsl_amx_packed a, b;
  /* for each worker: sums, a panel of its own copies, and the minima of A's micro-panels */
  uint32_t *workspaces;
  int64_t workspace;                   /* words of a worker in `workspaces` */
  int64_t columns;                     /* blocks in a row of C */
  bool worker_packs_a, worker_packs_b; /* A (B) is packed panel by panel, by the worker of a block */
} schedule_launch;

/* Returns the micro-panels of A that are packed first in each panel. */
static int64_t count_micros_of_a_packed_first(const schedule_launch *run) {
  return run->worker_packs_a || run->job->packed_a.at ? 0 : run->job->micro_panels_a;
}
static int64_t count_micros_packed_first(const schedule_launch *run) {
  return count_micros_of_a_packed_first(run) +
         (run->worker_packs_b || run->job->packed_b.at ? 0 : run->job->micro_panels_b);
}

static void pack_micro_panel(void *argument, int64_t index, int worker) {
  const schedule_launch *run = argument;
  const tsl_amx_job *job = run->job;
  const int64_t each = count_micros_packed_first(run), panel = index / each, micro = index % each,
                micro_panels_a = count_micros_of_a_packed_first(run);
  (void)worker;
  if (micro < micro_panels_a) {
    if (!tsl_amx_reads_in_place(job, micro))
      tsl_amx_pack_a(job, &run->a, panel, micro);
  } else
    tsl_amx_pack_b(job, &run->b, panel, micro - micro_panels_a);
}

/* Rectangle of C, in micro-panels. */
typedef struct schedule_block {
  int64_t micro_a, micro_a_end, micro_b, micro_b_end;
} schedule_block;

static uint32_t *schedule_sums_of(const schedule_launch *run, int worker) {
  return run->workspaces + worker * run->workspace;
}
static int64_t words_of_sums(const tsl_amx_job *job) {
  return tsl_amx_tile_sums(job) *
         (job->panels == 1 ? 1 : job->block_micro_panels_a * job->block_micro_panels_b);
}
static int64_t rows_of_block(const tsl_amx_job *job) {
  return job->block_micro_panels_a * job->kernels->height;
}

/* Packs a panel of the operands that the block's worker packs, and makes *a or *b these copies. */
static void pack_for_block(const schedule_launch *run, const schedule_block *block, int64_t panel,
                           tsl_amx_packed *a, tsl_amx_packed *b, uint32_t *workspace) {
  const tsl_amx_job *job = run->job;
  const int64_t width = job->kernels->width;
  if (run->worker_packs_a) {
    const int64_t row = tsl_amx_first_row_of(job, block->micro_a);
    *a = (tsl_amx_packed){.at = workspace, .panel = panel, .first = row};
    a->count = tsl_amx_first_row_of(job, block->micro_a_end) - row;
    for (int64_t micro_a = block->micro_a; micro_a < block->micro_a_end; micro_a++)
      if (!tsl_amx_reads_in_place(job, micro_a))
        tsl_amx_pack_a(job, a, panel, micro_a);
    workspace += rows_of_block(job) * job->depth;
  }
  if (run->worker_packs_b) {
    const int64_t columns = (block->micro_b_end - block->micro_b) * width;
    *b = (tsl_amx_packed){.at = workspace, .panel = panel, .first = block->micro_b * width, .count = columns};
    b->start_sums = workspace + job->block_micro_panels_b * width * job->depth;
    tsl_amx_pack_b_range(job, b, panel, block->micro_b, block->micro_b_end, NULL);
  }
}

/* Multiplies a panel of a block; micro-panels of A stream. */
static void multiply_panel(const schedule_launch *run, const schedule_block *block, int64_t panel,
                           uint32_t *sums) {
  const tsl_amx_job *job = run->job;
  const int64_t rectangles_per_row = block->micro_b_end - block->micro_b,
                workspace = job->panels == 1 ? 0 : tsl_amx_tile_sums(job);
  tsl_amx_packed a = run->a, b = run->b;
  uint32_t *const least = sums + run->workspace - job->block_micro_panels_a;
  pack_for_block(run, block, panel, &a, &b, sums + words_of_sums(job));
  for (int64_t micro_a = block->micro_a; micro_a < block->micro_a_end; micro_a++)
    least[micro_a - block->micro_a] = tsl_amx_min_magnitude_of_a(job, &a, panel, micro_a);
  for (int64_t micro_b = block->micro_b; micro_b < block->micro_b_end; micro_b++) {
    const uint32_t least_b = tsl_amx_min_magnitude_of_b(job, &b, panel, micro_b);
    for (int64_t micro_a = block->micro_a; micro_a < block->micro_a_end; micro_a++)
      tsl_amx_multiply_tile(
          job, &a, &b, panel, micro_a, micro_b, tsl_amx_needs_care(least[micro_a - block->micro_a], least_b),
          sums + ((micro_a - block->micro_a) * rectangles_per_row + micro_b - block->micro_b) * workspace,
          NULL, false);
  }
}

static void schedule_multiply_block(void *argument, int64_t index, int worker) {
  const schedule_launch *run = argument;
  const tsl_amx_job *job = run->job;
  const int64_t micro_a = index / run->columns * job->block_micro_panels_a,
                micro_b = index % run->columns * job->block_micro_panels_b;
  const schedule_block block = {micro_a, tsl_min(micro_a + job->block_micro_panels_a, job->micro_panels_a),
                                micro_b, tsl_min(micro_b + job->block_micro_panels_b, job->micro_panels_b)};
  for (int64_t panel = 0; panel < job->panels; panel++)
    multiply_panel(run, &block, panel, schedule_sums_of(run, worker));
  if (job->nontemporal) /* nontemporal stores must be visible before the block counts as done */
    atomic_thread_fence(memory_order_seq_cst);
}

static schedule_launch make_schedule_launch(const tsl_amx_job *job) {
  schedule_launch run = {.job = job, .a = job->packed_a, .b = job->packed_b};
  run.worker_packs_a = !job->packed_a.at && job->micro_panels_b <= job->block_micro_panels_b;
  run.worker_packs_b = !job->packed_b.at && job->micro_panels_a <= job->block_micro_panels_a;
  run.columns = tsl_ceil_div(job->micro_panels_b, job->block_micro_panels_b);
  run.workspace =
      words_of_sums(job) + (run.worker_packs_a ? rows_of_block(job) * job->depth : 0) +
      (run.worker_packs_b ? job->block_micro_panels_b * job->kernels->width * (job->depth + 1) : 0) +
      job->block_micro_panels_a;
  return run;
}

static int64_t words_packed_by_run(const schedule_launch *run, bool is_a) {
  const bool is_made = is_a ? !run->worker_packs_a && !run->a.at : !run->worker_packs_b && !run->b.at;
  return is_made ? tsl_amx_packed_words(run->job, is_a) : 0;
}

static int64_t words_of_shared_run(const tsl_amx_job *job, int threads) {
  const schedule_launch run = make_schedule_launch(job);
  return words_packed_by_run(&run, true) + words_packed_by_run(&run, false) + threads * run.workspace;
}

static void schedule_run_shared(const tsl_amx_job *job, tsl_team team, uint32_t *workspace) {
  schedule_launch run = make_schedule_launch(job);
  const int64_t a = words_packed_by_run(&run, true), b = words_packed_by_run(&run, false);
  if (a > 0)
    run.a = tsl_amx_packed_in(job, true, workspace);
  if (b > 0)
    run.b = tsl_amx_packed_in(job, false, workspace + a);
  run.workspaces = workspace + a + b;
  if (a + b > 0)
    tsl_team_run(team, job->panels * count_micros_packed_first(&run), pack_micro_panel, &run);
  tsl_team_run(team, tsl_ceil_div(job->micro_panels_a, job->block_micro_panels_a) * run.columns,
               schedule_multiply_block, &run);
}

void tsl_amx_pack_all(const tsl_amx_job *job, bool is_a, uint32_t *dst, tsl_team team) {
  if (job->takes_lines) {
    tsl_amx_lines_pack(job, is_a, dst);
    return;
  }
  tsl_amx_job form_job = *job;
  form_job.reads_a = form_job.copies_rows = false;
  *(is_a ? &form_job.packed_b : &form_job.packed_a) =
      (tsl_amx_packed){.at = dst}; /* the other operand is not packed */
  schedule_launch run = {
      .job = &form_job, .a = tsl_amx_packed_in(job, true, dst), .b = tsl_amx_packed_in(job, false, dst)};
  tsl_team_run(team, job->panels * count_micros_packed_first(&run), pack_micro_panel, &run);
}

typedef struct schedule_counter {
  _Alignas(TSL_CACHE_LINE) _Atomic int64_t value;
} schedule_counter;

/* Maximum bytes of copies at a time; beyond this C is cut into more rectangles. */
static const int64_t copies_bytes_max = (int64_t)256 << 20;

typedef struct schedule_rectangles {
  const tsl_amx_job *job;
  int64_t rows, columns; /* size of a rectangle; the last ones may be smaller */
  int64_t rectangles_per_row;
  int64_t count;
  uint32_t *workspace;
  int64_t workspace_words; /* 32-bit words of one workspace */
  bool by_worker;          /* a workspace belongs to a worker; else to a rectangle */
  schedule_counter *taken; /* for each rectangle, micro-panels of A that threads have taken */
  tsl_team team;
} schedule_rectangles;

static tsl_amx_job job_of_rectangle(const schedule_rectangles *run, int64_t index) {
  const tsl_amx_job *job = run->job;
  const int64_t row = index / run->rectangles_per_row * run->rows,
                column = index % run->rectangles_per_row * run->columns;
  return tsl_amx_rectangle_of(job, row, tsl_min(run->rows, job->views.m - row), column,
                              tsl_min(run->columns, job->views.n - column));
}

/* Returns the size of `parts` nearly equal parts, in whole steps. */
static int64_t size_of_part(int64_t total, int64_t parts, int64_t step) {
  return tsl_ceil_div(tsl_ceil_div(total, step), parts) * step;
}

/* Returns the clocks of a rectangle for each unit of k. */
static double clocks_per_unit(int64_t rows, int64_t columns) {
  return (double)rows * (double)columns / 256 + (double)(rows + columns) / 4;
}

/* Takes rectangles of this size if they cost less than *best. */
static void take_if_cheaper(schedule_rectangles *run, int64_t rows, int64_t columns, double cost,
                            double *best) {
  if (cost >= *best)
    return;
  *best = cost;
  run->rows = rows;
  run->columns = columns;
  run->rectangles_per_row = tsl_ceil_div(run->job->views.n, columns);
}

static void cut_into_rectangles(schedule_rectangles *run, int64_t count) {
  const tsl_amx_job *job = run->job;
  double best = INFINITY;
  for (int64_t down = 1; down <= count; down++) {
    if (count % down != 0)
      continue;
    const int64_t rows = size_of_part(job->views.m, down, job->kernels->height),
                  columns = size_of_part(job->views.n, count / down, job->kernels->width);
    take_if_cheaper(run, rows, columns, clocks_per_unit(rows, columns), &best);
  }
}

/* Cuts C into at least `least` rectangles, several for each thread: all threads wait for the slowest. */
static void cut_waves(schedule_rectangles *run, int64_t threads, int64_t least) {
  enum { WAVES_MAX = 8 };
  const int64_t fewest = tsl_ceil_div(least, threads),
                most = threads > 1 ? tsl_max(fewest, WAVES_MAX) : fewest;
  schedule_rectangles best = *run;
  double least_cost = INFINITY;
  for (int64_t waves = fewest; waves <= most; waves++) {
    cut_into_rectangles(run, waves * threads);
    const double cost = (double)(waves + 1) * clocks_per_unit(run->rows, run->columns);
    if (cost >= least_cost)
      continue;
    least_cost = cost;
    best = *run;
  }
  *run = best;
}

/* Cuts C into rectangles of one pass each: as many as threads, or more if passes must be narrower. */
static void cut_passes(schedule_rectangles *run, int64_t threads) {
  const tsl_amx_job *job = run->job;
  const int64_t least = tsl_ceil_div(job->views.n, tsl_amx_pass_columns(job));
  double best = INFINITY;
  for (int64_t rectangles_per_row = least; rectangles_per_row <= tsl_max(least, threads);
       rectangles_per_row++) {
    const int64_t rows = size_of_part(job->views.m, tsl_ceil_div(threads, rectangles_per_row),
                                      job->kernels->height),
                  columns = size_of_part(job->views.n, rectangles_per_row, job->kernels->width),
                  count = tsl_ceil_div(job->views.m, rows) * tsl_ceil_div(job->views.n, columns);
    take_if_cheaper(run, rows, columns,
                    clocks_per_unit(rows, columns) * fmax(1, (double)count / (double)threads), &best);
  }
}

static int64_t words_of_part(const tsl_amx_job *job) {
  return job->kernels->is_amx ? tsl_amx_thread_workspace_words(job) : words_of_shared_run(job, 1);
}

static void run_part_in_thread(const tsl_amx_job *job, uint32_t *workspace) {
  if (job->kernels->is_amx)
    tsl_amx_run_in_thread(job, workspace);
  else
    schedule_run_shared(job, (tsl_team){0}, workspace);
}

static void multiply_rectangle(void *argument, int64_t index, int worker) {
  const schedule_rectangles *run = argument;
  const tsl_amx_job part = job_of_rectangle(run, index);
  if (part.kernels->is_amx)
    tsl_amx_run_in_thread(&part, run->workspace + (run->by_worker ? worker : index) * run->workspace_words);
  else
    schedule_run_shared(&part, run->team, run->workspace);
}

/* Returns the micro-panels of A that no thread has taken; 0 if they are not worth another copy of B. */
static int64_t micro_panels_left(const schedule_rectangles *run, int64_t index) {
  enum { WORTH_A_COPY = 2 };
  const int64_t rows = tsl_min(run->rows, run->job->views.m - index / run->rectangles_per_row * run->rows),
                taken = atomic_load_explicit(&run->taken[index].value, memory_order_relaxed),
                left = tsl_ceil_div(rows, run->job->kernels->height) - taken;
  return taken > 0 && left < WORTH_A_COPY ? 0 : left;
}

/* Computes one thread's rectangle, then helps repeatedly with the rectangle that has most left. */
static void take_rectangles(void *argument, int64_t index, int worker) {
  const schedule_rectangles *run = argument;
  for (int64_t next = index, most = 1; most > 0;) {
    const tsl_amx_job part = job_of_rectangle(run, next);
    tsl_amx_run_pass(&part, run->workspace + worker * run->workspace_words, &run->taken[next].value);
    most = 0;
    for (int64_t turn = 1; turn < run->count; turn++) {
      const int64_t other = (index + turn) % run->count, left = micro_panels_left(run, other);
      if (left > most) {
        most = left;
        next = other;
      }
    }
  }
}

static tesela_status schedule_run_passes(const tsl_amx_job *job, tsl_team team) {
  const int threads = tsl_team_threads(team);
  schedule_rectangles run = {.job = job};
  cut_passes(&run, threads);
  run.count = tsl_ceil_div(job->views.m, run.rows) * run.rectangles_per_row;
  for (int64_t i = 0; i < run.count; i++) {
    const tsl_amx_job part = job_of_rectangle(&run, i);
    run.workspace_words = tsl_max(run.workspace_words, tsl_amx_thread_workspace_words(&part));
  }
  const int64_t tasks = tsl_min(threads, run.count), counters = run.count * (int64_t)sizeof(schedule_counter);
  void *memory;
  TSL_TRY(tsl_scratch_take((size_t)(counters + tasks * run.workspace_words * (int64_t)sizeof(uint32_t)),
                           "copies of the operands", &memory));
  run.taken = memory;
  run.workspace = (uint32_t *)(void *)((unsigned char *)memory + counters);
  for (int64_t i = 0; i < run.count; i++)
    atomic_init(&run.taken[i].value, 0);
  tsl_team_run(team, tasks, take_rectangles, &run);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

/* Computes a job in the caller's thread, which has memory for all copies. */
static tesela_status run_whole(const tsl_amx_job *job) {
  enum { STACK_WORDS = 4096 };
  const int64_t words = words_of_part(job);
  if (words <= STACK_WORDS) {
    _Alignas(TSL_CACHE_LINE) uint32_t workspace[STACK_WORDS];
    run_part_in_thread(job, workspace);
    return TESELA_OK;
  }
  void *memory;
  TSL_TRY(tsl_scratch_take((size_t)words * sizeof(uint32_t), "copies of the operands", &memory));
  run_part_in_thread(job, memory);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

static tesela_status run_rectangles(const tsl_amx_job *job, tsl_team team) {
  const bool is_amx = job->kernels->is_amx;
  const int threads = tsl_team_threads(team);
  if (is_amx && threads > 1 && tsl_amx_pass_columns(job) > 0)
    return schedule_run_passes(job, team);
  const int64_t bytes = 4 * job->units * (tsl_amx_rows_of_a(job) + tsl_amx_columns_of_b(job)),
                least = tsl_ceil_div(bytes, copies_bytes_max);
  if (threads == 1 && least == 1)
    return run_whole(job);
  schedule_rectangles run = {.job = job, .team = team};
  if (is_amx)
    cut_waves(&run, threads, least);
  else
    cut_into_rectangles(&run, least);
  const int64_t count = tsl_ceil_div(job->views.m, run.rows) * run.rectangles_per_row;
  for (int64_t i = 0; i < count; i++) {
    const tsl_amx_job part = job_of_rectangle(&run, i);
    run.workspace_words = tsl_max(run.workspace_words, is_amx ? tsl_amx_thread_workspace_words(&part)
                                                              : words_of_shared_run(&part, threads));
  }
  const int64_t workspaces = is_amx ? tsl_min(threads, count) : 1;
  run.by_worker = count > threads;
  void *memory;
  TSL_TRY(tsl_scratch_take((size_t)(workspaces * run.workspace_words) * sizeof(uint32_t),
                           "copies of the operands", &memory));
  run.workspace = memory;
  tsl_team_run(is_amx ? team : (tsl_team){0}, count, multiply_rectangle, &run);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

typedef struct schedule_split_k {
  const tsl_amx_job *job;
  uint32_t *sums;
  int64_t row, workspace; /* row stride of the sums, and sums of a part */
  uint32_t *copies;       /* workspaces of the workers or of the parts, the smaller number */
  int64_t workspace_words;
  bool by_worker;
} schedule_split_k;

static bool has_integer_sums(const tsl_amx_job *job) {
  return job->kernels->format == TSL_AMX_QUADS || job->kernels->format == TSL_AMX_PAIRS_I16;
}

/* Returns the job of part `index` of k, which writes dense sums to the workspace instead of C. */
static tsl_amx_job job_of_part(const schedule_split_k *run, int64_t index) {
  const tsl_amx_job *whole = run->job;
  const int64_t first = whole->panels * index / whole->split_k,
                end = whole->panels * (index + 1) / whole->split_k,
                per = tsl_amx_elements(whole->kernels->format), element = first * whole->depth * per;
  tsl_amx_job part = *whole;
  part.split_k = 1;
  part.panels = end - first;
  part.units = tsl_min(end * whole->depth, whole->units) - first * whole->depth;
  part.views.k = tsl_min(whole->views.k - element, part.units * per);
  part.views.a.at = part.views.a.at + element * part.views.a.col_stride * part.size;
  part.views.b.at = part.views.b.at + element * part.views.b.row_stride * part.size;
  part.packed_a.panel -= first;
  part.packed_b.panel -= first;
  part.views.c = (tsl_view){.at = run->sums ? (unsigned char *)(run->sums + index * run->workspace)
                                            : NULL, /* with NULL only sizes are computed */
                            .row_stride = run->row,
                            .col_stride = 1};
  part.c_size = (int64_t)sizeof(uint32_t);
  part.epilogue = part.kernels->packing->finish[has_integer_sums(whole) ? TESELA_I32 : TESELA_F32];
  part.alpha = 1;
  part.beta = 0;
  part.nontemporal = false;
  part.sums_are_c = true;
  return part;
}

static void schedule_multiply_part(void *argument, int64_t index, int worker) {
  const schedule_split_k *run = argument;
  const tsl_amx_job part = job_of_part(run, index);
  run_part_in_thread(&part, run->copies + (run->by_worker ? worker : index) * run->workspace_words);
}

static uint32_t add_bits_as_f32(uint32_t a, uint32_t b) {
  float x, y;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  x += y;
  memcpy(&a, &x, sizeof a);
  return a;
}

static void schedule_add_row(const schedule_split_k *run, const uint32_t *first, int64_t columns,
                             uint32_t *sums) {
  for (int64_t j = 0; j < columns; j++)
    sums[j] = first[j];
  for (int64_t part = 1; part < run->job->split_k; part++) {
    const uint32_t *const next = first + part * run->workspace;
    for (int64_t j = 0; j < columns; j++)
      sums[j] = has_integer_sums(run->job) ? sums[j] + next[j] : add_bits_as_f32(sums[j], next[j]);
  }
}

static void schedule_add_tile(void *argument, int64_t index, int worker) {
  const schedule_split_k *run = argument;
  const tsl_amx_job *job = run->job;
  const int64_t width = job->kernels->width, micro_a = index / job->micro_panels_b,
                column = index % job->micro_panels_b * width, row = tsl_amx_first_row_of(job, micro_a),
                end = tsl_min(tsl_amx_first_row_of(job, micro_a + 1), job->views.m);
  uint32_t sums[TSL_AMX_ROWS_MAX * TSL_AMX_WIDTH_MAX];
  (void)worker;
  for (int64_t i = row; i < end; i++)
    schedule_add_row(run, run->sums + i * run->row + column, tsl_min(width, job->views.n - column),
                     sums + (i - row) * width);
  tsl_amx_finish_tile(job, micro_a, index % job->micro_panels_b, sums);
}

static tesela_status run_split_k(const tsl_amx_job *job, tsl_team team) {
  schedule_split_k run = {.job = job, .row = tsl_amx_columns_of_b(job)};
  run.workspace = job->views.m * run.row;
  for (int64_t i = 0; i < job->split_k; i++) {
    const tsl_amx_job part = job_of_part(&run, i);
    run.workspace_words = tsl_max(run.workspace_words, words_of_part(&part));
  }
  const int64_t threads = tsl_team_threads(team), workspaces = tsl_min(threads, job->split_k);
  run.by_worker = threads < job->split_k;
  void *memory;
  TSL_TRY(tsl_scratch_take((size_t)(job->split_k * run.workspace + workspaces * run.workspace_words) *
                               sizeof(uint32_t),
                           "sums of parts", &memory));
  run.sums = memory;
  run.copies = run.sums + job->split_k * run.workspace;
  tsl_team_run(team, job->split_k, schedule_multiply_part, &run);
  tsl_team_run(team, job->micro_panels_a * job->micro_panels_b, schedule_add_tile, &run);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

static void scale_without_products(const tsl_amx_job *job) {
  uint32_t zeros[TSL_AMX_ROWS_MAX * TSL_AMX_WIDTH_MAX] = {0};
  for (int64_t micro_a = 0; micro_a < job->micro_panels_a; micro_a++)
    for (int64_t micro_b = 0; micro_b < job->micro_panels_b; micro_b++)
      tsl_amx_finish_tile(job, micro_a, micro_b, zeros);
}

tesela_status tsl_amx_run(const tsl_amx_job *job, tsl_team team) {
  if (job->takes_lines)
    return tsl_amx_run_lines(job, team);
  if (job->views.k > 0)
    return job->split_k > 1 ? run_split_k(job, team) : run_rectangles(job, team);
  scale_without_products(job);
  return TESELA_OK;
}

/* All threads copy all panels of A and B, side by side, and then take blocks of C. Where a block takes all of C's rows
 * (columns), nobody else needs its part of B (A): it is copied panel after panel by who takes the block, into memory
 * that the caches keep. */
#include "strategy/gemm/host_amx/job.h"

#include "base/pool.h"

#include <stdatomic.h>

typedef struct running {
  const tsl_amx_job *job;
  tsl_amx_form a, b;
  uint32_t *
      own; /* of every worker: sums, a panel of late copies of A, and of B, and the least magnitudes of A's micro-panels */
  int64_t workspace; /* of one */
  int64_t columns;   /* blocks side by side in C */
  bool late_a, late_b;
} running;

/* Micro-panels of A, then of B, of a panel after the other; those that were not packed before. */
static int64_t micros_a_first(const running *run) {
  return run->late_a || run->job->packed_a.at ? 0 : run->job->micros_a;
}
static int64_t pieces(const running *run) {
  return micros_a_first(run) + (run->late_b || run->job->packed_b.at ? 0 : run->job->micros_b);
}

static void copy_one(void *argument, int64_t index, int worker) {
  const running *run = argument;
  const tsl_amx_job *job = run->job;
  const int64_t each = pieces(run), panel = index / each, piece = index % each,
                micros_a = micros_a_first(run);
  (void)worker;
  if (piece < micros_a) {
    if (!tsl_amx_reads_in_place(job, piece))
      tsl_amx_pack_a(job, &run->a, panel, piece);
  } else
    tsl_amx_pack_b(job, &run->b, panel, piece - micros_a);
}

/* A rectangle of C, in micro-panels. */
typedef struct block {
  int64_t micro_a, micro_a_end, micro_b, micro_b_end;
} block;

/* What a worker has of its own. */
static uint32_t *sums_of(const running *run, int worker) {
  return run->own + worker * run->workspace;
}
static int64_t workspace_of_sums(const tsl_amx_job *job) {
  return tsl_amx_tile_sums(job) * (job->panels == 1 ? 1 : job->block_micros_a * job->block_micros_b);
}
static int64_t rows_of_block(const tsl_amx_job *job) {
  return job->block_micros_a * job->kernels->height;
}

/* Late copies of a panel's part of a block. */
static void copy_late(const running *run, const block *of, int64_t panel, tsl_amx_form *a, tsl_amx_form *b,
                      uint32_t *workspace) {
  const tsl_amx_job *job = run->job;
  const int64_t width = job->kernels->width;
  if (run->late_a) {
    const int64_t row = tsl_amx_row_of(job, of->micro_a);
    *a = (tsl_amx_form){.at = workspace, .panel = panel, .first = row};
    a->count = tsl_amx_row_of(job, of->micro_a_end) - row;
    for (int64_t micro_a = of->micro_a; micro_a < of->micro_a_end; micro_a++)
      if (!tsl_amx_reads_in_place(job, micro_a))
        tsl_amx_pack_a(job, a, panel, micro_a);
    workspace += rows_of_block(job) * job->depth;
  }
  if (run->late_b) {
    const int64_t columns = (of->micro_b_end - of->micro_b) * width;
    *b = (tsl_amx_form){.at = workspace, .panel = panel, .first = of->micro_b * width, .count = columns};
    b->starts = workspace + job->block_micros_b * width * job->depth;
    tsl_amx_pack_b_range(job, b, panel, of->micro_b, of->micro_b_end);
  }
}

/* A panel's tiles of a block: a micro-panel of B stays in the first-level cache while micro-panels of A pass by. */
static void multiply_panel(const running *run, const block *of, int64_t panel, uint32_t *sums) {
  const tsl_amx_job *job = run->job;
  const int64_t across = of->micro_b_end - of->micro_b,
                workspace = job->panels == 1 ? 0 : tsl_amx_tile_sums(job);
  tsl_amx_form a = run->a, b = run->b;
  uint32_t *const least = sums + run->workspace - job->block_micros_a;
  copy_late(run, of, panel, &a, &b, sums + workspace_of_sums(job));
  for (int64_t micro_a = of->micro_a; micro_a < of->micro_a_end; micro_a++)
    least[micro_a - of->micro_a] = tsl_amx_least_of_a(job, &a, panel, micro_a);
  for (int64_t micro_b = of->micro_b; micro_b < of->micro_b_end; micro_b++) {
    const uint32_t least_b = tsl_amx_least_of_b(job, &b, panel, micro_b);
    for (int64_t micro_a = of->micro_a; micro_a < of->micro_a_end; micro_a++)
      tsl_amx_multiply_tile(
          job, &a, &b, panel, micro_a, micro_b, tsl_amx_needs_care(least[micro_a - of->micro_a], least_b),
          sums + ((micro_a - of->micro_a) * across + micro_b - of->micro_b) * workspace, NULL, false);
  }
}

/* Panel after panel of a block of C. */
static void multiply_block(void *argument, int64_t index, int worker) {
  const running *run = argument;
  const tsl_amx_job *job = run->job;
  const int64_t micro_a = index / run->columns * job->block_micros_a,
                micro_b = index % run->columns * job->block_micros_b;
  const block of = {micro_a, tsl_least(micro_a + job->block_micros_a, job->micros_a), micro_b,
                    tsl_least(micro_b + job->block_micros_b, job->micros_b)};
  for (int64_t panel = 0; panel < job->panels; panel++)
    multiply_panel(run, &of, panel, sums_of(run, worker));
  if (job->nontemporal) /* lines past the caches are there before this block is said to be done */
    atomic_thread_fence(memory_order_seq_cst);
}

void tsl_amx_make_form(const tsl_amx_job *job, bool is_a, uint32_t *to, tsl_team team) {
  tsl_amx_job own = *job;
  own.reads_a = own.copies_rows = false;
  *(is_a ? &own.packed_b : &own.packed_a) = (tsl_amx_form){.at = to}; /* the other one is not copied */
  running run = {.job = &own, .a = tsl_amx_form_in(job, true, to), .b = tsl_amx_form_in(job, false, to)};
  tsl_team_run(team, job->panels * pieces(&run), copy_one, &run);
}

static running running_of(const tsl_amx_job *job) {
  running run = {.job = job, .a = job->packed_a, .b = job->packed_b};
  run.late_a = !job->packed_a.at && job->micros_b <= job->block_micros_b;
  run.late_b = !job->packed_b.at && job->micros_a <= job->block_micros_a;
  run.columns = tsl_ceil_div(job->micros_b, job->block_micros_b);
  run.workspace = workspace_of_sums(job) + (run.late_a ? rows_of_block(job) * job->depth : 0) +
                  (run.late_b ? job->block_micros_b * job->kernels->width * (job->depth + 1) : 0) +
                  job->block_micros_a;
  return run;
}

/* Words of a copy of all of A, or B, that is made first. */
static int64_t workspace_of_copy(const running *run, bool is_a) {
  const bool is_made = is_a ? !run->late_a && !run->a.at : !run->late_b && !run->b.at;
  return is_made ? tsl_amx_form_units(run->job, is_a) : 0;
}

int64_t tsl_amx_workspace_shared(const tsl_amx_job *job, int threads) {
  const running run = running_of(job);
  return workspace_of_copy(&run, true) + workspace_of_copy(&run, false) + threads * run.workspace;
}

void tsl_amx_run_shared(const tsl_amx_job *job, tsl_team team, uint32_t *workspace) {
  running run = running_of(job);
  const int64_t a = workspace_of_copy(&run, true), b = workspace_of_copy(&run, false);
  if (a > 0)
    run.a = tsl_amx_form_in(job, true, workspace);
  if (b > 0)
    run.b = tsl_amx_form_in(job, false, workspace + a);
  run.own = workspace + a + b;
  if (a + b > 0)
    tsl_team_run(team, job->panels * pieces(&run), copy_one, &run);
  tsl_team_run(team, tsl_ceil_div(job->micros_a, job->block_micros_a) * run.columns, multiply_block, &run);
}

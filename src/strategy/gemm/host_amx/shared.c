/* All threads copy all panels of A and B, side by side, and then take blocks of C. Where a block takes all of C's rows
 * (columns), nobody else needs its part of B (A): it is copied panel after panel by who takes the block, into memory that the
 * caches keep. */
#include "strategy/gemm/host_amx/job.h"

#include "base/pool.h"

#include <stdatomic.h>

typedef struct running {
  const tsl_amx_job *job;
  tsl_amx_form a, b;
  uint32_t
      *own; /* of every worker: sums, a panel of late copies of A, and of B, and slivers' least magnitudes */
  int64_t room;    /* of one */
  int64_t columns; /* blocks side by side in C */
  bool late_a, late_b;
} running;

/* Slivers, then strips, of a panel after the other; those that were not packed before. */
static int64_t slivers_first(const running *run) {
  return run->late_a || run->job->packed_a.at ? 0 : run->job->slivers;
}
static int64_t pieces(const running *run) {
  return slivers_first(run) + (run->late_b || run->job->packed_b.at ? 0 : run->job->strips);
}

static void copy_one(void *argument, int64_t index, int worker) {
  const running *run = argument;
  const tsl_amx_job *job = run->job;
  const int64_t each = pieces(run), panel = index / each, piece = index % each, slivers = slivers_first(run);
  (void)worker;
  if (piece < slivers) {
    if (!tsl_amx_reads_in_place(job, piece))
      tsl_amx_copy_sliver(job, &run->a, panel, piece);
  } else
    tsl_amx_copy_strip(job, &run->b, panel, piece - slivers);
}

/* A rectangle of C, in slivers and strips. */
typedef struct block {
  int64_t sliver, sliver_end, strip, strip_end;
} block;

/* What a worker has of its own. */
static uint32_t *sums_of(const running *run, int worker) {
  return run->own + worker * run->room;
}
static int64_t room_of_sums(const tsl_amx_job *job) {
  return tsl_amx_tile_room(job) * (job->panels == 1 ? 1 : job->block_slivers * job->block_strips);
}
static int64_t rows_of_block(const tsl_amx_job *job) {
  return job->block_slivers * job->kernels->height;
}

/* Late copies of a panel's part of a block. */
static void copy_late(const running *run, const block *of, int64_t panel, tsl_amx_form *a, tsl_amx_form *b,
                      uint32_t *room) {
  const tsl_amx_job *job = run->job;
  const int64_t width = job->kernels->width;
  if (run->late_a) {
    const int64_t row = tsl_amx_row_of(job, of->sliver);
    *a = (tsl_amx_form){.at = room, .panel = panel, .first = row};
    a->count = tsl_amx_row_of(job, of->sliver_end) - row;
    for (int64_t sliver = of->sliver; sliver < of->sliver_end; sliver++)
      if (!tsl_amx_reads_in_place(job, sliver))
        tsl_amx_copy_sliver(job, a, panel, sliver);
    room += rows_of_block(job) * job->depth;
  }
  if (run->late_b) {
    const int64_t columns = (of->strip_end - of->strip) * width;
    *b = (tsl_amx_form){.at = room, .panel = panel, .first = of->strip * width, .count = columns};
    b->starts = room + job->block_strips * width * job->depth;
    tsl_amx_copy_strips(job, b, panel, of->strip, of->strip_end);
  }
}

/* A panel's tiles of a block: a strip stays in the first-level cache while slivers stream by. */
static void multiply_panel(const running *run, const block *of, int64_t panel, uint32_t *sums) {
  const tsl_amx_job *job = run->job;
  const int64_t across = of->strip_end - of->strip, room = job->panels == 1 ? 0 : tsl_amx_tile_room(job);
  tsl_amx_form a = run->a, b = run->b;
  uint32_t *const least = sums + run->room - job->block_slivers;
  copy_late(run, of, panel, &a, &b, sums + room_of_sums(job));
  for (int64_t sliver = of->sliver; sliver < of->sliver_end; sliver++)
    least[sliver - of->sliver] = tsl_amx_least_of_sliver(job, &a, panel, sliver);
  for (int64_t strip = of->strip; strip < of->strip_end; strip++) {
    const uint32_t least_b = tsl_amx_least_of_strip(job, &b, panel, strip);
    for (int64_t sliver = of->sliver; sliver < of->sliver_end; sliver++)
      tsl_amx_multiply_tile(job, &a, &b, panel, sliver, strip,
                            tsl_amx_needs_care(least[sliver - of->sliver], least_b),
                            sums + ((sliver - of->sliver) * across + strip - of->strip) * room, NULL, false);
  }
}

/* Panel after panel of a block of C. */
static void multiply_block(void *argument, int64_t index, int worker) {
  const running *run = argument;
  const tsl_amx_job *job = run->job;
  const int64_t sliver = index / run->columns * job->block_slivers,
                strip = index % run->columns * job->block_strips;
  const block of = {sliver, tsl_least(sliver + job->block_slivers, job->slivers), strip,
                    tsl_least(strip + job->block_strips, job->strips)};
  for (int64_t panel = 0; panel < job->panels; panel++)
    multiply_panel(run, &of, panel, sums_of(run, worker));
  if (job->streams) /* lines past the caches are there before this block is said to be done */
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
  run.late_a = !job->packed_a.at && job->strips <= job->block_strips;
  run.late_b = !job->packed_b.at && job->slivers <= job->block_slivers;
  run.columns = tsl_ceil_div(job->strips, job->block_strips);
  run.room = room_of_sums(job) + (run.late_a ? rows_of_block(job) * job->depth : 0) +
             (run.late_b ? job->block_strips * job->kernels->width * (job->depth + 1) : 0) +
             job->block_slivers;
  return run;
}

/* Words of a copy of all of A, or B, that is made first. */
static int64_t room_of_copy(const running *run, bool is_a) {
  const bool is_made = is_a ? !run->late_a && !run->a.at : !run->late_b && !run->b.at;
  return is_made ? tsl_amx_form_units(run->job, is_a) : 0;
}

int64_t tsl_amx_room_shared(const tsl_amx_job *job, int threads) {
  const running run = running_of(job);
  return room_of_copy(&run, true) + room_of_copy(&run, false) + threads * run.room;
}

void tsl_amx_run_shared(const tsl_amx_job *job, tsl_team team, uint32_t *room) {
  running run = running_of(job);
  const int64_t a = room_of_copy(&run, true), b = room_of_copy(&run, false);
  if (a > 0)
    run.a = tsl_amx_form_in(job, true, room);
  if (b > 0)
    run.b = tsl_amx_form_in(job, false, room + a);
  run.own = room + a + b;
  if (a + b > 0)
    tsl_team_run(team, job->panels * pieces(&run), copy_one, &run);
  tsl_team_run(team, tsl_ceil_div(job->slivers, job->block_slivers) * run.columns, multiply_block, &run);
}

/* All threads copy all panels of A and B, side by side, and then take blocks of C. */
#include "strategy/gemm/host_amx/job.h"

#include "base/pool.h"
#include "base/scratch.h"
#include "base/status.h"

#include <stdatomic.h>

typedef struct running {
  const tsl_amx_job *job;
  tsl_amx_form a, b;
  uint32_t *sums;  /* of every worker */
  int64_t room;    /* of one, in sums */
  int64_t columns; /* blocks side by side in C */
} running;

/* Slivers, then strips, of a panel after the other; those that were not packed before. */
static int64_t pieces(const tsl_amx_job *job) {
  return (job->packed_a.at ? 0 : job->slivers) + (job->packed_b.at ? 0 : job->strips);
}

static void copy_one(void *argument, int64_t index, int worker) {
  const running *run = argument;
  const tsl_amx_job *job = run->job;
  const int64_t each = pieces(job), panel = index / each, piece = index % each,
                slivers = job->packed_a.at ? 0 : job->slivers;
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

/* A panel's tiles of a block. What stays in the first-level cache is met by all that stream by: a strip, or with tile
 * registers, whose tiles write C in long rows, a sliver. */
static void multiply_panel(const running *run, const block *of, int64_t panel, uint32_t *sums) {
  const tsl_amx_job *job = run->job;
  const int64_t down = of->sliver_end - of->sliver, across = of->strip_end - of->strip,
                room = job->panels == 1 ? 0 : tsl_amx_tile_room(job);
  for (int64_t i = 0; i < down * across; i++) {
    const bool by_slivers = job->kernels->has_registers;
    const int64_t sliver = by_slivers ? i / across : i % down, strip = by_slivers ? i % across : i / down;
    tsl_amx_multiply_tile(job, &run->a, &run->b, panel, of->sliver + sliver, of->strip + strip,
                          sums + (sliver * across + strip) * room, strip + 1 < across);
  }
}

/* Panel after panel of a block of C. */
static void multiply_block(void *argument, int64_t index, int worker) {
  const running *run = argument;
  const tsl_amx_job *job = run->job;
  const int64_t sliver = index / run->columns * job->block_slivers,
                strip = index % run->columns * job->block_strips;
  const block of = {sliver, tsl_amx_least(sliver + job->block_slivers, job->slivers), strip,
                    tsl_amx_least(strip + job->block_strips, job->strips)};
  if (job->kernels->begin)
    job->kernels->begin();
  for (int64_t panel = 0; panel < job->panels; panel++)
    multiply_panel(run, &of, panel, run->sums + worker * run->room);
  if (job->kernels->end)
    job->kernels->end();
  if (job->streams) /* lines past the caches are there before this block is said to be done */
    atomic_thread_fence(memory_order_seq_cst);
}

void tsl_amx_run_all(tsl_pool *pool, int64_t count, tsl_pool_task task, void *argument) {
  if (pool)
    tsl_pool_run(pool, count, task, argument);
  else
    for (int64_t i = 0; i < count; i++)
      task(argument, i, 0);
}

void tsl_amx_make_form(const tsl_amx_job *job, bool is_a, uint32_t *to) {
  tsl_amx_job own = *job;
  own.reads_a = false;
  *(is_a ? &own.packed_b : &own.packed_a) = (tsl_amx_form){.at = to}; /* the other one is not copied */
  running run = {.job = &own, .a = tsl_amx_form_in(job, true, to), .b = tsl_amx_form_in(job, false, to)};
  tsl_pool_run(tsl_pool_shared(), job->panels * pieces(&own), copy_one, &run);
}

tesela_status tsl_amx_run_shared(const tsl_amx_job *job, tsl_pool *pool) {
  const int64_t threads = pool ? tsl_pool_threads(pool) : 1;
  const int64_t a = job->packed_a.at ? 0 : tsl_amx_form_units(job, true),
                b = job->packed_b.at ? 0 : tsl_amx_form_units(job, false);
  running run = {.job = job, .columns = tsl_amx_count(job->strips, job->block_strips)};
  run.room = tsl_amx_tile_room(job) * (job->panels == 1 ? 1 : job->block_slivers * job->block_strips);
  void *memory;
  TSL_TRY(tsl_scratch_take((size_t)(a + b + threads * run.room) * sizeof(uint32_t), "copies of the operands",
                           &memory));
  uint32_t *const room = memory;
  run.a = job->packed_a.at ? job->packed_a : tsl_amx_form_in(job, true, room);
  run.b = job->packed_b.at ? job->packed_b : tsl_amx_form_in(job, false, room + a);
  run.sums = room + a + b;
  if (a + b > 0)
    tsl_amx_run_all(pool, job->panels * pieces(job), copy_one, &run);
  tsl_amx_run_all(pool, tsl_amx_count(job->slivers, job->block_slivers) * run.columns, multiply_block, &run);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

/* Schedules TSL_PACKED_ROWS: loops 4, 1 and 2, and TSL_PACKED_COLUMNS: loops 4, 5, 1 and 2. Loop 3, and 5 of
 * ROWS, have one round: the resident operand is packed whole. Threads take parts of loop 1 or 5 for all of k.
 */
#include "core/pool.h"
#include "core/scratch.h"
#include "core/status.h"
#include "strategy/gemm/host/host_packed/blocking.h"

static tsl_packed_block panel_at(const tsl_packed_job *job, int64_t step) {
  return (tsl_packed_block){0,    job->views.m,
                            0,    job->views.n,
                            step, step < 0 ? 0 : tsl_max(tsl_min(job->kc, job->views.k - step), 0)};
}

/* Returns the next panel, of this part of k or of the part after it; its depth is 0 after the last. */
static tsl_packed_block next_panel(const tsl_packed_job *job, const tsl_packed_block *block) {
  tsl_packed_block behind = *block;
  behind.pc += job->descends ? -job->kc : block->kc;
  behind.kc = behind.pc < 0 ? 0 : tsl_min(job->kc, job->views.k + job->ahead - behind.pc);
  return behind;
}

/* Loop 1: multiplies micro-panels `first` to before `end` of A by B's panel, prefetching the next. */
static void stream_micro_panels(const tsl_packed_job *job, const tsl_packed_block *block, int64_t first,
                                int64_t end, void *a_copy, const void *b_copy) {
  const int64_t micros_b = tsl_packed_micros_b(job, block);
  const tsl_packed_block behind = next_panel(job, block);
  const int64_t before_last = behind.kc > 0 ? micros_b - 1 : micros_b,
                tiles = tsl_max(before_last / (job->is_half ? 2 : 1), 1);
  tsl_packed_tile tile = tsl_packed_tile_of(job, block);
  for (int64_t ir = first; ir < end; ir++) {
    const tsl_packed_block micro_block = tsl_packed_micro_block(job, block, ir);
    tsl_packed_pack_a(job, &micro_block, 0, 1, a_copy);
    const tsl_packed_side micro_a = tsl_packed_micro_a(job, &micro_block, 0, a_copy);
    tile.prefetch = tsl_packed_prefetch_a(job, block, tsl_min(ir + 1, end - 1), tiles);
    tsl_packed_loop_2(job, &micro_block, &micro_a, 0, before_last, b_copy, &tile);
    if (before_last > 0 && before_last < micros_b)
      tile.prefetch = tsl_packed_prefetch_piece(job, block, &behind, 1, 0, ir - first, end - first, 1);
    tsl_packed_loop_2(job, &micro_block, &micro_a, before_last, micros_b, b_copy, &tile);
  }
}

typedef struct stationary_launch {
  const tsl_packed_job *job;
  unsigned char *resident, *streaming; /* the whole operand, panel after panel; a buffer of each worker */
  int64_t resident_step;               /* bytes of the resident operand for each step of k */
  int64_t streaming_bytes;
  /* Streaming micro-panels of A, or groups of B's; and tasks that they are distributed in. */
  int64_t units, chunks;
  int64_t shares; /* tasks that pack one panel of the resident operand */
} stationary_launch;

static int64_t resident_lines(const tsl_packed_job *job) {
  return job->schedule == TSL_PACKED_COLUMNS ? tsl_packed_width_of_a(job, job->views.m)
                                             : tsl_packed_width_of_b(job, job->views.n);
}

static int64_t streaming_lines(const tsl_packed_job *job) {
  if (job->schedule != TSL_PACKED_COLUMNS)
    return tsl_packed_width_of_a(job, job->mr);
  return job->copies_b ? job->nc : tsl_packed_width_of_b(job, job->views.n);
}

static void pack_resident(const tsl_packed_job *job, const tsl_packed_block *block, int64_t index,
                          int64_t shares, void *copy) {
  const bool is_a = job->schedule == TSL_PACKED_COLUMNS;
  const int64_t pieces = is_a ? tsl_packed_micros_a(job, block) : tsl_packed_micros_b(job, block),
                first = tsl_partition_begin(pieces, shares, index),
                end = tsl_partition_begin(pieces, shares, index + 1);
  if (is_a)
    tsl_packed_pack_a(job, block, first, end, copy);
  else
    tsl_packed_pack_b(job, block, first, end, copy);
}

static int64_t count_units(const tsl_packed_job *job) {
  return job->schedule == TSL_PACKED_COLUMNS ? tsl_ceil_div_or_one(job->views.n, job->nc)
                                             : tsl_ceil_div_or_one(job->views.m, job->mr);
}

static void pack_resident_part(void *argument, int64_t index, int worker) {
  const stationary_launch *run = argument;
  const int64_t step = index / run->shares * run->job->kc;
  const tsl_packed_block block = panel_at(run->job, step);
  (void)worker;
  pack_resident(run->job, &block, index % run->shares, run->shares,
                run->resident + step * run->resident_step);
}

/* Loop 4: multiplies units `first` to before `end` in each panel. `packs_resident`: packs the panels too. */
static void stream_a(const stationary_launch *run, int64_t first, int64_t end, bool packs_resident,
                     void *streaming) {
  const tsl_packed_job *job = run->job;
  for (int64_t panel = 0; panel == 0 || panel * job->kc < job->views.k; panel++) {
    const tsl_packed_block block = panel_at(job, tsl_packed_step_of(job, panel));
    if (packs_resident)
      pack_resident(job, &block, 0, 1, run->resident);
    stream_micro_panels(job, &block, first, end, streaming,
                        run->resident + (packs_resident ? 0 : block.pc * run->resident_step));
  }
}

/* Returns round `index` of loops 4 and 5: `count` groups of NC columns a panel, from group `first` on; kc is
 * 0 after the last. */
static tsl_packed_block group_at(const tsl_packed_job *job, int64_t first, int64_t count, int64_t index) {
  tsl_packed_block group = panel_at(job, tsl_packed_step_of(job, index / count));
  group.jc = (first + index % count) * job->nc;
  group.nc = tsl_min(job->nc, job->views.n - group.jc);
  return group;
}

/* Loops 1 and 2: multiplies a group by A's panel, and packs the next group in pieces, each prefetched before.
 * With `b_is_outer` loop 2 is the outer one: a piece follows a whole micro-panel of B, which packing would
 * evict from the first-level cache. */
static void multiply_group(const tsl_packed_job *job, const tsl_packed_block *block, const void *a_copy,
                           const void *b_copy, const tsl_packed_block *next, void *b_next) {
  const int64_t micros_a = tsl_packed_micros_a(job, block), micros_b = tsl_packed_micros_b(job, block),
                tiles = micros_a * micros_b,
                pieces = tsl_packed_pieces(job, next, job->b_is_outer ? micros_b : tiles);
  tsl_packed_tile tile = tsl_packed_tile_of(job, block);
  for (int64_t piece = 0, t = 0, some; piece < pieces; piece++) {
    const int64_t end = tsl_partition_begin(tiles, pieces, piece + 1);
    tile.prefetch = tsl_packed_prefetch_piece(job, block, next, pieces, piece, 0, 1, end - t);
    for (; t < end; t += some)
      if (job->b_is_outer) {
        const int64_t jr = t / micros_a, ir = t % micros_a;
        some = tsl_min(micros_a - ir, end - t);
        tsl_packed_loop_1(job, block, ir, ir + some, a_copy, jr, b_copy, &tile);
      } else {
        const int64_t ir = t / micros_b, jr = t % micros_b;
        const tsl_packed_side micro_a = tsl_packed_micro_a(job, block, ir, a_copy);
        some = tsl_min(micros_b - jr, end - t);
        tsl_packed_loop_2(job, block, &micro_a, jr, jr + some, b_copy, &tile);
      }
    tsl_packed_pack_piece(job, next, pieces, piece, b_next);
  }
}

static void stream_b(const stationary_launch *run, int64_t first, int64_t end, bool packs_resident,
                     void *streaming) {
  const tsl_packed_job *job = run->job;
  const int64_t count = end - first;
  tsl_packed_block block = group_at(job, first, count, 0);
  unsigned char *copies[] = {streaming, (unsigned char *)streaming + run->streaming_bytes / 2};
  tsl_packed_pack_b(job, &block, 0, tsl_packed_micros_b(job, &block), copies[0]);
  for (int64_t index = 0; index < count || block.kc > 0; index++) {
    const tsl_packed_block next = group_at(job, first, count, index + 1);
    if (packs_resident && index % count == 0)
      pack_resident(job, &block, 0, 1, run->resident);
    multiply_group(job, &block, run->resident + (packs_resident ? 0 : block.pc * run->resident_step),
                   copies[index % 2], &next, copies[(index + 1) % 2]);
    block = next;
  }
}

static void stream_units(const stationary_launch *run, int64_t first, int64_t end, bool packs_resident,
                         void *streaming) {
  if (run->job->schedule == TSL_PACKED_COLUMNS)
    stream_b(run, first, end, packs_resident, streaming);
  else
    stream_a(run, first, end, packs_resident, streaming);
}

static void stream_chunk(void *argument, int64_t index, int worker) {
  const stationary_launch *run = argument;
  stream_units(run, tsl_partition_begin(run->units, run->chunks, index),
               tsl_partition_begin(run->units, run->chunks, index + 1), false,
               run->streaming + worker * run->streaming_bytes);
}

void tsl_packed_stream_a_alone(const tsl_packed_job *job, void *a_copy, void *b_copy) {
  const stationary_launch run = {.job = job, .resident = b_copy};
  stream_a(&run, 0, count_units(job), true, a_copy);
}

enum { CHUNKS_OF_A_THREAD = 8, SHARES_OF_A_THREAD = 4 };

/* Returns the resident operand's bytes that each task reads again; 0: the second-level cache has it. */
static int64_t reread_bytes(const tsl_packed_job *job) {
  const int64_t bytes = tsl_packed_bytes(job, resident_lines(job) * job->views.k);
  return job->views.k > job->kc && bytes > job->half_l2_bytes + job->half_l2_bytes / 2 ? bytes : 0;
}

/* Returns the tasks: fewer, a multiple of the threads, if each reads the resident operand again. */
static int64_t count_chunks(const tsl_packed_job *job, int64_t threads) {
  const int64_t units = count_units(job), most = tsl_min(units, CHUNKS_OF_A_THREAD * threads),
                lines = job->schedule == TSL_PACKED_COLUMNS ? job->views.n : job->views.m;
  if (reread_bytes(job) == 0)
    return most;
  return tsl_min(most, tsl_max(lines / job->reuse_lines / threads, 1) * threads);
}

tsl_packed_sharing tsl_packed_share_stationary(const tsl_packed_job *job, int64_t threads) {
  const double again = (double)reread_bytes(job) * (double)count_chunks(job, threads) / (double)threads;
  return (tsl_packed_sharing){.waits = resident_lines(job) > 0 ? 2 : 1,
                              .uneven = tsl_packed_uneven(count_units(job), threads),
                              .again = again,
                              .shared = (double)(resident_lines(job) * job->views.k * job->size)};
}

tesela_status tsl_packed_run_stationary(const tsl_packed_job *job, tsl_team team) {
  const int64_t threads = tsl_team_threads(team);
  stationary_launch run = {.job = job, .units = count_units(job)};
  run.resident_step = resident_lines(job) * job->size;
  run.streaming_bytes = tsl_packed_bytes(job, streaming_lines(job) * job->kc);
  if (job->schedule == TSL_PACKED_COLUMNS)
    run.streaming_bytes *= 2;
  const int64_t resident_bytes =
                    tsl_packed_bytes(job, resident_lines(job) * (threads > 1 ? job->views.k : job->kc)),
                bytes = resident_bytes + threads * run.streaming_bytes;
  unsigned char nothing; /* target of pointers if nothing is packed */
  void *copies = NULL;
  if (bytes > 0)
    TSL_TRY(tsl_scratch_take((size_t)bytes, "copies of panels", &copies));
  run.resident = copies ? copies : &nothing;
  run.streaming = run.resident + resident_bytes;
  run.chunks = count_chunks(job, threads);
  if (threads == 1) {
    stream_units(&run, 0, run.units, true, run.streaming);
  } else {
    const int64_t panels = tsl_ceil_div_or_one(job->views.k, job->kc);
    run.shares = tsl_ceil_div_or_one(SHARES_OF_A_THREAD * threads, panels);
    if (run.resident_step > 0 && job->views.k > 0)
      tsl_team_run(team, panels * run.shares, pack_resident_part, &run);
    tsl_team_run(team, run.chunks, stream_chunk, &run);
  }
  tsl_scratch_give(copies);
  return TESELA_OK;
}

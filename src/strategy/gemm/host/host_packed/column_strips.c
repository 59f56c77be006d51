/* TSL_PACKED_PANELS with many threads and a short k, and other schedules that leave threads idle. Loops 5 and
 * 3 cut C into at least as many strips as threads. Each thread packs all of k of its strip's columns of B
 * into its second-level cache and streams A: loops 1, 4 and 2.
 *
 *                 strips of C
 *      +-------+-------+-------+-------+
 *      |   0   |   1   |   2   |   3   |     A thread takes one micro-panel of A after another of its strip;
 *      +-------+-------+-------+-------+     then it helps with the strip that has most left, with a copy
 *      |   4   |   5   |   6   |   7   |     of B of its own.
 *      +-------+-------+-------+-------+
 *
 * A copy shared by all threads costs more than packing several times. Its cache lines must be invalidated
 * before they are written again, and each panel ends with a barrier. */
#include "core/memory.h"
#include "core/pool.h"
#include "core/scratch.h"
#include "core/status.h"
#include "strategy/gemm/host/host_packed/blocking.h"

#include <math.h>
#include <stdatomic.h>

typedef struct column_strips_counter {
  _Alignas(TSL_CACHE_LINE) _Atomic int64_t value;
} column_strips_counter;

typedef struct column_strips_run {
  const tsl_packed_job *job;
  tsl_packed_grid grid;
  column_strips_counter *taken; /* for each strip, micro-panels of A that threads have taken */
  unsigned char *copies;
  int64_t a_bytes, b_bytes; /* bytes of a worker's packed A and packed B */
} column_strips_run;

/* Minimum columns of the widest strip (narrower ones use up A too fast), and vectors of a width's unit. */
enum { FEWEST_COLUMNS = 128, VECTORS = 4 };
static int64_t max_columns_of_strip(const tsl_packed_job *job) {
  const int64_t unit = VECTORS * tsl_packed_lanes(job->kernels);
  return job->half_l2_bytes / job->size / tsl_max(job->views.k, 1) / unit * unit;
}

bool tsl_packed_has_strips(const tsl_packed_job *job, int64_t threads) {
  enum { MANY = 4 };
  return threads >= MANY && job->schedule == TSL_PACKED_PANELS && job->views.a.structure == TESELA_GENERAL &&
         job->views.b.structure == TESELA_GENERAL && !job->views.in_place && !job->views.a.packed &&
         !job->views.b.packed && max_columns_of_strip(job) >= FEWEST_COLUMNS;
}

/* Returns the clocks of a strip for each vector of its width and step of k, from measurements. */
static double column_strips_clocks_of(const tsl_packed_job *job, int64_t rows, int64_t columns) {
  const double a = tsl_packed_strip_of(job, columns).copies_a ? 12 : 6;
  return 0.5 * (double)rows * (double)columns + a * (double)rows + 12 * (double)columns;
}

tsl_packed_grid tsl_packed_cut_strips(const tsl_packed_job *job, int64_t threads) {
  const int64_t unit = VECTORS * tsl_packed_lanes(job->kernels),
                fewest = tsl_ceil_div_or_one(job->views.n, max_columns_of_strip(job));
  tsl_packed_grid best = {.down = 0};
  double least = INFINITY;
  for (int64_t wanted = fewest; wanted <= tsl_max(fewest, threads); wanted++) {
    const int64_t columns = tsl_ceil_div_or_one(tsl_ceil_div_or_one(job->views.n, wanted), unit) * unit,
                  across = tsl_ceil_div_or_one(job->views.n, columns);
    for (int64_t down = 1; down <= tsl_ceil_div_or_one(threads, across); down++) {
      const double each = column_strips_clocks_of(job, tsl_ceil_div_or_one(job->views.m, down), columns),
                   cost = each * fmax(1, (double)(down * across) / (double)threads);
      if (cost >= least)
        continue;
      least = cost;
      best = (tsl_packed_grid){down, across, columns};
    }
  }
  return best;
}

/* Returns a strip's rectangle of C and the panel of k from `pc`; kc is 0 if there is none. */
static tsl_packed_block strip_at(const column_strips_run *run, int64_t index, int64_t pc) {
  const tsl_views *views = &run->job->views;
  const int64_t ic = tsl_partition_begin(views->m, run->grid.down, index / run->grid.across),
                jc = index % run->grid.across * run->grid.columns;
  return (tsl_packed_block){
      ic, tsl_partition_begin(views->m, run->grid.down, index / run->grid.across + 1) - ic,
      jc, tsl_min(run->grid.columns, views->n - jc),
      pc, tsl_max(tsl_min(run->job->kc, views->k - pc), 0)};
}

/* Packs a micro-panel of A, multiplies it by a panel of the strip, and prefetches the micro-panel of `next`.
 */
static void multiply_micro_panel(const tsl_packed_job *strip, const tsl_packed_block *block,
                                 const tsl_packed_block *next, void *a_copy, const void *b_copy) {
  const int64_t micros_b = tsl_packed_micros_b(strip, block);
  tsl_packed_tile tile = tsl_packed_tile_of(strip, block);
  if (tsl_packed_is_idle(strip, block))
    return;
  tsl_packed_pack_a(strip, block, 0, 1, a_copy);
  const tsl_packed_side micro_a = tsl_packed_micro_a(strip, block, 0, a_copy);
  tile.prefetch = next->kc > 0 ? tsl_packed_prefetch_a(strip, next, 0, micros_b)
                               : tsl_packed_prefetch_bytes(block, micros_b, micro_a.at, 1);
  tsl_packed_loop_2(strip, block, &micro_a, 0, micros_b, b_copy, &tile);
}

static int64_t take_micro_panel(const column_strips_run *run, int64_t index) {
  return atomic_fetch_add_explicit(&run->taken[index].value, 1, memory_order_relaxed);
}

/* Packs a strip's columns of B, then multiplies the micro-panels of A that no thread has taken yet. */
static void multiply_strip(const column_strips_run *run, int64_t index, int worker) {
  const tsl_packed_block whole = strip_at(run, index, 0);
  const tsl_packed_job strip = tsl_packed_strip_of(run->job, whole.nc);
  const int64_t micros_a = tsl_packed_micros_a(&strip, &whole), k = run->job->views.k,
                step_bytes = tsl_packed_width_of_b(&strip, whole.nc) * strip.size;
  unsigned char *const a_copy = run->copies + worker * (run->a_bytes + run->b_bytes), *const b_copy =
                                                                                          a_copy +
                                                                                          run->a_bytes;
  int64_t ir = take_micro_panel(run, index);
  for (int64_t pc = 0; ir < micros_a && pc < k; pc += strip.kc) {
    const tsl_packed_block panel = strip_at(run, index, pc);
    tsl_packed_pack_b(&strip, &panel, 0, tsl_packed_micros_b(&strip, &panel), b_copy + pc * step_bytes);
  }
  for (int64_t next_ir; ir < micros_a; ir = next_ir) { /* loop 1 */
    next_ir = take_micro_panel(run, index);
    for (int64_t pc = 0; pc == 0 || pc < k; pc += strip.kc) { /* loop 4 */
      const tsl_packed_block panel = strip_at(run, index, pc),
                             micro_block = tsl_packed_micro_block(&strip, &panel, ir);
      tsl_packed_block next = {.kc = 0};
      if (pc + strip.kc < k) {
        const tsl_packed_block next_panel = strip_at(run, index, pc + strip.kc);
        next = tsl_packed_micro_block(&strip, &next_panel, ir);
      } else if (next_ir < micros_a)
        next = tsl_packed_micro_block(&strip, &whole, next_ir);
      multiply_micro_panel(&strip, &micro_block, &next, a_copy, b_copy + pc * step_bytes);
    }
  }
}

/* Returns the rows of a strip that no thread has taken; 0 if they are not worth another copy of B. */
static int64_t column_strips_left_of(const column_strips_run *run, int64_t index) {
  enum { WORTH_A_COPY = 64 };
  const tsl_packed_block whole = strip_at(run, index, 0);
  const tsl_packed_job strip = tsl_packed_strip_of(run->job, whole.nc);
  const int64_t taken = atomic_load_explicit(&run->taken[index].value, memory_order_relaxed),
                left = whole.mc - taken * strip.mr;
  return taken > 0 && left < WORTH_A_COPY ? 0 : left;
}

static void take_strips(void *argument, int64_t index, int worker) {
  const column_strips_run *run = argument;
  const int64_t count = run->grid.down * run->grid.across;
  for (int64_t next = index, most = 1; most > 0;) {
    multiply_strip(run, next, worker);
    most = 0;
    for (int64_t turn = 0; turn < count; turn++) {
      const int64_t other = (index + turn) % count, left = column_strips_left_of(run, other);
      if (left > most) {
        most = left;
        next = other;
      }
    }
  }
}

tsl_packed_sharing tsl_packed_share_strips(const tsl_packed_job *job, int64_t threads) {
  const tsl_packed_grid grid = tsl_packed_cut_strips(job, threads);
  const double even = (double)job->views.m * (double)job->views.n / (double)threads,
               each = (double)tsl_ceil_div_or_one(job->views.m, grid.down) * (double)grid.columns;
  return (tsl_packed_sharing){.waits = 1, .uneven = fmax(1, each / even)};
}

tesela_status tsl_packed_run_strips(const tsl_packed_job *job, tsl_team team) {
  const int64_t threads = tsl_team_threads(team);
  column_strips_run run = {.job = job, .grid = tsl_packed_cut_strips(job, threads)};
  const tsl_packed_job strip = tsl_packed_strip_of(job, run.grid.columns);
  const int64_t count = run.grid.down * run.grid.across,
                counters = count * (int64_t)sizeof(column_strips_counter), tasks = tsl_min(threads, count);
  run.a_bytes = tsl_packed_bytes(job, tsl_packed_width_of_a(&strip, job->kernels->rows[0]) * job->kc);
  run.b_bytes =
      tsl_packed_bytes(job, tsl_packed_width_of_b(&strip, run.grid.columns) * tsl_max(job->views.k, 1));
  void *memory;
  TSL_TRY(tsl_scratch_take((size_t)(counters + tasks * (run.a_bytes + run.b_bytes)), "copies of panels",
                           &memory));
  run.taken = memory;
  run.copies = (unsigned char *)memory + counters;
  for (int64_t i = 0; i < count; i++)
    atomic_init(&run.taken[i].value, 0);
  tsl_team_run(team, tasks, take_strips, &run);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

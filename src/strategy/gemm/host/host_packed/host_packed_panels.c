/* Schedule TSL_PACKED_PANELS. One thread: loops 3, 4, 5, 1 and 2 (host_packed.c). A micro-panel of A is
 * packed at its first use; B's next block is packed in pieces between micro-panels of A.
 *
 * Several threads share both copies: loops 3, 5 and 4. A stage is one panel of k of a large rectangle of C.
 * Its tasks are tiles of the rectangle, a part of loop 1 by a part of loop 2. Each task also packs a fraction
 * of the next stage. A stage needs one barrier and two sets of copies. A thread starts with its region's
 * tasks.
 *
 * In place, C holds the general factor of a triangular product. A panel of it is packed before C is written
 * there, and is then multiplied by all of the triangle's panel. The last panel comes first if the triangle's
 * lines end at the diagonal, else the first:
 *
 *      | L1       |   C3 = L3 C3, C's third panel of rows being packed;
 *      | K1 L2    |   C2 = L2 C2, C3 += J2 C2, the second one;
 *      | J1 J2 L3 |   C1 = L1 C1, C2 += K1 C1, C3 += J1 C1
 *
 * The order is equal where all of C is copied first (host_packed_run.c), and with any number of threads. */
#include "core/memory.h"
#include "core/pool.h"
#include "core/scratch.h"
#include "core/status.h"
#include "strategy/gemm/host/host_packed/blocking.h"

#include <stdatomic.h>

/* Returns round `index` of loops 3, 4 and 5: columns of blocks within panels of k within panels of rows. */
static tsl_packed_block packed_panels_block_at(const tsl_packed_job *job, int64_t index) {
  const int64_t across = tsl_ceil_div_or_one(job->views.n, job->nc),
                panels = tsl_ceil_div_or_one(job->views.k, job->kc);
  const int64_t ic = index / across / panels * job->mc,      /* loop 3 */
      pc = tsl_packed_step_of(job, index / across % panels), /* loop 4 */
      jc = index % across * job->nc;                         /* loop 5 */
  if (ic >= job->views.m)
    return (tsl_packed_block){.kc = 0};
  return (tsl_packed_block){ic, tsl_min(job->mc, job->views.m - ic), jc, tsl_min(job->nc, job->views.n - jc),
                            pc, tsl_min(job->kc, job->views.k - pc)};
}

/* Returns the next block that is not idle, and advances *index; after the last: mc and kc are 0. */
static tsl_packed_block next_block(const tsl_packed_job *job, int64_t *index) {
  tsl_packed_block block = packed_panels_block_at(job, (*index)++);
  while (block.mc > 0 && tsl_packed_is_idle(job, &block))
    block = packed_panels_block_at(job, (*index)++);
  return block;
}

/* Loops 1 and 2: multiplies a block, and packs B's next block in pieces between micro-panels of A.
 * `copies_a`: packs micro-panels of A too. Each part is prefetched before it is packed. */
static void packed_panels_loop_1(const tsl_packed_job *job, const tsl_packed_block *block, bool copies_a,
                                 void *a_copy, const void *b_copy, const tsl_packed_block *next,
                                 void *b_next) {
  const int64_t micros_a = tsl_packed_micros_a(job, block), micros_b = tsl_packed_micros_b(job, block),
                pieces = tsl_packed_pieces(job, next, micros_a),
                tiles = micros_b > 1 ? (micros_b + 3) / 4 : 0; /* tiles during which B's part is prefetched */
  tsl_packed_tile tile = tsl_packed_tile_of(job, block);
  tile.prefetch = tsl_packed_prefetch_bytes(block, 1, b_copy, 1);
  if (copies_a)
    tsl_packed_pack_a(job, block, 0, 1, a_copy);
  for (int64_t piece = 0, ir = 0; piece < pieces; piece++) {
    const int64_t first = ir, end = tsl_partition_begin(micros_a, pieces, piece + 1);
    for (; ir < end; ir++) { /* loop 1 */
      const tsl_packed_side micro_a = tsl_packed_micro_a(job, block, ir, a_copy);
      const int64_t bytes = micro_a.count * block->kc * job->size;
      const bool packs_a = copies_a && ir + 1 < micros_a;
      if (tiles > 0)
        tile.prefetch =
            tsl_packed_prefetch_piece(job, block, next, pieces, piece, ir - first, end - first, tiles);
      tsl_packed_loop_2(job, block, &micro_a, 0, tiles, b_copy, &tile);
      tile.prefetch = packs_a ? tsl_packed_prefetch_a(job, block, ir + 1, micros_b - tiles)
                              : tsl_packed_prefetch_bytes(block, micros_b - tiles,
                                                          (const unsigned char *)micro_a.at + bytes, bytes);
      tsl_packed_loop_2(job, block, &micro_a, tiles, micros_b, b_copy, &tile);
      if (packs_a)
        tsl_packed_pack_a(job, block, ir + 1, ir + 2, a_copy);
    }
    tsl_packed_pack_piece(job, next, pieces, piece, b_next);
  }
}

static tesela_status packed_panels_run_alone(const tsl_packed_job *job) {
  const int64_t a_bytes = tsl_packed_bytes(job, tsl_packed_width_of_a(job, job->mc) * job->kc),
                b_bytes = tsl_packed_bytes(job, tsl_packed_width_of_b(job, job->nc) * job->kc);
  unsigned char *b_copy[2];
  void *copies;
  TSL_TRY(tsl_scratch_take((size_t)(a_bytes + 2 * b_bytes), "copies of panels", &copies));
  b_copy[0] = (unsigned char *)copies + a_bytes;
  b_copy[1] = b_copy[0] + b_bytes;
  int64_t index = 0, ic = -1, pc = -1; /* of the panel of A that is packed */
  tsl_packed_block block = next_block(job, &index);
  tsl_packed_pack_b(job, &block, 0, tsl_packed_micros_b(job, &block), b_copy[0]);
  for (int turn = 0; block.mc > 0; turn ^= 1) { /* loops 3, 4 and 5 */
    const tsl_packed_block next = next_block(job, &index);
    const bool is_new = block.ic != ic || block.pc != pc;
    packed_panels_loop_1(job, &block, is_new && !job->views.a.packed, copies, b_copy[turn], &next,
                         b_copy[turn ^ 1]);
    ic = block.ic;
    pc = block.pc;
    block = next;
  }
  tsl_scratch_give(copies);
  return TESELA_OK;
}

typedef struct panel_stage {
  tsl_packed_block block;
  unsigned char *a_copy, *b_copy;
  int64_t micros_a, micros_b;
  int64_t down, across;                 /* tasks in a column and in a row of the rectangle */
  int64_t regions_down, regions_across; /* a thread takes the tasks of its own region first */
} panel_stage;

typedef struct packed_panels_launch {
  const tsl_packed_job *job;
  panel_stage now, next;  /* stage to pack; its block is empty after the last stage */
  _Atomic int64_t *taken; /* for each region of `now`, tasks that threads have taken */
  int64_t shares;         /* tasks that pack the first stage */
} packed_panels_launch;

/* A task's parts of loops 1 and 2. It packs partition `share` of `shares` of the next stage. */
typedef struct task_tiles {
  int64_t first_ir, end_ir, first_jr, end_jr, share, shares;
} task_tiles;

typedef struct panel_stages {   /* rectangles row by row, in each the panels of k */
  int64_t rows, columns;        /* size of a rectangle */
  int64_t down, across, panels; /* rectangles in a column and a row of C; panels of k */
  int64_t count;
} panel_stages;

enum { APART = TSL_CACHE_LINE / sizeof(int64_t) }; /* a cache line for each counter */
enum { TASKS_OF_A_THREAD = 12, MICROS_OF_A_TASK = 8, COPIES_OF_A_THREAD = 6 };

/* Cuts a stage into a dozen tasks for each thread, with eight micro-panels of A or more if possible. */
static void cut_tiles(const tsl_packed_job *job, int64_t threads, panel_stage *stage) {
  const int64_t micros_b_of_a_block = tsl_max(job->nc / job->nr, 1);
  stage->across = tsl_ceil_div_or_one(stage->micros_b, micros_b_of_a_block);
  const int64_t wanted = tsl_ceil_div_or_one(TASKS_OF_A_THREAD * threads, stage->across),
                most = tsl_ceil_div_or_one(stage->micros_a, MICROS_OF_A_TASK);
  stage->down = tsl_max(tsl_min(wanted, most), 1);
  while (stage->down * stage->across < 6 * threads && stage->across < stage->micros_b)
    stage->across = tsl_min(2 * stage->across, stage->micros_b);
}

/* Chooses regions, one for each thread, as square as possible to read the fewest micro-panels. */
static void cut_regions(int64_t threads, panel_stage *stage) {
  int64_t least_edge = INT64_MAX;
  stage->regions_down = stage->regions_across = 1;
  for (int64_t down = 1; down <= threads; down++) {
    const int64_t across = threads / down, edge = tsl_ceil_div_or_one(stage->block.mc, down) +
                                                  tsl_ceil_div_or_one(stage->block.nc, across);
    if (threads % down == 0 && down <= stage->down && across <= stage->across && edge < least_edge) {
      least_edge = edge;
      stage->regions_down = down;
      stage->regions_across = across;
    }
  }
}

/* Returns stage `index`, cut into tasks and into regions of threads. */
static panel_stage stage_at(const tsl_packed_job *job, const panel_stages *all, int64_t index,
                            int64_t threads, unsigned char *a_copy, unsigned char *b_copy) {
  const int64_t ic = index / all->panels / all->across * all->rows, /* loop 3 */
      jc = index / all->panels % all->across * all->columns,        /* loop 5 */
      pc = tsl_packed_step_of(job, index % all->panels);            /* loop 4 */
  panel_stage stage = {.block = {ic, tsl_min(all->rows, job->views.m - ic), jc,
                                 tsl_min(all->columns, job->views.n - jc), pc,
                                 tsl_min(job->kc, job->views.k - pc)},
                       .a_copy = a_copy,
                       .b_copy = b_copy};
  stage.micros_a = tsl_packed_micros_a(job, &stage.block);
  stage.micros_b = tsl_packed_micros_b(job, &stage.block);
  cut_tiles(job, threads, &stage);
  cut_regions(threads, &stage);
  return stage;
}

static int64_t count_tasks(const panel_stage *from) {
  return from->down * from->across;
}
static void pack_partition(const tsl_packed_job *job, const panel_stage *stage, int64_t share,
                           int64_t shares) {
  tsl_packed_pack_a(job, &stage->block, tsl_partition_begin(stage->micros_a, shares, share),
                    tsl_partition_begin(stage->micros_a, shares, share + 1), stage->a_copy);
  tsl_packed_pack_piece(job, &stage->block, shares, share, stage->b_copy);
}

/* Returns the prefetch while micro-panel of A `ir` meets micro-panel of B `jr`. First `ir`: the next
 * micro-panel of B. Last `ir`: the task's part of the next stage. Otherwise: the next micro-panel of A. */
static tsl_packed_prefetch packed_panels_prefetch_of(const packed_panels_launch *run, const task_tiles *tiles,
                                                     int64_t ir, int64_t jr, const void *micro_a) {
  const tsl_packed_job *job = run->job;
  const tsl_packed_block *block = &run->now.block;
  const int64_t micros_b = tiles->end_jr - tiles->first_jr, half = (micros_b + 1) / 2,
                micro_a_bytes = job->mr * block->kc * job->size,
                micro_b_bytes = job->nr * block->kc * job->size;
  if (ir == tiles->first_ir && jr + 1 < tiles->end_jr) {
    const tsl_packed_side micro_b = tsl_packed_micro_b(job, block, jr, run->now.b_copy);
    return tsl_packed_prefetch_bytes(block, 1, (const char *)micro_b.at + micro_b_bytes, micro_b_bytes);
  }
  if (ir == tiles->first_ir)
    return tsl_packed_prefetch_bytes(block, 1, (const char *)micro_a + micro_a_bytes, micro_a_bytes);
  if (ir + 1 < tiles->end_ir || run->next.micros_a == 0)
    return tsl_packed_prefetch_bytes(block, micros_b, (const char *)micro_a + micro_a_bytes, micro_a_bytes);
  return jr < tiles->first_jr + half
             ? tsl_packed_prefetch_piece(job, block, &run->next.block, tiles->shares, tiles->share, 0, 1,
                                         half)
             : tsl_packed_prefetch_a(job, &run->next.block,
                                     tsl_partition_begin(run->next.micros_a, tiles->shares, tiles->share),
                                     tsl_max(micros_b - half, 1));
}

/* Loops 1 and 2 of a task. */
static void packed_panels_multiply(const packed_panels_launch *run, const task_tiles *tiles) {
  const tsl_packed_job *job = run->job;
  const tsl_packed_block *block = &run->now.block;
  const int64_t half = (tiles->end_jr - tiles->first_jr + 1) / 2;
  tsl_packed_tile tile = tsl_packed_tile_of(job, block);
  for (int64_t ir = tiles->first_ir; ir < tiles->end_ir; ir++) { /* loop 1 */
    const tsl_packed_side micro_a = tsl_packed_micro_a(job, block, ir, run->now.a_copy);
    /* micro-panels of B for which one prefetch lasts */
    const int64_t step = ir == tiles->first_ir ? 1 : ir + 1 == tiles->end_ir ? half : 2 * half;
    for (int64_t jr = tiles->first_jr; jr < tiles->end_jr; jr += step) {
      tile.prefetch = packed_panels_prefetch_of(run, tiles, ir, jr, micro_a.at);
      tsl_packed_loop_2(job, block, &micro_a, jr, tsl_min(jr + step, tiles->end_jr), run->now.b_copy, &tile);
    }
  }
  pack_partition(job, &run->next, tiles->share, tiles->shares);
}

/* Takes the next tile of a worker's region, down its columns, then of other regions. One must be left. */
static void take_tile(const packed_panels_launch *run, int worker, int64_t *i, int64_t *j) {
  const panel_stage *stage = &run->now;
  const int64_t regions = stage->regions_down * stage->regions_across;
  for (int64_t turn = 0; turn < regions; turn++) {
    const int64_t region = (worker + turn) % regions, row = region % stage->regions_down,
                  column = region / stage->regions_down,
                  top = tsl_partition_begin(stage->down, stage->regions_down, row),
                  down = tsl_partition_begin(stage->down, stage->regions_down, row + 1) - top,
                  left = tsl_partition_begin(stage->across, stage->regions_across, column),
                  across = tsl_partition_begin(stage->across, stage->regions_across, column + 1) - left,
                  taken = atomic_fetch_add_explicit(&run->taken[region * APART], 1, memory_order_relaxed);
    if (taken < down * across) {
      *i = top + taken % down;
      *j = left + taken / down;
      return;
    }
  }
  *i = *j = 0;
}

static void multiply_task(void *argument, int64_t index, int worker) {
  const packed_panels_launch *run = argument;
  const panel_stage *stage = &run->now;
  int64_t i, j;
  (void)index;
  take_tile(run, worker, &i, &j);
  packed_panels_multiply(run,
                         &(task_tiles){.first_ir = tsl_partition_begin(stage->micros_a, stage->down, i),
                                       .end_ir = tsl_partition_begin(stage->micros_a, stage->down, i + 1),
                                       .first_jr = tsl_partition_begin(stage->micros_b, stage->across, j),
                                       .end_jr = tsl_partition_begin(stage->micros_b, stage->across, j + 1),
                                       .share = j * stage->down + i,
                                       .shares = count_tasks(stage)});
}

static void pack_task(void *argument, int64_t index, int worker) {
  const packed_panels_launch *run = argument;
  (void)worker;
  pack_partition(run->job, &run->next, index, run->shares);
}

/* Returns the stages. A rectangle's panels of A and of B each fill their share of the last cache. */
static panel_stages stages_of(const tsl_packed_job *job) {
  panel_stages all;
  const int64_t widths =
      tsl_ceil_div_or_one(job->views.n, tsl_max(job->panel_max, job->nc) / job->nr * job->nr);
  all.rows = job->mc;
  all.columns = tsl_ceil_div_or_one(tsl_ceil_div_or_one(job->views.n, widths), job->nr) * job->nr;
  all.down = tsl_ceil_div_or_one(job->views.m, all.rows);
  all.across = tsl_ceil_div_or_one(job->views.n, all.columns);
  all.panels = tsl_ceil_div_or_one(job->views.k, job->kc);
  all.count = all.down * all.across * all.panels;
  return all;
}

static tesela_status run_by_threads(const tsl_packed_job *job, tsl_team team) {
  const int64_t threads = tsl_team_threads(team);
  const panel_stages all = stages_of(job);
  const int64_t a_bytes = tsl_packed_bytes(job, tsl_packed_width_of_a(job, all.rows) * job->kc),
                b_bytes = tsl_packed_bytes(job, tsl_packed_width_of_b(job, all.columns) * job->kc),
                sets = all.count > 1 ? 2 : 1, counters = threads * TSL_CACHE_LINE;
  void *memory;
  TSL_TRY(tsl_scratch_take((size_t)(sets * (a_bytes + b_bytes) + counters), "copies of panels", &memory));
  unsigned char *copies = (unsigned char *)memory + counters;
  packed_panels_launch run = {.job = job, .taken = memory, .shares = COPIES_OF_A_THREAD * threads};
  run.next = stage_at(job, &all, 0, threads, copies, copies + a_bytes);
  tsl_team_run(team, run.shares, pack_task, &run);
  for (int64_t index = 1; index <= all.count; index++) { /* loops 3, 5 and 4 */
    unsigned char *set = copies + index % sets * (a_bytes + b_bytes);
    run.now = run.next;
    run.next = index < all.count ? stage_at(job, &all, index, threads, set, set + a_bytes)
                                 : (panel_stage){.micros_a = 0};
    for (int64_t i = 0; i < threads; i++)
      atomic_init(&run.taken[i * APART], 0);
    tsl_team_run(team, count_tasks(&run.now), multiply_task, &run);
  }
  tsl_scratch_give(memory);
  return TESELA_OK;
}

tsl_packed_sharing tsl_packed_share_panels(const tsl_packed_job *job, int64_t threads) {
  if (tsl_packed_has_strips(job, threads))
    return tsl_packed_share_strips(job, threads);
  const panel_stages all = stages_of(job);
  const panel_stage first = stage_at(job, &all, 0, threads, NULL, NULL);
  const double copied = (double)(all.across * tsl_packed_width_of_a(job, job->views.m) +
                                 all.down * tsl_packed_width_of_b(job, job->views.n));
  return (tsl_packed_sharing){.waits = (double)all.count + 1,
                              .uneven = tsl_packed_uneven(count_tasks(&first), threads),
                              .shared = copied * (double)(job->views.k * job->size)};
}

/* In threads a rectangle needs all columns of C if A is the general factor, or all rows if it is B. */
bool tsl_packed_panels_in_place(const tsl_packed_job *job, int64_t threads) {
  const bool holds_a = job->views.a.structure == TESELA_GENERAL;
  return holds_a ? threads == 1 || stages_of(job).across == 1 : job->mc >= job->views.m;
}

tesela_status tsl_packed_run_panels(const tsl_packed_job *job, tsl_team team) {
  const int64_t threads = tsl_team_threads(team);
  return threads == 1                          ? packed_panels_run_alone(job)
         : tsl_packed_has_strips(job, threads) ? tsl_packed_run_strips(job, team)
                                               : run_by_threads(job, team);
}

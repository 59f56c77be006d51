/* One operand is small and kept, the other streams by: TSL_PACKED_ROWS and TSL_PACKED_COLUMNS. */
#include "base/pool.h"
#include "base/scratch.h"
#include "base/status.h"
#include "strategy/gemm/host_packed/job.h"

static tsl_packed_block panel_at(const tsl_packed_job *job, int64_t step) {
  return (tsl_packed_block){0, job->m, 0, job->n, step, tsl_packed_least(job->depth, job->k - step)};
}

/* --- the rows stream by --- */

/* A sliver as a block of its own. */
static tsl_packed_block sliver_block(const tsl_packed_job *job, tsl_packed_block block, int64_t index) {
  const int64_t slivers = tsl_packed_slivers(job, &block);
  block.row = tsl_packed_start(job->m, slivers, index);
  block.rows = tsl_packed_start(job->m, slivers, index + 1) - block.row;
  return block;
}

/* Slivers from `first` to before `end`, times B's panel. While one is multiplied the next is asked for, and in its last
 * tile a part of B's next panel. */
static void stream_rows(const tsl_packed_job *job, const tsl_packed_block *block, int64_t first, int64_t end,
                        void *a_copy, const void *b_copy) {
  const int64_t strips = tsl_packed_strips(job, block);
  for (int64_t i = first; i < end; i++) {
    const tsl_packed_block one = sliver_block(job, *block, i);
    tsl_packed_tile tile = tsl_packed_tile_of(job, block);
    tsl_packed_copy_slivers(job, &one, 0, 1, a_copy);
    const tsl_packed_side sliver = tsl_packed_sliver(job, &one, 0, a_copy);
    tile.ahead =
        tsl_packed_ahead_sliver(job, block, tsl_packed_least(i + 1, end - 1), tsl_packed_most(strips - 1, 1));
    for (int64_t j = 0; j < strips; j++) {
      const tsl_packed_side strip = tsl_packed_strip(job, &one, j, b_copy);
      if (j > 0 && j == strips - 1)
        tile.ahead = tsl_packed_ahead_panel(job, block, i - first, end - first, 1);
      tsl_packed_multiply_tile(job, &one, &sliver, &strip, &tile);
    }
  }
}

/* --- the columns stream by --- */

/* Groups of strips from `first` to before `end`, times A's panel. A group is copied at once, since its columns share
 * pages; while it is multiplied the next is asked for. A strip stays in the first-level cache while all slivers pass
 * by, where it fits with one of them. */
static void stream_columns(const tsl_packed_job *job, const tsl_packed_block *block, int64_t first,
                           int64_t end, const void *a_copy, void *b_copy) {
  const int64_t slivers = tsl_packed_slivers(job, block);
  for (int64_t group = first; group < end; group++) {
    tsl_packed_block one = *block;
    one.column = group * job->columns;
    one.columns = tsl_packed_least(job->columns, job->n - one.column);
    const int64_t strips = tsl_packed_strips(job, &one);
    tsl_packed_tile tile = tsl_packed_tile_of(job, &one);
    tsl_packed_copy_strips(job, &one, 0, strips, b_copy);
    tile.ahead = tsl_packed_ahead_strips(job, block, tsl_packed_least(group + 1, end - 1), strips * slivers);
    for (int64_t t = 0; t < slivers * strips; t++) {
      const tsl_packed_side sliver = tsl_packed_sliver(job, &one, job->strips_stay ? t % slivers : t / strips,
                                                       a_copy),
                            strip = tsl_packed_strip(job, &one, job->strips_stay ? t / slivers : t % strips,
                                                     b_copy);
      tsl_packed_multiply_tile(job, &one, &sliver, &strip, &tile);
    }
  }
}

/* --- either, in one thread or in many --- */

/* One run. What is kept is copied whole, panel after panel; what streams by has a buffer for each worker. */
typedef struct streaming {
  const tsl_packed_job *job;
  bool by_rows;
  unsigned char *kept, *passing;
  int64_t kept_step;     /* bytes of what is kept for each step along k */
  int64_t passing_bytes; /* of a worker's buffer */
  int64_t units, chunks; /* slivers or groups of strips, and how many tasks they are handed out in */
} streaming;

static int64_t kept_width(const tsl_packed_job *job) {
  return job->schedule == TSL_PACKED_COLUMNS ? tsl_packed_width_of_a(job, job->m)
                                             : tsl_packed_width_of_b(job, job->n);
}

/* Of a sliver, or of a group of strips. */
static int64_t passing_width(const tsl_packed_job *job) {
  if (job->schedule != TSL_PACKED_COLUMNS)
    return tsl_packed_width_of_a(job, job->height);
  return job->copies_b ? job->columns : tsl_packed_width_of_b(job, job->n);
}

static void keep(const tsl_packed_job *job, const tsl_packed_block *block, void *copy) {
  if (job->schedule == TSL_PACKED_COLUMNS)
    tsl_packed_copy_slivers(job, block, 0, tsl_packed_slivers(job, block), copy);
  else
    tsl_packed_copy_strips(job, block, 0, tsl_packed_strips(job, block), copy);
}

static void stream(const tsl_packed_job *job, const tsl_packed_block *block, int64_t first, int64_t end,
                   void *kept, void *passing) {
  if (job->schedule == TSL_PACKED_COLUMNS)
    stream_columns(job, block, first, end, kept, passing);
  else
    stream_rows(job, block, first, end, passing, kept);
}

static int64_t units_of(const tsl_packed_job *job) {
  return job->schedule == TSL_PACKED_COLUMNS ? tsl_packed_count(job->n, job->columns)
                                             : tsl_packed_count(job->m, job->height);
}

static void keep_panel(void *argument, int64_t index, int worker) {
  const streaming *run = argument;
  const int64_t step = index * run->job->depth;
  const tsl_packed_block block = panel_at(run->job, step);
  (void)worker;
  keep(run->job, &block, run->kept + step * run->kept_step);
}

static void stream_chunk(void *argument, int64_t index, int worker) {
  const streaming *run = argument;
  const tsl_packed_job *job = run->job;
  const int64_t first = tsl_packed_start(run->units, run->chunks, index),
                end = tsl_packed_start(run->units, run->chunks, index + 1);
  for (int64_t step = 0; step == 0 || step < job->k; step += job->depth) {
    const tsl_packed_block block = panel_at(job, step);
    stream(job, &block, first, end, run->kept + step * run->kept_step,
           run->passing + worker * run->passing_bytes);
  }
}

static void stream_alone(const tsl_packed_job *job, void *kept, void *passing) {
  const int64_t units = units_of(job);
  for (int64_t step = 0; step == 0 || step < job->k; step += job->depth) {
    const tsl_packed_block block = panel_at(job, step);
    keep(job, &block, kept);
    stream(job, &block, 0, units, kept, passing);
  }
}

void tsl_packed_stream_alone(const tsl_packed_job *job, void *a_copy, void *b_copy) {
  stream_alone(job, b_copy, a_copy);
}

tesela_status tsl_packed_run_streams(const tsl_packed_job *job, bool alone) {
  enum { CHUNKS_OF_A_THREAD = 8 };
  tsl_pool *pool = tsl_pool_shared();
  const int64_t threads = alone ? 1 : tsl_pool_threads(pool);
  streaming run = {.job = job, .units = units_of(job)};
  run.kept_step = kept_width(job) * job->size;
  run.passing_bytes = tsl_packed_bytes(job, passing_width(job) * job->depth);
  const int64_t kept_bytes = tsl_packed_bytes(job, kept_width(job) * (threads > 1 ? job->k : job->depth)),
                bytes = kept_bytes + threads * run.passing_bytes;
  void *copies = NULL;
  if (bytes > 0)
    TSL_TRY(tsl_scratch_take((size_t)bytes, "copies of panels", &copies));
  run.kept = copies;
  run.passing = run.kept + kept_bytes;
  run.chunks = tsl_packed_least(run.units, CHUNKS_OF_A_THREAD * threads);
  if (threads == 1) {
    stream_alone(job, run.kept, run.passing);
  } else {
    if (run.kept_step > 0 && job->k > 0)
      tsl_pool_run(pool, tsl_packed_count(job->k, job->depth), keep_panel, &run);
    tsl_pool_run(pool, run.chunks, stream_chunk, &run);
  }
  tsl_scratch_give(copies);
  return TESELA_OK;
}

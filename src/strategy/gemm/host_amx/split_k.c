/* C is small and k is long: k is cut into parts, each with sums of its own, which are added in the order of the parts,
 * whoever made them. How many there are depends on the shape alone. */
#include "base/scratch.h"
#include "base/status.h"
#include "strategy/gemm/host_amx/job.h"

#include <string.h>

typedef struct adding {
  const tsl_amx_job *job;
  uint32_t *sums;
  int64_t row, room; /* sums from row to row, and of a part */
  uint32_t *copies;  /* of every worker, or every part, whichever are fewer */
  int64_t each;      /* of one */
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
  part.views.c = (tsl_view){.at = run->sums ? (unsigned char *)(run->sums + index * run->room)
                                            : NULL, /* asked for sizes alone */
                            .row_stride = run->row,
                            .col_stride = 1};
  part.c_size = (int64_t)sizeof(uint32_t);
  part.epilogue = tsl_amx_epilogue_for(part.kernels, is_integer(whole) ? TESELA_I32 : TESELA_F32);
  part.alpha = 1;
  part.beta = 0;
  part.streams = false;
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
    const uint32_t *const next = first + part * run->room;
    for (int64_t j = 0; j < columns; j++)
      sums[j] = is_integer(run->job) ? sums[j] + next[j] : added(sums[j], next[j]);
  }
}

static void add_tile(void *argument, int64_t index, int worker) {
  const adding *run = argument;
  const tsl_amx_job *job = run->job;
  const int64_t width = job->kernels->width, sliver = index / job->strips,
                column = index % job->strips * width, row = tsl_amx_row_of(job, sliver),
                end = tsl_least(tsl_amx_row_of(job, sliver + 1), job->views.m);
  uint32_t sums[TSL_AMX_ROWS_MAX * TSL_AMX_WIDTH_MAX];
  (void)worker;
  for (int64_t i = row; i < end; i++)
    add_row(run, run->sums + i * run->row + column, tsl_least(width, job->views.n - column),
            sums + (i - row) * width);
  tsl_amx_finish_tile(job, sliver, index % job->strips, sums);
}

tesela_status tsl_amx_run_split_k(const tsl_amx_job *job, tsl_team team) {
  adding run = {.job = job, .row = tsl_amx_columns_of_b(job)};
  run.room = job->views.m * run.row;
  for (int64_t i = 0; i < job->split_k; i++) {
    const tsl_amx_job part = part_of(&run, i);
    run.each = tsl_most(run.each, tsl_amx_room_here(&part));
  }
  const int64_t threads = tsl_team_threads(team), rooms = tsl_least(threads, job->split_k);
  run.by_worker = threads < job->split_k;
  void *memory;
  TSL_TRY(tsl_scratch_take((size_t)(job->split_k * run.room + rooms * run.each) * sizeof(uint32_t),
                           "sums of parts", &memory));
  run.sums = memory;
  run.copies = run.sums + job->split_k * run.room;
  tsl_team_run(team, job->split_k, multiply_part, &run);
  tsl_team_run(team, job->slivers * job->strips, add_tile, &run);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

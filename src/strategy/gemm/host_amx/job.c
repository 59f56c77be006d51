/* From a problem to a job, and the way that it goes. */
#include "strategy/gemm/host_amx/job.h"

#include "base/pool.h"
#include "base/status.h"

#include <stdlib.h>

/* Whether C's lines go past the caches. Elements of C that the last one may hold until they are wanted again; and with tile
 * registers, which are done before those lines would be fetched, bytes of a thread's operands and C in its own cache. */
static bool streams(const tsl_amx_job *job) {
  enum { MOST_ELEMENTS = 4 << 20, MOST_BYTES = 2 << 20 };
  const int64_t bytes = (job->m + job->n) * job->k * job->size + job->m * job->n * job->c_size;
  return job->beta == 0 &&
         (job->kernels->has_registers ? bytes >= MOST_BYTES : job->m * job->n > MOST_ELEMENTS);
}

/* Nothing is multiplied: C = beta C. */
static void scale_only(const tsl_amx_job *job) {
  uint32_t zeros[TSL_AMX_ROWS_MAX * TSL_AMX_WIDTH_MAX] = {0};
  for (int64_t sliver = 0; sliver < job->slivers; sliver++)
    for (int64_t strip = 0; strip < job->strips; strip++)
      tsl_amx_finish_tile(job, sliver, strip, zeros);
}

static void count_pieces(tsl_amx_job *job) {
  job->slivers = tsl_amx_count(job->m, job->kernels->height);
  job->strips = tsl_amx_count(job->n, job->kernels->width);
}

tsl_amx_job tsl_amx_rectangle_of(const tsl_amx_job *job, int64_t row, int64_t rows, int64_t column,
                                 int64_t columns) {
  tsl_amx_job part = *job;
  part.a.host = (unsigned char *)job->a.host + row * job->a.row_stride * job->size;
  part.b.host = (unsigned char *)job->b.host + column * job->b.col_stride * job->size;
  part.c.host =
      (unsigned char *)job->c.host + (row * job->c.row_stride + column * job->c.col_stride) * job->c_size;
  part.packed_a.first -= row;
  part.packed_b.first -= column;
  part.m = rows;
  part.n = columns;
  part.streams = streams(&part);
  count_pieces(&part);
  return part;
}

tesela_status tsl_amx_run(const tsl_amx_job *job, tsl_team team) {
  if (job->k > 0)
    return job->parts > 1 ? tsl_amx_run_parts(job, team) : tsl_amx_run_whole(job, team);
  scale_only(job);
  return TESELA_OK;
}

/* --- from a problem --- */

static tsl_operand turned_over(const tsl_operand *of) {
  tsl_operand turned = *of;
  turned.row_stride = of->col_stride;
  turned.col_stride = of->row_stride;
  return turned;
}

static void set_operands(tsl_amx_job *job, const tsl_operands *operands) {
  job->a = job->is_turned ? turned_over(&operands->b) : operands->a;
  job->b = job->is_turned ? turned_over(&operands->a) : operands->b;
  job->c = job->is_turned ? turned_over(&operands->c) : operands->c;
}

/* Blocks of about `kept` bytes of A by 512 columns, smaller ones where there would be too few for the threads. Tile registers
 * use copies up so fast that blocks are large and few: what a block reads is in proportion to its sides. */
static void choose_blocks(tsl_amx_job *job, int64_t kept, int threads) {
  const int64_t large = job->kernels->has_registers ? 2 : 1,
                wanted = threads == 1 ? 1 : (int64_t)threads * (job->kernels->has_registers ? 1 : 4);
  job->block_slivers = large * kept / (4 * job->depth * job->kernels->height);
  job->block_slivers = job->block_slivers < 1 ? 1 : tsl_amx_least(job->block_slivers, job->slivers);
  job->block_strips = tsl_amx_least(512 / job->kernels->width, job->strips);
  while (tsl_amx_count(job->slivers, job->block_slivers) * tsl_amx_count(job->strips, job->block_strips) <
             wanted &&
         (job->block_slivers > 1 || job->block_strips > 1)) {
    int64_t *const larger =
        job->block_slivers >= job->block_strips ? &job->block_slivers : &job->block_strips;
    *larger = (*larger + 1) / 2;
  }
}

/* Where C is too small to keep many threads busy, but k is long. */
static int64_t parts_of(const tsl_amx_job *job) {
  enum { SMALL_C = 256 * 256, LONGEST = 1 << 20, PANELS_OF_A_PART = 2 };
  const int64_t most = tsl_amx_least(TSL_AMX_PARTS_MAX, job->panels / PANELS_OF_A_PART);
  return job->m > LONGEST || job->n > LONGEST || job->m * job->n > SMALL_C || most < 4 ? 1 : most;
}

/* Whether tiles read A's rows well enough where they lie, if they can. Lines that are a multiple of 4 KiB apart push each other
 * out of the first-level cache, so
 * that each is read from the second one for each unit. */
static bool in_place_pays(const tsl_amx_job *job) {
  enum { CONFLICT = 4096 };
  return job->kernels->has_registers ? job->panels == 1 && job->a.row_stride == job->k
                                     : job->a.row_stride * job->size % CONFLICT != 0;
}

tsl_amx_job tsl_amx_job_with(const tsl_amx_kernels *kernels, bool is_turned, const tsl_problem *problem,
                             const tsl_operands *strides, int64_t depth, int64_t kept, int threads) {
  tsl_amx_job job = {.kernels = kernels,
                     .copy_a = tsl_amx_copy_for(kernels, kernels->a),
                     .copy_b = tsl_amx_copy_for(kernels, kernels->b),
                     .last = tsl_amx_last_for(kernels, problem->c.type),
                     .m = is_turned ? problem->n : problem->m,
                     .n = is_turned ? problem->m : problem->n,
                     .k = tsl_problem_reads(problem, TSL_OPERAND_A) ? problem->k : 0,
                     .size = (int64_t)tsl_type(kernels->a)->size,
                     .c_size = (int64_t)tsl_type(problem->c.type)->size,
                     .is_turned = is_turned,
                     .alpha = problem->alpha[0],
                     .beta = problem->beta[0]};
  job.streams = streams(&job);
  job.sums_are_c = job.c_size == 4 && job.alpha == 1 && job.beta == 0;
  const int64_t step = kernels->has_registers ? TSL_AMX_REGISTER_UNITS : 1;
  set_operands(&job, strides);
  job.sums_are_c = job.sums_are_c && job.c.col_stride == 1 && (kernels->has_registers || !job.streams);
  count_pieces(&job);
  job.units = tsl_amx_count(tsl_amx_count(job.k, tsl_amx_elements(kernels->format)), step) * step;
  job.panels = tsl_amx_count(job.units, depth);
  job.depth = depth;
  if (job.panels > 1) /* nearly alike, so that the last one is not short */
    job.depth = tsl_amx_count(tsl_amx_count(job.units, job.panels), 16) * 16;
  job.panels = tsl_amx_count(job.units, job.depth);
  job.kept = kept;
  choose_blocks(&job, kept, threads);
  job.parts = parts_of(&job);
  job.reads_a = job.a.col_stride == 1 && job.k * job.size == 4 * job.units && kernels->turned == 0 &&
                in_place_pays(&job);
  job.copies_rows = !kernels->has_registers && job.a.col_stride == 1;
  return job;
}

tsl_amx_job tsl_amx_job_for(const tsl_problem *problem, const tsl_operands *strides, int64_t depth,
                            int64_t kept, const tsl_device *device) {
  const bool is_turned = llabs(strides->c.col_stride) > llabs(strides->c.row_stride);
  const tesela_type a = is_turned ? problem->b.type : problem->a.type,
                    b = is_turned ? problem->a.type : problem->b.type;
  return tsl_amx_job_with(tsl_amx_kernels_for(a, b, device->capabilities), is_turned, problem, strides, depth,
                          kept, device->threads);
}

static tsl_amx_form packed_form(const tsl_amx_job *job, bool is_a) {
  const void *packed = is_a ? job->a.packed : job->b.packed;
  return packed ? tsl_amx_form_in(job, is_a, (uint32_t *)(uintptr_t)packed) : (tsl_amx_form){.at = NULL};
}

void tsl_amx_job_bind(tsl_amx_job *job, const tsl_operands *operands) {
  set_operands(job, operands);
  if (job->k == 0) /* operands that are not read may lie nowhere, but pointers to them move all the same */
    job->a = job->b = (tsl_operand){.host = job->c.host};
  job->packed_a = packed_form(job, true);
  job->packed_b = packed_form(job, false);
}

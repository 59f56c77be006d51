#include "strategy/gemm/host/host_thin/host_thin_job.h"

#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/host_jobs/host_job.h"

enum {
  SUMS_BYTES = 32 << 10,  /* sums of a piece, about a first-level cache */
  WIDTH_MOST = 4096,      /* maximum columns of a piece */
  COPIED_MOST = 256,      /* maximum columns if rows are copied first, to half of SUMS_BYTES */
  REDUCED = 64,           /* columns of a piece of TSL_THIN_REDUCE */
  OUTER_ROWS = 32,        /* rows of C in a piece of an outer product */
  OUTER_WIDTH = 1024,     /* columns of C in a piece of an outer product */
  FAR_BYTES = 16 << 20,   /* larger operands are prefetched, whatever the size of the last cache */
  ALONE_BYTES = 512 << 10 /* bytes below which a second thread costs more than it saves */
};

static const tsl_thin_kernels *thin_kernels_for(tesela_type type, unsigned offers) {
#define KERNELS(isa, header, needs, ...) {&tsl_thin_##isa##_f32, &tsl_thin_##isa##_f64},
  static const tsl_thin_kernels *const kernels[][2] = {TSL_ISA_LIST(KERNELS)};
#undef KERNELS
  return kernels[tsl_isa_best(offers)][type == TESELA_F64];
}

double tsl_thin_held_bytes(const tsl_problem *problem) {
  const double c_bytes =
      (double)problem->m * (double)problem->n * (problem->c.type == TESELA_F64 ? 8.0 : 4.0);
  return tsl_problem_cache_bytes(problem) - c_bytes;
}

void tsl_thin_job_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_device *device,
                       tsl_thin_job *job) {
  const int64_t level_3 = device->level_bytes[2] ? (int64_t)device->level_bytes[2] : 16 << 20;
  const double bytes = tsl_problem_bytes(problem);
  *job = (tsl_thin_job){.kernels = thin_kernels_for(problem->c.type, device->capabilities),
                        .shape = tsl_lopsided_of(problem, strides, TSL_THIN_MOST),
                        .team = tsl_device_team(device)};
  job->way = job->shape.is_large_c && job->shape.depth > 0     ? TSL_THIN_OUTER
             : job->shape.across != 1 && job->shape.along == 1 ? TSL_THIN_REDUCE
                                                               : TSL_THIN_ROWS;
  job->nontemporal = job->shape.beta == 0 && bytes > (double)level_3 / 2;
  job->is_far = tsl_thin_held_bytes(problem) > (double)tsl_min(level_3 / 2, FAR_BYTES);
  job->alone = device->threads == 1 || bytes < ALONE_BYTES;
}

typedef struct thin_launch {
  const tsl_thin_job *job;
  tsl_team team;
  const char *large, *thin;
  char *c;
  const void *packed;       /* thin operand (outer: large one); a copy if it was not contiguous */
  int64_t pitch;            /* elements between rows of `packed` */
  const char *coefficients; /* thin operand of an outer product */
  int64_t coefficients_pitch;
  int64_t width, pieces, pieces_across; /* columns of a piece; pieces; pieces in a row of C */
} thin_launch;

static void store_piece(const tsl_thin_job *job, const void *sums, int64_t row_step, int64_t step,
                        int64_t from, int64_t count, char *c) {
  if (job->shape.c_few == 1 && job->shape.c_many == job->shape.few && step == job->shape.few)
    job->kernels->finish(sums, 1, count * job->shape.few, job->shape.alpha, job->shape.beta,
                         c + from * job->shape.c_many * job->shape.size, 1);
  else
    for (int64_t i = 0; i < job->shape.few; i++)
      job->kernels->finish(
          (const char *)sums + i * row_step * job->shape.size, step, count, job->shape.alpha, job->shape.beta,
          c + (i * job->shape.c_few + from * job->shape.c_many) * job->shape.size, job->shape.c_many);
}

_Static_assert(COPIED_MOST *TSL_THIN_MOST * sizeof(double) <= SUMS_BYTES / 2 &&
                   COPIED_MOST * TSL_THIN_GROUP * sizeof(double) <= SUMS_BYTES / 2,
               "sums and copies share the bytes of sums alone");

static void thin_add_piece(void *argument, int64_t index, int worker) {
  const thin_launch *run = argument;
  const tsl_thin_job *job = run->job;
  const tsl_thin_kernels *kernels = job->kernels;
  const int64_t from = index * run->width, width = tsl_min(run->width, job->shape.many - from),
                size = job->shape.size;
  const char *large = run->large + from * job->shape.across * size;
  _Alignas(64) char sums[SUMS_BYTES];
  char *const copy = sums + SUMS_BYTES / 2;
  tsl_thin_numbers numbers = {run->thin, job->shape.thin_across, job->shape.thin_along};
  (void)worker;
  if (job->shape.across == 1)
    kernels->add[job->shape.few - 1](large, job->shape.along, job->shape.depth, &numbers, width, sums,
                                     run->width, true, job->is_far);
  else
    for (int64_t l = 0; l < job->shape.depth; l += TSL_THIN_GROUP) {
      const int64_t rows = tsl_min(job->shape.depth - l, TSL_THIN_GROUP);
      kernels->pack(large + l * job->shape.along * size, job->shape.along, job->shape.across, rows, width,
                    copy, width);
      numbers.at = run->thin + l * job->shape.thin_along * size;
      kernels->add[job->shape.few - 1](copy, width, rows, &numbers, width, sums, run->width, l == 0, false);
    }
  store_piece(job, sums, run->width, 1, from, width, run->c);
}

/* Returns the columns of a piece, a multiple of 64: its sums fit, and all threads are occupied. */
static int64_t thin_width_of(const tsl_thin_job *job, tsl_team team) {
  const int64_t most = job->shape.across == 1 ? WIDTH_MOST : COPIED_MOST,
                fits = SUMS_BYTES / (job->shape.few * job->shape.size);
  const int64_t width = tsl_min(most, fits / 64 * 64);
  const int64_t fair = tsl_ceil_div(job->shape.many, tsl_team_threads(team));
  return tsl_min(width, tsl_ceil_div(fair, 64) * 64);
}

static tesela_status thin_add_rows(thin_launch *run) {
  run->width = thin_width_of(run->job, run->team);
  run->pieces = tsl_ceil_div(run->job->shape.many, run->width);
  tsl_team_run(run->team, run->pieces, thin_add_piece, run);
  return TESELA_OK;
}

static void reduce_piece(void *argument, int64_t index, int worker) {
  const thin_launch *run = argument;
  const tsl_thin_job *job = run->job;
  const int64_t from = index * REDUCED, count = tsl_min(REDUCED, job->shape.many - from);
  const tsl_thin_columns columns = {.at = run->large + from * job->shape.across * job->shape.size,
                                    .across = job->shape.across,
                                    .depth = job->shape.depth,
                                    .count = count,
                                    .prefetches = job->is_far};
  _Alignas(64) char sums[REDUCED * TSL_THIN_MOST * sizeof(double)];
  (void)worker;
  job->kernels->reduce[job->shape.few - 1](&columns, run->packed, run->pitch, sums);
  store_piece(job, sums, 1, job->shape.few, from, count, run->c);
}

static tesela_status reduce_columns(thin_launch *run) {
  const tsl_thin_job *job = run->job;
  void *packed = NULL;
  run->packed = run->thin;
  run->pitch = job->shape.thin_across;
  if (job->shape.thin_along != 1) {
    TSL_TRY(tsl_scratch_take((size_t)(job->shape.depth * job->shape.few * job->shape.size),
                             "the thin operand's numbers", &packed));
    job->kernels->pack(run->thin, job->shape.thin_across, job->shape.thin_along, job->shape.few,
                       job->shape.depth, packed, job->shape.depth);
    run->packed = packed;
    run->pitch = job->shape.depth;
  }
  run->pieces = tsl_ceil_div(job->shape.many, REDUCED);
  tsl_team_run(run->team, run->pieces, reduce_piece, run);
  tsl_scratch_give(packed);
  return TESELA_OK;
}

static void outer_piece(void *argument, int64_t index, int worker) {
  const thin_launch *run = argument;
  const tsl_thin_job *job = run->job;
  const int64_t first = index / run->pieces_across * OUTER_ROWS,
                from = index % run->pieces_across * OUTER_WIDTH;
  const tsl_thin_rows rows = {.b = (const char *)run->packed + from * job->shape.size,
                              .y = run->coefficients + first * run->coefficients_pitch * job->shape.size,
                              .c = run->c + (first * job->shape.c_few + from) * job->shape.size,
                              .pitch = run->pitch,
                              .y_pitch = run->coefficients_pitch,
                              .c_pitch = job->shape.c_few,
                              .rows = tsl_min(OUTER_ROWS, job->shape.few - first),
                              .width = tsl_min(OUTER_WIDTH, job->shape.many - from),
                              .alpha = job->shape.alpha,
                              .beta = job->shape.beta,
                              .nontemporal = job->nontemporal};
  (void)worker;
  job->kernels->outer[job->shape.depth - 1](&rows);
  if (job->nontemporal)
    job->kernels->fence();
}

static tesela_status multiply_outer(thin_launch *run) {
  const tsl_thin_job *job = run->job;
  const tsl_thin_kernels *kernels = job->kernels;
  const int64_t steps = job->shape.depth, large = job->shape.across != 1 ? steps * job->shape.many : 0,
                thin = job->shape.thin_along != 1 ? steps * job->shape.few : 0;
  void *memory = NULL;
  run->packed = run->large;
  run->pitch = job->shape.along;
  run->coefficients = run->thin;
  run->coefficients_pitch = job->shape.thin_across;
  if (large + thin > 0)
    TSL_TRY(
        tsl_scratch_take((size_t)((large + thin) * job->shape.size), "an outer product's operands", &memory));
  if (large > 0) {
    kernels->pack(run->large, job->shape.along, job->shape.across, steps, job->shape.many, memory,
                  job->shape.many);
    run->packed = memory;
    run->pitch = job->shape.many;
  }
  if (thin > 0) {
    char *const copy = (char *)memory + large * job->shape.size;
    kernels->pack(run->thin, job->shape.thin_across, job->shape.thin_along, job->shape.few, steps, copy,
                  steps);
    run->coefficients = copy;
    run->coefficients_pitch = steps;
  }
  run->pieces_across = tsl_ceil_div(job->shape.many, OUTER_WIDTH);
  run->pieces = run->pieces_across * tsl_ceil_div(job->shape.few, OUTER_ROWS);
  tsl_team_run(run->team, run->pieces, outer_piece, run);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

static void thin_scale(const thin_launch *run) {
  static const double zero;
  const tsl_thin_job *job = run->job;
  for (int64_t i = 0; i < job->shape.few; i++)
    job->kernels->finish(&zero, 0, job->shape.many, 1, job->shape.beta,
                         run->c + i * job->shape.c_few * job->shape.size, job->shape.c_many);
}

tesela_status tsl_thin_job_run(const tsl_thin_job *job, tsl_team team, const void *a, const void *b,
                               void *c) {
  static tesela_status (*const ways[])(thin_launch *) = {
      [TSL_THIN_ROWS] = thin_add_rows, [TSL_THIN_REDUCE] = reduce_columns, [TSL_THIN_OUTER] = multiply_outer};
  thin_launch run = {.job = job,
                     .team = job->alone ? (tsl_team){0} : team,
                     .large = job->shape.is_swapped ? a : b,
                     .thin = job->shape.is_swapped ? b : a,
                     .c = c};
  if (job->shape.depth > 0)
    return ways[job->way](&run);
  thin_scale(&run);
  return TESELA_OK;
}

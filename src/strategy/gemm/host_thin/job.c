#include "strategy/gemm/host_thin/job.h"

#include "base/scratch.h"
#include "base/status.h"
#include "host/split.h"
#include "strategy/prepared.h"

enum {
  SUMS_BYTES = 32 << 10,  /* of a piece, about a first cache */
  WIDTH_MOST = 4096,      /* columns of a piece */
  COPIED_MOST = 256,      /* the same where they are copied first; with half the bytes for copies */
  REDUCED = 64,           /* columns of a piece that is reduced */
  OUTER_ROWS = 32,        /* of C in a piece of an outer product */
  OUTER_WIDTH = 1024,     /* its columns */
  FAR_BYTES = 16 << 20,   /* what is larger is prefetched, however large the last cache */
  ALONE_BYTES = 512 << 10 /* below so many bytes a second thread costs more than it saves */
};

const char *tsl_thin_refuse(const tsl_problem *problem) {
  const int64_t m = problem->m, n = problem->n, k = problem->k, few = tsl_least(m, n);
  if (few <= TSL_THIN_MOST)
    return NULL;
  if (k > TSL_THIN_STEPS)
    return tsl_refusal("neither m nor n of %lld x %lld x %lld is %d or less, nor k %d", (long long)m,
                       (long long)n, (long long)k, TSL_THIN_MOST, TSL_THIN_STEPS);
  return problem->c.row_stride == 1 || problem->c.col_stride == 1
             ? NULL
             : "of an outer product, C's rows or columns must lie side by side";
}

/* How the operands lie, seen in the direction in which the product is thin. */
static void set_strides(const tsl_problem *problem, const tsl_operands *strides, tsl_thin_job *job) {
  tsl_views views = tsl_views_as_given(problem, strides);
  const int64_t few = job->few, many = job->many, depth = job->depth;
  if (job->is_swapped)
    tsl_views_swap(&views);
  job->across = depth == 0 ? 1 : tsl_stride_of(views.b.col_stride, many, 1);
  job->along = tsl_stride_of(views.b.row_stride, depth, many > 1 ? 0 : 1);
  job->thin_across = depth == 0 ? 0 : tsl_stride_of(views.a.row_stride, few, 0);
  job->thin_along = tsl_stride_of(views.a.col_stride, depth, 1);
  job->c_few = tsl_stride_of(views.c.row_stride, few, 0);
  job->c_many = tsl_stride_of(views.c.col_stride, many, 1);
}

static const tsl_thin_kernels *kernels_for(tesela_type type, unsigned offers) {
#define KERNELS(isa, header, needs, ...) {&tsl_thin_##isa##_f32, &tsl_thin_##isa##_f64},
  static const tsl_thin_kernels *const kernels[][2] = {TSL_ISA_LIST(KERNELS)};
#undef KERNELS
  return kernels[tsl_isa_best(offers)][type == TESELA_F64];
}

double tsl_thin_held_bytes(const tsl_problem *problem) {
  const double c_bytes =
      (double)problem->m * (double)problem->n * (problem->c.type == TESELA_F64 ? 8.0 : 4.0);
  return tsl_problem_lines(problem) - c_bytes;
}

void tsl_thin_job_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_device *device,
                       tsl_thin_job *job) {
  const int64_t m = problem->m, n = problem->n;
  const bool is_outer = tsl_least(m, n) > TSL_THIN_MOST;
  const int64_t size = problem->c.type == TESELA_F64 ? 8 : 4;
  const int64_t level_3 = device->level_bytes[2] ? (int64_t)device->level_bytes[2] : 16 << 20;
  *job = (tsl_thin_job){.kernels = kernels_for(problem->c.type, device->capabilities),
                        .is_swapped = is_outer ? strides->c.col_stride != 1 : n < m,
                        .size = size,
                        .depth = problem->alpha[0] != 0 ? problem->k : 0,
                        .beta = problem->beta[0]};
  job->few = job->is_swapped ? n : m;
  job->many = job->is_swapped ? m : n;
  job->alpha = problem->alpha[0];
  set_strides(problem, strides, job);
  job->way = is_outer && job->depth > 0            ? TSL_THIN_OUTER
             : job->across != 1 && job->along == 1 ? TSL_THIN_REDUCE
                                                   : TSL_THIN_ROWS;
  const double bytes = tsl_problem_bytes(problem);
  job->nontemporal = job->beta == 0 && bytes > (double)level_3 / 2;
  job->is_far = tsl_thin_held_bytes(problem) > (double)tsl_least(level_3 / 2, FAR_BYTES);
  job->alone = device->threads == 1 || bytes < ALONE_BYTES;
}

/* A run under way. */
typedef struct running {
  const tsl_thin_job *job;
  tsl_team team;
  const char *large, *thin;
  char *c;
  const void *packed;       /* the thin operand, or of an outer product the large one */
  int64_t pitch;            /* of `packed`, elements */
  const char *coefficients; /* of an outer product */
  int64_t coefficients_pitch;
  int64_t width, pieces, columns_of_pieces;
} running;

static void run_pieces(const running *run, tsl_pool_task task) {
  union {
    const running *read;
    void *any;
  } argument = {run};
  tsl_team_run(run->team, run->pieces, task, argument.any);
}

static void finish(const tsl_thin_job *job, const void *sums, int64_t row_step, int64_t step, int64_t from,
                   int64_t count, char *c) {
  if (job->c_few == 1 && job->c_many == job->few && step == job->few) /* all of it side by side */
    job->kernels->finish(sums, 1, count * job->few, job->alpha, job->beta, c + from * job->c_many * job->size,
                         1);
  else
    for (int64_t i = 0; i < job->few; i++)
      job->kernels->finish((const char *)sums + i * row_step * job->size, step, count, job->alpha, job->beta,
                           c + (i * job->c_few + from * job->c_many) * job->size, job->c_many);
}

/* --- rows added up --- */

_Static_assert(COPIED_MOST *TSL_THIN_MOST * sizeof(double) <= SUMS_BYTES / 2 &&
                   COPIED_MOST * TSL_THIN_GROUP * sizeof(double) <= SUMS_BYTES / 2,
               "sums and copies share the bytes of sums alone");

static void add_piece(void *argument, int64_t index, int worker) {
  const running *run = argument;
  const tsl_thin_job *job = run->job;
  const tsl_thin_kernels *kernels = job->kernels;
  const int64_t from = index * run->width, width = tsl_least(run->width, job->many - from), size = job->size;
  const char *large = run->large + from * job->across * size;
  _Alignas(64) char sums[SUMS_BYTES];
  char *const copy = sums + SUMS_BYTES / 2;
  tsl_thin_numbers numbers = {run->thin, job->thin_across, job->thin_along};
  (void)worker;
  if (job->across == 1)
    kernels->add[job->few - 1](large, job->along, job->depth, &numbers, width, sums, run->width, true,
                               job->is_far);
  else
    for (int64_t l = 0; l < job->depth; l += TSL_THIN_GROUP) {
      const int64_t rows = tsl_least(job->depth - l, TSL_THIN_GROUP);
      kernels->pack(large + l * job->along * size, job->along, job->across, rows, width, copy, width);
      numbers.at = run->thin + l * job->thin_along * size;
      kernels->add[job->few - 1](copy, width, rows, &numbers, width, sums, run->width, l == 0, false);
    }
  finish(job, sums, run->width, 1, from, width, run->c);
}

/* A multiple of a cache line's elements: as wide as the sums allow, and narrow enough for all threads. */
static int64_t width_of(const tsl_thin_job *job, tsl_team team) {
  const int64_t most = job->across == 1 ? WIDTH_MOST : COPIED_MOST,
                fits = SUMS_BYTES / (job->few * job->size);
  const int64_t width = tsl_least(most, fits / 64 * 64);
  const int64_t fair = tsl_ceil_div(job->many, tsl_team_threads(team));
  return tsl_least(width, tsl_ceil_div(fair, 64) * 64);
}

static tesela_status add_rows(running *run) {
  run->width = width_of(run->job, run->team);
  run->pieces = tsl_ceil_div(run->job->many, run->width);
  run_pieces(run, add_piece);
  return TESELA_OK;
}

/* --- columns reduced --- */

static void reduce_piece(void *argument, int64_t index, int worker) {
  const running *run = argument;
  const tsl_thin_job *job = run->job;
  const int64_t from = index * REDUCED, count = tsl_least(REDUCED, job->many - from);
  const tsl_thin_columns columns = {.at = run->large + from * job->across * job->size,
                                    .across = job->across,
                                    .depth = job->depth,
                                    .count = count,
                                    .prefetches = job->is_far};
  _Alignas(64) char sums[REDUCED * TSL_THIN_MOST * sizeof(double)];
  (void)worker;
  job->kernels->reduce[job->few - 1](&columns, run->packed, run->pitch, sums);
  finish(job, sums, 1, job->few, from, count, run->c);
}

static tesela_status reduce_columns(running *run) {
  const tsl_thin_job *job = run->job;
  void *packed = NULL;
  run->packed = run->thin;
  run->pitch = job->thin_across;
  if (job->thin_along != 1) {
    TSL_TRY(
        tsl_scratch_take((size_t)(job->depth * job->few * job->size), "the thin operand's numbers", &packed));
    job->kernels->pack(run->thin, job->thin_across, job->thin_along, job->few, job->depth, packed,
                       job->depth);
    run->packed = packed;
    run->pitch = job->depth;
  }
  run->pieces = tsl_ceil_div(job->many, REDUCED);
  run_pieces(run, reduce_piece);
  tsl_scratch_give(packed);
  return TESELA_OK;
}

/* --- outer products --- */

static void outer_piece(void *argument, int64_t index, int worker) {
  const running *run = argument;
  const tsl_thin_job *job = run->job;
  const int64_t first = index / run->columns_of_pieces * OUTER_ROWS,
                from = index % run->columns_of_pieces * OUTER_WIDTH;
  const tsl_thin_rows rows = {.b = (const char *)run->packed + from * job->size,
                              .y = run->coefficients + first * run->coefficients_pitch * job->size,
                              .c = run->c + (first * job->c_few + from) * job->size,
                              .pitch = run->pitch,
                              .y_pitch = run->coefficients_pitch,
                              .c_pitch = job->c_few,
                              .rows = tsl_least(OUTER_ROWS, job->few - first),
                              .width = tsl_least(OUTER_WIDTH, job->many - from),
                              .alpha = job->alpha,
                              .beta = job->beta,
                              .nontemporal = job->nontemporal};
  (void)worker;
  job->kernels->outer[job->depth - 1](&rows);
  if (job->nontemporal)
    job->kernels->fence();
}

static tesela_status multiply_outer(running *run) {
  const tsl_thin_job *job = run->job;
  const tsl_thin_kernels *kernels = job->kernels;
  const int64_t steps = job->depth, large = job->across != 1 ? steps * job->many : 0,
                thin = job->thin_along != 1 ? steps * job->few : 0;
  void *memory = NULL;
  run->packed = run->large;
  run->pitch = job->along;
  run->coefficients = run->thin;
  run->coefficients_pitch = job->thin_across;
  if (large + thin > 0)
    TSL_TRY(tsl_scratch_take((size_t)((large + thin) * job->size), "an outer product's operands", &memory));
  if (large > 0) {
    kernels->pack(run->large, job->along, job->across, steps, job->many, memory, job->many);
    run->packed = memory;
    run->pitch = job->many;
  }
  if (thin > 0) {
    char *const copy = (char *)memory + large * job->size;
    kernels->pack(run->thin, job->thin_across, job->thin_along, job->few, steps, copy, steps);
    run->coefficients = copy;
    run->coefficients_pitch = steps;
  }
  run->columns_of_pieces = tsl_ceil_div(job->many, OUTER_WIDTH);
  run->pieces = run->columns_of_pieces * tsl_ceil_div(job->few, OUTER_ROWS);
  run_pieces(run, outer_piece);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

/* Nothing is multiplied: C = beta C. */
static void scale(const running *run) {
  static const double zero;
  const tsl_thin_job *job = run->job;
  for (int64_t i = 0; i < job->few; i++)
    job->kernels->finish(&zero, 0, job->many, 1, job->beta, run->c + i * job->c_few * job->size, job->c_many);
}

tesela_status tsl_thin_job_run(const tsl_thin_job *job, tsl_team team, const void *a, const void *b,
                               void *c) {
  static tesela_status (*const ways[])(running *) = {
      [TSL_THIN_ROWS] = add_rows, [TSL_THIN_REDUCE] = reduce_columns, [TSL_THIN_OUTER] = multiply_outer};
  running run = {.job = job,
                 .team = job->alone ? (tsl_team){0} : team,
                 .large = job->is_swapped ? a : b,
                 .thin = job->is_swapped ? b : a,
                 .c = c};
  if (job->depth > 0)
    return ways[job->way](&run);
  scale(&run);
  return TESELA_OK;
}

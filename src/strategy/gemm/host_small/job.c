#include "strategy/gemm/host_small/job.h"

#include "base/scratch.h"
#include "base/status.h"

/* Copies of B up to this size lie on the stack. */
enum { LOCAL_BYTES = 32 << 10 };

static int64_t count_of(int64_t total, int64_t most) {
  return (total + most - 1) / most;
}

/* One of the two ways to see a product: with vectors along the columns of what is called C here. */
typedef struct view {
  int64_t rows, columns, depth;
  int64_t a_row, a_step, b_across, b_along, c_row, c_column;
  const tsl_small_kernels *kernels;
} view;

/* A stride counts only where there is a second element. */
static int64_t stride_of(int64_t stride, int64_t elements, int64_t alone) {
  return elements > 1 ? stride : alone;
}

static view view_of(const tsl_problem *problem, const tsl_operands *strides, unsigned offers, bool turned) {
  const tsl_operand *a = turned ? &strides->b : &strides->a, *b = turned ? &strides->a : &strides->b;
  const tsl_operand *c = &strides->c;
  const bool reads = problem->alpha[0] != 0;
  const int64_t m = problem->m > 0 ? problem->m : 1,
                n = problem->n > 0 ? problem->n : 1; /* none: never run */
  view seen = {.rows = turned ? n : m, .columns = turned ? m : n, .depth = reads ? problem->k : 0};
  const int64_t depth = seen.depth;
  seen.a_row = depth == 0 ? 0 : stride_of(turned ? a->col_stride : a->row_stride, seen.rows, 0);
  seen.a_step = stride_of(turned ? a->row_stride : a->col_stride, depth, 0);
  seen.b_across = depth == 0 ? 1 : stride_of(turned ? b->row_stride : b->col_stride, seen.columns, 1);
  seen.b_along = stride_of(turned ? b->col_stride : b->row_stride, depth, 0);
  seen.c_row = stride_of(turned ? c->col_stride : c->row_stride, seen.rows, 0);
  seen.c_column = stride_of(turned ? c->row_stride : c->col_stride, seen.columns, 1);
  seen.kernels = tsl_small_kernels_for(problem->c.type, seen.columns, offers);
  return seen;
}

/* In vector multiply-adds: the products, a tile's end, copies of B, and a C that is written number by number. */
static double clocks_of(const view *seen) {
  const double rows = (double)seen->rows, columns = (double)seen->columns, depth = (double)seen->depth;
  const double vectors = (double)count_of(seen->columns, seen->kernels->lanes);
  double clocks = rows * vectors * (depth + 4) + 12;
  if (seen->b_across != 1)
    clocks += columns * depth * (seen->b_along == 1 ? 0.6 : 1.5);
  if (seen->c_column != 1)
    clocks += 2 * rows * columns;
  return clocks;
}

static void make_strip(const view *seen, int64_t vectors, int64_t last, int64_t size, tsl_small_strip *out) {
  const int most = seen->kernels->rows[vectors - 1];
  const int64_t tiles = count_of(seen->rows, most), height = count_of(seen->rows, tiles);
  *out = (tsl_small_strip){
      .tile = {.depth = seen->depth,
               .a_row = seen->a_row * size,
               .a_step = seen->a_step * size,
               .b_step = seen->b_along * size,
               .c_row = seen->c_row,
               .c_column = seen->c_column,
               .last = last},
      .height = height,
      .lowers = tiles * height - seen->rows,
      .tallers = tiles - (tiles * height - seen->rows),
      .taller = seen->kernels->multiply[vectors - 1][height - 1],
      .lower = height > 1 ? seen->kernels->multiply[vectors - 1][height - 2] : NULL,
      .width = vectors * seen->kernels->lanes,
  };
}

void tsl_small_job_make(const tsl_problem *problem, const tsl_operands *strides, unsigned offers,
                        tsl_small_job *job, double *clocks) {
  view seen = view_of(problem, strides, offers, false);
  const view turned = view_of(problem, strides, offers, true);
  const bool is_turned = clocks_of(&turned) < clocks_of(&seen);
  if (is_turned)
    seen = turned;
  if (clocks)
    *clocks = clocks_of(&seen);
  const int64_t lanes = seen.kernels->lanes, vectors = count_of(seen.columns, lanes);
  const int64_t size = problem->c.type == TESELA_F64 ? 8 : 4;
  const int64_t wide = seen.kernels->rows[1] > 0 ? 2 : 1, strips = vectors > wide ? vectors / wide : 1;
  *job = (tsl_small_job){.kernels = seen.kernels,
                         .size = size,
                         .depth = seen.depth,
                         .rows = seen.rows,
                         .columns = seen.columns,
                         .is_turned = is_turned,
                         .copies_b = seen.b_across != 1,
                         .b_across = seen.b_across,
                         .b_along = seen.b_along,
                         .strips = strips};
  if (strips > 1)
    make_strip(&seen, wide, lanes, size, &job->whole);
  make_strip(&seen, vectors - wide * (strips - 1), seen.columns - (vectors - 1) * lanes, size, &job->last);
  job->is_one_tile = strips == 1 && job->last.tallers + job->last.lowers == 1 && !job->copies_b;
  if (job->copies_b) {
    job->whole.tile.b_step = job->whole.width * size;
    job->last.tile.b_step = job->last.width * size;
  }
  tsl_small_job_scale(job, problem->alpha[0], problem->beta[0]);
}

static void scale(tsl_small_tile *tile, double alpha, double beta) {
  tile->alpha = alpha;
  tile->beta = beta;
  tile->scales = alpha != 1;
  tile->adds = beta != 0;
}

/* Where nothing is multiplied, alpha is not either: infinity times nothing is no number. */
void tsl_small_job_scale(tsl_small_job *job, double alpha, double beta) {
  scale(&job->whole.tile, job->depth > 0 ? alpha : 1, beta);
  scale(&job->last.tile, job->depth > 0 ? alpha : 1, beta);
}

static void run_strip(const tsl_small_strip *strip, int64_t size, const char *a, const void *b, char *c) {
  const int64_t a_jump = strip->height * strip->tile.a_row, c_jump = strip->height * strip->tile.c_row * size;
  for (int64_t i = 0; i < strip->tallers; i++, a += a_jump, c += c_jump)
    strip->taller(&strip->tile, a, b, c);
  for (int64_t i = 0; i < strip->lowers;
       i++, a += a_jump - strip->tile.a_row, c += c_jump - strip->tile.c_row * size)
    strip->lower(&strip->tile, a, b, c);
}

static void run_strips(const tsl_small_job *job, const void *a, const char *b, char *c, void *copy) {
  const int64_t width = job->whole.width;
  for (int64_t i = 0; i < job->strips; i++) {
    const tsl_small_strip *strip = i == job->strips - 1 ? &job->last : &job->whole;
    const int64_t from = i * width, rest = job->columns - from;
    const char *b_strip = b + from * job->b_across * job->size;
    if (copy)
      job->kernels->copy(b_strip, job->b_across, job->b_along, rest < strip->width ? rest : strip->width,
                         job->depth, strip->width, copy);
    run_strip(strip, job->size, a, copy ? copy : b_strip, c + from * strip->tile.c_column * job->size);
  }
}

static __attribute__((noinline)) void run_on_stack(const tsl_small_job *job, const void *a, const void *b,
                                                   void *c) {
  _Alignas(64) char copy[LOCAL_BYTES];
  run_strips(job, a, b, c, copy);
}

static __attribute__((noinline)) tesela_status run_copying(const tsl_small_job *job, const void *a,
                                                           const void *b, void *c) {
  const int64_t width =
      job->strips > 1 && job->last.width < job->whole.width ? job->whole.width : job->last.width;
  const int64_t bytes = width * job->depth * job->size;
  void *copy;
  if (bytes <= LOCAL_BYTES) {
    run_on_stack(job, a, b, c);
    return TESELA_OK;
  }
  TSL_TRY(tsl_scratch_take((size_t)bytes, "a copy of a strip of B", &copy));
  run_strips(job, a, b, c, copy);
  tsl_scratch_give(copy);
  return TESELA_OK;
}

tesela_status tsl_small_job_run(const tsl_small_job *job, const void *a, const void *b, void *c) {
  const void *left = job->is_turned ? b : a, *right = job->is_turned ? a : b;
  if (job->is_one_tile) {
    job->last.taller(&job->last.tile, left, right, c);
    return TESELA_OK;
  }
  if (job->depth == 0) /* pointers that nobody reads move all the same */
    left = right = c;
  if (job->copies_b)
    return run_copying(job, left, right, c);
  run_strips(job, left, right, c, NULL);
  return TESELA_OK;
}

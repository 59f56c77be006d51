/* From a problem to panels and blocks. */
#include "strategy/gemm/host_packed/job.h"

#include <math.h>

bool tsl_packed_is_alone(const tsl_problem *problem) {
  static const double alone_flops = 4e6;
  return tsl_problem_flops(problem) < alone_flops;
}

/* Where nothing tells how large the caches are. */
enum { LEVEL_1_GUESS = 32 << 10, LEVEL_2_GUESS = 512 << 10, LEVEL_3_GUESS = 8 << 20 };

static tsl_operand transposed(tsl_operand operand) {
  const int64_t row_stride = operand.row_stride;
  operand.row_stride = operand.col_stride;
  operand.col_stride = row_stride;
  return operand;
}

static int64_t magnitude(int64_t value) {
  return value < 0 ? -value : value;
}

/* C's columns side by side, or at least nearer to each other than its rows: where they are not, the transposed
 * product B' A' is computed. No stride of C is negative: where one is, C's and A's rows, or C's and B's columns, are
 * taken in the opposite order. */
static void orient(tsl_packed_job *job, const tsl_problem *problem, const tsl_operands *strides) {
  job->is_turned = magnitude(strides->c.row_stride) < magnitude(strides->c.col_stride);
  job->m = job->is_turned ? problem->n : problem->m;
  job->n = job->is_turned ? problem->m : problem->n;
  job->a = job->is_turned ? transposed(strides->b) : strides->a;
  job->b = job->is_turned ? transposed(strides->a) : strides->b;
  job->c = job->is_turned ? transposed(strides->c) : strides->c;
  if (job->c.row_stride < 0) {
    job->c_offset += (job->m - 1) * job->c.row_stride;
    job->a_offset = (job->m - 1) * job->a.row_stride;
    job->c.row_stride = -job->c.row_stride;
    job->a.row_stride = -job->a.row_stride;
  }
  if (job->c.col_stride < 0) {
    job->c_offset += (job->n - 1) * job->c.col_stride;
    job->b_offset = (job->n - 1) * job->b.col_stride;
    job->c.col_stride = -job->c.col_stride;
    job->b.col_stride = -job->b.col_stride;
  }
}

/* conj(a) b by the sign of a's imaginary parts; a conj(b) = conj(conj(a) b), and conj(a) conj(b) = conj(a b). */
static void set_signs(tsl_packed_job *job, const tsl_problem *problem) {
  const bool conjugates_b = job->is_turned ? problem->conjugate_a : problem->conjugate_b;
  job->signs[0] = problem->conjugate_a != problem->conjugate_b ? -1 : 1;
  job->signs[1] = conjugates_b ? -1 : 1;
}

void tsl_packed_job_bind(tsl_packed_job *job, const tsl_operands *operands) {
  const tsl_operand *a = job->is_turned ? &operands->b : &operands->a,
                    *b = job->is_turned ? &operands->a : &operands->b;
  job->c.host = (unsigned char *)operands->c.host + job->c_offset * job->size;
  job->a.packed = a->packed;
  job->b.packed = b->packed;
  /* Nothing is read of operands that are empty or packed, which may lie nowhere. */
  job->a.host = job->k > 0 && !a->packed ? (unsigned char *)a->host + job->a_offset * job->size : job->c.host;
  job->b.host = job->k > 0 && !b->packed ? (unsigned char *)b->host + job->b_offset * job->size : job->c.host;
}

static bool holds(int64_t rows, int64_t depth, int64_t size, int64_t bytes) {
  return depth == 0 || rows <= bytes / size / depth;
}

/* Which operand is kept, if any: its panel fits `kept` bytes, all of it a quarter of the last cache; B rather than A where C
 * is large, which is then written row by row. C is so small that no other cut gives every thread something to do: k is
 * cut. */
static tsl_packed_schedule choose(const tsl_packed_job *job, int64_t kept, int64_t last) {
  enum { SMALL_C = 512 << 10, LONG = 16 };
  const int64_t depth = job->depth, size = job->size;
  const bool keeps_a = holds(job->m, depth, size, kept) && holds(job->m, job->k + 1, size, last),
             keeps_b = holds(job->n, depth, size, kept) && holds(job->n, job->k + 1, size, last);
  if (holds(job->m, job->n, size, SMALL_C) && holds(job->n, depth, size, kept) &&
      tsl_packed_count(job->k, depth) >= LONG)
    return TSL_PACKED_PARTS;
  const bool is_long = !holds(job->m, job->n, size, 4 * kept);
  if (keeps_b && (job->m >= job->n || !keeps_a || is_long))
    return TSL_PACKED_ROWS;
  return keeps_a ? TSL_PACKED_COLUMNS : TSL_PACKED_PANELS;
}

bool tsl_packed_is_far(const tsl_device *device) {
  enum { FAR_BYTES = 64 << 20 };
  return device->level_bytes[2] > FAR_BYTES;
}

/* Whether rows of a panel drive each other out of the second cache, since their addresses are the same modulo a large
 * power of two, and the last cache is far away. */
static bool is_lost(const tsl_packed_job *job, const tsl_device *device) {
  const uint64_t stride = (uint64_t)(magnitude(job->b.row_stride) * job->size);
  const uint64_t level_2 = device->level_bytes[1] ? device->level_bytes[1] : LEVEL_2_GUESS;
  const uint64_t apart = stride & (~stride + 1); /* its largest power of two */
  return tsl_packed_is_far(device) && apart > 4096 && (uint64_t)job->depth > level_2 / apart;
}

/* Where copies do not pay. A is read where it lies when few strips would use a copy, along its rows or, transposed, along
 * its columns; B, when its
 * panel lies together closely enough to stay in a cache, and few slivers would use a copy. */
static void choose_copies(tsl_packed_job *job, int64_t kept, const tsl_device *device) {
  enum { FEW_BYTES_OF_ROWS = 1024, FEW_BYTES_TURNED = 2048, FEW_ROWS = 256, FEW_SLIVERS = 2 };
  const int64_t few = is_lost(job, device) ? 1 : FEW_SLIVERS, column_bytes = job->n * job->size;
  const bool is_panels = job->schedule == TSL_PACKED_PANELS, is_columns = job->schedule == TSL_PACKED_COLUMNS;
  job->copies_a = is_panels || column_bytes > (job->a.col_stride == 1   ? FEW_BYTES_OF_ROWS
                                               : job->a.row_stride == 1 ? FEW_BYTES_TURNED
                                                                        : 0);
  job->copies_b =
      is_panels || job->b.col_stride != 1 ||
      (is_columns ? job->m > few * job->kernels->rows[1]
                  : job->m > FEW_ROWS || !holds(magnitude(job->b.row_stride), job->depth, job->size, kept));
}

/* Where the slivers are the tasks and there are few of them, lower ones, if that leaves the busiest thread less: rows that it
 * has, and for each of its tiles about two more, which are the loads of B. */
static int64_t fair_height(const tsl_packed_job *job, int64_t threads) {
  int64_t best = job->height;
  double least = INFINITY;
  for (int64_t height = job->height; height >= (job->height + 1) / 2; height--) {
    const int64_t slivers = tsl_packed_count(job->m, height);
    const double rows =
        (double)tsl_packed_count(slivers, threads) * (double)(tsl_packed_count(job->m, slivers) + 2);
    if (rows < least) {
      least = rows;
      best = height;
    }
  }
  return best;
}

/* Tiles of two vectors; four where rows of A are read where they lie, since they may all want the same set of the first
 * cache: fewer rows at a time then, where there are registers for that. */
static void choose_tile(tsl_packed_job *job, int64_t threads) {
  enum { MANY_ROWS = 6 };
  const int64_t lanes = tsl_packed_lanes(job->kernels);
  int64_t vectors = tsl_packed_least(2, tsl_packed_count(job->n, lanes));
  if (!job->copies_a && job->a.row_stride != 1 && job->kernels->rows[3] >= MANY_ROWS)
    vectors = tsl_packed_least(4, tsl_packed_count(job->n, lanes));
  job->width = vectors * lanes;
  job->height = job->kernels->rows[vectors - 1];
  if (threads > 1 && job->schedule == TSL_PACKED_ROWS)
    job->height = fair_height(job, threads);
}

static int64_t parts_of(const tsl_packed_job *job) {
  enum { MOST_PARTS = 16, PANELS_OF_A_PART = 1 };
  return tsl_packed_least(MOST_PARTS, tsl_packed_count(job->k, job->depth) / PANELS_OF_A_PART);
}

/* Groups of strips are tasks: as many for each thread as for the others, where there are few. */
static int64_t fair_groups(const tsl_packed_job *job, int64_t groups, int64_t threads) {
  enum { FEW = 8 };
  const int64_t strips = tsl_packed_count(job->n, job->width);
  if (job->schedule != TSL_PACKED_COLUMNS || groups >= FEW * threads)
    return groups;
  return tsl_packed_least(tsl_packed_count(groups, threads) * threads, strips);
}

/* B's block takes `kept` bytes, which a second-level cache holds together with slivers that pass by; A's panel a
 * quarter of the third level. */
static void cut(tsl_packed_job *job, int64_t kept, int64_t last, int64_t threads) {
  const int64_t row_bytes = job->depth * job->size;
  const int64_t held = job->schedule == TSL_PACKED_COLUMNS ? kept / 4 : kept;
  const int64_t columns = tsl_packed_most(held / row_bytes / job->width, 1) * job->width,
                groups = fair_groups(job, tsl_packed_count(job->n, columns), threads);
  job->columns = tsl_packed_count(tsl_packed_count(job->n, groups), job->width) * job->width;
  job->most = tsl_packed_most(last / row_bytes, 32 * job->height);
  job->rows = tsl_packed_count(job->m, tsl_packed_count(job->m, job->most));
}

tsl_packed_job tsl_packed_job_for(const tsl_problem *problem, const tsl_operands *strides, int64_t depth,
                                  int64_t kept, const tsl_device *device) {
  const bool is_empty = problem->k == 0 || (problem->alpha[0] == 0 && problem->alpha[1] == 0);
  const int64_t last = (int64_t)(device->level_bytes[2] ? device->level_bytes[2] : LEVEL_3_GUESS) / 4;
  const int64_t level_1 = device->level_bytes[0] ? (int64_t)device->level_bytes[0] : LEVEL_1_GUESS,
                threads = tsl_packed_is_alone(problem) ? 1 : device->threads;
  tsl_packed_job job = {.kernels = tsl_packed_kernels_for(problem->c.type, device->capabilities),
                        .size = (int64_t)tsl_type(problem->c.type)->size,
                        .k = is_empty ? 0 : problem->k,
                        .alpha = {problem->alpha[0], problem->alpha[1]},
                        .beta = {problem->beta[0], problem->beta[1]}};
  if (is_empty)
    job.alpha[0] = job.alpha[1] = 0; /* infinity times an empty sum is nothing */
  orient(&job, problem, strides);
  set_signs(&job, problem);
  if (is_empty)
    job.a.row_stride = job.a.col_stride = job.b.row_stride = job.b.col_stride = 0;
  job.depth = tsl_packed_count(job.k, tsl_packed_count(job.k, depth));
  job.schedule = choose(&job, kept, last);
  choose_copies(&job, kept, device);
  choose_tile(&job, threads);
  cut(&job, kept, last, threads);
  job.parts = parts_of(&job);
  job.strips_stay = holds(job.width + job.height, job.depth, job.size, level_1);
  return job;
}

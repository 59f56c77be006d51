#include "strategy/gemm/host/host_packed/blocking.h"

#include "dispatch/crossovers.h"
#include "strategy/host_jobs/host_job.h"

#include <math.h>

static bool blocking_is_alone(const tsl_problem *problem) {
  return tsl_problem_flops(problem) < (double)tsl_crossovers.thread_product;
}

/* Multiply-adds per byte of a packed copy so that reading it again takes a fifth of the time. 96
 * multiply-adds a nanosecond and core: f32, AVX-512. */
enum {
  SERVED = 5 * 4 * 96,
  SERVED_FAR = SERVED / TSL_PACKED_AGAIN_FAR,
  SERVED_NEAR = SERVED / TSL_PACKED_AGAIN_NEAR
};

/* Cache sizes in bytes if the device does not report them. */
enum { LEVEL_1_GUESS = 32 << 10, LEVEL_2_GUESS = 512 << 10, LEVEL_3_GUESS = 8 << 20 };

void tsl_packed_job_bind(tsl_packed_job *job, const tsl_operands *operands) {
  tsl_views_bind_operands(&job->views, operands, job->size, job->size);
}

/* Returns true if rows x depth elements fit `bytes`. Doubles avoid a division, exact for sizes that fit. */
static bool blocking_holds(int64_t rows, int64_t depth, int64_t size, int64_t bytes) {
  return (double)rows * (double)depth * (double)size <= (double)bytes;
}

/* Chooses the schedule. An operand is resident if its panel fits in `resident` bytes and all of it in
 * `last` bytes. SPLIT_K: C is too small for any other partition to occupy all threads. */
static tsl_packed_schedule blocking_choose(const tsl_packed_job *job, int64_t resident, int64_t last) {
  enum { SMALL_C = 512 << 10, LONG = 16 };
  const int64_t depth = job->kc, size = job->size;
  const bool keeps_a = blocking_holds(job->views.m, depth, size, resident) &&
                       blocking_holds(job->views.m, job->views.k + 1, size, last),
             keeps_b = blocking_holds(job->views.n, depth, size, resident) &&
                       blocking_holds(job->views.n, job->views.k + 1, size, last);
  const bool is_general =
      job->views.a.structure == TESELA_GENERAL && job->views.b.structure == TESELA_GENERAL && job->half == 0;
  if (is_general && !job->fixes_rows && blocking_holds(job->views.m, job->views.n, size, SMALL_C) &&
      blocking_holds(job->views.n, depth, size, resident) && tsl_ceil_div_or_one(job->views.k, depth) >= LONG)
    return TSL_PACKED_SPLIT_K;
  const bool is_long = !blocking_holds(job->views.m, job->views.n, size, 4 * resident);
  if (keeps_b && (job->views.m >= job->views.n || !keeps_a || is_long))
    return TSL_PACKED_ROWS;
  return keeps_a ? TSL_PACKED_COLUMNS : TSL_PACKED_PANELS;
}

/* Returns true if rows of B's panel evict each other from the second-level cache, and the last one is far. */
static bool is_lost(const tsl_packed_job *job, const tsl_device *device) {
  const uint64_t stride = (uint64_t)(tsl_abs(job->views.b.row_stride) * job->size);
  const uint64_t level_2 = device->level_bytes[1] ? device->level_bytes[1] : LEVEL_2_GUESS;
  const uint64_t apart = stride & (~stride + 1); /* largest power of two that divides the stride */
  return tsl_last_cache_is_far(device) && apart > 4096 && (uint64_t)job->kc > level_2 / apart;
}

/* Returns true if A is packed for this many columns: copies pay when enough columns use these. */
static bool copies_rows(const tsl_packed_job *job, int64_t columns) {
  enum { FEW_BYTES_OF_ROWS = 1024, FEW_BYTES_TRANSPOSED = 2048 };
  const int64_t few = job->views.a.col_stride == 1   ? FEW_BYTES_OF_ROWS
                      : job->views.a.row_stride == 1 ? FEW_BYTES_TRANSPOSED
                                                     : 0;
  return columns > few / (int64_t)job->size;
}

/* Returns true if B's lines of a micro-panel evict each other from the first-level cache: its rows are nearly
 * a multiple of a way apart. */
static bool evicts_itself(const tsl_packed_job *job) {
  enum { WAY = 4096, NEAR = 16, WAYS = 8 };
  const int64_t past = tsl_abs(job->views.b.row_stride) * job->size % WAY;
  return tsl_min(past, WAY - past) <= NEAR && job->kc > WAYS;
}

/* Decides whether A and B are packed. An operand is read directly if few micro-panels would use the copy; B
 * also only if its panel stays in a cache. */
static void choose_copies(tsl_packed_job *job, int64_t resident, const tsl_device *device) {
  enum { FEW_ROWS = 256, FEW_MICROS = 2 };
  const int64_t few = is_lost(job, device) ? 1 : FEW_MICROS;
  const bool is_panels = job->schedule == TSL_PACKED_PANELS, is_columns = job->schedule == TSL_PACKED_COLUMNS;
  job->copies_a = is_panels || copies_rows(job, job->views.n);
  job->copies_b =
      is_panels || job->views.b.col_stride != 1 ||
      job->views.m > (is_columns || evicts_itself(job) ? few * job->kernels->rows[1] : FEW_ROWS) ||
      (!is_columns && !blocking_holds(tsl_abs(job->views.b.row_stride), job->kc, job->size, resident));
  job->copies_a |= job->views.a.structure != TESELA_GENERAL || job->views.in_place || job->half > 0;
  job->copies_b |= job->views.b.structure != TESELA_GENERAL || job->views.in_place || job->half > 0;
}

/* Returns MR, smaller if the busiest thread has less work then. A tile costs its rows plus B's loads. */
static int64_t fair_height(const tsl_packed_job *job, int64_t threads) {
  int64_t best = job->mr;
  double least = INFINITY;
  for (int64_t height = job->mr; height >= (job->mr + 1) / 2; height--) {
    const int64_t micros_a = tsl_ceil_div_or_one(job->views.m, height);
    const double rows = (double)tsl_ceil_div_or_one(micros_a, threads) *
                        (double)(tsl_ceil_div_or_one(job->views.m, micros_a) + 2);
    if (rows < least) {
      least = rows;
      best = height;
    }
  }
  return best;
}

/* Chooses MR and NR. Tiles are two vectors wide, or four if rows of A are read directly. Such rows may all
 * map to one set of the first-level cache, and a wide tile reads fewer. */
static void choose_tile(tsl_packed_job *job, int64_t threads) {
  enum { MANY_ROWS = 6 };
  const int64_t lanes = tsl_packed_lanes(job->kernels);
  int64_t vectors = tsl_min(2, tsl_ceil_div_or_one(job->views.n, lanes));
  if (!job->copies_a && job->views.a.row_stride != 1 && job->kernels->rows[3] >= MANY_ROWS)
    vectors = tsl_min(4, tsl_ceil_div_or_one(job->views.n, lanes));
  job->nr = vectors * lanes;
  job->mr = job->kernels->rows[vectors - 1];
  if (threads > 1 && job->schedule == TSL_PACKED_ROWS && job->views.a.structure == TESELA_GENERAL)
    job->mr = fair_height(job, threads);
}

/* Returns the columns of a partial first micro-panel of B, or 0. A partial vector costs least at the front if
 * B's last columns have the most steps or the most rows of C. */
static int64_t lead_of(const tsl_packed_job *job) {
  const int64_t lanes = tsl_packed_lanes(job->kernels);
  const tsl_view *b = &job->views.b;
  const bool is_late = job->views.c.triangle == TESELA_UPPER ||
                       (tsl_is_triangular(b->structure) && b->triangle == TESELA_UPPER);
  const bool is_whole = job->schedule == TSL_PACKED_ROWS || job->schedule == TSL_PACKED_SPLIT_K;
  return is_late && is_whole && job->views.n > lanes ? job->views.n & (lanes - 1) : 0;
}

bool tsl_packed_copies_first(const tsl_packed_job *job) {
  const bool holds_a = job->views.a.structure == TESELA_GENERAL;
  return job->views.k <= job->kc && job->schedule == (holds_a ? TSL_PACKED_ROWS : TSL_PACKED_COLUMNS);
}

/* Returns true if packed rows of A stay contiguous: in place, if tiles could read A directly. */
static bool keeps_rows(const tsl_packed_job *job) {
  return job->views.in_place && job->views.a.structure == TESELA_GENERAL && job->views.a.col_stride == 1 &&
         tsl_packed_copies_first(job) && !copies_rows(job, job->views.n);
}

/* Returns true if lines of the triangular factor (rows of A or columns of B) end at its diagonal. */
static bool starts_last(const tsl_packed_job *job) {
  return tsl_is_triangular(job->views.a.structure) ? job->views.a.triangle == TESELA_LOWER
                                                   : job->views.b.triangle == TESELA_UPPER;
}

void tsl_packed_set_schedule(tsl_packed_job *job, tsl_packed_schedule schedule) {
  job->schedule = schedule;
  job->lead = lead_of(job);
  job->keeps_rows = keeps_rows(job);
  job->descends = job->views.in_place && starts_last(job);
  if (job->views.in_place) /* a micro-panel of B must not cross a panel border */
    job->kc = tsl_round_up(job->kc, job->fixes_rows ? 2 * tsl_packed_lanes(job->kernels) : job->nr);
}

tsl_packed_job tsl_packed_strip_of(const tsl_packed_job *job, int64_t columns) {
  tsl_packed_job strip = *job;
  strip.schedule = TSL_PACKED_ROWS;
  strip.views.n = columns;
  strip.copies_a = copies_rows(job, columns) || job->half > 0;
  choose_tile(&strip, 1);
  strip.views.n = job->views.n;
  return strip;
}

static int64_t blocking_split_k_of(const tsl_packed_job *job) {
  enum { MOST_SPLIT_K = 16 };
  return tsl_min(MOST_SPLIT_K, tsl_ceil_div_or_one(job->views.k, job->kc));
}

/* Returns the number of groups of B's micro-panels, a task each: if few, a multiple of the threads. */
static int64_t fair_groups(const tsl_packed_job *job, int64_t groups, int64_t threads) {
  enum { FEW = 8 };
  const int64_t micros_b = tsl_ceil_div_or_one(job->views.n, job->nr);
  if (job->schedule != TSL_PACKED_COLUMNS || groups >= FEW * threads)
    return groups;
  return tsl_min(tsl_ceil_div_or_one(groups, threads) * threads, micros_b);
}

/* Sets MC, NC and their limit. B's block takes `resident` bytes, A's panel `last`. */
static void blocking_cut(tsl_packed_job *job, int64_t resident, int64_t last, int64_t threads) {
  const int64_t row_bytes = job->kc * job->size;
  const int64_t held = job->schedule == TSL_PACKED_COLUMNS ? resident / 4 : resident;
  const int64_t columns = tsl_max(held / row_bytes / job->nr, 1) * job->nr,
                groups = fair_groups(job, tsl_ceil_div_or_one(job->views.n, columns), threads);
  job->nc = tsl_ceil_div_or_one(tsl_ceil_div_or_one(job->views.n, groups), job->nr) * job->nr;
  job->panel_max = tsl_max(last / row_bytes, 32 * job->mr);
  job->mc = tsl_ceil_div_or_one(job->views.m, tsl_ceil_div_or_one(job->views.m, job->panel_max));
}

static const tsl_packed_kernels *blocking_kernels_for(tesela_type type, unsigned offers) {
#define KERNELS(isa, header, needs, ...)                                                                     \
  {&tsl_packed_##isa##_f32, &tsl_packed_##isa##_f64, &tsl_packed_##isa##_c64, &tsl_packed_##isa##_c128},
  static const tsl_packed_kernels *const kernels[][4] = {TSL_ISA_LIST(KERNELS)};
#undef KERNELS
  const tsl_packed_kernels *const *row = kernels[tsl_isa_best(offers)];
  while ((*row)->type != type)
    row++;
  return *row;
}

tsl_packed_job tsl_packed_joined_for(const tsl_problem *problem, const tsl_operands *strides, int64_t depth,
                                     int64_t resident, const tsl_device *device, int64_t half) {
  const int64_t last = (int64_t)(device->level_bytes[2] ? device->level_bytes[2] : LEVEL_3_GUESS) / 4;
  const int64_t level_1 = device->level_bytes[0] ? (int64_t)device->level_bytes[0] : LEVEL_1_GUESS,
                threads = blocking_is_alone(problem) ? 1 : device->threads;
  tsl_packed_job job = {.kernels = blocking_kernels_for(problem->c.type, device->capabilities),
                        .size = (int64_t)tsl_type(problem->c.type)->size,
                        .half_l2_bytes =
                            (int64_t)(device->level_bytes[1] ? device->level_bytes[1] : LEVEL_2_GUESS) / 2,
                        .reuse_lines = tsl_last_cache_is_far(device) ? SERVED_FAR : SERVED_NEAR,
                        .views = tsl_views_of(problem, strides),
                        .is_alone = blocking_is_alone(problem),
                        .fixes_rows = tsl_problem_fixes_rows(problem),
                        .alpha = {problem->alpha[0], problem->alpha[1]},
                        .beta = {problem->beta[0], problem->beta[1]},
                        .half = half};
  job.masks_c = job.views.c.triangle != TESELA_WHOLE;
  job.is_structured =
      job.masks_c || job.views.a.structure != TESELA_GENERAL || job.views.b.structure != TESELA_GENERAL;
  job.is_half =
      job.masks_c || tsl_is_triangular(job.views.a.structure) || tsl_is_triangular(job.views.b.structure);
  job.views.in_place = job.views.in_place && job.views.k > 0;
  if (job.views.k == 0)
    job.alpha[0] = job.alpha[1] = 0; /* infinity times an empty sum must be 0 */
  tsl_views_conjugation_signs(&job.views, job.signs);
  job.kc = tsl_ceil_div_or_one(job.views.k, tsl_ceil_div_or_one(job.views.k, depth));
  job.schedule = blocking_choose(&job, resident, last);
  choose_copies(&job, resident, device);
  choose_tile(&job, threads);
  tsl_packed_set_schedule(&job, job.schedule);
  blocking_cut(&job, resident, last, threads);
  job.split_k = blocking_split_k_of(&job);
  job.b_is_outer = blocking_holds(job.nr + job.mr, job.kc, job.size, level_1);
  return job;
}

tsl_packed_job tsl_packed_job_for(const tsl_problem *problem, const tsl_operands *strides, int64_t depth,
                                  int64_t resident, const tsl_device *device) {
  return tsl_packed_joined_for(problem, strides, depth, resident, device, 0);
}

void tsl_packed_add_to_c(const tsl_packed_job *job, bool is_first, tsl_packed_tile *tile) {
  const double alpha = job->alpha[0];
  tile->beta[0] = is_first ? job->beta[0] : 1;
  tile->beta[1] = is_first ? job->beta[1] : 0;
  tile->is_plain =
      !tsl_type(job->kernels->type)->is_complex && tile->c_column == 1 &&
      ((alpha == 1 && tile->beta[0] == 0) || ((alpha == 1 || alpha == -1) && tile->beta[0] == 1));
}

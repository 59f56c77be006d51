#include "judge/checksum.h"

#include "core/memory.h"
#include "core/random.h"
#include "core/status.h"
#include "host/host_isa.h"
#include "host/int_math.h"
#include "judge/checksum_tile.h"
#include "judge/judge_element.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { ROWS = TSL_CHECKSUM_ROWS, COLS = TSL_CHECKSUM_COLUMNS };
static const uint64_t weights_seed = 37;

/* Comparison of ROWS rows. */
typedef struct checksum_block {
  int64_t unchecked, wrong;
  double hidden;
  tsl_checksum_fault fault;
} checksum_block;

struct tsl_checksum {
  tsl_checksum_product product;
  tsl_problem problem;
  const tsl_checksum_kernels *kernels;
  bool is_integer;
  int parts;                                      /* 2 for complex types */
  int64_t segments, segment_cols, vectors, depth; /* vectors: parts of all segments; depth: parts of k */
  tsl_checksum_source source[TSL_ALL_OPERANDS];
  bool multiplies, reads_c;                               /* A and B are read; beta C0 is added */
  double relative, flush_term, fixed_term, alpha1, beta1; /* alpha1: |re| + |im| */
  double scale_b_max;                                     /* largest magnitude of B's scales */
  /* All in `memory`. weights: for each part, of all numbers of a row; 0 for numbers of the other part.
   * before, sizes: sums of C0's rows. products, bounds: A times all vectors and times the bound, made before
   * a run in place. scale: B's scales. raw, raw_bounds: the bound without these scales. bias: sums of a row's
   * segments and of their magnitudes. */
  double *weights, *vector, *size, *bound, *before, *sizes, *products, *bounds, *scale, *raw, *bias;
  uint32_t *whole_weights, *whole_vector, *whole_before; /* for integers */
  checksum_block *block;
  unsigned char *scratch; /* of each worker */
  size_t scratch_bytes;
  void *memory;
};

/* Scratch memory of a worker. */
typedef struct checksum_scratch {
  double *tile, *sums, *bounds, *raw_bounds;
  int32_t *whole_tile;
} checksum_scratch;

/* In place, the general factor is C. */
static const void *operand_base(const tsl_checksum_product *product, int operand) {
  const void *const bases[TSL_ALL_OPERANDS] = {product->a,    product->b,       product->c,
                                               product->bias, product->scale_a, product->scale_b};
  const bool is_c = product->problem->in_place && operand < TSL_OPERAND_C &&
                    operand != tsl_problem_structured(product->problem);
  return is_c ? product->c : bases[operand];
}

static const tsl_checksum_kernels *best_checksum_kernels(void) {
#define SET(isa, ...) &tsl_checksum_kernels_##isa,
  static const tsl_checksum_kernels *const sets[] = {TSL_ISA_LIST(SET)};
#undef SET
  return sets[tsl_host_isa_that_runs()];
}

/* Sums the rows of a segment of B or of C: both parts, and magnitudes of both together. */
static void sum_segment(const tsl_checksum *sum, const tsl_checksum_source *source, int64_t row, int rows,
                        int64_t p, double *tile, double weighted[2][ROWS], double sizes[ROWS]) {
  const int64_t end = tsl_min((p + 1) * sum->segment_cols, sum->problem.n);
  memset(weighted, 0, 2 * sizeof *weighted);
  memset(sizes, 0, ROWS * sizeof *sizes);
  for (int64_t col = p * sum->segment_cols; col < end; col += COLS) {
    const int cols = (int)tsl_min(COLS, end - col);
    double sums[2][ROWS], magnitudes[ROWS];
    int64_t pitch;
    const double *from = tsl_checksum_load_tile(source, row, rows, col, cols, tile, &pitch);
    for (int part = 0; part < sum->parts; part++)
      sum->kernels->sums(rows, cols * sum->parts, from, pitch,
                         sum->weights + (part * sum->problem.n + col) * sum->parts, sums[part], magnitudes);
    for (int i = 0; i < rows; i++) {
      for (int part = 0; part < sum->parts; part++)
        weighted[part][i] += sums[part][i];
      sizes[i] += magnitudes[i];
    }
  }
}

static checksum_scratch scratch_of_worker(const tsl_checksum *sum, int worker) {
  double *tile = (double *)(void *)(sum->scratch + (size_t)worker * sum->scratch_bytes);
  return (checksum_scratch){.tile = tile,
                            .sums = tile + (int64_t)ROWS * COLS * 2,
                            .bounds = tile + (int64_t)ROWS * COLS * 2 + ROWS * sum->vectors,
                            .raw_bounds = tile + (int64_t)ROWS * COLS * 2 + ROWS * (sum->vectors + 1),
                            .whole_tile = (int32_t *)(void *)tile};
}

/* Adds weighted sums of rows modulo 2^32. */
static void sum_integer_rows(const tsl_checksum *sum, int operand, int64_t row, int rows,
                             const uint32_t *weights, int worker, uint32_t *out) {
  const tsl_checksum_source *source = &sum->source[operand];
  const tsl_shape *shape = &source->shape;
  const tsl_checksum_kernels *kernels = sum->kernels;
  const int64_t size = (int64_t)tsl_type(shape->type)->size;
  int32_t *tile = scratch_of_worker(sum, worker).whole_tile;
  for (int64_t col = 0; col < shape->cols; col += COLS) {
    const int cols = (int)tsl_min(COLS, shape->cols - col);
    if (shape->col_stride != 1)
      tsl_checksum_load_as(source, row, rows, col, cols, TESELA_I32, tile, COLS);
    for (int i = 0; i < rows; i++) {
      const unsigned char *from = source->base + ((row + i) * shape->row_stride + col) * size;
      out[i] += shape->col_stride != 1     ? kernels->sum_i32(cols, tile + i * COLS, weights + col)
                : shape->type == TESELA_I8 ? kernels->sum_i8(cols, from, weights + col)
                : shape->type == TESELA_U8 ? kernels->sum_u8(cols, from, weights + col)
                                           : kernels->sum_i32(cols, from, weights + col);
    }
  }
}

/* --- B: the vectors of all segments --- */

static void sum_b_rows(void *argument, int64_t index, int worker) {
  tsl_checksum *sum = argument;
  const tsl_problem *problem = &sum->problem;
  const int64_t row = index * ROWS;
  const int rows = (int)tsl_min(ROWS, problem->k - row);
  if (sum->is_integer) {
    sum_integer_rows(sum, TSL_OPERAND_B, row, rows, sum->whole_weights, worker, sum->whole_vector + row);
    return;
  }
  const checksum_scratch scratch = scratch_of_worker(sum, worker);
  tsl_checksum_source unscaled = sum->source[TSL_OPERAND_B];
  unscaled.scale = NULL;
  for (int64_t p = 0; p < sum->segments; p++) {
    double weighted[2][ROWS], sizes[ROWS];
    if (sum->raw) {
      sum_segment(sum, &unscaled, row, rows, p, scratch.tile, weighted, sizes);
      for (int i = 0; i < rows; i++)
        sum->raw[row + i] = fmax(sum->raw[row + i], sizes[i]);
    }
    sum_segment(sum, &sum->source[TSL_OPERAND_B], row, rows, p, scratch.tile, weighted, sizes);
    for (int i = 0; i < rows; i++) {
      const double all = sizes[i], re = isfinite(all) ? weighted[0][i] : NAN,
                   im = problem->conjugate_b ? -weighted[1][i] : weighted[1][i];
      const int64_t l = row + i;
      if (isfinite(all))
        sum->size[l] = fmax(sum->size[l], all);
      double *vector = sum->vector + p * sum->parts * sum->depth + l * sum->parts;
      vector[0] = re;
      if (sum->parts == 1)
        continue;
      const double sign = problem->conjugate_a ? -1 : 1;
      vector[1] = -sign * im;
      vector[sum->depth] = im;
      vector[sum->depth + 1] = sign * re;
    }
  }
}

/* Sets the vector t / e, which does not underflow, and the terms of T that are equal for all rows. */
static void set_bound_vector(tsl_checksum *sum) {
  const double width = (double)sum->segment_cols, k = (double)sum->problem.k;
  double total = 0;
  for (int64_t l = 0; l < sum->problem.k; l++) {
    total += sum->size[l];
    for (int part = 0; part < sum->parts; part++)
      sum->bound[l * sum->parts + part] =
          sum->size[l] + sum->product.flushes * width * sum->scale_b_max / sum->relative;
  }
  sum->flush_term = sum->product.flushes > 0
                        ? sum->product.flushes * (sum->alpha1 * (total + 4 * k * width * sum->scale_b_max) +
                                                  (sum->beta1 + 2) * width)
                        : 0;
}

/* --- C --- */

static void save_c_rows(void *argument, int64_t index, int worker) {
  tsl_checksum *sum = argument;
  const int64_t row = index * ROWS;
  const int rows = (int)tsl_min(ROWS, sum->problem.m - row);
  if (sum->is_integer) {
    sum_integer_rows(sum, TSL_OPERAND_C, row, rows, sum->whole_weights, worker, sum->whole_before + row);
    return;
  }
  for (int64_t p = 0; p < sum->segments; p++) {
    double weighted[2][ROWS], sizes[ROWS];
    sum_segment(sum, &sum->source[TSL_OPERAND_C], row, rows, p, scratch_of_worker(sum, worker).tile, weighted,
                sizes);
    for (int i = 0; i < rows; i++) {
      const int64_t at = (row + i) * sum->segments + p;
      sum->sizes[at] = sizes[i];
      for (int part = 0; part < sum->parts; part++)
        sum->before[at * sum->parts + part] = weighted[part][i];
    }
  }
}

/* --- comparison --- */

/* Multiplies rows of A by all vectors, and their magnitudes by the bounds. */
static void multiply_rows(const tsl_checksum *sum, int64_t row, int rows, const checksum_scratch *scratch) {
  memset(scratch->sums, 0, (size_t)(ROWS * sum->vectors) * sizeof *scratch->sums);
  memset(scratch->bounds, 0, ROWS * sizeof *scratch->bounds);
  memset(scratch->raw_bounds, 0, ROWS * sizeof *scratch->raw_bounds);
  for (int64_t l = 0; l < sum->problem.k && sum->multiplies; l += COLS) {
    const int terms = (int)tsl_min(COLS, sum->problem.k - l);
    int64_t pitch;
    const double *tile =
        tsl_checksum_load_tile(&sum->source[TSL_OPERAND_A], row, rows, l, terms, scratch->tile, &pitch);
    sum->kernels->dots(rows, terms * sum->parts, tile, pitch, (int)sum->vectors, sum->vector + l * sum->parts,
                       sum->depth, sum->bound + l * sum->parts, scratch->sums, scratch->bounds);
    if (sum->raw)
      sum->kernels->dots(rows, terms, tile, pitch, 0, NULL, 0, sum->raw + l, NULL, scratch->raw_bounds);
  }
}

/* Keeps the products of rows, before a run in place overwrites a factor. */
static void save_products(void *argument, int64_t index, int worker) {
  tsl_checksum *sum = argument;
  const checksum_scratch scratch = scratch_of_worker(sum, worker);
  const int64_t row = index * ROWS;
  const int rows = (int)tsl_min(ROWS, sum->problem.m - row);
  multiply_rows(sum, row, rows, &scratch);
  memcpy(sum->products + row * sum->vectors, scratch.sums,
         (size_t)(rows * sum->vectors) * sizeof *scratch.sums);
  memcpy(sum->bounds + row, scratch.bounds, (size_t)rows * sizeof *scratch.bounds);
}

/* Expected terms of one row of a segment. */
typedef struct checksum_terms {
  const double *product, *before; /* of each part; before NULL: none */
  double scale, bias[2];
} checksum_terms;

/* Returns |d| for one row of a segment: the larger one of both parts; NaN if either is. */
static double get_difference(const tsl_checksum *sum, const double *c, const checksum_terms *terms) {
  const double *alpha = sum->problem.alpha, *beta = sum->problem.beta, *before = terms->before;
  double off = 0;
  for (int part = 0; part < sum->parts; part++) {
    double expected = alpha[0] * (terms->scale * terms->product[part]);
    if (sum->parts == 2 && alpha[1] != 0)
      expected += part == 0 ? -alpha[1] * terms->product[1] : alpha[1] * terms->product[0];
    if (before)
      expected += beta[0] * before[part];
    if (before && sum->parts == 2 && beta[1] != 0)
      expected += part == 0 ? -beta[1] * before[1] : beta[1] * before[0];
    const double own = fabs(c[part] - (expected + terms->bias[part]));
    off = own <= off ? off : own; /* NaN stays */
    if (isnan(own))
      return own;
  }
  return off;
}

/* Extends the block's tile of wrong segments. Returns true for the first one. */
static bool note_wrong(int64_t row, int64_t p, checksum_block *block) {
  const bool is_first = block->wrong++ == 0;
  tsl_checksum_fault *fault = &block->fault;
  fault->first_row = is_first ? row : tsl_min(fault->first_row, row);
  fault->last_row = is_first ? row : tsl_max(fault->last_row, row);
  fault->first_segment = is_first ? p : tsl_min(fault->first_segment, p);
  fault->last_segment = is_first ? p : tsl_max(fault->last_segment, p);
  return is_first;
}

/* Compares one row of a segment. `bound` is T without the roundings of C's elements. |d| above T is wrong. If
 * T or alpha (A s) is not finite, nothing is known. If C alone is not finite it is wrong, unless sums may
 * overflow. */
static void compare_segment(const tsl_checksum *sum, int64_t row, int64_t p, double off, double bound,
                            double roundings, bool may_overflow, bool is_known, checksum_block *block) {
  const int64_t cols = tsl_min(sum->segment_cols, sum->problem.n - p * sum->segment_cols);
  const bool is_finite = isfinite(off) && isfinite(roundings);
  if (!isfinite(bound) || !is_known || (may_overflow && (!is_finite || sum->product.saturates))) {
    block->unchecked += cols;
    return;
  }
  if (is_finite)
    bound += roundings;
  block->hidden = fmax(block->hidden, 2 * bound / (1 - sum->product.rounding));
  if (is_finite && off <= bound)
    return;
  const bool is_first = note_wrong(row, p, block);
  if (is_first || isnan(off) || off / bound > block->fault.off / block->fault.bound) {
    block->fault.row = row;
    block->fault.segment = p;
    block->fault.off = off;
    block->fault.bound = bound;
  }
}

/* Returns the part of T from magnitudes at which sums may exceed the largest number, of C, of its sums, or of
 * the checksum. */
static double get_bound_limit(const tsl_checksum *sum) {
  const tsl_type_info *c = tsl_type(sum->problem.c.type), *sums = tsl_type(tsl_type(c->component)->sums);
  const double alpha = sum->alpha1 < 1 ? sum->alpha1 : 1;
  return sum->relative * fmin(c->largest, sum->multiplies ? sums->largest * alpha : sums->largest) / 4;
}

/* Returns an element of the bias or of a scale. */
static void get_number(const tsl_checksum *sum, int operand, int64_t row, int64_t col, double value[2]) {
  const tsl_checksum_source *source = &sum->source[operand];
  tsl_type_load(source->shape.type, tsl_shape_at(&source->shape, source->base, row, col), value);
}

/* Sets the sum of a segment's biases in a row. Returns the sum of their magnitudes. */
static double get_bias(const tsl_checksum *sum, int64_t row, int64_t p, double bias[2]) {
  const int64_t cols = tsl_min(sum->segment_cols, sum->problem.n - p * sum->segment_cols);
  const double *of_segment = sum->bias + 3 * p;
  double value[2] = {1, 1};
  bias[0] = bias[1] = 0;
  if (sum->problem.bias_axis == TESELA_NO_BIAS)
    return 0;
  if (sum->problem.bias_axis == TESELA_BIAS_ROW) {
    memcpy(bias, of_segment, 2 * sizeof *bias);
    return of_segment[2];
  }
  get_number(sum, TSL_OPERAND_BIAS, row, 0, value);
  for (int part = 0; part < sum->parts; part++)
    bias[part] = value[part] * of_segment[0];
  return (fabs(value[0]) + (sum->parts == 2 ? fabs(value[1]) : 0)) * (double)cols;
}

/* Sets the weighted sums of a bias along rows. For a bias along columns these are sums of weights. */
static void sum_bias(tsl_checksum *sum) {
  for (int64_t p = 0; p < sum->segments && sum->bias; p++) {
    double weighted[2][ROWS] = {{0}}, sizes[ROWS] = {0};
    if (sum->problem.bias_axis == TESELA_BIAS_ROW)
      sum_segment(sum, &sum->source[TSL_OPERAND_BIAS], 0, 1, p, scratch_of_worker(sum, 0).tile, weighted,
                  sizes);
    for (int64_t j = p * sum->segment_cols;
         j < sum->problem.n && j < (p + 1) * sum->segment_cols && sum->problem.bias_axis != TESELA_BIAS_ROW;
         j++)
      weighted[0][0] += sum->weights[j * sum->parts];
    memcpy(sum->bias + 3 * p, (const double[3]){weighted[0][0], weighted[1][0], sizes[0]},
           3 * sizeof *sum->bias);
  }
}

/* Terms of T that are equal for all segments of a row. */
typedef struct checksum_row {
  double scale;      /* A's scale */
  double guaranteed; /* of A and B */
  double other;      /* of underflow */
  bool may_overflow; /* sums before they are scaled may overflow */
} checksum_row;

/* See compare_after_epilogue() of judge/judge_element.c for underflow. */
static checksum_row get_row(const tsl_checksum *sum, int64_t row, double bound, double raw_bound) {
  double scale[2] = {1, 0};
  checksum_row found = {.other = sum->flush_term + sum->fixed_term};
  if (sum->problem.scaling_a != TESELA_NO_SCALE && sum->multiplies)
    get_number(sum, TSL_OPERAND_SCALE_A, row, 0, scale);
  found.scale = scale[0];
  found.guaranteed = sum->relative * (sum->alpha1 * fabs(scale[0]) * bound);
  if (tsl_problem_has_scales(&sum->problem))
    found.other *= fmax(1, sum->alpha1) * (1 + fabs(scale[0])) * (1 + sum->scale_b_max);
  if (tsl_problem_has_epilogue(&sum->problem))
    found.other *= 4;
  const double most = raw_bound * fmax(1, fabs(scale[0])) * fmax(1, sum->scale_b_max);
  found.may_overflow = sum->raw && !(most < tsl_type(TESELA_F32)->largest / 4);
  return found;
}

static void compare_rows(void *argument, int64_t index, int worker) {
  tsl_checksum *sum = argument;
  const int64_t row = index * ROWS;
  const int rows = (int)tsl_min(ROWS, sum->problem.m - row);
  checksum_scratch scratch = scratch_of_worker(sum, worker);
  const double limit = get_bound_limit(sum);
  checksum_block block = {0};
  if (sum->products) {
    scratch.sums = sum->products + row * sum->vectors;
    scratch.bounds = sum->bounds + row;
  } else {
    multiply_rows(sum, row, rows, &scratch);
  }
  checksum_row found[ROWS];
  for (int i = 0; i < rows; i++)
    found[i] = get_row(sum, row + i, scratch.bounds[i], scratch.raw_bounds[i]);
  for (int64_t p = 0; p < sum->segments; p++) {
    double c[2][ROWS], sizes[ROWS];
    sum_segment(sum, &sum->source[TSL_OPERAND_C], row, rows, p, scratch.tile, c, sizes);
    for (int i = 0; i < rows; i++) {
      const int64_t at = (row + i) * sum->segments + p;
      checksum_terms terms = {.product = scratch.sums + i * sum->vectors + p * sum->parts,
                              .before = sum->before ? sum->before + at * sum->parts : NULL,
                              .scale = found[i].scale};
      const double bias = get_bias(sum, row + i, p, terms.bias),
                   guaranteed = found[i].guaranteed + sum->relative * bias +
                                (terms.before ? sum->relative * sum->beta1 * sum->sizes[at] : 0);
      const bool is_known =
          isfinite(found[i].scale * terms.product[0]) && isfinite(terms.product[sum->parts - 1]);
      compare_segment(sum, row + i, p, get_difference(sum, (const double[2]){c[0][i], c[1][i]}, &terms),
                      guaranteed + found[i].other, sum->product.rounding * sizes[i],
                      guaranteed > limit || found[i].may_overflow, is_known, &block);
    }
  }
  sum->block[index] = block;
}

static void compare_integer_rows(void *argument, int64_t index, int worker) {
  tsl_checksum *sum = argument;
  const tsl_problem *problem = &sum->problem;
  const int64_t row = index * ROWS;
  const int rows = (int)tsl_min(ROWS, problem->m - row);
  uint32_t c[ROWS] = {0}, y[ROWS] = {0};
  checksum_block block = {0};
  sum_integer_rows(sum, TSL_OPERAND_C, row, rows, sum->whole_weights, worker, c);
  if (sum->multiplies)
    sum_integer_rows(sum, TSL_OPERAND_A, row, rows, sum->whole_vector, worker, y);
  const uint32_t alpha = (uint32_t)(int64_t)problem->alpha[0], beta = (uint32_t)(int64_t)problem->beta[0];
  for (int i = 0; i < rows; i++) {
    const uint32_t off = c[i] - alpha * y[i] - (sum->whole_before ? beta * sum->whole_before[row + i] : 0);
    if (off != 0 && note_wrong(row + i, 0, &block)) {
      block.fault.row = row + i;
      block.fault.off = off;
    }
  }
  sum->block[index] = block;
}

/* --- memory --- */

/* Part of one allocation: the member of tsl_checksum with its address, and its size. */
typedef struct checksum_part {
  size_t member;
  int64_t count;
  size_t size;
} checksum_part;

/* Allocates the parts together, each aligned to a cache line. Parts without elements stay NULL. */
static tesela_status allocate_parts(const checksum_part *parts, int count, tsl_checksum *sum) {
  size_t total = 0, bytes[32];
  bool fits = true;
  for (int i = 0; i < count; i++) {
    fits = fits && tsl_size_mul((size_t)parts[i].count, parts[i].size, &bytes[i]) &&
           tsl_size_add(bytes[i], TSL_CACHE_LINE - 1, &bytes[i]);
    bytes[i] = fits ? bytes[i] / TSL_CACHE_LINE * TSL_CACHE_LINE : 0;
    fits = fits && tsl_size_add(total, bytes[i], &total);
  }
  if (!fits)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "the checksums exceed the address space");
  TSL_TRY(tsl_alloc_zeroed(total, "checksums of a product", &sum->memory));
  unsigned char *next = sum->memory;
  for (int i = 0; i < count; next += bytes[i++])
    if (bytes[i] > 0)
      memcpy((unsigned char *)sum + parts[i].member, &next, sizeof next);
  return TESELA_OK;
}

static tesela_status allocate_all(tsl_checksum *sum) {
  const tsl_problem *problem = &sum->problem;
  const int workers = tsl_team_threads(sum->product.team);
  const bool reads_c = sum->reads_c, is_integer = sum->is_integer, is_in_place = problem->in_place,
             is_scaled = problem->scaling_b != TESELA_NO_SCALE,
             may_overflow = tsl_problem_has_scales(problem) && !tsl_type(problem->a.type)->is_integer;
  sum->scratch_bytes = (size_t)tsl_round_up(
      (int64_t)sizeof(double) * (ROWS * COLS * 2 + ROWS * (sum->vectors + 2)), TSL_CACHE_LINE);
#define PART(member, count)                                                                                  \
  { offsetof(tsl_checksum, member), count, sizeof *sum->member }
  const checksum_part parts[] = {PART(weights, is_integer ? 0 : problem->n * sum->parts * sum->parts),
                                 PART(vector, is_integer ? 0 : sum->vectors * sum->depth),
                                 PART(size, is_integer ? 0 : problem->k),
                                 PART(bound, is_integer ? 0 : sum->depth),
                                 PART(before, is_integer || !reads_c ? 0 : problem->m * sum->vectors),
                                 PART(sizes, is_integer || !reads_c ? 0 : problem->m * sum->segments),
                                 PART(whole_weights, is_integer ? problem->n : 0),
                                 PART(whole_vector, is_integer ? problem->k : 0),
                                 PART(whole_before, is_integer && reads_c ? problem->m : 0),
                                 PART(block, tsl_ceil_div(problem->m, ROWS)),
                                 {offsetof(tsl_checksum, scratch), workers, sum->scratch_bytes},
                                 PART(products, is_in_place ? problem->m * sum->vectors : 0),
                                 PART(bounds, is_in_place ? problem->m : 0),
                                 PART(scale, is_scaled ? problem->n : 0),
                                 PART(raw, may_overflow ? problem->k : 0),
                                 PART(bias, problem->bias_axis != TESELA_NO_BIAS ? 3 * sum->segments : 0)};
#undef PART
  return allocate_parts(parts, sizeof parts / sizeof *parts, sum);
}

/* --- interface --- */

static void set_weights(tsl_checksum *sum) {
  for (int64_t j = 0; j < sum->problem.n; j++) {
    const uint64_t bits = tsl_random_u64(weights_seed, (uint64_t)j);
    if (sum->is_integer)
      sum->whole_weights[j] = (uint32_t)bits | 1;
    for (int part = 0; part < sum->parts && !sum->is_integer; part++)
      sum->weights[(part * sum->problem.n + j) * sum->parts + part] = bits & 1 ? -1 : 1;
  }
}

/* Sets the error of an element relative to its magnitudes: the guarantee, and the roundings of the checksum.
 * A tile's sum has COLS / lanes + 4 roundings; sums of C, of B and of A's tiles follow one another. */
static void set_terms(tsl_checksum *sum) {
  const tsl_problem *problem = &sum->problem;
  const tsl_type_info *c = tsl_type(problem->c.type), *sums = tsl_type(tsl_type(c->component)->sums);
  const double tile = COLS / sum->kernels->lanes + 4, tiles = (double)tsl_ceil_div(sum->segment_cols, COLS),
               roundings = (3 * tile + 2 * tiles + (double)tsl_ceil_div(problem->k, COLS) + 20) * sum->parts,
               k = (double)problem->k * sum->parts;
  sum->relative = (sum->product.relative * (1 + roundings * DBL_EPSILON) +
                   roundings * (DBL_EPSILON / 2) * (1 + sum->product.relative)) *
                  (1 + 0x1p-20);
  sum->alpha1 = fabs(problem->alpha[0]) + fabs(problem->alpha[1]);
  sum->beta1 = fabs(problem->beta[0]) + fabs(problem->beta[1]);
  sum->fixed_term =
      2 * (double)sum->segment_cols * ((fmax(1, sum->alpha1) * k + 2) * 2 * sums->smallest + c->smallest);
}

int64_t tsl_checksum_segment(const tsl_problem *problem) {
  enum { VECTORS = 8, NARROW_VECTORS = 4, COLS_MAX = 1024, NARROW_COLS_MAX = 2048 };
  const int64_t parts = tsl_type(problem->c.type)->is_complex ? 2 : 1;
  const bool is_narrow = tsl_type(problem->a.type)->size <= 2;
  const int64_t vectors = (is_narrow ? NARROW_VECTORS : VECTORS) / parts,
                cols = tsl_round_up(tsl_ceil_div(problem->n, vectors), COLS);
  return tsl_min(tsl_min(cols, is_narrow ? NARROW_COLS_MAX : COLS_MAX), problem->n);
}

static void set_sources(tsl_checksum *sum) {
  for (int i = 0; i < TSL_ALL_OPERANDS; i++)
    sum->source[i] = (tsl_checksum_source){.shape = *tsl_problem_shape(&sum->problem, i),
                                           .base = operand_base(&sum->product, i),
                                           .kernels = sum->kernels};
}

/* Reads B's scales. */
static void set_scales(tsl_checksum *sum) {
  sum->scale_b_max = 1;
  if (!sum->scale || !sum->multiplies)
    return;
  sum->scale_b_max = 0;
  sum->source[TSL_OPERAND_B].scale = sum->scale;
  for (int64_t j = 0; j < sum->problem.n; j++) {
    double value[2];
    get_number(sum, TSL_OPERAND_SCALE_B, 0, j, value);
    sum->scale[j] = value[0];
    if (isfinite(value[0]))
      sum->scale_b_max = fmax(sum->scale_b_max, fabs(value[0]));
  }
}

/* Sums B by segments. */
static void sum_b(tsl_checksum *sum) {
  set_scales(sum);
  if (sum->is_integer && sum->multiplies)
    memset(sum->whole_vector, 0, (size_t)sum->problem.k * sizeof *sum->whole_vector);
  if (sum->multiplies)
    tsl_team_run(sum->product.team, tsl_ceil_div(sum->problem.k, ROWS), sum_b_rows, sum);
  if (!sum->is_integer)
    set_bound_vector(sum);
}

tesela_status tsl_checksum_begin(const tsl_checksum_product *product, tsl_checksum **checksum) {
  const tsl_problem *problem = product->problem;
  const tsl_type_info *type = tsl_type(problem->c.type);
  void *block;
  *checksum = NULL;
  TSL_TRY(tsl_alloc_zeroed(sizeof **checksum, "checksums of a product", &block));
  tsl_checksum *sum = block;
  *sum = (tsl_checksum){.product = *product,
                        .problem = *problem,
                        .kernels = best_checksum_kernels(),
                        .is_integer = type->is_integer,
                        .multiplies = tsl_problem_reads(problem, TSL_OPERAND_A) ||
                                      tsl_problem_reads(problem, TSL_OPERAND_B),
                        .reads_c = tsl_problem_reads(problem, TSL_OPERAND_C) && !problem->in_place,
                        .parts = type->is_complex ? 2 : 1};
  sum->segment_cols = sum->is_integer ? problem->n : tsl_checksum_segment(problem);
  sum->segments = tsl_ceil_div(problem->n, sum->segment_cols);
  sum->vectors = sum->segments * sum->parts;
  sum->depth = problem->k * sum->parts;
  set_terms(sum);
  const tesela_status status = allocate_all(sum);
  if (status != TESELA_OK) {
    tsl_checksum_free(sum);
    return status;
  }
  set_weights(sum);
  set_sources(sum);
  if (sum->reads_c)
    tsl_team_run(product->team, tsl_ceil_div(problem->m, ROWS), save_c_rows, sum);
  if (problem->in_place) {
    sum_b(sum);
    tsl_team_run(product->team, tsl_ceil_div(problem->m, ROWS), save_products, sum);
  }
  *checksum = sum;
  return TESELA_OK;
}

void tsl_checksum_end(tsl_checksum *sum, tsl_checksum_result *result) {
  const tsl_team team = sum->product.team;
  const int64_t blocks = tsl_ceil_div(sum->problem.m, ROWS);
  if (!sum->problem.in_place)
    sum_b(sum);
  sum_bias(sum);
  tsl_team_run(team, blocks, sum->is_integer ? compare_integer_rows : compare_rows, sum);
  *result = (tsl_checksum_result){.segment_cols = sum->segment_cols, .is_complete = true};
  for (int64_t i = 0; i < blocks; i++) {
    const checksum_block *block = &sum->block[i];
    result->unchecked += block->unchecked;
    result->hidden = fmax(result->hidden, block->hidden);
    result->wrong += block->wrong;
    if (block->wrong == 0)
      continue;
    result->is_complete = result->listed_count < TSL_CHECKSUM_LISTED;
    if (!result->is_complete)
      continue;
    result->listed[result->listed_count++] = block->fault;
  }
}

void tsl_checksum_free(tsl_checksum *sum) {
  if (!sum)
    return;
  tsl_free(sum->memory);
  tsl_free(sum);
}

/* Panels of A and B, TSL_NEAR_DEPTH steps deep, as micro-panels of f64; missing lines are zeros.
 *   b: [ step 0: COLUMNS numbers | step 1 | ... ] [ the next columns' ] ...   a: ROWS numbers in each step */
#include "strategy/gemm/emulated/exact/gemm_exact_blocks.h"

#include "host/int_math.h"
#include "strategy/host_jobs/low_precision.h"

#include <math.h>

enum { DEPTH = TSL_NEAR_DEPTH, COUNT_MAX = TSL_NEAR_COLUMNS, LINES = 64, LANES = 8 };

static void gemm_exact_blocks_gather_f64(const double *from, int64_t stride, int count, double *dst) {
  if (stride == 1)
    memcpy(dst, from, (size_t)count * sizeof *dst);
  else
    for (int i = 0; i < count; i++)
      dst[i] = from[i * stride];
}

static void gemm_exact_blocks_gather_f32(const float *from, int64_t stride, int count, double *dst) {
  if (stride == 1) /* a constant stride, which the compiler vectorizes */
    for (int i = 0; i < count; i++)
      dst[i] = (double)from[i];
  else
    for (int i = 0; i < count; i++)
      dst[i] = (double)from[i * stride];
}

/* Converts `count` numbers, at most COUNT_MAX, `stride` elements apart, to f64. */
static void gemm_exact_blocks_gather(tesela_type type, const void *from, int64_t stride, int count,
                                     double *dst) {
  float narrow[COUNT_MAX];
  if (type == TESELA_F64) {
    gemm_exact_blocks_gather_f64(from, stride, count, dst);
  } else if (type == TESELA_F32) {
    gemm_exact_blocks_gather_f32(from, stride, count, dst);
  } else {
    tsl_narrow_gather(type, from, stride, count, narrow);
    gemm_exact_blocks_gather_f32(narrow, 1, count, dst);
  }
}

/* One of the two factors, as lines of k numbers. */
typedef struct factor_lines {
  const tsl_operand *operand;
  tesela_type type;
  int64_t line, step; /* strides in elements */
} factor_lines;

static factor_lines lines_of_factor(const tsl_exact_run *run, bool is_b) {
  const tsl_operand *operand = is_b ? &run->operands->b : &run->operands->a;
  return is_b ? (factor_lines){operand, run->b_type, operand->col_stride, operand->row_stride}
              : (factor_lines){operand, run->a_type, operand->row_stride, operand->col_stride};
}

static const void *gemm_exact_blocks_number_at(const factor_lines *factor, int64_t line, int64_t l) {
  return (const unsigned char *)factor->operand->host +
         (line * factor->line + l * factor->step) * (int64_t)tsl_type(factor->type)->size;
}

static bool steps_along_lines(const factor_lines *factor) {
  return tsl_abs(factor->step) <= tsl_abs(factor->line);
}

/* Returns the value of a number's last set bit; 0 for 0. */
static double last_bit_of(double size) {
  const int64_t bits = tsl_exact_bits_of(size);
  const double rest = tsl_exact_double_of(bits & (bits - 1));
  return (bits & TSL_EXACT_MASK) == 0 ? size : size - rest;
}

static void measure_number(double number, double *largest, double *total, double *grain) {
  const double size = fabs(number), bit = last_bit_of(size);
  *largest = size > *largest ? size : *largest;
  *grain = bit < *grain && bit > 0 ? bit : *grain;
  *total += size;
}

/* Measures a line in LANES parts, which the compiler vectorizes. */
static void measure_along(const factor_lines *factor, int64_t line, int64_t k, double *largest, double *total,
                          double *grain) {
  double numbers[COUNT_MAX], most[LANES] = {0}, sum[LANES] = {0}, least[LANES];
  for (int j = 0; j < LANES; j++)
    least[j] = *grain;
  for (int64_t l = 0; l < k; l += COUNT_MAX) {
    const int count = (int)tsl_min(COUNT_MAX, k - l);
    gemm_exact_blocks_gather(factor->type, gemm_exact_blocks_number_at(factor, line, l), factor->step, count,
                             numbers);
    for (int i = count; i % LANES != 0; i++)
      numbers[i] = 0;
    for (int i = 0; i < count; i += LANES)
      for (int j = 0; j < LANES; j++)
        measure_number(numbers[i + j], &most[j], &sum[j], &least[j]);
  }
  for (int j = 0; j < LANES; j++) {
    *largest = most[j] > *largest ? most[j] : *largest;
    *grain = least[j] < *grain ? least[j] : *grain;
    *total += sum[j];
  }
}

/* Exponent of a line's largest number below which the line is scaled up to this exponent. Products of two
 * scaled lines, and the parts that pairs lose, are normal numbers. */
enum { SCALED_EXPONENT = -400 };

/* Sets *scale; scales a line of tiny numbers up by a power of two, so that products do not underflow. */
static void scale_line(double *largest, double *total, double *grain, double *scale) {
  *scale = 1;
  if (!(*largest > 0 && *largest < ldexp(1, SCALED_EXPONENT)))
    return;
  *scale = ldexp(1, SCALED_EXPONENT - ilogb(*largest));
  *largest *= *scale;
  *total *= *scale;
  *grain *= *scale;
}

static void measure_lines(void *argument, int64_t group, int worker) {
  const tsl_exact_run *run = argument;
  const int64_t of_a = tsl_ceil_div_or_one(run->m, LINES),
                first = (group < of_a ? group : group - of_a) * LINES;
  const factor_lines factor = lines_of_factor(run, group >= of_a);
  const tsl_near_lines *lines = group < of_a ? &run->a : &run->b;
  const int count = (int)tsl_min(LINES, (group < of_a ? run->m : run->n) - first);
  double *const largest = lines->largest + first, *const total = lines->total + first,
                *const grain = lines->grain + first, numbers[LINES];
  (void)worker;
  for (int i = 0; i < count; i++) {
    largest[i] = total[i] = 0;
    grain[i] = (double)INFINITY;
  }
  if (steps_along_lines(&factor))
    for (int i = 0; i < count; i++)
      measure_along(&factor, first + i, run->k, &largest[i], &total[i], &grain[i]);
  else
    for (int64_t l = 0; l < run->k; l++) {
      gemm_exact_blocks_gather(factor.type, gemm_exact_blocks_number_at(&factor, first, l), factor.line,
                               count, numbers);
      for (int i = 0; i < count; i++)
        measure_number(numbers[i], &largest[i], &total[i], &grain[i]);
    }
  for (int i = 0; i < count; i++) {
    largest[i] = isnan(total[i]) ? total[i] : largest[i];
    lines->scale[first + i] = 1;
    if (run->store.type->type == TESELA_F64)
      scale_line(&largest[i], &total[i], &grain[i], &lines->scale[first + i]);
  }
}

size_t tsl_exact_lines_doubles(const tsl_exact_run *run) {
  return 4 * (size_t)(run->m + run->n);
}

void tsl_exact_measure(tsl_exact_run *run, double *memory, tsl_team team) {
  double *const of_b = memory + 4 * run->m;
  run->a = (tsl_near_lines){memory, memory + run->m, memory + 2 * run->m, memory + 3 * run->m};
  run->b = (tsl_near_lines){of_b, of_b + run->n, of_b + 2 * run->n, of_b + 3 * run->n};
  tsl_team_run(team, tsl_ceil_div_or_one(run->m, LINES) + tsl_ceil_div_or_one(run->n, LINES), measure_lines,
               run);
  run->is_scaled = false;
  for (int64_t i = 0; i < run->m; i++)
    run->is_scaled = run->is_scaled || run->a.scale[i] != 1;
  for (int64_t j = 0; j < run->n; j++)
    run->is_scaled = run->is_scaled || run->b.scale[j] != 1;
}

/* Packs `count` lines from `first`, `depth` steps from l, in micro-panels. `scale`: of each line, or NULL. */
static void gemm_exact_blocks_pack(const factor_lines *lines, const double *scale, int64_t first,
                                   int64_t count, int64_t l, int depth, int width, double *dst) {
  double numbers[COUNT_MAX];
  const int64_t whole = tsl_round_up(count, width);
  if (steps_along_lines(lines))
    for (int64_t i = 0; i < count; i++) {
      double *line = dst + i / width * width * depth + i % width;
      const double factor = scale ? scale[i] : 1;
      gemm_exact_blocks_gather(lines->type, gemm_exact_blocks_number_at(lines, first + i, l), lines->step,
                               depth, numbers);
      for (int s = 0; s < depth; s++, line += width)
        *line = numbers[s] * factor;
    }
  else
    for (int s = 0; s < depth; s++) {
      gemm_exact_blocks_gather(lines->type, gemm_exact_blocks_number_at(lines, first, l + s), lines->line,
                               (int)count, numbers);
      for (int64_t i = 0; scale && i < count; i++)
        numbers[i] *= scale[i];
      for (int64_t i = 0; i < count; i += width)
        memcpy(dst + (i * depth + s * width), numbers + i,
               (size_t)tsl_min(width, count - i) * sizeof(double));
    }
  for (int64_t i = count; i < whole; i++)
    for (int s = 0; s < depth; s++)
      dst[i / width * width * depth + s * width + i % width] = 0;
}

typedef struct gemm_exact_blocks_block {
  double *a, *b, *high, *low;
  int64_t row; /* row stride of the sums in numbers */
} gemm_exact_blocks_block;

static int64_t padded_rows(const tsl_exact_run *run) {
  return tsl_round_up(run->height, run->near->rows);
}

static int64_t padded_columns(const tsl_exact_run *run) {
  return tsl_round_up(run->width, run->near->columns);
}

size_t tsl_exact_block_doubles(const tsl_exact_run *run) {
  if (!run->near)
    return 0;
  const int64_t rows = padded_rows(run), columns = padded_columns(run);
  return (size_t)(DEPTH * (rows + columns) + 2 * rows * columns);
}

static gemm_exact_blocks_block gemm_exact_blocks_lay_out(const tsl_exact_run *run, double *memory) {
  const int64_t rows = padded_rows(run), columns = padded_columns(run);
  double *const b = memory + DEPTH * rows, *const high = b + DEPTH * columns;
  return (gemm_exact_blocks_block){memory, b, high, high + rows * columns, columns};
}

static void gemm_exact_blocks_add_products(const tsl_exact_run *run, const gemm_exact_blocks_block *block,
                                           int64_t row, int64_t column, int64_t rows, int64_t columns) {
  const factor_lines a = lines_of_factor(run, false), b = lines_of_factor(run, true);
  const tsl_near_kernels *near = run->near;
  for (int64_t l = 0; l < run->k; l += DEPTH) {
    const int depth = (int)tsl_min(DEPTH, run->k - l);
    gemm_exact_blocks_pack(&a, run->is_scaled ? run->a.scale + row : NULL, row, rows, l, depth, near->rows,
                           block->a);
    gemm_exact_blocks_pack(&b, run->is_scaled ? run->b.scale + column : NULL, column, columns, l, depth,
                           near->columns, block->b);
    for (int64_t j = 0; j < columns; j += near->columns)
      for (int64_t i = 0; i < rows; i += near->rows)
        near->add(depth, block->a + i * depth, block->b + j * depth, block->high + i * block->row + j,
                  block->low + i * block->row + j, block->row);
  }
}

/* Stores the element and returns true if both bounds round to one number of C's type. */
static bool store_if_equal(tesela_type type, const double lower[2], const double upper[2], unsigned char *c) {
  unsigned char lower_bytes[8], upper_bytes[8];
  tsl_type_store(type, lower_bytes, lower);
  tsl_type_store(type, upper_bytes, upper);
  const size_t size = tsl_type(type)->size;
  if (isnan(lower[0]) || memcmp(lower_bytes, upper_bytes, size) != 0)
    return false;
  memcpy(c, lower_bytes, size);
  return true;
}

static bool store_if_equal_f32(double lower, double upper, unsigned char *c) {
  const float lower_f32 = (float)lower, upper_f32 = (float)upper;
  uint32_t bits[2];
  memcpy(&bits[0], &lower_f32, sizeof lower_f32);
  memcpy(&bits[1], &upper_f32, sizeof upper_f32);
  if (bits[0] != bits[1] || isnan(lower))
    return false;
  memcpy(c, &lower_f32, sizeof lower_f32);
  return true;
}

static bool store_if_equal_f64(double lower, double upper, unsigned char *c) {
  if (tsl_exact_bits_of(lower) != tsl_exact_bits_of(upper) || isnan(lower))
    return false;
  memcpy(c, &lower, sizeof lower);
  return true;
}

/* Stores the decided elements of a row, sets undecided[j] to 1 for others, and returns their number. */
static int store_decided_row(const tsl_exact_run *run, const double *lower, const double *upper,
                             unsigned char *c, int count, unsigned char *undecided) {
  const tesela_type type = run->store.type->type;
  const int64_t step = run->operands->c.col_stride * (int64_t)run->store.type->size;
  int open = 0;
  for (int j = 0; j < count; j++, c += step) {
    undecided[j] = type == TESELA_F32   ? !store_if_equal_f32(lower[j], upper[j], c)
                   : type == TESELA_F64 ? !store_if_equal_f64(lower[j], upper[j], c)
                                        : !store_if_equal(type, &(const double[2]){lower[j], 0}[0],
                                                          &(const double[2]){upper[j], 0}[0], c);
    open += undecided[j];
  }
  return open;
}

static void load_row(const tsl_exact_run *run, const unsigned char *c, int count, double *before) {
  const int64_t step = run->operands->c.col_stride * (int64_t)run->store.type->size;
  double value[2];
  for (int j = 0; j < count; j++, c += step) {
    tsl_type_load(run->store.type->type, c, value);
    before[j] = value[0];
  }
}

/* Scales C's numbers like the sums of a row. A number that becomes too large becomes NaN. */
static void scale_before(double row_scale, const double *scale, int count, double *before) {
  for (int j = 0; j < count; j++) {
    const double scaled = before[j] * row_scale * scale[j];
    before[j] = fabs(scaled) < 0x1p1000 || scale[j] * row_scale == 1 ? scaled : (double)NAN;
  }
}

/* Removes the scales from equal bounds of a row, exactly: later subnormal numbers were rounded before. */
static void gemm_exact_blocks_unscale(double row_scale, const double *scale, int count, double *lower,
                                      double *upper) {
  for (int j = 0; j < count; j++)
    if (row_scale * scale[j] != 1 && tsl_exact_bits_of(lower[j]) == tsl_exact_bits_of(upper[j]))
      lower[j] = upper[j] = lower[j] / row_scale / scale[j];
}

bool tsl_exact_decide(const tsl_exact_run *run, int64_t row, int64_t column, int64_t rows, int64_t columns,
                      double *memory, unsigned char *undecided) {
  double before[COUNT_MAX], lower[COUNT_MAX], upper[COUNT_MAX];
  const gemm_exact_blocks_block block = gemm_exact_blocks_lay_out(run, memory);
  tsl_near_row near_row = {
      .count = (int)columns,
      .k = run->k,
      .b = {run->b.largest + column, run->b.total + column, run->b.grain + column, run->b.scale + column},
      .alpha = run->store.alpha,
      .beta = run->store.beta,
      .before = before};
  int64_t open = 0;
  memset(block.high, 0, 2 * (size_t)(padded_rows(run) * padded_columns(run)) * sizeof(double));
  for (int64_t i = 0; i < rows; i++) {
    near_row.largest = run->a.largest[row + i];
    near_row.total = run->a.total[row + i];
    run->near->begin(&near_row, block.high + i * block.row, block.low + i * block.row);
  }
  gemm_exact_blocks_add_products(run, &block, row, column, rows, columns);
  for (int64_t i = 0; i < rows; i++) {
    unsigned char *const c = tsl_exact_element(&run->operands->c, run->store.type->type, row + i, column);
    near_row.largest = run->a.largest[row + i];
    near_row.total = run->a.total[row + i];
    near_row.grain = run->a.grain[row + i];
    near_row.least = run->is_scaled ? 0x1p-1022 * run->a.scale[row + i] : 0;
    near_row.high = block.high + i * block.row;
    near_row.low = block.low + i * block.row;
    if (near_row.beta != 0)
      load_row(run, c, near_row.count, before);
    if (near_row.beta != 0 && run->is_scaled)
      scale_before(run->a.scale[row + i], near_row.b.scale, near_row.count, before);
    run->near->enclose(&near_row, lower, upper);
    if (run->is_scaled)
      gemm_exact_blocks_unscale(run->a.scale[row + i], near_row.b.scale, near_row.count, lower, upper);
    open += store_decided_row(run, lower, upper, c, near_row.count, undecided + i * columns);
  }
  return open != 0;
}

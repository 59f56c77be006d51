#include "plan/data.h"

#include "base/memory.h"
#include "base/pool.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>

static const char *const data_names[TSL_DATA_COUNT] = {
#define TSL_DATA_NAME(name, text, what) [TSL_DATA_##name] = #text,
    TSL_DATA_LIST(TSL_DATA_NAME)
#undef TSL_DATA_NAME
};

/* What is drawn; special values are put over it. */
static const tsl_distribution distributions[TSL_DATA_COUNT] = {
    [TSL_DATA_NORMAL] = TSL_DRAW_NORMAL,
    [TSL_DATA_INTEGER] = TSL_DRAW_INTEGER,
    [TSL_DATA_GRADED] = TSL_DRAW_GRADED,
    [TSL_DATA_SPECIAL] = TSL_DRAW_NORMAL,
};

const char *tsl_data_name(tsl_data data) {
  return (unsigned)data < TSL_DATA_COUNT ? data_names[data] : "?";
}

typedef struct filling {
  tsl_data data;
  uint64_t seed;
  const tsl_shape *shape;
  int64_t inner;
  unsigned char *at;
  unsigned char *rows; /* a dense row for each worker */
} filling;

/* A sixteenth each of zeros, negative zeros and subnormals, and a few that are not finite; complex ones are. */
static void make_special(const filling *job, uint64_t index, unsigned char *element) {
  const tsl_type_info *type = tsl_type(job->shape->type);
  const uint64_t dice = tsl_random_u64(~job->seed, index);
  const double small = type->smallest * (double)(1 + (dice >> 40) % 1000);
  const double rare[] = {INFINITY, -INFINITY, NAN, INFINITY};
  double value[2] = {0, 0};
  if (!type->is_complex && (dice >> 8) % (4 * (uint64_t)job->inner) == 0)
    value[0] = rare[(dice >> 4) % 4];
  else if (dice % 16 == 0)
    value[0] = 0;
  else if (dice % 16 == 1)
    value[0] = -0.0;
  else if (dice % 16 == 2)
    value[0] = dice & 1024 ? small : -small;
  else
    return;
  tsl_type_store(type->type, element, value);
}

/* Integers that are not asked to be small: every value alike, so that sums wrap and signs meet. */
static void fill_bits(const filling *job, uint64_t first, unsigned char *dense, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    dense[i] = (unsigned char)(tsl_random_u64(job->seed, first * bytes + i) >> 40);
}

static void fill_row(void *argument, int64_t row, int worker) {
  const filling *job = argument;
  const tsl_shape *shape = job->shape;
  const size_t size = tsl_type(shape->type)->size, cols = (size_t)shape->cols;
  unsigned char *dense = job->rows + (size_t)worker * cols * size;
  const uint64_t first = (uint64_t)row * cols;
  const bool any_bits = tsl_type(shape->type)->is_integer && distributions[job->data] == TSL_DRAW_NORMAL;
  if (any_bits)
    fill_bits(job, (uint64_t)row, dense, cols * size);
  else
    tsl_random_fill(distributions[job->data], job->seed, first, shape->type, dense, cols);
  for (size_t j = 0; job->data == TSL_DATA_SPECIAL && j < cols; j++)
    make_special(job, first + j, dense + j * size);
  tsl_type_convert(shape->type, dense, 1, shape->type, job->at + row * shape->row_stride * (int64_t)size,
                   shape->col_stride, cols);
}

/* Rows that share bytes (operands may repeat their elements) are filled in order, the last one wins. */
static bool rows_are_apart(const tsl_shape *shape) {
  return llabs(shape->row_stride) > (shape->cols - 1) * llabs(shape->col_stride);
}

tesela_status tsl_data_fill(tsl_data data, uint64_t seed, const tsl_shape *shape, int64_t inner, void *at) {
  tsl_pool *pool = tsl_pool_shared();
  const bool parallel = rows_are_apart(shape);
  void *rows;
  if (shape->rows == 0 || shape->cols == 0)
    return TESELA_OK;
  TSL_TRY(tsl_alloc((size_t)(parallel ? tsl_pool_threads(pool) : 1) * (size_t)shape->cols *
                        tsl_type(shape->type)->size,
                    "a row of data", &rows));
  filling job = {
      .data = data, .seed = seed, .shape = shape, .inner = inner > 0 ? inner : 1, .at = at, .rows = rows};
  if (parallel)
    tsl_pool_run(pool, shape->rows, fill_row, &job);
  for (int64_t row = 0; !parallel && row < shape->rows; row++)
    fill_row(&job, row, 0);
  tsl_free(rows);
  return TESELA_OK;
}

void tsl_data_fill_value(double value, const tsl_shape *shape, void *at) {
  const double pair[2] = {value, value};
  const int64_t size = (int64_t)tsl_type(shape->type)->size;
  for (int64_t i = 0; i < shape->rows; i++)
    for (int64_t j = 0; j < shape->cols; j++)
      tsl_type_store(shape->type,
                     (unsigned char *)at + (i * shape->row_stride + j * shape->col_stride) * size, pair);
}

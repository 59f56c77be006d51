#include "judge/data.h"

#include "core/memory.h"
#include "core/pool.h"
#include "core/status.h"
#include "problem/structure.h"

#include <math.h>
#include <stdlib.h>

static const struct {
  const char *name;
  tsl_distribution distribution; /* special values are added later */
} kinds[TSL_DATA_COUNT] = {
    [TSL_DATA_NORMAL] = {"normal", TSL_DRAW_NORMAL},
    [TSL_DATA_INTEGER] = {"integer", TSL_DRAW_INTEGER},
    [TSL_DATA_GRADED] = {"graded", TSL_DRAW_GRADED},
    [TSL_DATA_SPECIAL] = {"special", TSL_DRAW_NORMAL},
};

const char *tsl_data_name(tsl_data data) {
  return (unsigned)data < TSL_DATA_COUNT ? kinds[data].name : "?";
}

/* Approximate maximum of elements of a task: an even number. */
enum { BLOCK_MAX = 1 << 14 };

typedef struct fill_job {
  tsl_data data;
  uint64_t seed;
  tsl_shape shape;
  int64_t inner; /* terms of a sum, which special values are spread over */
  unsigned char *origin;
  unsigned char *dense; /* buffer for a block of a row for each worker */
  int64_t block_cols,   /* elements of a block, which is a part of a row */
      row_blocks,       /* blocks of a row */
      rows_per_task;    /* 1 where a row has several blocks */
} fill_job;

/* Replaces an element, by its index: one in 16 by each of zero, negative zero and a subnormal, rarely by a
 * non-finite value. Changes one part of a complex number, sometimes both. */
static void replace_by_special_value(const fill_job *job, uint64_t index, unsigned char *element) {
  const tsl_type_info *type = tsl_type(job->shape.type);
  const uint64_t dice = tsl_random_u64(~job->seed, index);
  const double small = type->smallest * (double)(1 + (dice >> 40) % 1000);
  const double rare[] = {INFINITY, -INFINITY, NAN, INFINITY};
  const int part = type->is_complex ? dice >> 60 & 1 : 0;
  double value[2];
  tsl_type_load(type->type, element, value);
  if ((dice >> 8) % (4 * (uint64_t)job->inner) == 0)
    value[part] = rare[(dice >> 4) % 4];
  else if (dice % 16 == 0)
    value[part] = 0;
  else if (dice % 16 == 1)
    value[part] = -0.0;
  else if (dice % 16 == 2)
    value[part] = dice & 1024 ? small : -small;
  else
    return;
  if (type->is_complex && (dice >> 61) % 4 == 0)
    value[1 - part] = value[part];
  tsl_type_store(type->type, element, value);
}

static void fill_random_bits(const fill_job *job, uint64_t first, unsigned char *dense, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    dense[i] = (unsigned char)(tsl_random_u64(job->seed, first + i) >> 40);
}

static void fill_row_block(const fill_job *job, int64_t row, int64_t col, int worker) {
  const tsl_shape *shape = &job->shape;
  const size_t size = tsl_type(shape->type)->size;
  const size_t count = (size_t)(shape->cols - col < job->block_cols ? shape->cols - col : job->block_cols);
  unsigned char *dense = job->dense + (size_t)worker * (size_t)job->block_cols * size;
  const uint64_t first = (uint64_t)row * (uint64_t)shape->cols + (uint64_t)col;
  const bool any_bits = tsl_type(shape->type)->is_integer && kinds[job->data].distribution == TSL_DRAW_NORMAL;
  if (any_bits)
    fill_random_bits(job, first * size, dense, count * size);
  else
    tsl_random_fill(kinds[job->data].distribution, job->seed, first, shape->type, dense, count);
  for (size_t j = 0; job->data == TSL_DATA_SPECIAL && j < count; j++)
    replace_by_special_value(job, first + j, dense + j * size);
  tsl_type_convert(shape->type, dense, 1, shape->type, job->origin + tsl_shape_offset(shape, row, col),
                   shape->col_stride, count);
}

static void fill_rows_task(void *argument, int64_t index, int worker) {
  const fill_job *job = argument;
  const int64_t first = index / job->row_blocks * job->rows_per_task, left = job->shape.rows - first;
  for (int64_t row = 0; row < left && row < job->rows_per_task; row++)
    fill_row_block(job, first + row, index % job->row_blocks * job->block_cols, worker);
}

/* Returns false if blocks share bytes (operands may repeat elements) and must be filled in order. */
static bool has_disjoint_rows(const tsl_shape *shape) {
  const bool rows =
      shape->rows == 1 || llabs(shape->row_stride) > (shape->cols - 1) * llabs(shape->col_stride);
  return rows && (shape->cols == 1 || shape->col_stride != 0);
}

/* Returns a column as a row; the numbers of its elements, and so their values, are unchanged. */
static tsl_shape turn_column_into_row(const tsl_shape *shape) {
  tsl_shape row = *shape;
  if (shape->cols != 1)
    return row;
  row.rows = 1;
  row.cols = shape->rows;
  row.row_stride = shape->col_stride;
  row.col_stride = shape->row_stride;
  return row;
}

tesela_status tsl_data_fill(tsl_data data, uint64_t seed, const tsl_shape *shape, int64_t inner,
                            void *address) {
  tsl_pool *pool = tsl_pool_shared();
  fill_job job = {.data = data,
                  .seed = seed,
                  .shape = turn_column_into_row(shape),
                  .inner = inner > 0 ? inner : 1,
                  .origin = address};
  const bool parallel = has_disjoint_rows(&job.shape);
  void *dense;
  if (shape->rows == 0 || shape->cols == 0)
    return TESELA_OK;
  job.block_cols = job.shape.cols < BLOCK_MAX ? job.shape.cols : BLOCK_MAX;
  job.row_blocks = (job.shape.cols - 1) / job.block_cols + 1;
  job.rows_per_task = job.row_blocks > 1 ? 1 : (BLOCK_MAX - 1) / job.shape.cols + 1;
  TSL_TRY(tsl_alloc((size_t)(parallel ? tsl_pool_threads(pool) : 1) * (size_t)job.block_cols *
                        tsl_type(shape->type)->size,
                    "pieces of data", &dense));
  job.dense = dense;
  const int64_t tasks = ((job.shape.rows - 1) / job.rows_per_task + 1) * job.row_blocks;
  if (parallel)
    tsl_pool_run(pool, tasks, fill_rows_task, &job);
  for (int64_t task = 0; !parallel && task < tasks; task++)
    fill_rows_task(&job, task, 0);
  tsl_free(dense);
  return TESELA_OK;
}

void tsl_data_fill_value(double value, const tsl_shape *shape, void *data) {
  const double pair[2] = {value, value};
  for (int64_t i = 0; i < shape->rows; i++)
    for (int64_t j = 0; j < shape->cols; j++)
      tsl_type_store(shape->type, (unsigned char *)data + tsl_shape_offset(shape, i, j), pair);
}

void tsl_data_fill_unread(double value, const tsl_shape *shape, void *data) {
  const bool is_real = tsl_is_hermitian(shape->structure);
  for (int64_t i = 0; i < shape->rows; i++)
    for (int64_t j = 0; j < shape->cols; j++) {
      void *element = (unsigned char *)data + tsl_shape_offset(shape, i, j);
      double pair[2] = {value, value};
      if (is_real && i == j)
        tsl_type_load(shape->type, element, pair);
      pair[1] = value;
      if (!tsl_shape_stores(shape, i, j) || (is_real && i == j))
        tsl_type_store(shape->type, element, pair);
    }
}

#include "problem/sharding.h"

#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"

#include <string.h>

bool tsl_rect_intersect(const tsl_rect *a, const tsl_rect *b, tsl_rect *common) {
  const int64_t row = tsl_max(a->row, b->row), row_end = tsl_min(a->row + a->rows, b->row + b->rows),
                col = tsl_max(a->col, b->col), col_end = tsl_min(a->col + a->cols, b->col + b->cols);
  *common = (tsl_rect){row, row_end - row, col, col_end - col};
  return row_end > row && col_end > col;
}

bool tsl_rect_contains(const tsl_rect *outer, const tsl_rect *inner) {
  return inner->row >= outer->row && inner->col >= outer->col &&
         inner->row + inner->rows <= outer->row + outer->rows &&
         inner->col + inner->cols <= outer->col + outer->cols;
}

tesela_status tsl_sharding_create(const int counts[TSL_OPERANDS], tsl_sharding **sharding) {
  size_t count = 0;
  void *block;
  *sharding = NULL;
  for (int i = 0; i < TSL_OPERANDS; i++)
    count += (size_t)counts[i];
  TSL_TRY(tsl_alloc_zeroed(sizeof **sharding + count * sizeof(tsl_shard), "where operands lie", &block));
  *sharding = block;
  tsl_shard *next = (tsl_shard *)(*sharding + 1);
  for (int i = 0; i < TSL_OPERANDS; i++) {
    (*sharding)->counts[i] = counts[i];
    (*sharding)->holds[i] = next;
    next += counts[i];
  }
  return TESELA_OK;
}

tesela_status tsl_sharding_copy(const tsl_sharding *sharding, tsl_sharding **copy) {
  *copy = NULL;
  if (!sharding)
    return TESELA_OK;
  TSL_TRY(tsl_sharding_create(sharding->counts, copy));
  for (int i = 0; i < TSL_OPERANDS; i++)
    for (int p = 0; p < sharding->counts[i]; p++)
      (*copy)->holds[i][p] = sharding->holds[i][p];
  return TESELA_OK;
}

tesela_status tsl_sharding_even(const tsl_problem *problem, int members, tsl_sharding **sharding) {
  int counts[TSL_OPERANDS];
  for (int i = 0; i < TSL_OPERANDS; i++)
    counts[i] = i == TSL_OPERAND_C || tsl_problem_reads(problem, i) ? members : 0;
  TSL_TRY(tsl_sharding_create(counts, sharding));
  for (int operand = 0; operand < TSL_OPERANDS; operand++) {
    const tsl_shape *shape = tsl_problem_shape(problem, operand);
    tsl_shard *hold = (*sharding)->holds[operand];
    for (int i = 0; i < counts[operand]; i++, hold++) {
      const int64_t lines = operand == TSL_OPERAND_B ? shape->cols : shape->rows, first = lines * i / members,
                    count = lines * (i + 1) / members - first;
      hold->member = i;
      hold->at = operand == TSL_OPERAND_B ? (tsl_rect){0, shape->rows, first, count}
                                          : (tsl_rect){first, count, 0, shape->cols};
      hold->row_stride = shape->col_stride == 1 ? tsl_max(hold->at.cols, 1) : 1;
      hold->col_stride = shape->col_stride == 1 ? 1 : tsl_max(hold->at.rows, 1);
    }
  }
  return TESELA_OK;
}

static bool is_same_shard(const tsl_shard *a, const tsl_shard *b) {
  return a->at.row == b->at.row && a->at.rows == b->at.rows && a->at.col == b->at.col &&
         a->at.cols == b->at.cols && a->member == b->member && a->row_stride == b->row_stride &&
         a->col_stride == b->col_stride;
}

bool tsl_sharding_same(const tsl_sharding *a, const tsl_sharding *b) {
  if (!a || !b)
    return a == b;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    if (a->counts[i] != b->counts[i])
      return false;
    for (int p = 0; p < a->counts[i]; p++)
      if (!is_same_shard(&a->holds[i][p], &b->holds[i][p]))
        return false;
  }
  return true;
}

static bool has_contiguous_rows(const tsl_shard *shard) {
  return shard->col_stride == 1 && (shard->row_stride >= shard->at.cols || shard->at.rows == 1);
}
static bool has_contiguous_cols(const tsl_shard *shard) {
  return shard->row_stride == 1 && (shard->col_stride >= shard->at.rows || shard->at.cols == 1);
}

bool tsl_sharding_by_rows(const tsl_sharding *sharding, int operand) {
  for (int i = 0; i < sharding->counts[operand]; i++)
    if (!has_contiguous_rows(&sharding->holds[operand][i]))
      return false;
  return true;
}

/* Checks that all shards of an operand have contiguous rows, or all contiguous columns. */
static tesela_status check_equal_direction(const tsl_sharding *sharding, int operand, const char *name) {
  bool cols = true;
  for (int i = 0; i < sharding->counts[operand]; i++) {
    const tsl_shard *shard = &sharding->holds[operand][i];
    if (!has_contiguous_rows(shard) && !has_contiguous_cols(shard))
      return tsl_fail(TESELA_BAD_CALL,
                      "%s: piece %d, %lld x %lld, has strides %lld and %lld: one must be 1, the other at "
                      "least the length of a line",
                      name, i, (long long)shard->at.rows, (long long)shard->at.cols,
                      (long long)shard->row_stride, (long long)shard->col_stride);
    cols &= has_contiguous_cols(shard);
  }
  if (!cols && !tsl_sharding_by_rows(sharding, operand))
    return tsl_fail(TESELA_BAD_CALL,
                    "%s: some pieces are contiguous by rows and others by columns: all must be alike", name);
  return TESELA_OK;
}

static tesela_status check_shards_inside(const tsl_sharding *sharding, int operand, const tsl_shape *shape,
                                         const char *name) {
  for (int i = 0; i < sharding->counts[operand]; i++) {
    const tsl_rect *at = &sharding->holds[operand][i].at;
    if (at->row < 0 || at->col < 0 || at->rows < 0 || at->cols < 0 || at->row > shape->rows ||
        at->col > shape->cols || at->rows > shape->rows - at->row || at->cols > shape->cols - at->col)
      return tsl_fail(TESELA_BAD_CALL,
                      "%s: piece %d, %lld x %lld from (%lld, %lld) on, is not inside of %lld x %lld", name, i,
                      (long long)at->rows, (long long)at->cols, (long long)at->row, (long long)at->col,
                      (long long)shape->rows, (long long)shape->cols);
  }
  return TESELA_OK;
}

tesela_status tsl_sharding_check(const tsl_sharding *sharding, int operand, const tsl_shape *shape,
                                 const char *name) {
  const tsl_shard *holds = sharding->holds[operand];
  const int count = sharding->counts[operand];
  int64_t elements = 0;
  tsl_rect common;
  TSL_TRY(check_shards_inside(sharding, operand, shape, name));
  TSL_TRY(check_equal_direction(sharding, operand, name));
  for (int i = 0; i < count; i++) {
    elements += holds[i].at.rows * holds[i].at.cols;
    for (int other = 0; other < i; other++)
      if (tsl_rect_intersect(&holds[i].at, &holds[other].at, &common))
        return tsl_fail(TESELA_BAD_CALL, "%s: pieces %d and %d both have element (%lld, %lld)", name, other,
                        i, (long long)common.row, (long long)common.col);
  }
  if (elements != shape->rows * shape->cols)
    return tsl_fail(TESELA_BAD_CALL, "%s: its %d pieces have %lld elements instead of %lld x %lld = %lld",
                    name, count, (long long)elements, (long long)shape->rows, (long long)shape->cols,
                    (long long)(shape->rows * shape->cols));
  return TESELA_OK;
}

int tsl_sharding_find_containing(const tsl_sharding *sharding, int operand, const tsl_rect *rect,
                                 int member) {
  for (int i = 0; i < sharding->counts[operand]; i++)
    if (sharding->holds[operand][i].member == member &&
        tsl_rect_contains(&sharding->holds[operand][i].at, rect))
      return i;
  return -1;
}

int64_t tsl_sharding_elements(const tsl_sharding *sharding, int operand, const tsl_rect *rect, int member) {
  int64_t elements = 0;
  tsl_rect common;
  for (int i = 0; i < sharding->counts[operand]; i++)
    if (sharding->holds[operand][i].member == member &&
        tsl_rect_intersect(&sharding->holds[operand][i].at, rect, &common))
      elements += common.rows * common.cols;
  return elements;
}

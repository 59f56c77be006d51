/* Data for cases is a function of seed and place: whatever the shape, and however the threads share it. */
#include "unit/unit.h"

#include "core/random.h"
#include "judge/data.h"

#include <stdlib.h>

enum { SEED = 77 };

/* Checks that each element has the value of its index, and that gaps are unchanged. */
static void expect_values(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride) {
  const tsl_shape shape = {
      .type = TESELA_F64, .rows = rows, .cols = cols, .row_stride = row_stride, .col_stride = col_stride};
  const int64_t extent = tsl_shape_extent(&shape), below = tsl_shape_below(&shape);
  double *memory = malloc((size_t)extent * sizeof *memory);
  int64_t untouched = 0;
  assert_non_null(memory);
  for (int64_t i = 0; i < extent; i++)
    memory[i] = 1000;
  assert_int_equal(tsl_data_fill(TSL_DATA_NORMAL, SEED, &shape, 1, memory + below), TESELA_OK);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) {
      const double right = tsl_random_value(TSL_DRAW_NORMAL, SEED, (uint64_t)(i * cols + j));
      if (memory[below + i * row_stride + j * col_stride] != right)
        fail_msg("element (%lld, %lld) of %lld x %lld is another", (long long)i, (long long)j,
                 (long long)rows, (long long)cols);
    }
  for (int64_t i = 0; i < extent; i++)
    untouched += memory[i] == 1000;
  assert_int_equal(untouched, extent - rows * cols);
  free(memory);
}

static void every_shape(void **state) {
  (void)state;
  expect_values(1, 1, 1, 1);
  expect_values(1, 40001, 40001, 1);
  expect_values(1, 40001, 7, 2);
  expect_values(40001, 1, 1, 1);
  expect_values(40001, 1, 3, 9);
  expect_values(40001, 1, -2, 1);
  expect_values(3, 20001, 20005, 1);
  expect_values(20001, 3, 5, 1);
  expect_values(300, 90, 1, 301);
}

/* Elements that lie over each other: the last one stays. */
static void repeated(void **state) {
  (void)state;
  const tsl_shape row = {.type = TESELA_F64, .rows = 1, .cols = 40001, .row_stride = 1},
                  rows = {.type = TESELA_F64, .rows = 40001, .cols = 3, .col_stride = 1};
  double last[3];
  assert_int_equal(tsl_data_fill(TSL_DATA_NORMAL, SEED, &row, 1, last), TESELA_OK);
  assert_true(last[0] == tsl_random_value(TSL_DRAW_NORMAL, SEED, 40000));
  assert_int_equal(tsl_data_fill(TSL_DATA_NORMAL, SEED, &rows, 1, last), TESELA_OK);
  for (uint64_t j = 0; j < 3; j++)
    assert_true(last[j] == tsl_random_value(TSL_DRAW_NORMAL, SEED, 3 * 40000 + j));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape), cmocka_unit_test(repeated)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

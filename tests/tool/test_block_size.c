/* Sizes of blocks for files larger than memory. The chosen size fits, is a multiple of the steps, and reads
 * nearly as little as the best order of work. */

#include "unit/unit.h"

#include <math.h>

#include "product/block_size.h"

static tsl_block_wish wish_of(int64_t m, int64_t n, int64_t k, int64_t bytes, uint64_t memory) {
  return (tsl_block_wish){.m = m,
                          .n = n,
                          .k = k,
                          .step = 256,
                          .a_bytes = bytes,
                          .b_bytes = bytes,
                          .c_bytes = bytes,
                          .a_along_k = true,
                          .memory = memory,
                          .most_elements = 1e18};
}

/* Two blocks of C, and two pieces of A and B each. */
static double memory_of(const tsl_block_wish *wish, const tsl_block_size *size) {
  const double rows = (double)size->rows, cols = (double)size->cols, depth = (double)size->depth;
  return rows * cols * (double)(2 * wish->c_bytes + wish->c_beside) +
         2 * depth * (rows * (double)wish->a_bytes + cols * (double)wish->b_bytes);
}

static void holds(const tsl_block_wish *wish, const tsl_block_size *size) {
  assert_true(size->rows > 0 && size->rows <= wish->m && size->cols > 0 && size->cols <= wish->n);
  assert_true(size->depth > 0 && size->depth <= wish->k);
  assert_true(size->depth == wish->k || size->depth % wish->step == 0);
  assert_true(size->memory <= wish->memory);
  assert_true(fabs((double)size->memory - memory_of(wish, size)) < 1);
}

static void test_fits(void **state) {
  (void)state;
  static const int64_t sizes[][3] = {
      {20000, 20000, 20000}, {100, 90000, 77}, {9000, 33, 400000}, {64, 64, 3000000}, {1, 1, 5}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (uint64_t memory = (uint64_t)1 << 20; memory < (uint64_t)64 << 30; memory *= 4) {
      const tsl_block_wish wish = wish_of(sizes[s][0], sizes[s][1], sizes[s][2], 8, memory);
      tsl_block_size size;
      assert_true(tsl_block_choose(&wish, &size));
      holds(&wish, &size);
    }
}

/* 2 m n k / sqrt(S) numbers are the least that can be read with S numbers of memory, a half of which goes to
 * C. */
static void test_reads_little(void **state) {
  (void)state;
  const int64_t n = 40000;
  double before = INFINITY;
  for (uint64_t memory = (uint64_t)256 << 20; memory <= (uint64_t)16 << 30; memory *= 4) {
    const tsl_block_wish wish = wish_of(n, n, n, 8, memory);
    tsl_block_size size;
    assert_true(tsl_block_choose(&wish, &size));
    const double cube = (double)n * (double)n * (double)n, words = (double)memory / 8;
    const double least = fmax(2 * cube / sqrt(words), 2 * (double)n * (double)n);
    print_message("%.0f MiB: blocks of %lld x %lld, k by %lld, %.2f of the least\n", (double)memory / 1048576,
                  (long long)size.rows, (long long)size.cols, (long long)size.depth, size.read / least);
    assert_true(size.read < 2.5 * least);
    assert_true(size.read <= before);
    before = size.read;
  }
}

/* All of it fits: one block, each file read once. */
static void test_whole(void **state) {
  (void)state;
  const tsl_block_wish wish = wish_of(300, 200, 100, 4, 1 << 20);
  tsl_block_size size;
  assert_true(tsl_block_choose(&wish, &size));
  assert_int_equal(size.rows, 300);
  assert_int_equal(size.cols, 200);
  assert_int_equal(size.depth, 100);
  assert_true(size.read == 300.0 * 100 + 100.0 * 200);
}

/* k that may not be cut is there whole, or nothing fits. */
static void test_uncut(void **state) {
  (void)state;
  tsl_block_wish wish = wish_of(5000, 5000, 100000, 8, (uint64_t)64 << 20);
  tsl_block_size size;
  wish.step = 0;
  assert_true(tsl_block_choose(&wish, &size));
  assert_int_equal(size.depth, 100000);
  assert_true(size.memory <= wish.memory);
  wish.memory = 3 << 20; /* a row and a column of 100000, twice each, are more */
  assert_false(tsl_block_choose(&wish, &size));
  wish.step = 256;
  assert_true(tsl_block_choose(&wish, &size));
  holds(&wish, &size);
}

static void test_limits(void **state) {
  (void)state;
  tsl_block_wish wish = wish_of(8000, 8000, 8000, 8, (uint64_t)1 << 30);
  tsl_block_size size;
  wish.most_elements = 1e6;
  assert_true(tsl_block_choose(&wish, &size));
  assert_true((double)size.rows * (double)size.cols <= 1e6);
  /* Memory kept in addition to C's blocks counts. */
  wish = wish_of(8000, 8000, 8000, 8, (uint64_t)256 << 20);
  wish.c_beside = 24;
  assert_true(tsl_block_choose(&wish, &size));
  holds(&wish, &size);
  /* Sizes that are given, and too large. */
  size = (tsl_block_size){.rows = 8000, .cols = 8000};
  assert_false(tsl_block_fit(&wish, &size));
  size = (tsl_block_size){.rows = 500, .cols = 600};
  assert_true(tsl_block_fit(&wish, &size));
  holds(&wish, &size);
}

/* A piece of A for each block, no k; each element is read once. */
static void test_transpose(void **state) {
  (void)state;
  tsl_block_wish wish = wish_of(30000, 20000, 0, 4, (uint64_t)32 << 20);
  tsl_block_size size;
  wish.b_bytes = 0;
  assert_true(tsl_block_choose(&wish, &size));
  assert_int_equal(size.depth, 0);
  assert_true(size.read == 30000.0 * 20000);
  assert_true((double)size.rows * (double)size.cols * 16 <= (double)wish.memory);
  assert_true(size.memory <= wish.memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fits),   cmocka_unit_test(test_reads_little),
                                     cmocka_unit_test(test_whole),  cmocka_unit_test(test_uncut),
                                     cmocka_unit_test(test_limits), cmocka_unit_test(test_transpose)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

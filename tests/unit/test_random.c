#include "core/kinds.h"

#include "unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 200000 };

static double *draw(tsl_distribution distribution, uint64_t seed, size_t count) {
  double *const values = malloc(count * sizeof *values);
  assert_non_null(values);
  tsl_random_fill(distribution, seed, 0, TESELA_F64, values, count);
  return values;
}

/* Checks that mean and mean square are within five standard errors of their expected values. Seeds are
 * fixed, and results equal in each run. `fourth` is the distribution's fourth moment. */
static void check_moments(tsl_distribution distribution, double square, double fourth) {
  for (uint64_t seed = 0; seed < 4; seed++) {
    double *const values = draw(distribution, seed, COUNT);
    double sum = 0, squares = 0, neighbours = 0;
    for (int i = 0; i < COUNT; i++) {
      sum += values[i];
      squares += values[i] * values[i];
      neighbours += i > 0 ? values[i] * values[i - 1] : 0;
    }
    const double root = sqrt(COUNT);
    assert_true(fabs(sum / COUNT) < 5 * sqrt(square) / root);
    assert_true(fabs(squares / COUNT - square) < 5 * sqrt(fourth - square * square) / root);
    assert_true(fabs(neighbours / COUNT) < 5 * square / root);
    free(values);
  }
}

static void test_uniform(void **state) {
  (void)state;
  check_moments(TSL_DRAW_UNIFORM, 1.0 / 3, 1.0 / 5);
  double *const values = draw(TSL_DRAW_UNIFORM, 5, COUNT);
  int bins[64] = {0};
  for (int i = 0; i < COUNT; i++) {
    assert_true(values[i] > -1 && values[i] < 1 && values[i] != 0);
    bins[(int)((values[i] + 1) * 32)]++;
  }
  for (int i = 0; i < 64; i++)
    assert_true(fabs(bins[i] - COUNT / 64.0) < 5 * sqrt(COUNT / 64.0));
  free(values);
}

static void test_normal(void **state) {
  (void)state;
  check_moments(TSL_DRAW_NORMAL, 1, 3);
  double *const values = draw(TSL_DRAW_NORMAL, 6, COUNT);
  /* How many lie within 1, 2, 3 and 4: erf(x / sqrt 2). Both halves of the pairs apart. */
  for (int half = 0; half < 2; half++)
    for (int limit = 1; limit <= 4; limit++) {
      int outside = 0;
      for (int i = half; i < COUNT; i += 2)
        outside += fabs(values[i]) > limit;
      const double share = erfc(limit / sqrt(2)), expected = share * COUNT / 2;
      assert_true(fabs(outside - expected) < 5 * sqrt(expected * (1 - share)) + 1);
    }
  /* The two halves of a pair are independent: neither they nor their squares go together. */
  double product = 0, squares = 0;
  int quarters[4] = {0};
  for (int i = 0; i < COUNT; i += 2) {
    product += values[i] * values[i + 1];
    squares += (values[i] * values[i] - 1) * (values[i + 1] * values[i + 1] - 1);
    quarters[(values[i] < 0) + 2 * (values[i + 1] < 0)]++;
  }
  assert_true(fabs(product) < 5 * sqrt(COUNT / 2.0));
  assert_true(fabs(squares) < 5 * 2 * sqrt(COUNT / 2.0));
  for (int i = 0; i < 4; i++)
    assert_true(fabs(quarters[i] - COUNT / 8.0) < 5 * sqrt(COUNT / 8.0));
  free(values);
}

/* Box and Muller's formula with the mathematical library, up to a rotation by quarters of the circle: squared
 * distance and direction. */
static void test_normal_against_libm(void **state) {
  (void)state;
  for (uint64_t pair = 0; pair < 20000; pair++) {
    const double x = tsl_random_value(TSL_DRAW_NORMAL, 9, 2 * pair);
    const double y = tsl_random_value(TSL_DRAW_NORMAL, 9, 2 * pair + 1);
    const uint64_t length_bits = tsl_random_u64(9, 2 * pair), angle_bits = tsl_random_u64(9, 2 * pair + 1);
    const double squared = -2 * log((double)(length_bits >> 11 | 1) * 0x1p-53);
    assert_true(fabs(x * x + y * y - squared) <= 4e-15 * squared);
    /* The quarter's middle is on an axis; the direction off it is the other 62 bits. */
    const double off = (double)((int64_t)(angle_bits << 2) >> 11) * 0x1p-52 * atan(1);
    const int quarter = (int)(angle_bits >> 62);
    const double length = sqrt(squared);
    const double along = quarter & 1 ? y : x, across = quarter & 1 ? x : y;
    assert_true(fabs(fabs(along) - cos(off) * length) <= 4e-15 * length);
    assert_true(fabs(fabs(across) - fabs(sin(off)) * length) <= 4e-15 * length);
  }
}

static void test_integer(void **state) {
  (void)state;
  check_moments(TSL_DRAW_INTEGER, 24, 24 * (3 * 72 - 1) / 5.0);
  double *const values = draw(TSL_DRAW_INTEGER, 7, COUNT);
  int counts[17] = {0};
  for (int i = 0; i < COUNT; i++) {
    assert_true(values[i] == rint(values[i]) && fabs(values[i]) <= 8);
    counts[(int)values[i] + 8]++;
  }
  for (int i = 0; i < 17; i++)
    assert_true(fabs(counts[i] - COUNT / 17.0) < 5 * sqrt(COUNT / 17.0));
  free(values);
}

/* Divided by the normal number that it is made from, a graded one is a power of two. */
static void test_graded(void **state) {
  (void)state;
  double *const graded = draw(TSL_DRAW_GRADED, 8, COUNT), *const normal = draw(TSL_DRAW_NORMAL, 8, COUNT);
  int counts[25] = {0};
  for (int i = 0; i < COUNT; i++) {
    int exponent;
    assert_true(frexp(graded[i] / normal[i], &exponent) == 0.5);
    assert_true(abs(exponent - 1) <= 12);
    counts[exponent - 1 + 12]++;
  }
  for (int i = 0; i < 25; i++)
    assert_true(fabs(counts[i] - COUNT / 25.0) < 5 * sqrt(COUNT / 25.0));
  free(graded);
  free(normal);
}

/* A range cut anywhere gives the same elements, of every type, at any alignment of pairs and blocks. */
static void test_cuts(void **state) {
  (void)state;
  enum { ALL = 1500 };
  static const size_t cuts[] = {1, 2, 3, 255, 256, 511, 512, 513, 1023, 1024, 1025, 1499};
  for (int d = 0; d < TSL_DRAW_COUNT; d++)
    for (int t = 0; tsl_type_at(t); t++) {
      const tsl_type_info *const info = tsl_type_at(t);
      char whole[ALL * 16], parts[ALL * 16];
      tsl_random_fill((tsl_distribution)d, 42, 1000001, info->type, whole, ALL);
      for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
        memset(parts, 0, sizeof parts);
        tsl_random_fill((tsl_distribution)d, 42, 1000001, info->type, parts, cuts[c]);
        tsl_random_fill((tsl_distribution)d, 42, 1000001 + cuts[c], info->type, parts + cuts[c] * info->size,
                        ALL - cuts[c]);
        assert_memory_equal(parts, whole, ALL * info->size);
      }
      tsl_random_fill((tsl_distribution)d, 42, 5, info->type, parts, 0);
    }
}

/* Elements are the single values, converted once; complex ones take two. Nothing is written past the end. */
static void test_elements(void **state) {
  (void)state;
  enum { ALL = 700 };
  for (int d = 0; d < TSL_DRAW_COUNT; d++)
    for (int t = 0; tsl_type_at(t); t++) {
      const tsl_type_info *const info = tsl_type_at(t);
      const tsl_distribution distribution = (tsl_distribution)d;
      char elements[(ALL + 1) * 16], expected[16];
      memset(elements, 0x5a, sizeof elements);
      tsl_random_fill(distribution, 3, 11, info->type, elements, ALL);
      for (uint64_t i = 0; i < ALL; i++) {
        const uint64_t first = info->is_complex ? 2 * (11 + i) : 11 + i;
        const double value[2] = {tsl_random_value(distribution, 3, first),
                                 tsl_random_value(distribution, 3, first + 1)};
        tsl_type_store(info->type, expected, value);
        assert_memory_equal(elements + i * info->size, expected, info->size);
      }
      assert_int_equal(elements[ALL * info->size], 0x5a);
    }
}

/* The numbers of a seed are part of what users keep: the same on every machine, in every version. */
static void test_known_values(void **state) {
  (void)state;
  assert_true(tsl_random_u64(0, 0) == UINT64_C(0xa706dd2f4d197e6f));
  assert_true(tsl_random_u64(1, 1000000000000) == UINT64_C(0xa1e193c7ac1e6d4d));
  assert_true(tsl_random_value(TSL_DRAW_NORMAL, 1, 0) == 0x1.f69acc395f24cp-2);
  assert_true(tsl_random_value(TSL_DRAW_NORMAL, 1, 1) == 0x1.535f3b4d728c7p+0);
  assert_true(tsl_random_value(TSL_DRAW_UNIFORM, 1, 0) == -0x1.0df2a7bc5e34cp-2);
  assert_true(tsl_random_value(TSL_DRAW_INTEGER, 1, 0) == -2);
  assert_true(tsl_random_value(TSL_DRAW_GRADED, 1, 2) == -0x1.b50dd68634994p+5);
  /* All of a hundred thousand normal numbers, as bits. */
  double *const values = draw(TSL_DRAW_NORMAL, 77, COUNT);
  uint64_t sum = 0;
  for (int i = 0; i < COUNT; i++) {
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    sum = sum * 31 + bits;
  }
  assert_true(sum == UINT64_C(0x4013166061a6cd8f));
  free(values);
}

/* Seeds and indices that are close, or that add up to the same, give different numbers. */
static void test_seeds_differ(void **state) {
  (void)state;
  static const uint64_t seeds[] = {0, 1, 2, 3, UINT64_MAX, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(1) << 63};
  enum { SEEDS = sizeof seeds / sizeof seeds[0], EACH = 40 };
  uint64_t seen[SEEDS * EACH];
  int count = 0;
  for (int s = 0; s < SEEDS; s++)
    for (uint64_t i = 0; i < EACH; i++) {
      const uint64_t bits = tsl_random_u64(seeds[s], i);
      for (int k = 0; k < count; k++)
        assert_true(seen[k] != bits);
      seen[count++] = bits;
    }
}

/* Kinds of ordinary numbers are what their names say, whichever rows are made first. */
static void kinds_are_what_they_say(void **state) {
  (void)state;
  enum { ROWS = 40, COLS = 300 };
  static double all[ROWS * COLS], row[COLS], room[2 * COLS];
  for (int kind = 0; kind < TSL_KIND_COUNT; kind++) {
    int zeros = 0, negative = 0, odd = 0;
    double furthest = 0;
    assert_int_equal(tsl_kind_fill((tsl_kind)kind, 5, ROWS, COLS, TESELA_F64, all), TESELA_OK);
    tsl_kind_fill_row((tsl_kind)kind, 5, ROWS - 1, ROWS, COLS, TESELA_F64, room, row);
    assert_memory_equal(row, all + (ROWS - 1) * COLS, sizeof row);
    for (int i = 0; i < ROWS; i++) {
      double sum = 0;
      for (int j = 0; j < COLS; j++) {
        const double x = all[i * COLS + j];
        assert_true(isfinite(x));
        sum += x;
        zeros += x == 0;
        negative += x < 0;
        odd += kind == TSL_KIND_IDENTITY      ? x != (i == j)
               : kind == TSL_KIND_IMAGE       ? x * 255 != rint(x * 255) || x > 1
               : kind == TSL_KIND_ONES        ? x != 1
               : kind == TSL_KIND_INDEX       ? x != i * COLS + j
               : kind == TSL_KIND_MINUS_INDEX ? x != -(i * COLS + j) || signbit(x) != (i + j > 0)
                                              : 0;
      }
      furthest = fmax(furthest, fabs(sum - 1));
    }
    assert_int_equal(odd, 0);
    assert_true(kind != TSL_KIND_SOFTMAX || (furthest < 1e-12 && zeros == 0 && negative == 0));
    assert_true(kind != TSL_KIND_RELU || (negative == 0 && abs(zeros - ROWS * COLS / 2) < 500));
    assert_true(kind != TSL_KIND_SPARSE90 || abs(zeros - ROWS * COLS * 9 / 10) < 200);
    assert_true(kind != TSL_KIND_KERNEL ||
                (all[0] == 1 && all[ROWS * COLS - 1] == 1 && all[COLS - 1] < 1e-80));
    assert_true(kind > TSL_KIND_UNIFORM || abs(negative - ROWS * COLS / 2) < 500);
  }
  const double first_row[] = {0, 0, -1, 0, -2, 0}; /* complex: element j is two numbers */
  tsl_kind_fill_row(TSL_KIND_MINUS_INDEX, 5, 0, ROWS, 3, TESELA_C128, room, row);
  for (int j = 0; j < 6; j++)
    assert_true(row[j] == first_row[j]);
  tsl_kind kinds[TSL_KIND_COUNT];
  assert_int_equal(tsl_kinds_parse("all", kinds), TSL_KIND_COUNT);
  assert_int_equal(tsl_kinds_parse("relu,normal", kinds), 2);
  assert_true(kinds[0] == TSL_KIND_RELU && kinds[1] == TSL_KIND_NORMAL);
  assert_int_equal(tsl_kinds_parse("relu,norm", kinds), 0);
  assert_int_equal(tsl_kinds_parse("", kinds), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_uniform),
      cmocka_unit_test(test_normal),
      cmocka_unit_test(test_normal_against_libm),
      cmocka_unit_test(test_integer),
      cmocka_unit_test(test_graded),
      cmocka_unit_test(test_cuts),
      cmocka_unit_test(test_elements),
      cmocka_unit_test(test_known_values),
      cmocka_unit_test(test_seeds_differ),
      cmocka_unit_test(kinds_are_what_they_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

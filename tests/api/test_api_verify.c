/* desc.options.verify: a wrong element is found in each type, layout and place of the operands. Its error
 * must be above the record's hidden_error. A right result is never called wrong. */
#include "api/api.h"
#include "core/types.h"
#include "host/int_math.h"
#include "judge/data.h"
#include "unit/calls.h"
#include "unit/long.h"
#include "unit/sanitizers.h"
#include "unit/wrong_plan.h"

#include <tesela/tesela.h>

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 37, N = 600, K = 300, NUMBERS = 48 * 608 + 304 * 608 + 48 * 304, BYTES = 16 * NUMBERS, SEED = 5 };

static tesela_context *context;
static const char *device_name = "opencl:0"; /* of operands in buffers */
static unsigned char *memory[3], *before;    /* A, B, C; C before the run */

/* Types of A, of B and of C. */
static const tesela_type types[][3] = {
    {TESELA_F64, TESELA_F64, TESELA_F64},    {TESELA_F32, TESELA_F32, TESELA_F32},
    {TESELA_F16, TESELA_F16, TESELA_F16},    {TESELA_BF16, TESELA_BF16, TESELA_BF16},
    {TESELA_BF16, TESELA_BF16, TESELA_F32},  {TESELA_F16, TESELA_F16, TESELA_F32},
    {TESELA_I8, TESELA_I8, TESELA_I32},      {TESELA_U8, TESELA_I8, TESELA_I32},
    {TESELA_C64, TESELA_C64, TESELA_C64},    {TESELA_C128, TESELA_C128, TESELA_C128},
    {TESELA_E4M3, TESELA_E4M3, TESELA_BF16}, {TESELA_E5M2, TESELA_E4M3, TESELA_F32}};
enum { TYPES = sizeof types / sizeof *types };
/* Steps of loops over modes, layouts and bits, and over types: sanitizers need many times as long. Threads
 * share the work in the same way for all types. */
enum { TYPE_STEP = THREAD_SANITIZER ? 3 : 1 };
#define STEP (THREAD_SANITIZER ? 5 : is_long_form() ? 1 : 3)

typedef struct test_layout {
  const char *name;
  bool a_by_column, b_by_column, c_by_column;
  int64_t gap;         /* unused elements after each row or column */
  int64_t multiple_of; /* strides are multiples of it */
} test_layout;
static const test_layout layouts[] = {
    {"rows", false, false, false, 0, 1},          {"A and B by columns", true, true, false, 0, 1},
    {"C by columns", false, true, true, 0, 1},    {"gaps", true, false, false, 5, 1},
    {"aligned rows", false, false, false, 0, 16}, {"aligned columns", true, true, true, 0, 16}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static tsl_shape shape(tesela_type type, int64_t rows, int64_t cols, bool by_column,
                       const test_layout *layout) {
  const int64_t stride = tsl_round_up((by_column ? rows : cols) + layout->gap, layout->multiple_of);
  return (tsl_shape){.type = type,
                     .rows = rows,
                     .cols = cols,
                     .row_stride = by_column ? 1 : stride,
                     .col_stride = by_column ? stride : 1};
}

static tesela_matrix as_matrix(const tsl_shape *shape, const void *data) {
  return (tesela_matrix){
      .data = data, .row_stride = shape->row_stride, .col_stride = shape->col_stride, .type = shape->type};
}

typedef struct test_product {
  tsl_shape at[3];
  tesela_gemm_desc desc;
} test_product;

static const double half[2] = {0.5, 0}, one[2] = {1, 0}, zero[2] = {0, 0}, odd[2] = {-3, 0};

static test_product make_product(int type, const test_layout *layout, const double *alpha,
                                 const double *beta) {
  test_product made = {{shape(types[type][0], M, K, layout->a_by_column, layout),
                        shape(types[type][1], K, N, layout->b_by_column, layout),
                        shape(types[type][2], M, N, layout->c_by_column, layout)},
                       {.m = M, .n = N, .k = K}};
  made.desc.a = as_matrix(&made.at[0], memory[0]);
  made.desc.b = as_matrix(&made.at[1], memory[1]);
  made.desc.c = (tesela_result){.data = memory[2],
                                .row_stride = made.at[2].row_stride,
                                .col_stride = made.at[2].col_stride,
                                .type = made.at[2].type};
  made.desc.alpha = alpha;
  made.desc.beta = beta;
  made.desc.options.device = "cpu";
  made.desc.options.verify = "all";
  return made;
}

/* The last numbers of each operand, and how they were made: to make them takes longer than to multiply. */
static struct {
  int data; /* SPECIAL_DATA and a kind of special data, or a tsl_data */
  uint64_t seed;
  tsl_shape shape;
  unsigned char *numbers;
} last[3];
enum { SPECIAL_DATA = 100 };

static size_t operand_bytes(const tsl_shape *shape) {
  return (size_t)((shape->rows - 1) * shape->row_stride + (shape->cols - 1) * shape->col_stride + 1) *
         tsl_type(shape->type)->size;
}

/* Copies the operand's last numbers if they were made in the same way. */
static bool copy_last(int operand, const tsl_shape *shape, int data, uint64_t seed) {
  const tsl_shape *old = &last[operand].shape;
  if (last[operand].data != data || last[operand].seed != seed || old->type != shape->type ||
      old->rows != shape->rows || old->cols != shape->cols || old->row_stride != shape->row_stride ||
      old->col_stride != shape->col_stride)
    return false;
  memcpy(memory[operand], last[operand].numbers, operand_bytes(shape));
  return true;
}

static void keep_last(int operand, const tsl_shape *shape, int data, uint64_t seed) {
  last[operand].data = data;
  last[operand].seed = seed;
  last[operand].shape = *shape;
  memcpy(last[operand].numbers, memory[operand], operand_bytes(shape));
}

static void fill(const test_product *product, tsl_data data, uint64_t seed) {
  for (int i = 0; i < 3; i++)
    if (!copy_last(i, &product->at[i], data, seed)) {
      must(tsl_data_fill(data, seed + (uint64_t)i, &product->at[i], K, memory[i]));
      keep_last(i, &product->at[i], data, seed);
    }
}

static void expect_all_verified(const tesela_record *record) {
  if (record->verified != (int64_t)M * N || record->unverified != 0 || record->wrong_cols != 0 ||
      !(record->seconds_verify > 0))
    fail_msg("%lld elements verified, %lld not, %lld wrong in %g s", (long long)record->verified,
             (long long)record->unverified, (long long)record->wrong_cols, record->seconds_verify);
}

/* --- right results --- */

static void right_results(void **state) {
  static const tsl_data data[] = {TSL_DATA_NORMAL, TSL_DATA_INTEGER, TSL_DATA_GRADED};
  (void)state;
  for (int type = 0; type < TYPES; type += TYPE_STEP)
    for (int l = 0; l < LAYOUTS; l += STEP)
      for (int d = 0; d < 3; d++)
        for (int reads_c = 0; reads_c < 2; reads_c++) {
          tesela_record record;
          test_product all = make_product(type, &layouts[l], d == 1 ? odd : one, reads_c ? odd : zero);
          fill(&all, data[d], SEED);
          const tesela_status status = tesela_gemm(context, &all.desc, &record);
          if (status != TESELA_OK)
            fail_msg("%s, %s, data %d, C %s: %s", tsl_type(types[type][2])->name, layouts[l].name, d,
                     reads_c ? "read" : "written", tesela_last_error());
          const bool is_eight = types[type][0] == TESELA_E4M3 || types[type][0] == TESELA_E5M2;
          if (data[d] == TSL_DATA_GRADED && (types[type][2] == TESELA_F16 || is_eight))
            continue; /* sums or factors overflow */
          expect_all_verified(&record);
          assert_true((record.hidden_error == 0) == tsl_type(types[type][2])->is_integer);
        }
}

/* Returns the sine of a whole number, computed once. */
static double sine_of(int64_t angle) {
  enum { ANGLES = 1 << 17 };
  static double sines[ANGLES];
  assert_true(angle >= 0 && angle < ANGLES);
  if (sines[angle] == 0)
    sines[angle] = sin((double)angle);
  return sines[angle];
}

/* Returns an element of a kind of data that products meet in practice. */
static double special_value(int kind, int64_t i, int64_t j) {
  const double x = sine_of(i * 131 + j * 7), y = sine_of(i * 17 + j * 3 + 1);
  switch (kind) {
  case 0: /* ReLU */
    return x > 0 ? x : 0;
  case 1: /* softmax: rows of a sum near 1 */
    return exp(4 * x) / 300;
  case 2: /* log-normal */
    return exp(3 * x * y);
  case 3: /* Hilbert's matrix */
    return 1 / (double)(i + j + 1);
  case 4: /* identity */
    return i == j;
  case 5: /* rows of zeros */
    return i % 3 ? x : 0;
  case 6: /* subnormal in f32 and bf16 */
    return x * 0x1p-130;
  case 7: /* cancelling halves */
    return (j % 2 ? -1 : 1) * (1 + x * 0x1p-10);
  default: /* one column of large numbers */
    return j == 11 ? x * 0x1p+12 : x;
  }
}
enum { SPECIAL_KINDS = 9 };

static void fill_special(const test_product *product, int operand, int kind) {
  const tsl_shape *at = &product->at[operand];
  const tsl_type_info *type = tsl_type(at->type);
  if (copy_last(operand, at, SPECIAL_DATA + kind, 0))
    return;
  for (int64_t i = 0; i < at->rows; i++)
    for (int64_t j = 0; j < at->cols; j++) {
      const double value[2] = {special_value(kind, i, j), type->is_complex ? special_value(kind, j, i) : 0};
      tsl_type_store(at->type,
                     memory[operand] + (size_t)(i * at->row_stride + j * at->col_stride) * type->size, value);
    }
  keep_last(operand, at, SPECIAL_DATA + kind, 0);
}

#define RANDOM_RUNS (THREAD_SANITIZER ? 300 : is_long_form() ? 4000 : 1000)

/* Products of random sizes, types, layouts, scalars and data. */
static void random_right_results(void **state) {
  static const tsl_data data[] = {TSL_DATA_NORMAL, TSL_DATA_INTEGER, TSL_DATA_GRADED, TSL_DATA_SPECIAL};
  static const double *const scalars[] = {zero, one, odd};
  (void)state;
  for (int run = 0; run < RANDOM_RUNS; run++) {
    const uint64_t bits = tsl_random_u64(SEED, (uint64_t)run);
    const int type = (int)(bits % TYPES), kind = (int)(bits >> 8 & 3);
    tesela_record record;
    test_product all = make_product(type, &layouts[(bits >> 16) % LAYOUTS], scalars[(bits >> 24) % 3],
                                    scalars[(bits >> 32) % 3]);
    all.desc.m = 1 + (int64_t)(bits >> 40) % M;
    all.desc.n = 1 + (int64_t)(bits >> 48) % (run % 64 ? 40 : N);
    all.desc.k = (int64_t)(bits >> 56) % 64;
    if (run % 16 == 0)
      fill(&all, data[tsl_type(types[type][2])->is_integer ? 0 : kind], bits);
    else if (run % 4 == 0)
      fill_special(&all, run % 3, (int)(bits >> 12) % SPECIAL_KINDS);
    if (tesela_gemm(context, &all.desc, &record) != TESELA_OK)
      fail_msg("run %d, %s, %lld x %lld x %lld: %s", run, tsl_type(types[type][2])->name,
               (long long)all.desc.m, (long long)all.desc.n, (long long)all.desc.k, tesela_last_error());
    assert_int_equal(record.verified + record.unverified, all.desc.m * all.desc.n);
  }
}

static void right_results_of_special_data(void **state) {
  static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO, FE_DOWNWARD};
  (void)state;
  for (int type = 0; type < TYPES; type += TYPE_STEP)
    for (int kind = 0; kind < SPECIAL_KINDS; kind += TYPE_STEP)
      for (int mode = 0; mode < 4; mode += STEP) {
        tesela_record record;
        test_product all = make_product(type, &layouts[kind % LAYOUTS], half, mode % 2 ? one : zero);
        if (tsl_type(types[type][2])->is_integer)
          all.desc.alpha = odd;
        fill_special(&all, 0, (kind + SPECIAL_KINDS - mode) % SPECIAL_KINDS);
        fill_special(&all, 1, kind); /* the largest operand keeps its numbers in all modes */
        fill_special(&all, 2, 0);
        fesetround(modes[mode]);
        const tesela_status status = tesela_gemm(context, &all.desc, &record);
        fesetround(FE_TONEAREST);
        if (status != TESELA_OK)
          fail_msg("%s, data %d, mode %d: %s", tsl_type(types[type][2])->name, kind, mode,
                   tesela_last_error());
        assert_int_equal(record.verified + record.unverified, M * N);
      }
}

/* In directed rounding sums that overflow may become the largest number. Nothing is known of these rows. */
static void overflow_in_directed_rounding(void **state) {
  static const int modes[] = {FE_UPWARD, FE_TOWARDZERO, FE_DOWNWARD};
  (void)state;
  for (int type = 0; type < TYPES; type += TYPE_STEP)
    for (int mode = 0; mode < 3; mode++) {
      const tsl_type_info *c = tsl_type(types[type][2]), *a = tsl_type(types[type][0]);
      tesela_record record;
      test_product all = make_product(type, &layouts[0], one, one);
      if (c->is_integer)
        continue;
      fill(&all, TSL_DATA_NORMAL, SEED);
      for (int64_t l = 0; l < K; l++)
        tsl_type_store(a->type, memory[0] + (size_t)(3 * K + l) * a->size,
                       (double[2]){a->size == 1 ? 448 : a->largest / 4, 0});
      for (int64_t j = 0; j < N; j++)
        tsl_type_store(c->type, memory[2] + (size_t)(3 * N + j) * c->size,
                       (double[2]){j % 2 ? c->largest : -c->largest, 0});
      fesetround(modes[mode]);
      const tesela_status status = tesela_gemm(context, &all.desc, &record);
      fesetround(FE_TONEAREST);
      if (status != TESELA_OK)
        fail_msg("%s, mode %d: %s", c->name, mode, tesela_last_error());
      assert_in_range(record.unverified, N, c->type == TESELA_F16 ? M * N : N);
    }
}

/* Infinity and NaN in a factor: their elements are not verified, all others are. */
static void values_that_are_not_finite(void **state) {
  static const double values[] = {INFINITY, -INFINITY, NAN};
  (void)state;
  for (int type = 0; type < TYPES; type += TYPE_STEP)
    for (int v = 0; v < 3; v++)
      for (int operand = 0; operand < 3; operand++) {
        tesela_record record;
        test_product all = make_product(type, &layouts[0], one, operand == 2 ? one : zero);
        if (tsl_type(types[type][2])->is_integer || types[type][0] == TESELA_E4M3)
          continue;
        if (operand == 1 && types[type][1] == TESELA_E4M3 && v < 2)
          continue; /* the type has no infinity */
        fill(&all, TSL_DATA_NORMAL, SEED);
        const double value[2] = {values[v], 0};
        tsl_type_store(all.at[operand].type,
                       memory[operand] +
                           (size_t)(3 * all.at[operand].cols + 4) * tsl_type(all.at[operand].type)->size,
                       value);
        must(tesela_gemm(context, &all.desc, &record));
        const int64_t lost = operand == 0 ? N : operand == 1 ? (int64_t)M * 256 : 256;
        if (record.unverified != lost || record.verified != (int64_t)M * N - lost)
          fail_msg("%s, operand %d: %lld not verified, expected %lld", tsl_type(types[type][2])->name,
                   operand, (long long)record.unverified, (long long)lost);
      }
}

/* --- faults --- */

static const struct {
  int64_t row, col;
} places[] = {{0, 0}, {M - 1, N - 1}, {16, 255}, {15, 256}, {20, 511}};
enum { PLACES = sizeof places / sizeof *places };

/* An error above the record's hidden error is found, with its element. */
static void errors_above_the_hidden_one(void **state) {
  (void)state;
  for (int type = 0; type < TYPES; type += TYPE_STEP)
    for (int l = 0; l < LAYOUTS; l += STEP)
      for (int reads_c = 0; reads_c < 2; reads_c++) {
        tesela_record clean, record;
        wrong_plan wrong;
        const tsl_type_info *c = tsl_type(types[type][2]);
        test_product all = make_product(type, &layouts[l], one, reads_c ? one : zero);
        fill(&all, TSL_DATA_NORMAL, SEED);
        memcpy(before, memory[2], BYTES);
        make_wrong_plan(context, &all.desc, &wrong);
        planted.left = 0;
        must(run_wrong_plan(&wrong, &all.desc, &clean));
        expect_all_verified(&clean);
        for (int place = 0; place < PLACES; place++) {
          const double off = c->is_integer ? 1 : clean.hidden_error * 1.01 + 128 * c->unit_roundoff;
          memcpy(memory[2], before, BYTES);
          plant(&all.at[2], 2, places[place].row, places[place].col, -1, place % 2 ? -off : off);
          expect(run_wrong_plan(&wrong, &all.desc, &record), TESELA_WRONG_RESULT, "is wrong");
          const bool is_located = !reads_c && record.wrong_cols == 1;
          if (record.wrong_row != places[place].row || record.wrong_col > places[place].col ||
              record.wrong_col + record.wrong_cols <= places[place].col || is_located == (reads_c != 0))
            fail_msg("%s, %s: row %lld, %lld columns from %lld: %s", c->name, layouts[l].name,
                     (long long)record.wrong_row, (long long)record.wrong_cols, (long long)record.wrong_col,
                     tesela_last_error());
        }
        tesela_plan_destroy(wrong.plan);
      }
}

/* Segments of more than one tile of columns. */
static void wide_segments(void **state) {
  enum { ROWS = 5, COLS = 2500, DEPTH = 40 };
  static const struct { int64_t row, col; } faults[] = {{0, 0}, {3, COLS - 1}, {4, 300}, {1, 767}, {2, 768}};
  (void)state;
  for (int type = 0; type < TYPES; type += TYPE_STEP) {
    tesela_record clean, record;
    wrong_plan wrong;
    const tsl_type_info *c = tsl_type(types[type][2]);
    test_product all = make_product(type, &layouts[0], one, zero);
    all.at[0] = shape(types[type][0], ROWS, DEPTH, false, &layouts[0]);
    all.at[1] = shape(types[type][1], DEPTH, COLS, false, &layouts[0]);
    all.at[2] = shape(types[type][2], ROWS, COLS, false, &layouts[0]);
    all.desc.m = ROWS, all.desc.n = COLS, all.desc.k = DEPTH;
    all.desc.options.verify = type % 2 ? "memory" : "all";
    all.desc.a = as_matrix(&all.at[0], memory[0]);
    all.desc.b = as_matrix(&all.at[1], memory[1]);
    all.desc.c.row_stride = all.at[2].row_stride;
    for (int i = 0; i < 3; i++)
      must(tsl_data_fill(TSL_DATA_NORMAL, SEED + (uint64_t)i, &all.at[i], DEPTH, memory[i]));
    make_wrong_plan(context, &all.desc, &wrong);
    planted.left = 0;
    must(run_wrong_plan(&wrong, &all.desc, &clean));
    assert_int_equal(clean.verified, ROWS * COLS);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
      plant(&all.at[2], 2, faults[i].row, faults[i].col, -1,
            c->is_integer ? 1 : clean.hidden_error * 1.01 + 128 * c->unit_roundoff);
      expect(run_wrong_plan(&wrong, &all.desc, &record), TESELA_WRONG_RESULT, "is wrong");
      if (record.wrong_row != faults[i].row || record.wrong_col != faults[i].col || record.wrong_cols != 1)
        fail_msg("%s: row %lld, %lld columns from %lld: %s", c->name, (long long)record.wrong_row,
                 (long long)record.wrong_cols, (long long)record.wrong_col, tesela_last_error());
    }
    tesela_plan_destroy(wrong.plan);
  }
}

/* Every bit of an integer result, and of the factors during the run. */
static void all_bits_of_integers(void **state) {
  (void)state;
  for (int type = 0; type < TYPES; type += TYPE_STEP) {
    tesela_record record;
    wrong_plan wrong;
    if (!tsl_type(types[type][2])->is_integer)
      continue;
    test_product all = make_product(type, &layouts[0], one, zero);
    fill(&all, TSL_DATA_NORMAL, SEED);
    make_wrong_plan(context, &all.desc, &wrong);
    for (int operand = 0; operand < 3; operand++)
      for (int bit = 0; bit < (int)tsl_type(types[type][operand])->size * 8; bit += STEP)
        for (int place = 0; place < PLACES; place++) {
          plant(&all.at[operand], operand, places[place].row, places[place].col % all.at[operand].cols, bit,
                0);
          expect(run_wrong_plan(&wrong, &all.desc, &record), TESELA_WRONG_RESULT, "is wrong");
        }
    tesela_plan_destroy(wrong.plan);
  }
}

/* Flipped bits of floating-point numbers are found if their error is above the hidden error. A NaN or an
 * infinity of finite factors is always found. */
static void bits_of_floats(void **state) {
  (void)state;
  for (int type = 0; type < TYPES; type += TYPE_STEP) {
    tesela_record clean, record;
    wrong_plan wrong;
    int found = 0, hidden = 0;
    const tsl_type_info *c = tsl_type(types[type][2]);
    if (c->is_integer)
      continue;
    test_product all = make_product(type, &layouts[0], one, zero);
    fill(&all, TSL_DATA_NORMAL, SEED);
    make_wrong_plan(context, &all.desc, &wrong);
    planted.left = 0;
    must(run_wrong_plan(&wrong, &all.desc, &clean));
    const int bits = (int)tsl_type(c->component)->size * 8;
    for (int bit = 0; bit < bits; bit += STEP) {
      double right[2], changed[2];
      unsigned char *at = memory[2] + (size_t)(16 * N + 255) * c->size;
      planted.left = 0;
      must(run_wrong_plan(&wrong, &all.desc, &record));
      tsl_type_load(c->type, at, right);
      plant(&all.at[2], 2, 16, 255, bit, 0);
      const tesela_status status = run_wrong_plan(&wrong, &all.desc, &record);
      tsl_type_load(c->type, at, changed);
      const double off = fabs(changed[0] - right[0]);
      if (!isfinite(off) && c->type == TESELA_F16) { /* sums of this type are near overflow */
        assert_true(status == TESELA_WRONG_RESULT || record.unverified > 0);
        hidden += status == TESELA_OK;
        found += status == TESELA_WRONG_RESULT;
        continue;
      }
      if (!(off <= clean.hidden_error) && status != TESELA_WRONG_RESULT)
        fail_msg("%s: bit %d changes %g to %g, not found above %g", c->name, bit, right[0], changed[0],
                 clean.hidden_error);
      found += status == TESELA_WRONG_RESULT;
      hidden += status == TESELA_OK;
    }
    assert_true(found > 0 && found + hidden == (bits + STEP - 1) / STEP);
    tesela_plan_destroy(wrong.plan);
  }
}

/* Infinity and NaN of finite factors are wrong in each type, also where elements are rounded once to C. */
static void infinities_of_finite_factors(void **state) {
  static const double values[] = {INFINITY, -INFINITY, NAN};
  static const char *const strategies[] = {NULL, "exact"};
  (void)state;
  for (int type = 0; type < TYPES; type += TYPE_STEP)
    for (int s = 0; s < 2; s++)
      for (int v = 0; v < 3; v++) {
        tesela_record record;
        wrong_plan wrong;
        test_product all = make_product(type, &layouts[0], one, zero);
        const tsl_type_info *c = tsl_type(types[type][2]);
        if (c->is_integer || (s == 1 && (c->is_complex || c->type != types[type][0])))
          continue;
        all.desc.k = 3; /* no sum of f16 can overflow */
        all.desc.options.strategy = strategies[s];
        fill(&all, TSL_DATA_NORMAL, SEED);
        make_wrong_plan(context, &all.desc, &wrong);
        plant(&all.at[2], 2, 16, 255, -1, values[v]);
        expect(run_wrong_plan(&wrong, &all.desc, &record), TESELA_WRONG_RESULT, "C(16, 255) is ");
        tesela_plan_destroy(wrong.plan);
      }
}

/* --- other calls --- */

/* A known call takes a shortcut, which verifies nothing. A call with verify must not take it. */
static void known_calls_with_verify(void **state) {
  tsl_request request;
  tsl_call_key key;
  (void)state;
  test_product all = make_product(1, &layouts[0], one, zero);
  all.desc.options.verify = NULL;
  fill(&all, TSL_DATA_NORMAL, SEED);
  for (int i = 0; i < 10; i++) /* it is learnt on the way */
    must(tesela_gemm(context, &all.desc, NULL));
  must(tsl_api_gemm_request(context, &all.desc, &request));
  must(tsl_api_request(context, &request, &key));
  tsl_cached_plan *cached = tsl_plan_cache_find(&context->cache, &key);
  assert_non_null(cached);
  tsl_plan *plan = tsl_plan_cache_plan(cached)->plan;
  const tsl_strategy *right = plan->work.strategy;
  tsl_strategy wrong = *right;
  right_run = wrong.run;
  wrong.run = wrong_run;
  plan->work.strategy = &wrong;
  plant(&all.at[2], 2, 3, 4, -1, 1e6);
  all.desc.options.verify = "all";
  expect(tesela_gemm(context, &all.desc, NULL), TESELA_WRONG_RESULT, "C(3, 4) is ");
  plan->work.strategy = right;
  must(tesela_gemm(context, &all.desc, NULL));
  tsl_plan_cache_give_back(&context->cache, cached);
}

/* Each product of a batch and of a group is verified. */
static void batches_and_groups(void **state) {
  tesela_record record;
  (void)state;
  test_product all = make_product(1, &layouts[0], one, zero);
  all.desc.m = 5;
  all.desc.n = 40;
  fill(&all, TSL_DATA_NORMAL, SEED);
  const tesela_batch batch = {.count = 7, .a_stride = 5 * K, .b_stride = 0, .c_stride = 5 * N};
  must(tesela_gemm_batched(context, &all.desc, &batch, &record));
  assert_int_equal(record.verified, 7 * 5 * 40);
  const tesela_gemm_desc descs[2] = {all.desc, all.desc};
  tesela_gemm_desc own[2] = {descs[0], descs[1]};
  own[1].c.data = memory[2] + BYTES / 2;
  must(tesela_gemm_grouped(context, own, NULL, 2, &record));
  assert_int_equal(record.verified, 2 * 5 * 40);
}

static void refused_calls(void **state) {
  tesela_plan *plan;
  tesela_record record;
  (void)state;
  test_product all = make_product(1, &layouts[0], one, zero);
  fill(&all, TSL_DATA_NORMAL, SEED);
  all.desc.options.verify = "al";
  expect(tesela_gemm(context, &all.desc, NULL), TESELA_BAD_CALL, "none, all, memory or repair");
  all.desc.options.verify = "all";
  const tesela_epilogue relu = {.activation = TESELA_RELU};
  all.desc.epilogue = &relu;
  expect(tesela_gemm(context, &all.desc, NULL), TESELA_UNSUPPORTED, "activation");
  all.desc.epilogue = NULL;
  all.desc.options.verify = "none";
  must(tesela_gemm(context, &all.desc, &record));
  assert_true(record.verified == 0 && record.seconds_verify == 0);
  const tesela_transpose_desc transpose = {.rows = M,
                                           .cols = K,
                                           .a = {.data = memory[0]},
                                           .b = {.data = memory[1]},
                                           .options = {.device = "cpu", .verify = "all"}};
  expect(tesela_transpose(context, &transpose, NULL), TESELA_UNSUPPORTED, "transpose");
  all.desc.options.verify = "all";
  must(tesela_plan_create(context, &all.desc, &plan));
  tesela_stream *stream;
  must(tesela_stream_create(context, "cpu", &stream));
  expect(tesela_plan_enqueue(plan, stream,
                             &(tesela_operands){.a = &all.desc.a, .b = &all.desc.b, .c = &all.desc.c}, NULL),
         TESELA_UNSUPPORTED, "verifies");
  tesela_stream_destroy(stream);
  tesela_plan_destroy(plan);
}

/* TESELA_VERIFY verifies all calls that have checksums, and lets others pass. */
static void verified_by_default(void **state) {
  tesela_record record;
  tesela_context *own;
  (void)state;
  setenv("TESELA_VERIFY", "some", 1);
  expect(tesela_context_create(NULL, &own), TESELA_BAD_CALL, "TESELA_VERIFY");
  setenv("TESELA_VERIFY", "all", 1);
  must(tesela_context_create(NULL, &own));
  unsetenv("TESELA_VERIFY");
  test_product all = make_product(1, &layouts[0], one, zero);
  all.desc.options.verify = NULL;
  fill(&all, TSL_DATA_NORMAL, SEED);
  for (int i = 0; i < 10; i++) { /* also once the call is known */
    must(tesela_gemm(own, &all.desc, &record));
    expect_all_verified(&record);
  }
  const tesela_epilogue relu = {.activation = TESELA_RELU};
  all.desc.epilogue = &relu;
  must(tesela_gemm(own, &all.desc, &record));
  assert_int_equal(record.verified, 0);
  tesela_context_destroy(own);
}

/* --- operands in device memory --- */

static void add_to_buffer(tesela_buffer *buffer, const tsl_shape *matrix, int64_t row, int64_t col,
                          double off) {
  unsigned char bytes[16];
  double value[2];
  const size_t size = tsl_type(matrix->type)->size,
               where = (size_t)(row * matrix->row_stride + col * matrix->col_stride) * size;
  must(tesela_buffer_read(buffer, where, bytes, size));
  tsl_type_load(matrix->type, bytes, value);
  value[0] += off;
  tsl_type_store(matrix->type, bytes, value);
  must(tesela_buffer_write(buffer, where, bytes, size));
}

static tesela_buffer *device_c;

/* Changes C on the device after the run. */
static tesela_status wrong_device_run(const tsl_work *work, const tsl_operands *operands,
                                      tsl_stream *stream) {
  const tesela_status status = right_run(work, operands, stream);
  if (planted.left == 0 || status != TESELA_OK)
    return status;
  planted.left--;
  must(work->device->ops->finish(stream) == TESELA_OK ? TESELA_OK : TESELA_DEVICE_FAILED);
  add_to_buffer(device_c, planted.shape, planted.row, planted.col, planted.off);
  return TESELA_OK;
}

static tesela_buffer *buffers[3];

/* Depth of products in buffers. B's rows are two whole groups of the checksums' kernel, and a part. PoCL's
 * kernels without optimisation take four times as long for K. */
enum { BUFFER_K = 2 * 32 + 6 };

/* Moves a product's operands to buffers of the device. */
static void use_buffers(test_product *product) {
  product->desc.k = BUFFER_K;
  for (int i = 0; i < 3; i++)
    must(tesela_buffer_write(buffers[i], 0, memory[i], BYTES));
  product->desc.options.device = device_name;
  product->desc.a.data = product->desc.b.data = NULL;
  product->desc.c.data = NULL;
  product->desc.a.buffer = buffers[0];
  product->desc.b.buffer = buffers[1];
  product->desc.c.buffer = buffers[2];
}

static void operands_in_buffers(void **state) {
  (void)state;
  device_c = buffers[2];
  for (int type = 0; type < TYPES; type++)
    for (int l = 0; l < LAYOUTS; l++)
      /* Kernels are compiled for each product: f32 has all products, other types have one in four. */
      for (int reads_c = 0; reads_c < 2; reads_c++) {
        if (type != 1 && l % 4 != (type + 2 * reads_c) % 4)
          continue;
        const tsl_type_info *c = tsl_type(types[type][2]);
        tesela_record clean, record;
        wrong_plan wrong;
        test_product all = make_product(type, &layouts[l], c->is_integer ? odd : half, reads_c ? one : zero);
        fill(&all, TSL_DATA_NORMAL, SEED);
        use_buffers(&all);
        const tesela_status made = tesela_plan_create(context, &all.desc, &wrong.plan);
        if (made == TESELA_UNSUPPORTED)
          continue; /* the device has no such product */
        must(made);
        wrong.strategy = *wrong.plan->plan->work.strategy;
        right_run = wrong.strategy.run;
        wrong.strategy.run = wrong_device_run;
        wrong.plan->plan->work.strategy = &wrong.strategy;
        planted.left = 0;
        must(run_wrong_plan(&wrong, &all.desc, &clean));
        expect_all_verified(&clean);
        for (int place = 0; place < PLACES; place++) {
          must(tesela_buffer_write(buffers[2], 0, memory[2], BYTES));
          plant(&all.at[2], 2, places[place].row, places[place].col, -1,
                c->is_integer ? 1 : clean.hidden_error * 1.01 + 128 * c->unit_roundoff);
          expect(run_wrong_plan(&wrong, &all.desc, &record), TESELA_WRONG_RESULT, "is wrong");
          if (record.wrong_row != places[place].row || record.wrong_col > places[place].col ||
              record.wrong_col + record.wrong_cols <= places[place].col)
            fail_msg("%s: row %lld, %lld columns from %lld: %s", c->name, (long long)record.wrong_row,
                     (long long)record.wrong_cols, (long long)record.wrong_col, tesela_last_error());
        }
        if (!c->is_integer && c->type != TESELA_F16) { /* sums of f16 are near overflow */
          must(tesela_buffer_write(buffers[2], 0, memory[2], BYTES));
          plant(&all.at[2], 2, 16, 255, -1, INFINITY);
          expect(run_wrong_plan(&wrong, &all.desc, &record), TESELA_WRONG_RESULT, "is wrong");
        }
        tesela_plan_destroy(wrong.plan);
      }
}

/* Infinity and NaN in buffers: as values_that_are_not_finite() has in host memory. The smallest numbers are
 * verified. */
static void values_that_are_not_finite_in_buffers(void **state) {
  static const double values[] = {INFINITY, NAN};
  (void)state;
  for (int type = 0; type < TYPES; type++)
    for (int l = 0; l < LAYOUTS; l += type % 2 ? 1 : LAYOUTS - 1)
      for (int turn = 0; turn < 7; turn++) {
        const int operand = turn / 2;
        const tsl_type_info *c = tsl_type(types[type][2]), *a = tsl_type(types[type][0]);
        tesela_record record;
        test_product all = make_product(type, &layouts[l], one, operand == 2 ? one : zero);
        if (c->is_integer || a->size == 1 || c->is_complex)
          continue;
        fill(&all, TSL_DATA_NORMAL, SEED);
        const double value[2] = {operand == 3 ? a->smallest : values[turn % 2], 0};
        const tsl_shape *at = &all.at[operand % 3];
        tsl_type_store(at->type,
                       memory[operand % 3] +
                           (size_t)(3 * at->row_stride + 4 * at->col_stride) * tsl_type(at->type)->size,
                       value);
        use_buffers(&all);
        const tesela_status status = tesela_gemm(context, &all.desc, &record);
        if (status == TESELA_UNSUPPORTED)
          continue; /* the device has no such product */
        must(status);
        const int64_t lost = operand == 0 ? N : operand == 1 ? (int64_t)M * 256 : operand == 2 ? 256 : 0;
        if (record.unverified != lost || record.verified != (int64_t)M * N - lost)
          fail_msg("%s, %s, operand %d: %lld not verified, expected %lld", c->name, layouts[l].name, operand,
                   (long long)record.unverified, (long long)lost);
      }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(right_results),
                                     cmocka_unit_test(random_right_results),
                                     cmocka_unit_test(right_results_of_special_data),
                                     cmocka_unit_test(overflow_in_directed_rounding),
                                     cmocka_unit_test(values_that_are_not_finite),
                                     cmocka_unit_test(errors_above_the_hidden_one),
                                     cmocka_unit_test(wide_segments),
                                     cmocka_unit_test(all_bits_of_integers),
                                     cmocka_unit_test(bits_of_floats),
                                     cmocka_unit_test(infinities_of_finite_factors),
                                     cmocka_unit_test(known_calls_with_verify),
                                     cmocka_unit_test(batches_and_groups),
                                     cmocka_unit_test(refused_calls),
                                     cmocka_unit_test(verified_by_default),
                                     cmocka_unit_test(operands_in_buffers),
                                     cmocka_unit_test(values_that_are_not_finite_in_buffers)};
  device_name = argc == 2 ? argv[1] : device_name;
  for (int i = 0; i < 3; i++)
    memory[i] = calloc(1, BYTES), last[i].numbers = calloc(1, BYTES);
  before = calloc(1, BYTES);
  for (int i = 0; i < 3; i++)
    if (!memory[i] || !last[i].numbers)
      return 1;
  if (!before || tesela_context_create(NULL, &context) != TESELA_OK)
    return 1;
  for (int i = 0; i < 3; i++)
    if (tesela_buffer_create(context, device_name, BYTES, &buffers[i]) != TESELA_OK)
      return 1;
  /* A sanitizer does not see the kernels of the last tests, which operands in buffers need. */
  enum { ON_HOST = sizeof tests / sizeof *tests - 2 };
  struct CMUnitTest on_host[ON_HOST];
  memcpy(on_host, tests, sizeof on_host);
  const int failed = ADDRESS_SANITIZER || THREAD_SANITIZER ? cmocka_run_group_tests(on_host, NULL, NULL)
                                                           : cmocka_run_group_tests(tests, NULL, NULL);
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
  tesela_context_destroy(context);
  for (int i = 0; i < 3; i++) {
    free(memory[i]);
    free(last[i].numbers);
  }
  free(before);
  return failed;
}

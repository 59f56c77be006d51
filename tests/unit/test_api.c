/* The public calls on the cpu: defaults, layouts, errors, plans, buffers. */
#include <tesela/tesela_level3.h>

#include "unit/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A is 2 x 3, B is 3 x 2. */
static float a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
static const float product[] = {58, 64, 139, 154};

static tesela_gemm_desc usual(float *c) {
  return (tesela_gemm_desc){.m = 2, .n = 2, .k = 3, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}};
}

/* --- results --- */

static void defaults_are_dense_row_major_f32(void **state) {
  (void)state;
  float c[4] = {NAN, NAN, NAN, NAN};
  const tesela_gemm_desc desc = usual(c);
  must(tesela_gemm(context, &desc, NULL));
  assert_memory_equal(c, product, sizeof product);
}

static void scalars_apply(void **state) {
  (void)state;
  float c[4] = {1, 2, 3, 4};
  const double alpha = 0.5, beta = -1;
  tesela_gemm_desc desc = usual(c);
  desc.alpha = &alpha;
  desc.beta = &beta;
  must(tesela_gemm(context, &desc, NULL));
  for (int i = 0; i < 4; i++)
    assert_true(c[i] == 0.5f * product[i] - (float)(i + 1));
}

static void doubles_are_asked_for(void **state) {
  (void)state;
  double x[] = {1e200, 1}, y[] = {1e-200, 3}, z = 0;
  const tesela_gemm_desc desc = {.m = 1,
                                 .n = 1,
                                 .k = 2,
                                 .a = {.data = x, .type = TESELA_F64},
                                 .b = {.data = y, .type = TESELA_F64},
                                 .c = {.data = &z}};
  must(tesela_gemm(context, &desc, NULL));
  assert_true(z == 4);
}

/* Every operand stored transposed, with default strides and with some that are given. */
static void transposes_are_of_what_is_stored(void **state) {
  (void)state;
  float a_stored[] = {1, 4, 2, 5, 3, 6} /* 3 x 2 */,
        b_stored[] = {7, 9, 11, 0, 8, 10, 12, 0} /* 2 x 3, padded */;
  float c_stored[4] = {0};
  tesela_gemm_desc desc = usual(c_stored);
  desc.a = (tesela_matrix){.data = a_stored, .transpose = 1};
  desc.b = (tesela_matrix){.data = b_stored, .transpose = 1, .row_stride = 4, .col_stride = 1};
  desc.c.transpose = 1;
  must(tesela_gemm(context, &desc, NULL));
  const float expected[] = {58, 139, 64, 154};
  assert_memory_equal(c_stored, expected, sizeof expected);
}

static void strides_may_be_negative(void **state) {
  (void)state;
  float c[] = {-1, -1, -1, -1, -1, -1};
  tesela_gemm_desc desc = usual(c + 3);
  desc.c.row_stride = -3;
  desc.c.col_stride = 1;
  must(tesela_gemm(context, &desc, NULL));
  const float expected[] = {139, 154, -1, 58, 64, -1};
  assert_memory_equal(c, expected, sizeof expected);
}

static void dense_products_take_one_line(void **state) {
  (void)state;
  const float right[] = {58, 64, 139, 154};
  const double a_in_f64[] = {1, 2, 3, -1, 4, 5, 6, -1}, b_in_f64[] = {7, 8, 9, 10, 11, 12};
  const float i_in_c64[] = {0, 1}, two_in_c64[] = {2, 0};
  const double i_in_c128[] = {0, 1};
  float c[4], complex_c[2];
  double c_in_f64[6] = {0, 0, -1, 0, 0, -1}, complex_c_in_f64[2];
  must(tesela_sgemm(context, 2, 2, 3, a, 3, b, 2, c, 2));
  assert_memory_equal(c, right, sizeof right);
  must(tesela_dgemm(context, 2, 2, 3, a_in_f64, 4, b_in_f64, 2, c_in_f64, 3));
  for (int i = 0; i < 6; i++)
    assert_true(c_in_f64[i] == (i % 3 == 2 ? -1 : (double)right[i / 3 * 2 + i % 3]));
  must(tesela_cgemm(context, 1, 1, 1, i_in_c64, 0, two_in_c64, 0, complex_c, 0));
  assert_true(complex_c[0] == 0 && complex_c[1] == 2);
  must(tesela_zgemm(context, 1, 1, 1, i_in_c128, 0, i_in_c128, 0, complex_c_in_f64, 0));
  assert_true(complex_c_in_f64[0] == -1 && complex_c_in_f64[1] == 0);
  expect(tesela_sgemm(context, 2, 2, 3, a, 3, b, 2, c, 1), TESELA_BAD_CALL, "desc.c");
}

/* A matrix of 2 x 2 in memory of 3 x 3, by rows or by columns, of which one stride is given. */
static float in_rows[] = {1, 2, -9, 3, 4, -9, -9, -9, -9}, in_columns[] = {1, 3, -9, 2, 4, -9, -9, -9, -9},
             dense[] = {1, 2, 3, 4};
static const float square[] = {7, 10, 15, 22};

static tesela_matrix stored(int way) {
  return way == 0   ? (tesela_matrix){.data = in_rows, .row_stride = 3}
         : way == 1 ? (tesela_matrix){.data = in_columns, .col_stride = 3}
         : way == 2 ? (tesela_matrix){.data = in_columns, .row_stride = 3, .transpose = 1}
         : way == 3 ? (tesela_matrix){.data = in_rows, .col_stride = 3, .transpose = 1}
                    : (tesela_matrix){.data = dense};
}
static float element_of(const float *memory, int way, int i, int j) {
  return way == 0 || way == 3 ? memory[3 * i + j] : way < 3 ? memory[i + 3 * j] : memory[2 * i + j];
}

static void expect_square(const float *c, int way, const char *entry) {
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      if (element_of(c, way, i, j) != square[2 * i + j])
        fail_msg("%s, C stored in way %d: (%d, %d) is %g, not %g", entry, way, i, j,
                 (double)element_of(c, way, i, j), (double)square[2 * i + j]);
}

static void one_stride_is_enough(void **state) {
  (void)state;
  for (int ways = 0; ways < 125; ways++) {
    const int way = ways % 5;
    float c[18] = {0}, *const one_c[] = {c};
    const tesela_matrix lies = stored(way);
    tesela_gemm_desc desc = {.m = 2,
                             .n = 2,
                             .k = 2,
                             .a = stored(ways / 5 % 5),
                             .b = stored(ways / 25),
                             .c = {.data = c,
                                   .row_stride = lies.row_stride,
                                   .col_stride = lies.col_stride,
                                   .transpose = lies.transpose}};
    tesela_record record;
    tesela_plan *plan;
    must(tesela_gemm(context, &desc, NULL));
    expect_square(c, way, "tesela_gemm");
    memset(c, 0, sizeof c);
    must(tesela_gemm(context, &desc, &record));
    expect_square(c, way, "tesela_gemm with a record");
    memset(c, 0, sizeof c);
    must(tesela_gemm_grouped(context, &desc, NULL, 1, NULL));
    expect_square(c, way, "tesela_gemm_grouped");
    memset(c, 0, sizeof c);
    must(tesela_gemm_batched(context, &desc, &(tesela_batch){.count = 2, .c_stride = 9}, NULL));
    expect_square(c, way, "tesela_gemm_batched");
    expect_square(c + 9, way, "tesela_gemm_batched's second product");
    must(tesela_plan_create(context, &desc, &plan));
    memset(c, 0, sizeof c);
    must(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, NULL));
    expect_square(c, way, "tesela_plan_run");
    tesela_plan_destroy(plan);
    desc.c.data = NULL;
    memset(c, 0, sizeof c);
    must(tesela_gemm_batched(context, &desc, &(tesela_batch){.count = 1, .c = (void *const *)one_c}, NULL));
    expect_square(c, way, "tesela_gemm_batched by addresses");
  }
}

/* A broadcast row, a broadcast column and a broadcast element. Strides of 0 and 1 together are the
 * default strides. */
static void broadcasts_are_said(void **state) {
  (void)state;
  const float row[] = {5, 6, 7}, ones[] = {1, 1, 1};
  float c[9];
  tesela_gemm_desc desc = {.m = 3,
                           .n = 3,
                           .k = 3,
                           .a = {.data = row, .row_stride = TESELA_STRIDE_ZERO, .col_stride = 1},
                           .b = {.data = ones, .row_stride = 1, .col_stride = TESELA_STRIDE_ZERO},
                           .c = {.data = c}};
  must(tesela_gemm(context, &desc, NULL));
  for (int i = 0; i < 9; i++)
    assert_true(c[i] == 18);
  desc.b =
      (tesela_matrix){.data = row + 1, .row_stride = TESELA_STRIDE_ZERO, .col_stride = TESELA_STRIDE_ZERO};
  must(tesela_gemm(context, &desc, NULL));
  for (int i = 0; i < 9; i++)
    assert_true(c[i] == 18 * 6);
  desc.a.row_stride = 0;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL,
         "desc.a.col_stride is 1 and desc.a.row_stride is 0");
  desc.a = (tesela_matrix){.data = row, .row_stride = -1};
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "TESELA_STRIDE_ZERO: all columns are equal");
  desc.a = (tesela_matrix){.data = row, .row_stride = 1, .col_stride = 1}; /* what is said is done */
  desc.k = 2;
  desc.m = 2;
  must(tesela_gemm(context, &desc, NULL));
  assert_true(c[0] == 11 * 6 && c[3] == 13 * 6);
  desc.c.row_stride = TESELA_STRIDE_ZERO;
  desc.c.col_stride = 1;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "overlap each other");
  const tesela_gemm_desc line = {.m = 1, /* strides of a single row are of no use */
                                 .n = 1,
                                 .k = 3,
                                 .a = {.data = row, .col_stride = 1},
                                 .b = {.data = ones, .row_stride = 1},
                                 .c = {.data = c}};
  must(tesela_gemm(context, &line, NULL));
  assert_true(c[0] == 18);
}

/* The other operations, Level 3 by its names, and vectors whose elements are all one. */
static void one_stride_is_enough_everywhere(void **state) {
  const float lower[] = {2, NAN, NAN, 1, 4, NAN}, right[] = {2, 4}, pair[] = {10, 20};
  float c[6] = {0};
  (void)state;
  const tesela_transpose_desc transpose = {
      .rows = 2, .cols = 2, .a = {.data = in_rows, .row_stride = 3}, .b = {.data = c, .col_stride = 3}};
  must(tesela_transpose(context, &transpose, NULL));
  assert_true(c[0] == 1 && c[3] == 3 && c[1] == 2 && c[4] == 4 && c[2] == 0);
  const tesela_solve_desc solve = {.rows = 2,
                                   .cols = 1,
                                   .a = {.data = lower, .row_stride = 3},
                                   .triangle = TESELA_LOWER,
                                   .b = {.data = right},
                                   .x = {.data = c}};
  must(tesela_solve(context, &solve, NULL));
  assert_true(c[0] == 1 && c[1] == 0.75f);
  const tesela_gemm_desc update = {.n = 2,
                                   .k = 2,
                                   .a = {.data = in_rows, .row_stride = 3},
                                   .c = {.data = c, .row_stride = 3},
                                   .structure.c_triangle = TESELA_LOWER};
  must(tesela_syrk(context, &update, NULL));
  assert_true(c[0] == 5 && c[3] == 11 && c[4] == 25);
  const tesela_gemm_desc in_place = {.m = 2,
                                     .n = 2,
                                     .a = {.data = lower, .row_stride = 3},
                                     .structure.a_triangle = TESELA_LOWER,
                                     .c = {.data = c, .col_stride = 3}};
  memcpy(c, in_columns, sizeof c);
  must(tesela_trmm(context, &in_place, NULL));
  assert_true(c[0] == 2 && c[1] == 13 && c[3] == 4 && c[4] == 18);
  const tesela_dot_desc dot = {
      .n = 2, .x = {.data = pair, .stride = TESELA_STRIDE_ZERO}, .y = {.data = right}, .result = {.data = c}};
  must(tesela_dot(context, &dot, NULL));
  assert_true(c[0] == 60);
  tesela_gemm_desc desc = {.m = 2,
                           .n = 2,
                           .k = 2,
                           .a = {.data = dense},
                           .b = {.data = dense},
                           .c = {.data = c},
                           .epilogue =
                               &(tesela_epilogue){.bias = {.data = pair, .stride = TESELA_STRIDE_ZERO},
                                                  .bias_axis = TESELA_BIAS_ROW}};
  must(tesela_gemm(context, &desc, NULL));
  for (int i = 0; i < 4; i++)
    assert_true(c[i] == square[i] + 10);
}

static void types_follow_the_first(void **state) {
  (void)state;
  const double x[] = {1, 2, 3, 4};
  double z[4] = {0};
  tesela_gemm_desc desc = {
      .m = 2, .n = 2, .k = 2, .a = {.data = x, .type = TESELA_F64}, .b = {.data = x}, .c = {.data = z}};
  must(tesela_gemm(context, &desc, NULL));
  assert_true(z[0] == 7 && z[1] == 10 && z[2] == 15 && z[3] == 22);
  desc.a.type = TESELA_TYPE_DEFAULT;
  desc.b.type = TESELA_F64;
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED,
         "desc.a.type is 0, which means f32: A is f32, so B can be f32, and it is f64");
  desc.b.type = TESELA_F32;
  desc.c.type = TESELA_F64;
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED,
         "desc.a.type is 0, which means f32: A is f32 and B is f32, so C can be ");
  desc.a.type = TESELA_F64;
  desc.c.type = TESELA_TYPE_DEFAULT;
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED, "A is f64, so B can be f64, and it is f32");
  assert_true(strlen(tesela_last_error()) < 120);
}

/* A sentence names the strategy that came nearest, and counts the others. */
static void the_nearest_is_named(void **state) {
  (void)state;
  float c[4];
  tesela_gemm_desc desc = usual(c);
  desc.options.accuracy = "1e-30";
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED,
         "no strategy supports this gemm: exact on cpu: guarantees |error| <= 5.96e-08 |A||B|, and 1e-30 is "
         "asked "
         "for; and ");
  assert_non_null(strstr(tesela_last_error(), " more, listed by tesela explain"));
}

/* Sizes that no memory holds, with elements or without, in each call. */
static void sizes_beyond_memory_are_refused(void **state) {
  static const int64_t sizes[] = {0, 1, (int64_t)1 << 59, ((int64_t)1 << 59) + 1, INT64_MAX - 63, INT64_MAX};
  static const tesela_type types[] = {TESELA_F64, TESELA_F32,  TESELA_F16, TESELA_I8,
                                      TESELA_C64, TESELA_C128, TESELA_E4M3};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  static double memory[64];
  (void)state;
  int refused = 0, done = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (int i = 0; i < SIZES * SIZES * SIZES; i++) {
      const int64_t m = sizes[i % SIZES], n = sizes[i / SIZES % SIZES], k = sizes[i / SIZES / SIZES];
      if (m != 0 && n != 0)
        continue;
      const tesela_gemm_desc desc = {.m = m,
                                     .n = n,
                                     .k = k,
                                     .a = {.data = memory, .type = types[t]},
                                     .b = {.data = memory},
                                     .c = {.data = memory}};
      const tesela_transpose_desc transpose = {
          .rows = m, .cols = n, .a = {.data = memory, .type = types[t]}, .b = {.data = memory}};
      const tesela_solve_desc solve = {.rows = m,
                                       .cols = n,
                                       .a = {.data = memory, .type = types[t]},
                                       .triangle = TESELA_LOWER,
                                       .b = {.data = memory},
                                       .x = {.data = memory}};
      const tesela_batch batch = {.count = INT64_MAX / 64, .a_stride = 1};
      tesela_plan *plan = NULL;
      const tesela_status seen[] = {tesela_gemm(context, &desc, NULL),
                                    tesela_gemm_grouped(context, &desc, NULL, 1, NULL),
                                    tesela_gemm_batched(context, &desc, &batch, NULL),
                                    tesela_plan_create(context, &desc, &plan),
                                    tesela_transpose(context, &transpose, NULL),
                                    tesela_solve(context, &solve, NULL)};
      tesela_plan_destroy(plan);
      for (size_t s = 0; s < sizeof seen / sizeof *seen; s++) {
        refused += seen[s] == TESELA_BAD_CALL;
        done += seen[s] == TESELA_OK;
        if (seen[s] != TESELA_OK && seen[s] != TESELA_BAD_CALL && seen[s] != TESELA_UNSUPPORTED)
          fail_msg("call %zu of %lld x %lld x %lld: %s: %s", s, (long long)m, (long long)n, (long long)k,
                   tesela_status_name(seen[s]), tesela_last_error());
      }
    }
  assert_true(refused > 0 && done > 0);
}

static void what_is_not_read_may_be_missing(void **state) {
  (void)state;
  float c[4] = {1, 2, 3, 4};
  const double zero = 0, two = 2;
  tesela_gemm_desc desc = usual(c);
  desc.a.data = desc.b.data = NULL;
  desc.alpha = &zero;
  desc.beta = &two;
  must(tesela_gemm(context, &desc, NULL));
  const float doubled[] = {2, 4, 6, 8};
  assert_memory_equal(c, doubled, sizeof doubled);
  desc.alpha = NULL;
  desc.beta = NULL;
  desc.k = 0;
  must(tesela_gemm(context, &desc, NULL));
  const float zeros[4] = {0};
  assert_memory_equal(c, zeros, sizeof zeros);
  const tesela_gemm_desc nothing = {.m = 0, .n = 7, .k = 3};
  must(tesela_gemm(context, &nothing, NULL));
}

static void columns_may_be_interleaved(void **state) {
  (void)state;
  float both[8] = {1, 0, 2, 0, 3, 0, 4, 0}; /* A in the even columns, C in the odd ones */
  float identity[] = {1, 0, 0, 1};
  const tesela_gemm_desc desc = {.m = 2,
                                 .n = 2,
                                 .k = 2,
                                 .a = {.data = both, .row_stride = 4, .col_stride = 2},
                                 .b = {.data = identity},
                                 .c = {.data = both + 1, .row_stride = 4, .col_stride = 2}};
  must(tesela_gemm(context, &desc, NULL));
  const float expected[] = {1, 1, 2, 2, 3, 3, 4, 4};
  assert_memory_equal(both, expected, sizeof expected);
}

static void records_say_what_ran(void **state) {
  (void)state;
  float c[4];
  tesela_gemm_desc desc = usual(c);
  tesela_record record;
  desc.options.strategy = "sequential";
  must(tesela_gemm(context, &desc, &record));
  assert_string_equal(record.plan,
                      "gemm sequential version=1 device=cpu place=host m=2 n=2 k=3 types=f32,f32,f32");
  assert_true(record.seconds > 0 && record.seconds_compute > 0 && record.seconds_compute <= record.seconds);
  assert_true(record.seconds_allocate == 0 && record.seconds_copy_in == 0 && record.seconds_copy_out == 0);
  assert_true(record.error_bound > 0 && record.error_bound < 1e-5);
}

/* --- errors --- */

typedef struct bad_desc {
  void (*spoil)(tesela_gemm_desc *desc);
  tesela_status status;
  const char *names;
} bad_desc;

static void negative_size(tesela_gemm_desc *desc) {
  desc->k = -4;
}
static void unknown_type(tesela_gemm_desc *desc) {
  desc->b.type = (tesela_type)77;
}
static void no_data(tesela_gemm_desc *desc) {
  desc->b.data = NULL;
}
static void no_result(tesela_gemm_desc *desc) {
  desc->c.data = NULL;
}
static void unaligned(tesela_gemm_desc *desc) {
  desc->a.data = (const char *)desc->a.data + 1;
}
static void rows_of_c_overlap(tesela_gemm_desc *desc) {
  desc->c.row_stride = 1;
  desc->c.col_stride = 1;
}
static void extent_overflows(tesela_gemm_desc *desc) {
  desc->a.row_stride = INT64_MAX / 2;
  desc->a.col_stride = 1;
}
static void in_place(tesela_gemm_desc *desc) {
  desc->c.data = a;
}
static void partly_in_place(tesela_gemm_desc *desc) {
  desc->c.data = b + 3;
}
static void unknown_device(tesela_gemm_desc *desc) {
  desc->options.device = "abacus";
}
static void absent_device(tesela_gemm_desc *desc) {
  desc->options.device = "cpu:9";
}
static void endless_device(tesela_gemm_desc *desc) {
  desc->options.device = "cpu:0000000000000000000000000000000000000000000000000000000000000000"
                         "0000000000000000000000000000000000000000000000000000000000000000";
}
static void unknown_strategy(tesela_gemm_desc *desc) {
  desc->options.strategy = "guess";
}
static void unknown_parameter(tesela_gemm_desc *desc) {
  desc->options.strategy = "sequential tile=3";
}
static void unfit_strategy(tesela_gemm_desc *desc) {
  desc->options.strategy = "tile_local";
}
static void unsupported_types(tesela_gemm_desc *desc) {
  desc->a.type = desc->b.type = desc->c.type = TESELA_I32;
}
static void reserved_of_c(tesela_gemm_desc *desc) {
  desc->c.reserved = 1;
}

static const bad_desc bad_descs[] = {
    {negative_size, TESELA_BAD_CALL, "desc.k is -4"},
    {unknown_type, TESELA_BAD_CALL, "desc.b.type is 77"},
    {no_data, TESELA_BAD_CALL, "desc.b.data is NULL"},
    {no_result, TESELA_BAD_CALL, "desc.c.data is NULL"},
    {unaligned, TESELA_BAD_CALL, "desc.a.data"},
    {rows_of_c_overlap, TESELA_BAD_CALL, "desc: elements of C"},
    {extent_overflows, TESELA_BAD_CALL, "desc: A"},
    {in_place, TESELA_BAD_CALL, "desc.c overlaps desc.a"},
    {partly_in_place, TESELA_BAD_CALL, "desc.c overlaps desc.b"},
    {unknown_device, TESELA_BAD_CALL, "abacus"},
    {absent_device, TESELA_NO_DEVICE, "cpu:9"},
    {endless_device, TESELA_BAD_CALL, "desc.options.device"},
    {unknown_strategy, TESELA_BAD_INPUT, "'guess'"},
    {unknown_parameter, TESELA_BAD_INPUT, "'tile'"},
    {unfit_strategy, TESELA_UNSUPPORTED, "tile_local on cpu"},
    {unsupported_types, TESELA_UNSUPPORTED, "i32"},
    {reserved_of_c, TESELA_BAD_CALL, "desc.c.reserved is 1"},
};

static void bad_descriptions_are_named(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad_descs / sizeof *bad_descs; i++) {
    float c[4] = {1, 2, 3, 4};
    const float before[] = {1, 2, 3, 4};
    tesela_gemm_desc desc = usual(c);
    bad_descs[i].spoil(&desc);
    expect(tesela_gemm(context, &desc, NULL), bad_descs[i].status, bad_descs[i].names);
    assert_memory_equal(c, before, sizeof before);
  }
}

static void missing_arguments_are_named(void **state) {
  (void)state;
  float c[4];
  const tesela_gemm_desc desc = usual(c);
  tesela_context *made;
  tesela_plan *plan;
  tesela_buffer *buffer;
  const tesela_context_desc no_threads = {.threads = -1}, no_such = {.device = "abacus:0"};
  expect(tesela_gemm(NULL, &desc, NULL), TESELA_BAD_CALL, "context is NULL");
  expect(tesela_gemm(context, NULL, NULL), TESELA_BAD_CALL, "desc is NULL");
  expect(tesela_context_create(NULL, NULL), TESELA_BAD_CALL, "context is NULL");
  expect(tesela_context_create(&no_threads, &made), TESELA_BAD_CALL, "desc.threads");
  expect(tesela_context_create(&no_such, &made), TESELA_BAD_CALL, "desc.device");
  assert_null(made);
  expect(tesela_plan_create(context, NULL, &plan), TESELA_BAD_CALL, "desc is NULL");
  expect(tesela_plan_create(context, &desc, NULL), TESELA_BAD_CALL, "plan is NULL");
  expect(tesela_plan_create(context, &(tesela_gemm_desc){.options.expected_runs = -1}, &plan),
         TESELA_BAD_CALL, "desc.options.expected_runs is -1");
  expect(tesela_plan_parse(context, NULL, &plan), TESELA_BAD_CALL, "text is NULL");
  expect(tesela_plan_run(NULL, &(tesela_operands){0}, NULL), TESELA_BAD_CALL, "plan is NULL");
  expect(tesela_buffer_create(context, "cpu", 8, NULL), TESELA_BAD_CALL, "buffer is NULL");
  expect(tesela_buffer_create(context, "abacus", 8, &buffer), TESELA_BAD_CALL, "abacus");
  expect(tesela_buffer_write(NULL, 0, c, 4), TESELA_BAD_CALL, "buffer is NULL");
  expect(tesela_device_count(context, NULL), TESELA_BAD_CALL, "count is NULL");
  expect(tesela_device_info(context, 0, NULL), TESELA_BAD_CALL, "info is NULL");
  assert_string_equal(tesela_plan_describe(NULL), "");
  assert_true(tesela_plan_workspace(NULL) == 0 && tesela_plan_seconds(NULL) == 0);
  const tesela_memory nothing = tesela_buffer_memory(NULL);
  assert_true(!nothing.native && !*nothing.device && nothing.bytes == 0);
  tesela_plan_destroy(NULL);
  tesela_buffer_destroy(NULL);
  tesela_context_destroy(NULL);
}

static void the_environment_names_a_device(void **state) {
  (void)state;
  tesela_context *made;
  setenv("TESELA_DEVICE", "abacus", 1);
  expect(tesela_context_create(NULL, &made), TESELA_BAD_CALL, "TESELA_DEVICE");
  setenv("TESELA_DEVICE", "cpu", 1);
  must(tesela_context_create(NULL, &made));
  float c[4];
  const tesela_gemm_desc desc = usual(c);
  tesela_record record;
  must(tesela_gemm(made, &desc, &record));
  assert_non_null(strstr(record.plan, "device=cpu"));
  tesela_context_destroy(made);
  unsetenv("TESELA_DEVICE");
}

/* --- plans --- */

static void plans_are_run_again(void **state) {
  (void)state;
  float c[4], d[4];
  const tesela_gemm_desc shape = {.m = 2, .n = 2, .k = 3};
  const tesela_matrix first = {.data = a}, second = {.data = b};
  const tesela_result third = {.data = c}, fourth = {.data = d}, onto_a = {.data = a};
  tesela_plan *plan, *again;
  tesela_record record;
  must(tesela_plan_create(context, &shape, &plan));
  must(tesela_plan_run(plan, &(tesela_operands){.a = &first, .b = &second, .c = &third}, NULL));
  must(tesela_plan_run(plan, &(tesela_operands){.a = &first, .b = &second, .c = &fourth}, &record));
  assert_memory_equal(c, product, sizeof product);
  assert_memory_equal(d, product, sizeof product);
  assert_string_equal(record.plan, tesela_plan_describe(plan));
  must(tesela_plan_parse(context, tesela_plan_describe(plan), &again));
  assert_string_equal(tesela_plan_describe(again), tesela_plan_describe(plan));
  assert_true(tesela_plan_seconds(plan) > 0 && tesela_plan_seconds(plan) < 1);
  assert_true(tesela_plan_seconds(again) == 0 && tesela_plan_seconds(NULL) == 0);
  memset(c, 0, sizeof c);
  must(tesela_plan_run(again, &(tesela_operands){.a = &first, .b = &second, .c = &third}, NULL));
  assert_memory_equal(c, product, sizeof product);
  expect(tesela_plan_run(plan, &(tesela_operands){.b = &second, .c = &third}, NULL), TESELA_BAD_CALL,
         "a.data is NULL");
  expect(tesela_plan_run(plan, &(tesela_operands){.a = &first, .b = &second, .c = &onto_a}, NULL),
         TESELA_BAD_CALL, "c overlaps a");
  tesela_plan_destroy(again);
  tesela_plan_destroy(plan);
  expect(tesela_plan_parse(context, "gemm guess version=1", &plan), TESELA_BAD_INPUT, "'guess'");
  assert_null(plan);
}

/* Calls more shapes than the cache of plans holds, twice: a plan that was dropped is made again. */
static void many_shapes_are_remembered_and_forgotten(void **state) {
  (void)state;
  float ones[100], c[100];
  for (int i = 0; i < 100; i++)
    ones[i] = 1;
  for (int round = 0; round < 2; round++)
    for (int n = 1; n <= 100; n++) {
      const tesela_gemm_desc desc = {
          .m = 1, .n = n, .k = 1, .a = {.data = ones}, .b = {.data = ones}, .c = {.data = c}};
      memset(c, 0, sizeof c);
      must(tesela_gemm(context, &desc, NULL));
      assert_true(c[0] == 1 && c[n - 1] == 1 && (n == 100 || c[n] == 0));
    }
}

/* --- buffers and devices --- */

static void buffers_hold_operands(void **state) {
  (void)state;
  tesela_buffer *buffer, *result;
  float c[4] = {0};
  must(tesela_buffer_create(context, "cpu", 14 * sizeof(float), &buffer));
  must(tesela_buffer_create(context, NULL, 6 * sizeof(float), &result));
  must(tesela_buffer_write(buffer, 0, a, sizeof a));
  must(tesela_buffer_write(buffer, 8 * sizeof(float), b, sizeof b));
  tesela_gemm_desc desc = {.m = 2,
                           .n = 2,
                           .k = 3,
                           .a = {.buffer = buffer},
                           .b = {.buffer = buffer, .offset = 8},
                           .c = {.buffer = result, .offset = 1}};
  tesela_record record;
  must(tesela_gemm(context, &desc, &record));
  assert_non_null(strstr(record.plan, "place=device"));
  must(tesela_buffer_read(result, sizeof(float), c, sizeof c));
  assert_memory_equal(c, product, sizeof product);

  desc.c.offset = 3;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL,
         "desc.c.offset is 3: there must be 0 elements before that and 4 from there on");
  desc.c.offset = -1;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "desc.c.offset is -1");
  desc.c.offset = INT64_MAX;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "desc.c.offset is");
  desc.c = (tesela_result){.buffer = buffer, .offset = 2};
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "desc.c overlaps desc.a");
  desc.c = (tesela_result){.data = c};
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL,
         "desc.c is in host memory and desc.b in a buffer");
  desc.c = (tesela_result){.data = c, .buffer = result};
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "desc.c.data and desc.c.buffer are both given");
  expect(tesela_buffer_write(result, 20, c, 8), TESELA_BAD_CALL, "8 bytes at offset 20");
  expect(tesela_buffer_read(result, SIZE_MAX, c, 8), TESELA_BAD_CALL, "offset");
  expect(tesela_buffer_read(result, 0, NULL, 8), TESELA_BAD_CALL, "host is NULL");
  must(tesela_buffer_read(result, 24, NULL, 0));
  tesela_buffer_destroy(result);
  tesela_buffer_destroy(buffer);
}

/* Rows of 3 elements: 5 apart in host memory, 4 apart in the buffer, after its first element.
 * Elements between the rows keep their values. */
static void buffers_take_rows(void **state) {
  (void)state;
  enum { ROWS = 4, WIDTH = 3, HOST = 5, IN = 4, ALL = 1 + (ROWS - 1) * IN + WIDTH };
  static const char *const devices[] = {"cpu", "opencl:0"};
  const size_t size = sizeof(float), row = WIDTH * size;
  for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
    tesela_buffer *buffer;
    float host[ROWS * HOST], all[ALL], back[ROWS * HOST];
    for (int i = 0; i < ROWS * HOST; i++) {
      host[i] = (float)i;
      back[i] = -2;
    }
    for (int i = 0; i < ALL; i++)
      all[i] = -1;
    const tesela_status made = tesela_buffer_create(context, devices[d], sizeof all, &buffer);
    if (made == TESELA_NO_DEVICE && d > 0)
      continue;
    must(made);
    must(tesela_buffer_write(buffer, 0, all, sizeof all));
    must(tesela_buffer_copy_rows(buffer, size, IN * size, host, NULL, HOST * size, ROWS, row));
    must(tesela_buffer_read(buffer, 0, all, sizeof all));
    for (int i = 0; i < ALL; i++) {
      const int is_gap = i == 0 || (i - 1) % IN >= WIDTH;
      assert_true(all[i] == (is_gap ? -1 : (float)((i - 1) / IN * HOST + (i - 1) % IN)));
    }
    must(tesela_buffer_copy_rows(buffer, size, IN * size, NULL, back, HOST * size, ROWS, row));
    for (int i = 0; i < ROWS * HOST; i++)
      assert_true(back[i] == (i % HOST < WIDTH ? host[i] : -2));
    must(tesela_buffer_copy_rows(buffer, size, 0, host, NULL, 0, 1, row));
    must(tesela_buffer_copy_rows(buffer, size, 0, NULL, NULL, 0, 0, row));
    expect(tesela_buffer_copy_rows(buffer, 2 * size, IN * size, host, NULL, HOST * size, ROWS, row),
           TESELA_BAD_CALL, "4 rows of 12 bytes, 16 apart, at offset 8 exceed a buffer of 64 bytes");
    expect(tesela_buffer_copy_rows(buffer, 0, SIZE_MAX, NULL, back, SIZE_MAX, 2, row), TESELA_BAD_CALL,
           "exceed a buffer");
    expect(tesela_buffer_copy_rows(buffer, 0, row - 1, host, NULL, row, 2, row), TESELA_BAD_CALL,
           "rows of 12 bytes begin 11 bytes apart in the buffer");
    expect(tesela_buffer_copy_rows(buffer, 0, row, NULL, back, row - 4, 2, row), TESELA_BAD_CALL,
           "rows of 12 bytes begin 8 bytes apart in host memory");
    expect(tesela_buffer_copy_rows(buffer, 0, row, host, back, row, 2, row), TESELA_BAD_CALL,
           "source and target are both given");
    tesela_buffer_destroy(buffer);
  }
}

/* A plan for buffers takes buffers, and one for host memory takes host memory. */
static void places_do_not_mix(void **state) {
  (void)state;
  tesela_buffer *buffer;
  float c[4];
  must(tesela_buffer_create(context, "cpu", 64, &buffer));
  const tesela_gemm_desc on_device = {.m = 2, .n = 2, .k = 3, .a = {.buffer = buffer}},
                         on_host = {.m = 2, .n = 2, .k = 3};
  const tesela_matrix host_a = {.data = a}, host_b = {.data = b}, there = {.buffer = buffer};
  const tesela_result host_c = {.data = c};
  tesela_plan *plan;
  must(tesela_plan_create(context, &on_device, &plan));
  expect(tesela_plan_run(plan, &(tesela_operands){.a = &host_a, .b = &host_b, .c = &host_c}, NULL),
         TESELA_BAD_CALL, "the plan is for buffers");
  tesela_plan_destroy(plan);
  must(tesela_plan_create(context, &on_host, &plan));
  expect(tesela_plan_run(plan, &(tesela_operands){.a = &there, .b = &host_b, .c = &host_c}, NULL),
         TESELA_BAD_CALL, "the plan is for host memory");
  tesela_plan_destroy(plan);
  tesela_buffer_destroy(buffer);
}

static void devices_are_told(void **state) {
  (void)state;
  int count;
  tesela_device info;
  must(tesela_device_count(context, &count));
  assert_true(count >= 1);
  must(tesela_device_info(context, 0, &info));
  assert_string_equal(info.name, "cpu");
  assert_true(info.has_f64 && info.shares_host_memory);
  assert_true(info.compute_units >= 1 && info.memory_bytes > 1 << 20);
  expect(tesela_device_info(context, count, &info), TESELA_BAD_CALL, "index is");
  expect(tesela_device_info(context, -1, &info), TESELA_BAD_CALL, "index is -1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_are_dense_row_major_f32),
      cmocka_unit_test(scalars_apply),
      cmocka_unit_test(doubles_are_asked_for),
      cmocka_unit_test(dense_products_take_one_line),
      cmocka_unit_test(transposes_are_of_what_is_stored),
      cmocka_unit_test(strides_may_be_negative),
      cmocka_unit_test(one_stride_is_enough),
      cmocka_unit_test(broadcasts_are_said),
      cmocka_unit_test(one_stride_is_enough_everywhere),
      cmocka_unit_test(types_follow_the_first),
      cmocka_unit_test(the_nearest_is_named),
      cmocka_unit_test(sizes_beyond_memory_are_refused),
      cmocka_unit_test(what_is_not_read_may_be_missing),
      cmocka_unit_test(columns_may_be_interleaved),
      cmocka_unit_test(records_say_what_ran),
      cmocka_unit_test(bad_descriptions_are_named),
      cmocka_unit_test(missing_arguments_are_named),
      cmocka_unit_test(the_environment_names_a_device),
      cmocka_unit_test(plans_are_run_again),
      cmocka_unit_test(many_shapes_are_remembered_and_forgotten),
      cmocka_unit_test(buffers_hold_operands),
      cmocka_unit_test(buffers_take_rows),
      cmocka_unit_test(places_do_not_mix),
      cmocka_unit_test(devices_are_told),
  };
  return cmocka_run_group_tests(tests, context_set_up, context_tear_down);
}

/* desc.options.verify of products with a bias, with scales, with structured factors, and in place; repair of
 * wrong tiles. No right result is called wrong, in any rounding mode and for any data. */
#include "host/int_math.h"
#include "judge/data.h"
#include "problem/structure.h"
#include "unit/calls.h"
#include "unit/sanitizers.h"
#include "unit/wrong_plan.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A pool has numbers of one type and one kind of data. Operands start anywhere in its first half. */
enum {
  M_MAX = 37,
  N_MAX = 600,
  K_MAX = 40,
  START = 4096,
  LARGE = 300,
  POOL = START + LARGE * (LARGE + 2),
  SEED = 11
};

static tesela_context *context;

/* --- data --- */

typedef enum test_data {
  NORMAL,
  WHOLE,
  GRADED,
  SPECIAL,
  CANCELLING,
  SUBNORMAL,
  HUGE_NUMBERS,
  KINDS
} test_data;
static unsigned char *pools[32][KINDS]; /* by type; NULL: not made yet */

/* Multiplies normal numbers, or makes neighbours cancel. */
static void change_pool(tesela_type type, test_data kind, unsigned char *pool) {
  const tsl_type_info *info = tsl_type(type);
  const double factor = kind == SUBNORMAL      ? info->smallest * 64
                        : kind == HUGE_NUMBERS ? sqrt(info->largest) / 4
                                               : 1;
  for (int i = 0; i < POOL && kind >= CANCELLING && !info->is_integer; i++) {
    double value[2];
    tsl_type_load(type, pool + (size_t)i * info->size, value);
    for (int part = 0; part < 2; part++)
      value[part] =
          kind == CANCELLING ? (i % 2 ? -1 : 1) * (1 + value[part] * 0x1p-10) : value[part] * factor;
    tsl_type_store(type, pool + (size_t)i * info->size, value);
  }
}

static void *get_data(tesela_type type, test_data kind, int64_t start) {
  unsigned char **pool = &pools[type][kind];
  if (!*pool) {
    static const tsl_data drawn[KINDS] = {TSL_DATA_NORMAL, TSL_DATA_INTEGER, TSL_DATA_GRADED,
                                          TSL_DATA_SPECIAL};
    const tsl_shape shape = {.type = type, .rows = 1, .cols = POOL, .row_stride = POOL, .col_stride = 1};
    *pool = calloc(POOL, tsl_type(type)->size);
    must(tsl_data_fill(kind < CANCELLING ? drawn[kind] : TSL_DATA_NORMAL, SEED + (uint64_t)kind, &shape,
                       K_MAX, *pool));
    change_pool(type, kind, *pool);
  }
  return *pool + (size_t)start * tsl_type(type)->size;
}

/* --- products --- */

typedef struct test_kind {
  tesela_type types[3]; /* of A, B and C */
  tesela_bias_axis bias;
  tesela_scaling scale_a, scale_b;
  tesela_structure structure_a, structure_b;
  tesela_triangle triangle;
  int in_place;
} test_kind;

#define TYPES(a, b, c) .types = {TESELA_##a, TESELA_##b, TESELA_##c}
#define SAME(type) TYPES(type, type, type)
#define WITH_BIAS(axis, ...)                                                                                 \
  { __VA_ARGS__, .bias = TESELA_BIAS_##axis }
#define WITH_SCALES(a_scales, b_scales, ...)                                                                 \
  { __VA_ARGS__, .scale_a = TESELA_##a_scales, .scale_b = TESELA_##b_scales, .bias = TESELA_BIAS_ROW }
#define WITH_STRUCTURE(operand, name, stored, ...)                                                           \
  { __VA_ARGS__, .structure_##operand = TESELA_##name, .triangle = TESELA_##stored }
static const test_kind kinds[] = {
    {SAME(F64)},
    {SAME(F32)},
    {SAME(F16)},
    {SAME(BF16)},
    {SAME(C64)},
    {SAME(C128)},
    {TYPES(BF16, BF16, F32)},
    {TYPES(F16, F16, F32)},
    {TYPES(I8, I8, I32)},
    {TYPES(U8, I8, I32)},
    {TYPES(E4M3, E4M3, BF16)},
    {TYPES(E5M2, E4M3, F32)},
    WITH_BIAS(ROW, SAME(F64)),
    WITH_BIAS(COLUMN, SAME(F32)),
    WITH_BIAS(ROW, SAME(F16)),
    WITH_BIAS(COLUMN, SAME(BF16)),
    WITH_BIAS(ROW, SAME(C64)),
    WITH_BIAS(COLUMN, SAME(C128)),
    WITH_BIAS(COLUMN, TYPES(BF16, BF16, F32)),
    WITH_SCALES(SCALE_TENSOR, SCALE_LINES, SAME(F32)),
    WITH_SCALES(SCALE_LINES, SCALE_LINES, TYPES(I8, I8, F32)),
    WITH_SCALES(SCALE_LINES, SCALE_TENSOR, TYPES(I8, U8, BF16)),
    WITH_SCALES(SCALE_TENSOR, SCALE_TENSOR, TYPES(E4M3, E4M3, BF16)),
    WITH_SCALES(NO_SCALE, SCALE_LINES, TYPES(E5M2, E4M3, F32)),
    WITH_SCALES(SCALE_LINES, NO_SCALE, SAME(F16)),
    WITH_SCALES(SCALE_LINES, SCALE_LINES, SAME(BF16)),
    WITH_STRUCTURE(a, SYMMETRIC, LOWER, SAME(F64)),
    WITH_STRUCTURE(b, SYMMETRIC, UPPER, SAME(F32)),
    WITH_STRUCTURE(a, SYMMETRIC, UPPER, SAME(C64)),
    WITH_STRUCTURE(a, HERMITIAN, UPPER, SAME(C64)),
    WITH_STRUCTURE(b, HERMITIAN, LOWER, SAME(C128)),
    WITH_STRUCTURE(a, TRIANGULAR, LOWER, SAME(F32)),
    WITH_STRUCTURE(b, TRIANGULAR, UPPER, SAME(F64)),
    WITH_STRUCTURE(a, UNIT_TRIANGULAR, UPPER, SAME(C128)),
    WITH_STRUCTURE(b, UNIT_TRIANGULAR, LOWER, SAME(F32)),
    {SAME(F64), .structure_a = TESELA_TRIANGULAR, .triangle = TESELA_LOWER, .in_place = 1},
    {SAME(F32), .structure_b = TESELA_UNIT_TRIANGULAR, .triangle = TESELA_UPPER, .in_place = 1},
    {SAME(C64), .structure_b = TESELA_TRIANGULAR, .triangle = TESELA_LOWER, .in_place = 1}};
enum { ALL_KINDS = sizeof kinds / sizeof *kinds };
/* The first kinds are covered by test_api_verify. */
enum { FIRST_KIND = 12 };

static unsigned char *c_memory;

typedef struct test_product {
  const test_kind *kind;
  int64_t m, n, k;
  bool by_columns[3];
  tsl_shape shape[3];
  tesela_gemm_desc desc;
  tesela_epilogue epilogue;
  double alpha[2], beta[2];
} test_product;

static tsl_shape set_matrix(const test_product *product, int operand, int64_t rows, int64_t cols,
                            tesela_type type) {
  const bool by_columns = product->by_columns[operand];
  return (tsl_shape){.type = type,
                     .rows = rows,
                     .cols = cols,
                     .row_stride = by_columns ? 1 : cols + operand,
                     .col_stride = by_columns ? rows + operand : 1};
}

static tesela_matrix as_matrix(const tsl_shape *shape) {
  return (tesela_matrix){
      .row_stride = shape->row_stride, .col_stride = shape->col_stride, .type = shape->type};
}

/* Makes the description, whose operands have no data yet. */
static void describe(test_product *product) {
  const test_kind *kind = product->kind;
  product->k = kind->structure_a ? product->m : kind->structure_b ? product->n : product->k;
  product->shape[0] = set_matrix(product, 0, product->m, product->k, kind->types[0]);
  product->shape[1] = set_matrix(product, 1, product->k, product->n, kind->types[1]);
  product->shape[2] = set_matrix(product, 2, product->m, product->n, kind->types[2]);
  product->epilogue = (tesela_epilogue){.bias = {.type = kind->types[2]},
                                        .bias_axis = kind->bias,
                                        .scaling_a = kind->scale_a,
                                        .scaling_b = kind->scale_b};
  product->desc =
      (tesela_gemm_desc){.m = product->m,
                         .n = product->n,
                         .k = product->k,
                         .a = as_matrix(&product->shape[0]),
                         .b = as_matrix(&product->shape[1]),
                         .c = {.row_stride = product->shape[2].row_stride,
                               .col_stride = product->shape[2].col_stride,
                               .type = kind->types[2]},
                         .alpha = product->alpha,
                         .beta = product->beta,
                         .structure = {.a = kind->structure_a,
                                       .b = kind->structure_b,
                                       .a_triangle = kind->structure_a ? kind->triangle : TESELA_WHOLE,
                                       .b_triangle = kind->structure_b ? kind->triangle : TESELA_WHOLE,
                                       .in_place = kind->in_place},
                         .options = {.device = "cpu", .verify = "all"}};
  if (kind->bias || kind->scale_a || kind->scale_b)
    product->desc.epilogue = &product->epilogue;
  product->shape[0].structure = kind->structure_a;
  product->shape[0].triangle = product->desc.structure.a_triangle;
  product->shape[1].structure = kind->structure_b;
  product->shape[1].triangle = product->desc.structure.b_triangle;
  if (kind->in_place)
    *(kind->structure_a ? &product->desc.b : &product->desc.a) = (tesela_matrix){.data = NULL};
}

/* Takes new operands from the pools, and writes C0. */
static void set_data(test_product *product, const test_data data[3], test_data scales, uint64_t bits) {
  const test_kind *kind = product->kind;
  const tsl_shape *c = &product->shape[2];
  tesela_gemm_desc *desc = &product->desc;
  const int64_t start[3] = {(int64_t)(bits % START), (int64_t)(bits >> 16) % START,
                            (int64_t)(bits >> 32) % START};
  if (!(kind->in_place && kind->structure_b))
    desc->a.data = get_data(kind->types[0], data[0], start[0]);
  if (!(kind->in_place && kind->structure_a))
    desc->b.data = get_data(kind->types[1], data[1], start[1]);
  desc->c.data = c_memory;
  memcpy(c_memory, get_data(kind->types[2], data[2], start[2]),
         (size_t)(c->row_stride * (c->rows - 1) + c->col_stride * (c->cols - 1) + 1) *
             tsl_type(kind->types[2])->size);
  product->epilogue.bias.data = kind->bias ? get_data(kind->types[2], data[2], start[1]) : NULL;
  product->epilogue.scale_a.data = kind->scale_a ? get_data(TESELA_F32, scales, start[2]) : NULL;
  product->epilogue.scale_b.data = kind->scale_b ? get_data(TESELA_F32, scales, start[0]) : NULL;
}

static void set_normal_data(test_product *product) {
  set_data(product, (const test_data[3]){NORMAL, NORMAL, NORMAL}, NORMAL, 12345);
}

static void set_scalars(test_product *product, int index) {
  const bool is_integer = tsl_type(product->kind->types[2])->is_integer;
  product->alpha[0] = is_integer ? 1 - index : index % 2 ? 1 : -0.75;
  product->beta[0] = product->kind->in_place || index / 2 % 2 == 0 ? 0
                     : is_integer                                  ? -3
                     : index / 4                                   ? 1
                                                                   : 0.5;
}

static void fail_run(const test_product *product, const char *what) {
  char name[160];
  const test_kind *kind = product->kind;
  snprintf(name, sizeof name, "kind %d (%s, %s, %s), %lld x %lld x %lld, beta %g", (int)(kind - kinds),
           tsl_type(kind->types[0])->name, tsl_type(kind->types[1])->name, tsl_type(kind->types[2])->name,
           (long long)product->m, (long long)product->n, (long long)product->k, product->beta[0]);
  fail_msg("%s: %s", name, what);
}

/* --- right results --- */

static int64_t clean_runs = ADDRESS_SANITIZER || THREAD_SANITIZER ? 2000 : 20000; /* a million in a sweep */

/* Right results of all kinds of products and data, in all rounding modes: no alarm. */
static void right_results(void **state) {
  static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO, FE_DOWNWARD};
  enum { RUNS = 250 };
  int64_t verified = 0, unverified = 0, done = 0;
  (void)state;
  for (int64_t turn = 0; done < clean_runs; turn++) {
    const uint64_t bits = tsl_random_u64(SEED, (uint64_t)turn);
    test_product product = {.kind = &kinds[turn % ALL_KINDS],
                            .m = 1 + (int64_t)(bits % (M_MAX - 1)),
                            .n = 1 + (int64_t)((bits >> 8) % (turn % 16 ? 40 : N_MAX)),
                            .k = (int64_t)((bits >> 20) % K_MAX)};
    tesela_plan *plan;
    if (product.kind->structure_b)
      product.n = tsl_min(product.n, K_MAX);
    for (int i = 0; i < 3; i++)
      product.by_columns[i] = bits >> (32 + i) & 1;
    set_scalars(&product, (int)(bits >> 40) % 8);
    describe(&product);
    if (tesela_plan_create(context, &product.desc, &plan) != TESELA_OK)
      fail_run(&product, tesela_last_error());
    const wrong_plan right = {.plan = plan};
    for (int run = 0; run < RUNS; run++, done++) {
      const uint64_t drawn = tsl_random_u64(SEED + 1, (uint64_t)(turn * RUNS + run));
      tesela_record record;
      set_data(&product,
               (const test_data[3]){(test_data)(drawn >> 50) % KINDS, (test_data)(drawn >> 53) % KINDS,
                                    (test_data)(drawn >> 56) % KINDS},
               (test_data)(drawn >> 59) % KINDS, drawn);
      fesetround(modes[run % 4]);
      const tesela_status status = run_wrong_plan(&right, &product.desc, &record);
      fesetround(FE_TONEAREST);
      if (status != TESELA_OK)
        fail_run(&product, tesela_last_error());
      assert_int_equal(record.verified + record.unverified, product.m * product.n);
      verified += record.verified;
      unverified += record.unverified;
    }
    tesela_plan_destroy(plan);
  }
  printf("%lld runs without an alarm: %lld elements verified, %lld not\n", (long long)done,
         (long long)verified, (long long)unverified);
  assert_true(verified > unverified);
}

/* Factors with structures that are larger than a tile of the checksums. */
static void large_structures(void **state) {
  (void)state;
  for (int kind = 0; kind < ALL_KINDS; kind++)
    for (int by_columns = 0; by_columns < 2; by_columns++) {
      test_product product = {.kind = &kinds[kind], .m = 20, .n = 21, .by_columns = {by_columns, by_columns}};
      tesela_record record;
      wrong_plan wrong;
      if (!product.kind->structure_a && !product.kind->structure_b)
        continue;
      *(product.kind->structure_a ? &product.m : &product.n) = LARGE;
      set_scalars(&product, 2);
      describe(&product);
      set_normal_data(&product);
      make_wrong_plan(context, &product.desc, &wrong);
      if (run_wrong_plan(&wrong, &product.desc, &record) != TESELA_OK)
        fail_run(&product, tesela_last_error());
      assert_int_equal(record.verified, product.m * product.n);
      tesela_plan_destroy(wrong.plan);
    }
}

/* --- faults --- */

static void make_product(int kind, int index, test_product *product) {
  *product = (test_product){
      .kind = &kinds[kind], .m = 33, .n = 35, .k = 30, .by_columns = {index & 1, kind & 1, index >> 1 & 1}};
  set_scalars(product, index);
  describe(product);
}

/* Adds to an element of C after the run, past the epilogue. */
static tesela_status run_and_add(const wrong_plan *wrong, const test_product *product, int64_t row,
                                 int64_t col, double off, tesela_record *record) {
  plant(&product->shape[2], TSL_OPERAND_C, row, col, -1, off);
  return run_wrong_plan(wrong, &product->desc, record);
}

/* An error above the record's hidden error is found, in each kind of product. */
static void errors_above_the_hidden_one(void **state) {
  static const struct { int64_t row, col; } places[] = {{0, 0}, {32, 34}, {16, 17}};
  (void)state;
  for (int kind = FIRST_KIND; kind < ALL_KINDS; kind++)
    for (int index = 0; index < 4; index++) {
      test_product product;
      make_product(kind, index, &product);
      const test_kind *is = product.kind;
      tesela_record clean, record;
      wrong_plan wrong;
      set_normal_data(&product);
      make_wrong_plan(context, &product.desc, &wrong);
      planted.left = 0;
      must(run_wrong_plan(&wrong, &product.desc, &clean));
      assert_int_equal(clean.verified, product.m * product.n);
      for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        /* a fault of the sums, which scales and alpha multiply */
        double factor = is->scale_a || is->scale_b ? fabs(product.alpha[0]) : 1,
               unit = tsl_type(is->types[2])->unit_roundoff;
        if (is->scale_a)
          factor *= fabs((double)((const float *)product.epilogue.scale_a
                                      .data)[is->scale_a == TESELA_SCALE_LINES ? places[i].row : 0]);
        if (is->scale_b)
          factor *= fabs((double)((const float *)product.epilogue.scale_b
                                      .data)[is->scale_b == TESELA_SCALE_LINES ? places[i].col : 0]);
        set_normal_data(&product);
        const tesela_status status =
            run_and_add(&wrong, &product, places[i].row, places[i].col,
                        (clean.hidden_error * 1.02 + 256 * unit) / factor + 1, &record);
        if (status != TESELA_WRONG_RESULT)
          fail_run(&product, "a wrong result was not found");
        if (record.wrong_row != places[i].row || record.wrong_col > places[i].col ||
            record.wrong_col + record.wrong_cols <= places[i].col)
          fail_run(&product, tesela_last_error());
      }
      tesela_plan_destroy(wrong.plan);
    }
}

/* Flipped high bits of A and B during the run: the sign or the exponent. */
static void bits_of_factors(void **state) {
  (void)state;
  for (int kind = FIRST_KIND; kind < ALL_KINDS; kind++)
    for (int operand = 0; operand < 2; operand++) {
      test_product product;
      make_product(kind, 0, &product);
      const tsl_type_info *type = tsl_type(product.shape[operand].type);
      const int top = (int)tsl_type(type->component)->size * 8 - 1;
      wrong_plan wrong;
      int64_t row = 20, col = 20;
      if (product.kind->in_place && (operand == 0) != (product.kind->structure_a != TESELA_GENERAL))
        continue; /* C is this factor */
      if (type->is_integer && tsl_type(product.shape[2].type)->size == 2)
        continue; /* the guarantee of C hides it */
      if (product.shape[operand].structure != TESELA_GENERAL) {
        row = product.shape[operand].triangle == TESELA_LOWER ? 20 : 4;
        col = 24 - row;
      }
      set_normal_data(&product);
      make_wrong_plan(context, &product.desc, &wrong);
      /* the exponent's highest bit makes a large number of a small one */
      plant(&product.shape[operand], operand, row, col, type->is_integer ? top : top - 1, 0);
      const tesela_status status = run_wrong_plan(&wrong, &product.desc, NULL);
      if (status != TESELA_WRONG_RESULT || planted.left != 0)
        fail_run(&product, operand ? "a fault in B was not found" : "a fault in A was not found");
      tesela_plan_destroy(wrong.plan);
    }
}

/* --- repair --- */

static bool is_same_result(const test_product *product, const unsigned char *right, double hidden) {
  const tsl_shape *c = &product->shape[2];
  for (int64_t i = 0; i < product->m; i++)
    for (int64_t j = 0; j < product->n; j++) {
      const size_t at = (size_t)(i * c->row_stride + j * c->col_stride) * tsl_type(c->type)->size;
      double own[2], other[2];
      tsl_type_load(c->type, c_memory + at, own);
      tsl_type_load(c->type, right + at, other);
      if (!(fabs(own[0] - other[0]) <= hidden && fabs(own[1] - other[1]) <= hidden))
        return false;
    }
  return true;
}

/* A wrong tile is computed again, also if C is read and the fault lasts. The record says so. A product with a
 * structure is repeated as a whole, unless C is read. */
static void repairs(void **state) {
  (void)state;
  for (int kind = 0; kind < ALL_KINDS; kind++)
    for (int index = 0; index < 4; index++) {
      test_product product;
      make_product(kind, index, &product);
      const bool has_structure = product.kind->structure_a || product.kind->structure_b,
                 is_repairable = !has_structure || (product.beta[0] == 0 && !product.kind->in_place);
      tesela_record clean, record;
      wrong_plan wrong;
      static unsigned char right[M_MAX * N_MAX * 16];
      product.desc.options.verify = "repair";
      set_normal_data(&product);
      make_wrong_plan(context, &product.desc, &wrong);
      planted.left = 0;
      must(run_wrong_plan(&wrong, &product.desc, &clean));
      assert_null(clean.note);
      memcpy(right, c_memory, sizeof right);
      set_normal_data(&product);
      plant(&product.shape[2], TSL_OPERAND_C, 20, 21, -1, product.kind->types[2] == TESELA_F16 ? 30000 : 1e9);
      planted.left = has_structure ? 1 : 1000;
      const tesela_status status = run_wrong_plan(&wrong, &product.desc, &record);
      if (status != (is_repairable ? TESELA_OK : TESELA_WRONG_RESULT))
        fail_run(&product, tesela_last_error());
      if (is_repairable) {
        if (!record.note ||
            !strstr(record.note, has_structure ? "C was computed twice" : "computed again by sequential"))
          fail_run(&product, record.note ? record.note : "the fault was not found");
        assert_true(record.error_bound >= clean.error_bound);
        assert_int_equal(record.verified, product.m * product.n);
        assert_int_equal(record.wrong_cols, 0);
        if (!is_same_result(&product, right, clean.hidden_error))
          fail_run(&product, "the repaired result differs");
      }
      tesela_plan_destroy(wrong.plan);
    }
}

/* Products of a batch are repaired, too. The plan of the batch is the context's, which has the shape. */
static void batches(void **state) {
  enum { PRODUCTS = 3 };
  test_product product;
  tesela_record record;
  tsl_request request;
  tsl_call_key key;
  (void)state;
  make_product(1, 2, &product);
  product.desc.options.verify = "repair";
  memset(c_memory, 0, POOL * 16);
  set_normal_data(&product);
  must(tsl_api_gemm_request(context, &product.desc, &request));
  must(tsl_api_request(context, &request, &key));
  tsl_cached_plan *cached;
  must(tsl_api_cached_plan(context, &key, &cached));
  tesela_plan *plan = tsl_plan_cache_plan(cached);
  tsl_work *work = &plan->plan->work;
  const tsl_fast_call direct = plan->direct;
  const tsl_strategy *right = work->strategy;
  tsl_strategy wrong = *right;
  const tesela_batch batch = {.count = PRODUCTS, .c_stride = 40 * 40};
  right_run = wrong.run;
  wrong.run = wrong_run;
  work->strategy = &wrong;
  plan->direct.run = NULL; /* it would pass wrong_run() by */
  plant(&product.shape[2], TSL_OPERAND_C, 20, 21, -1, 1e9);
  const tesela_status status = tesela_gemm_batched(context, &product.desc, &batch, &record);
  work->strategy = right;
  plan->direct = direct;
  tsl_plan_cache_give_back(&context->cache, cached);
  must(status);
  assert_int_equal(planted.left, 0);
  assert_int_equal(record.verified, PRODUCTS * product.m * product.n);
  assert_non_null(record.note);
  assert_non_null(strstr(record.note, "computed again by sequential"));
}

/* --- refused calls --- */

static void refused_calls(void **state) {
  test_product product;
  tesela_buffer *buffer;
  (void)state;
  make_product(1, 0, &product);
  const tesela_epilogue gelu = {.activation = TESELA_GELU}, row = {.bias_axis = TESELA_BIAS_ROW};
  set_normal_data(&product);
  product.desc.epilogue = &gelu;
  expect(tesela_gemm(context, &product.desc, NULL), TESELA_UNSUPPORTED, "activation");
  product.desc.epilogue = NULL;
  product.desc.m = product.desc.n;
  product.desc.structure.c_triangle = TESELA_LOWER;
  product.desc.c.row_stride = product.n;
  product.desc.c.col_stride = 1;
  expect(tesela_gemm(context, &product.desc, NULL), TESELA_UNSUPPORTED, "only a triangle of C");
  /* in device memory */
  must(tesela_buffer_create(context, "opencl:0", 1 << 16, &buffer));
  tesela_gemm_desc desc = {.m = 8, .n = 8, .k = 8, .options = {.device = "opencl:0", .verify = "all"}};
  tesela_epilogue in_buffer = row;
  desc.a = (tesela_matrix){.buffer = buffer, .type = TESELA_F32};
  desc.b = (tesela_matrix){.buffer = buffer, .offset = 64, .type = TESELA_F32};
  desc.c = (tesela_result){.buffer = buffer, .offset = 128, .type = TESELA_F32};
  in_buffer.bias = (tesela_vector){.buffer = buffer, .offset = 256};
  desc.epilogue = &in_buffer;
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED, "bias or its scales are in device memory");
  desc.epilogue = NULL;
  desc.structure = (tesela_structures){.a = TESELA_SYMMETRIC, .a_triangle = TESELA_LOWER};
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED, "in device memory has a structure");
  tesela_buffer_destroy(buffer);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(right_results),
                                     cmocka_unit_test(large_structures),
                                     cmocka_unit_test(errors_above_the_hidden_one),
                                     cmocka_unit_test(bits_of_factors),
                                     cmocka_unit_test(repairs),
                                     cmocka_unit_test(batches),
                                     cmocka_unit_test(refused_calls)};
  const bool is_sweep = argc == 2 && strcmp(argv[1], "sweep") == 0;
  clean_runs = is_sweep ? 1000000 : clean_runs;
  c_memory = calloc(POOL, 16);
  if (!c_memory || tesela_context_create(&(tesela_context_desc){.threads = 1}, &context) != TESELA_OK)
    return 1;
  const int failed = is_sweep
                         ? cmocka_run_group_tests_name("sweep", (struct CMUnitTest[]){tests[0]}, NULL, NULL)
                         : cmocka_run_group_tests(tests, NULL, NULL);
  tesela_context_destroy(context);
  for (int i = 0; i < 32 * KINDS; i++)
    free(pools[i / KINDS][i % KINDS]);
  free(c_memory);
  return failed;
}
